"""The ledger in a compression: what the replaced messages add to it, and what of it the summary message restates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from langchain_ctxcompress.ledger import Ledger, Request, extract_records, merge, render
from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies.base import CompressionRequest

SMALL_SHARE = 0.8
"""Share of a small target that the ledger may take: of 1,500 tokens, 1,200, in which some 40 statements can stand."""

SMALL_TARGET = 1_500
GROWTH = 0.1
"""Beyond a small target the ledger grows by a tenth of what the target does."""

MOST = 4_000
"""No ledger takes more, but for rules and goals: beyond it, looking things up is better than restating them."""

SHOWN_FINISHED = 3
"""Finished requests that are restated; what the user asked last is what a model is tempted to do again."""


def ledger_of(head: CheckpointSummary | None) -> Ledger:
    """The ledger as a checkpoint holds it; an empty one where there is none, or where it cannot be read any more."""
    if head is None or not head.ledger:
        return Ledger()
    try:
        return Ledger.model_validate(head.ledger)
    except ValidationError:  # of a version whose records were other ones: what follows is remembered again
        return Ledger()


@dataclass(frozen=True, slots=True)
class Remembered:
    """The ledger of a compression.

    Attributes:
        ledger: What all replaced messages said that must not be lost.
        text: What of it is restated.
    """

    ledger: Ledger
    text: str

    @property
    def values(self) -> dict[str, Any]:
        """The ledger as plain values, for a checkpoint."""
        return self.ledger.model_dump(mode="json")


def remember(request: CompressionRequest, replaced: Sequence[int], room: int) -> Remembered:
    """The ledger after messages are replaced, and what of it is restated.

    Args:
        request: The list.
        replaced: The places of the messages.
        room: Tokens that the restated part may take; rules and goals take what they need.
    """
    ledger = ledger_of(request.head)
    if request.config.ledger:
        ledger = merge(ledger, extract_records([request.messages[place] for place in replaced]))
    return Remembered(ledger, restated(request, ledger, max(replaced, default=-1), room))


def restated(request: CompressionRequest, ledger: Ledger, last: int, room: int) -> str:
    """The ledger as the summary message shows it.

    What the messages that stay say is newer than what the replaced ones said, so it supersedes; it is not itself
    restated, since it is there to be read.
    """
    if not ledger:
        return ""
    behind = [message for place, message in enumerate(request.messages) if place > last and not is_summary(message)]
    newer = extract_records(behind)
    joined = merge(ledger, newer)
    there = {source for record in newer.records() for source in record.sources}
    kept = {
        kind: tuple(record for record in getattr(joined, kind) if not set(record.sources) <= there)
        for kind in Ledger.KINDS
    }
    kept["requests"] = _open_and_last_finished(kept["requests"])
    return render(joined.model_copy(update=kept), max_tokens=max(room, 0), count=request.tools.count_text)


def _open_and_last_finished(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Open requests, and the last few finished ones: those are restated only so that they are not done again."""
    finished = [request for request in requests if request.status == "finished"][-SHOWN_FINISHED:]
    return tuple(request for request in requests if request.status != "finished" or request in finished)


def ledger_room(target_tokens: int) -> int:
    """Tokens that the restated ledger may take, for a target of a given size."""
    small = SMALL_SHARE * min(target_tokens, SMALL_TARGET)
    return int(min(small + GROWTH * max(0, target_tokens - SMALL_TARGET), MOST))
