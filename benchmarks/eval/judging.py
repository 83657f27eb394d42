"""Is an item there? By its text alone, without anything of the package that is judged."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from benchmarks.eval.items import Item

Finder = Callable[[str], Iterable[str]]
"""Searches what is no longer sent."""

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "\u00a0": " "})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an item.

    Attributes:
        item: The item.
        place: `context`, `search` or `lost`.
        stale: Whether its old value is restated as if it still held.
    """

    item: Item
    place: str
    stale: bool


def plain(text: str) -> str:
    """A text as it is compared: case, white space, quotation marks and escapes make no difference."""
    text = unicodedata.normalize("NFKC", html.unescape(text)).translate(_PLAIN)
    return " ".join(text.casefold().split())


class Reading:
    """Lines in which items are looked for.

    Args:
        texts: Texts of messages.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.lines = [folded for text in texts for line in text.split("\n") if (folded := plain(line))]

    def says(self, keys: Sequence[str]) -> bool:
        """Whether one line holds all of the keys.

        Args:
            keys: What has to stand together.
        """
        wanted = [plain(key) for key in keys]
        return any(all(key in line for key in wanted) for line in self.lines)

    def restates(self, item: Item) -> bool:
        """Whether a line states the old value of an item, without the new one behind it.

        Args:
            item: An item; one that has no old value is never restated.
        """
        if not item.stale:
            return False
        wanted, new = [plain(key) for key in item.stale], plain(item.keys[-1])
        return any(all(key in line for key in wanted) and new not in line for line in self.lines)


def judge(items: Iterable[Item], sent: Sequence[BaseMessage], originals: frozenset[str], find: Finder) -> list[Verdict]:
    """Judges every item.

    Args:
        items: What was planted.
        sent: What the model would be sent.
        originals: Texts of the session's messages: one of them that is sent as it was said restates nothing.
        find: Searches what was replaced, for a text; gives texts.
    """
    there = Reading(message.text for message in sent)
    restated = Reading(message.text for message in sent if message.text not in originals)
    verdicts = []
    for item in items:
        place = "context" if there.says(item.keys) else "lost"
        if place == "lost" and Reading(find(item.question)).says(item.keys):
            place = "search"
        verdicts.append(Verdict(item, place, restated.restates(item)))
    return verdicts
