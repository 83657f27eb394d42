"""`top-down-truncation`: drops whole spans from the front, without a model (requirement D)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import accumulate

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.messages import is_summary, kind_of
from langchain_ctxcompress.strategies.base import CompressionRequest, CompressionStrategy, Reason, Steps
from langchain_ctxcompress.strategies.replacing import dropped

COMPRESSION_THRESHOLD = 0.85
LIMIT_SHARE = 0.6
"""D5: with a context limit of its own, the strategy aims at 0.85 x limit x 0.6."""


class TopDownTruncation(CompressionStrategy):
    """Drops from the front until the list is under its target; system, pinned and newest human messages stay.

    Args:
        context_limit_tokens: A limit of its own, in tokens; by default the request's target holds.
        compression_threshold: Share of that limit at which truncation would start (D5).

    Raises:
        ConfigError: A value is out of range.
    """

    name = "top-down-truncation"

    def __init__(
        self, context_limit_tokens: int | None = None, compression_threshold: float = COMPRESSION_THRESHOLD
    ) -> None:
        if context_limit_tokens is not None and context_limit_tokens < 1:
            msg = f"context_limit_tokens is {context_limit_tokens}: it must be 1 or more"
            raise ConfigError(msg)
        if not 0 < compression_threshold <= 1:
            msg = f"compression_threshold is {compression_threshold}: it must be over 0 and at most 1"
            raise ConfigError(msg)
        self.context_limit_tokens = context_limit_tokens
        self.compression_threshold = compression_threshold

    def run(self, request: CompressionRequest) -> Steps:
        """Drop what is needed, and no more; unchanged where the list is under its target or nothing may go."""
        yield from ()
        places = places_to_drop(request, self.target(request), droppable(request, ends(request)))
        if not places:
            under = request.tokens <= self.target(request)
            return request.unchanged(Reason.BELOW_SOFT_LIMIT if under else Reason.TOO_FEW_CANDIDATES, self.name)
        return dropped(request, places, strategy=self.name, reason=Reason.COMPRESSED)

    def target(self, request: CompressionRequest) -> int:
        """The size that is aimed at, in tokens (D5)."""
        if self.context_limit_tokens is None:
            return request.config.target_tokens
        return int(self.compression_threshold * self.context_limit_tokens * LIMIT_SHARE)


Span = tuple[int, int]


def droppable(request: CompressionRequest, keep: Collection[int]) -> list[Span]:
    """The spans that may be dropped, from the front: all but the protected ones and those that touch `keep`."""
    stays = request.protected | request.boundaries.close(set(keep))
    return [span for span in request.boundaries.spans if span[0] not in stays]


def places_to_drop(request: CompressionRequest, target: int, spans: Sequence[Span]) -> list[int]:
    """The places of the first of `spans` that have to go for the list to be at or under `target`; all if it never is.

    The list goes on with a human message where it began with one: Anthropic and Gemini refuse one that begins with the
    model's words. Finding the cut is a binary search over the sums of the spans' sizes (D6).
    """
    needed = request.tokens - target
    if needed <= 0 or not spans:
        return []
    freed = list(accumulate(sum(request.sizes[start:end]) for start, end in spans))
    number = min(bisect_left(freed, needed) + 1, len(spans))
    gone = {place for start, end in spans[:number] for place in range(start, end)}
    front = _Front(request)
    while number < len(spans) and not front.is_human_without(gone):
        gone.update(range(*spans[number]))
        number += 1
    return sorted(gone)


class _Front:
    """The first message of a list that loses more and more; system messages apart."""

    def __init__(self, request: CompressionRequest) -> None:
        self._messages = request.messages
        self._demanded = request.begins_with_human
        self._places = [place for place, message in enumerate(request.messages) if kind_of(message) != "system"]
        self._at = 0

    def is_human_without(self, gone: Collection[int]) -> bool:
        """Whether the list without `gone` begins with a human message, or need not; `gone` only grows between calls."""
        while self._at < len(self._places) and self._places[self._at] in gone:
            self._at += 1
        over = self._at == len(self._places)
        return over or not self._demanded or kind_of(self._messages[self._places[self._at]]) == "human"


def ends(request: CompressionRequest) -> set[int]:
    """What D3 keeps: one human and one AI message from the end, at least two messages; all where there is neither.

    If what stays would begin with an AI message, the human message in front of it stays too.
    """
    messages = request.messages
    last = {
        kind: next((p for p in range(len(messages) - 1, -1, -1) if _is(messages[p], kind)), None)
        for kind in ("human", "ai")
    }
    kept = {place for place in last.values() if place is not None}
    if not kept or len(messages) < 2:
        return set(range(len(messages)))
    for place in range(len(messages) - 1, -1, -1):
        if len(request.boundaries.close(kept)) >= 2:
            break
        kept.add(place)
    return kept | opening(request, kept)


def opening(request: CompressionRequest, keep: Collection[int]) -> set[int]:
    """The human message that has to stay in front of `keep` and what is protected, if they begin with the model's."""
    messages = request.messages
    stays = request.boundaries.close(set(keep)) | request.protected
    if _Front(request).is_human_without(set(range(len(messages))) - stays):
        return set()
    first = min(place for place in stays if kind_of(messages[place]) != "system")
    return {next((place for place in range(first - 1, -1, -1) if kind_of(messages[place]) == "human"), first)}


def _is(message: BaseMessage, kind: str) -> bool:
    return kind_of(message) == kind and not is_summary(message)
