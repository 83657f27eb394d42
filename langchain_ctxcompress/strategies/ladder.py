"""`ladder`, the default: each rung runs only if the one before left the list too large."""

from __future__ import annotations

from dataclasses import replace

from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    RungReport,
    Steps,
)
from langchain_ctxcompress.strategies.clear_tools import ClearTools, Weighed
from langchain_ctxcompress.strategies.emergency import Emergency
from langchain_ctxcompress.strategies.middle_out import MiddleOut
from langchain_ctxcompress.strategies.quotes import quote_humans
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.remembering import Remembered, ledger_room, remember
from langchain_ctxcompress.strategies.replacing import dropped, summarised
from langchain_ctxcompress.strategies.top_down import (
    Span,
    TopDownTruncation,
    droppable,
    ends,
    places_to_drop,
    places_under_hard_limit,
)

TRIES = 3
"""How often more is dropped to make room for what is restated: what goes then has words of its own to be restated."""


class Ladder(CompressionStrategy):
    """Clears old tool results, or summarises the middle; over the hard limit it truncates, then takes last resorts.

    Clearing is taken where it reaches the target by itself. Where it does not, it is set aside and the summary is
    written from the originals, not from the markers; what clearing frees is then taken only where a summary frees
    nothing. Prefix and last turns are given up only over the hard limit: the target is a reason to compress the middle,
    not to drop what the user sees as the conversation. `PrunerConfig.rungs` says which rungs there are.
    """

    name = "ladder"

    def run(self, request: CompressionRequest) -> Steps:
        """Run the rungs that are needed."""
        rungs, hard = request.config.rungs, request.config.hard_limit_tokens
        clearing = ClearTools(all_at_once=True)
        cleared = clearing.weigh(request) if _clears(request) else None
        if cleared and cleared.reason is None and request.tokens - cleared.freed <= request.config.target_tokens:
            return clearing.draft(request, cleared)
        if MiddleOut.name in rungs:
            draft = yield from MiddleOut().run(request)
            if cleared is not None:
                draft = _better(request, draft, clearing, cleared)
        elif cleared is not None:
            draft = clearing.draft(request, cleared)
        else:
            draft = request.unchanged(Reason.DISABLED, self.name)
        step = request.after(draft)
        if step.tokens >= hard and TopDownTruncation.name in rungs:
            draft = draft.then(_named(_truncated(step)))
            step = request.after(draft)
        if step.tokens >= hard and Emergency.name in rungs:
            draft = draft.then((yield from Emergency().run(step)))
        return draft


def _clears(request: CompressionRequest) -> bool:
    """Whether clearing is tried. Somebody who asks for a compression, or for what it should say, wants a summary."""
    asked = request.tokens < request.config.soft_limit_tokens or bool(request.instructions)
    return ClearTools.name in request.config.rungs and not asked


def _better(
    request: CompressionRequest, summarised: CompressionDraft, clearing: ClearTools, weighed: Weighed
) -> CompressionDraft:
    """The summary's draft; where it changes nothing, that of clearing, with what became of the summary."""
    if summarised.checkpoints or weighed.reason is not None:
        aside = RungReport(ClearTools.name, 0, weighed.reason or Reason.NOT_ENOUGH)
        return replace(summarised, rungs=(aside, *summarised.rungs))
    cleared = clearing.draft(request, weighed)
    return replace(
        cleared,
        reason=summarised.reason if summarised.degraded else cleared.reason,
        degraded=summarised.degraded,
        rungs=(*summarised.rungs, *cleared.rungs),
        model_calls=summarised.model_calls,
    )


def _named(truncated: CompressionDraft) -> CompressionDraft:
    """What dropped turns says so, instead of that it compressed them."""
    if not truncated.checkpoints:
        return truncated
    rungs = tuple(replace(rung, reason=Reason.TRUNCATED) for rung in truncated.rungs)
    return replace(truncated, reason=Reason.TRUNCATED, rungs=rungs)


def _truncated(request: CompressionRequest) -> CompressionDraft:
    """Drop middle turns, then the prefix, then recent turns oldest first, until there is room under the hard limit.

    What the user said in what goes is restated, where there is room for it; where there is none, the ledger keeps it
    for the next compression (law 6).
    """
    config = request.config
    spans = _in_order(request)
    most = config.hard_limit_tokens - 1
    gone = places_under_hard_limit(request, spans)
    if not gone:
        return request.unchanged(Reason.TOO_FEW_CANDIDATES, TopDownTruncation.name)
    told = remember(request, gone, ledger_room(config.target_tokens))
    plain = dropped(request, gone, strategy=TopDownTruncation.name, reason=Reason.COMPRESSED, ledger=told.values)
    if not config.ledger or not told.ledger:
        return plain
    restated, less = _restated(request, gone, told), gone
    for _ in range(TRIES if request.overhead_tokens + plain.tokens <= most else 0):
        if request.overhead_tokens + restated.tokens <= most:
            break
        takes = restated.tokens - sum(request.sizes) + sum(request.sizes[place] for place in less)
        less = places_to_drop(request, most - takes, spans)
        if request.recent & (set(less) - set(gone)):
            return plain  # an agent whose newest steps made room for what was said earlier would take them again
        told = remember(request, less, ledger_room(config.target_tokens))
        restated = _restated(request, less, told)
    if request.overhead_tokens + restated.tokens <= most:
        return restated
    return dropped(request, gone, strategy=TopDownTruncation.name, reason=Reason.COMPRESSED)


def _restated(request: CompressionRequest, gone: list[int], told: Remembered) -> CompressionDraft:
    """The list without `gone`, with a summary message that says of it what the user said."""
    quotes = tuple(quote_humans(request.messages, gone))
    return summarised(
        request, gone, "", quotes, strategy=TopDownTruncation.name, summariser="extractive", remembered=told
    )


def _in_order(request: CompressionRequest) -> list[Span]:
    """The spans that may go, in the order in which they do; the summary message stays."""
    summary = {place for place, message in enumerate(request.messages) if is_summary(message)}

    def group(span: Span) -> int:
        places = set(range(*span))
        return 2 if places & request.recent else 1 if places & request.prefix else 0

    return sorted(droppable(request, summary | ends(request)), key=group)
