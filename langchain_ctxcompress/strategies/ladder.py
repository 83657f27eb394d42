"""`ladder`, the default: each rung runs only if the one before left the list too large."""

from __future__ import annotations

from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    Reason,
    Steps,
)
from langchain_ctxcompress.strategies.emergency import Emergency
from langchain_ctxcompress.strategies.middle_out import MiddleOut
from langchain_ctxcompress.strategies.replacing import dropped
from langchain_ctxcompress.strategies.top_down import Span, TopDownTruncation, droppable, ends, places_to_drop


class Ladder(CompressionStrategy):
    """Summarises the middle; over the hard limit it then truncates, and then takes emergency measures.

    Prefix and last turns are given up only over the hard limit: the target is a reason to compress the middle, not to
    drop what the user sees as the conversation.
    """

    name = "ladder"

    def run(self, request: CompressionRequest) -> Steps:
        """Run the rungs that are needed."""
        draft = yield from MiddleOut().run(request)
        hard = request.config.hard_limit_tokens
        step = request.after(draft)
        if step.tokens < hard:
            return draft
        draft = draft.then(_truncated(step))
        step = request.after(draft)
        if step.tokens < hard:
            return draft
        return draft.then((yield from Emergency().run(step)))


def _truncated(request: CompressionRequest) -> CompressionDraft:
    """Drop middle turns, then the prefix, then recent turns oldest first, until there is room under the hard limit.

    Half-way between the limits is aimed at, so that the next step does not truncate again; where that cannot be
    reached, the hard limit itself, so that nothing is dropped in vain.
    """
    config = request.config
    spans = _in_order(request)
    for target in ((config.soft_limit_tokens + config.hard_limit_tokens) // 2, config.hard_limit_tokens - 1):
        gone = places_to_drop(request, target, spans)
        if request.tokens - sum(request.sizes[place] for place in gone) <= target:
            break
    if not gone:
        return request.unchanged(Reason.TOO_FEW_CANDIDATES, TopDownTruncation.name)
    return dropped(request, gone, strategy=TopDownTruncation.name, reason=Reason.COMPRESSED)


def _in_order(request: CompressionRequest) -> list[Span]:
    """The spans that may go, in the order in which they do; the summary message stays."""
    config = request.config
    turns = [turn for turn in request.window.turns if not turn.is_summary]
    prefix = {place for turn in turns[: config.pinned_prefix_turns] for place in turn.indices}
    recent = {place for turn in turns[max(0, len(turns) - config.recent_turns) :] for place in turn.indices}
    summary = {place for place, message in enumerate(request.messages) if is_summary(message)}

    def group(span: Span) -> int:
        places = set(range(*span))
        return 2 if places & recent else 1 if places & prefix else 0

    return sorted(droppable(request, summary | ends(request)), key=group)
