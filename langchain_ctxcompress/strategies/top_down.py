"""`top-down-truncation`: drops whole spans from the front, without a model (requirement D)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.messages import dividers, is_summary, kind_of
from langchain_ctxcompress.strategies.base import CompressionRequest, CompressionStrategy, Steps
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.remainder import Remainder
from langchain_ctxcompress.strategies.replacing import dropped, nothing_read

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
        if context_limit_tokens is not None:
            check_least("context_limit_tokens", context_limit_tokens, 1)
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
        return dropped(request, places, strategy=self.name, reason=Reason.COMPRESSED, ledger=nothing_read(request))

    def target(self, request: CompressionRequest) -> int:
        """The size that is aimed at, in tokens (D5)."""
        if self.context_limit_tokens is None:
            return request.config.target_tokens
        return int(self.compression_threshold * self.context_limit_tokens * LIMIT_SHARE)


Span = tuple[int, int]


def droppable(request: CompressionRequest, keep: Collection[int]) -> list[Span]:
    """The spans that may be dropped, from the front: all but the protected ones and those that touch `keep`.

    A human message that alone parts the model's words from a call that stays behind them is not among them either.
    """
    stays = request.protected | request.boundaries.close(set(keep))
    stays |= dividers(request.messages, stays) | request.between_protected
    return [span for span in request.boundaries.spans if span[0] not in stays]


def places_to_drop(request: CompressionRequest, target: int, spans: Sequence[Span]) -> list[int]:
    """The places of the first of `spans` that have to go for the list to be at or under `target`; all if it never is.

    What is left is a list that every provider takes, where the list is one (`Remainder`). Finding the cut is a binary
    search over the sums of the spans' sizes (D6).

    Args:
        request: The list.
        target: The size to be reached, in tokens.
        spans: Of `droppable`, in the order in which they go.
    """
    needed = request.tokens - target
    if needed <= 0 or not spans:
        return []
    freed = list(accumulate(sum(request.sizes[start:end]) for start, end in spans))
    number = min(bisect_left(freed, needed) + 1, len(spans))
    gone = {place for start, end in spans[:number] for place in range(start, end)}
    left = Remainder(request)
    left.drop(gone)
    while number < len(spans) and not left.is_sound:
        left.drop(range(*spans[number]))
        gone.update(range(*spans[number]))
        number += 1
    return sorted(gone)


def places_under_hard_limit(request: CompressionRequest, spans: Sequence[Span]) -> list[int]:
    """The places of the first of `spans` that have to go for the list to be under its hard limit; all if it never is.

    Half-way between the limits is aimed at, so that the next step does not drop again; where that cannot be reached,
    the hard limit itself, so that nothing is dropped in vain.
    """
    config = request.config
    half_way = (config.soft_limit_tokens + config.hard_limit_tokens) // 2
    gone = places_to_drop(request, half_way, spans)
    if tokens_without(request, gone) <= half_way:
        return gone
    return places_to_drop(request, config.hard_limit_tokens - 1, spans)


def tokens_without(request: CompressionRequest, gone: Iterable[int]) -> int:
    """Size of all that is sent once these places are gone, in tokens."""
    return request.tokens - sum(request.sizes[place] for place in gone)


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
    first = min((place for place in stays if kind_of(messages[place]) != "system"), default=None)
    if first is None or not request.begins_with_human or kind_of(messages[first]) == "human":
        return set()
    return {next((place for place in range(first - 1, -1, -1) if kind_of(messages[place]) == "human"), first)}


def _is(message: BaseMessage, kind: str) -> bool:
    return kind_of(message) == kind and not is_summary(message)
