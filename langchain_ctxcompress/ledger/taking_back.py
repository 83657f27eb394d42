"""What takes back something that was said before."""

from __future__ import annotations

import re
from typing import Literal

from langchain_ctxcompress.ledger.lexicon import Reading, read

_PARTS = re.compile(r"[,;]\s+")


def takes_back(reading: Reading) -> Literal["", "permits", "forgets"]:
    """Whether a sentence takes something back: `permits` what was banned, or `forgets` what was said.

    Args:
        reading: Its words and cues.
    """
    if reading.has("forget") and (reading.unspaced or reading.cues["forget"] <= 1):
        return "forgets"
    # "It is no longer needed" is talk of a thing; "you no longer need to" and "don't … any longer" are orders.
    if not reading.has("retract"):
        return ""
    ordered = reading.has("you") or reading.cues.get("not") == 0
    return "permits" if ordered or reading.cues["retract"] <= 1 else ""


def taken_back(text: str) -> tuple[str, ...]:
    """The stems of what a sentence takes back, where it goes on behind that: "forget the tone, be casual".

    Args:
        text: A sentence.
    """
    mark = _PARTS.search(text) if takes_back(read(text)) == "forgets" else None
    head = read(text[: mark.start()]).content if mark else ()
    return head if mark and read(text[mark.end() :]).content else ()
