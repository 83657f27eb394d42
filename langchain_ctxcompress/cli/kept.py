"""`Kept`: what of a conversation still stands in its active context, and what of the rest comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import (
    content_hash,
    extract_text_content,
    is_derived,
    is_summary,
    kind_of,
    split_turns,
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Measured on the messages themselves, not on what a strategy says of itself.

    Attributes:
        turns_verbatim: Turns of which every message stands as it was.
        turns_shortened: Turns of which a message stands shortened, or is missing.
        turns_replaced: Turns of which no message stands.
        user_words: The user's own words, in characters without the space between them.
        user_words_kept: Those of them that still stand word for word, in whole lines.
        originals: Messages that do not stand as they were.
        originals_back: Those of them that come back from the archive as they were.
    """

    turns_verbatim: int = 0
    turns_shortened: int = 0
    turns_replaced: int = 0
    user_words: int = 0
    user_words_kept: int = 0
    originals: int = 0
    originals_back: int = 0

    @classmethod
    def of(
        cls,
        given: Sequence[BaseMessage],
        context: Sequence[BaseMessage],
        fetch: Callable[[Iterable[str]], list[BaseMessage]],
    ) -> Kept:
        """Compare.

        Args:
            given: The conversation, all of its messages with ids.
            context: The active context that was made of it.
            fetch: Gives archived messages by their ids.
        """
        standing = {message.id: message for message in context if not is_summary(message)}
        said = {id(message): content_hash(message) for message in given}
        verbatim = {
            id(message)
            for message in given
            if (now := standing.get(message.id)) is not None
            and (now is message or (not is_derived(now) and content_hash(now) == said[id(message)]))
        }
        turns = [turn.messages for turn in split_turns(given) if not turn.is_summary]
        whole = sum(1 for turn in turns if all(id(message) in verbatim for message in turn))
        gone = sum(1 for turn in turns if not any(message.id in standing for message in turn))
        left = [message for message in given if id(message) not in verbatim and not is_derived(message)]
        archived = {message.id: content_hash(message) for message in fetch(m.id or "" for m in left)} if left else {}
        words, words_kept = _user_words(given, verbatim, context)
        return cls(
            turns_verbatim=whole,
            turns_shortened=len(turns) - whole - gone,
            turns_replaced=gone,
            user_words=words,
            user_words_kept=words_kept,
            originals=len(left),
            originals_back=sum(1 for message in left if archived.get(message.id) == said[id(message)]),
        )

    def __add__(self, other: Kept) -> Kept:
        """Both together."""
        return Kept(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    @property
    def user_share(self) -> int:
        """The user's words that stand, in percent, rounded down; 100 where the user said nothing."""
        return 100 * self.user_words_kept // self.user_words if self.user_words else 100


def _user_words(given: Sequence[BaseMessage], verbatim: set[int], context: Sequence[BaseMessage]) -> tuple[int, int]:
    """How much the user said, and how much of it stands: as it was said, or quoted in a summary or a cut message."""
    text = "\n".join(_plain(extract_text_content(m)) for m in context if kind_of(m) == "human" and is_derived(m))
    words = kept = 0
    for message in given:
        if kind_of(message) != "human" or is_derived(message):
            continue
        for line in map(_plain, extract_text_content(message).splitlines()):
            size = len(line.replace(" ", ""))
            words += size
            if line and (id(message) in verbatim or re.search(rf"(?<!\w){re.escape(line)}(?!\w)", text)):
                kept += size
    return words, kept


def _plain(text: str) -> str:
    return " ".join(text.split())
