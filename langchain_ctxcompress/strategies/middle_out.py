"""`middle-out`: prefix, pins, newest human message and last turns stay; the middle becomes one summary message."""

from __future__ import annotations

from dataclasses import replace

from langchain_ctxcompress.ledger import render_goals
from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    RungReport,
    Steps,
)
from langchain_ctxcompress.strategies.covering import covering
from langchain_ctxcompress.strategies.quotes import newest_within, quote_humans
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.remembering import ledger_room, remember
from langchain_ctxcompress.strategies.replacing import shown_in, summarised
from langchain_ctxcompress.strategies.summarising import write_summary
from langchain_ctxcompress.summarize import summary_budget

LEVEL = 3
"""A new checkpoint is detailed; it gets shorter by ageing."""

FRAME_TOKENS = 60
"""What the summary message takes besides its texts."""

LEAST_ROOM = 100
"""Tokens of a summary even where what stays leaves no room: a level-1 summary (P2)."""

LEAST_SUMMARY = 20
"""Tokens under which a summary says nothing. Half of what replacing frees is the most a summary may take, so that it
stays smaller even where a model writes more than it was asked for."""


class MiddleOut(CompressionStrategy):
    """Replaces all candidates by one summary message."""

    name = "middle-out"

    def run(self, request: CompressionRequest) -> Steps:
        """Summarise the candidates and put the summary in their place; unchanged where that frees nothing."""
        places = sorted(request.candidates)
        if not places:
            return request.unchanged(request.why_none, self.name)
        source = [request.messages[place] for place in places]
        quotes = quote_humans(request.messages, places)
        shown = [c for c in request.shown if c.level] or shown_in(request)
        earlier = "\n\n".join(checkpoint.text for checkpoint in shown if checkpoint.text)
        told = remember(request, places, _ledger_room(request, places))
        kept_words = newest_within(quotes, request.config.keep_human_tokens, request.tools)
        quoted = "\n".join((*(quote.text for quote in kept_words), told.goals_text, told.text))
        budget = summary_budget(LEVEL, sum(request.sizes[place] for place in places))
        # A summary that cannot pay for its frame is not asked for: that would be a model call a step (law 5).
        covered = covering(request, frozenset(places), self.name)
        frame = summarised(
            request, places, "", tuple(quotes), strategy=self.name, summariser="", remembered=told, covered=covered
        )
        spare = request.tokens - request.overhead_tokens - frame.tokens
        if spare < 2 * LEAST_SUMMARY:
            return request.unchanged(Reason.NOT_SMALLER, self.name)
        room = min(_room(request, places, quoted), spare // 2)
        written = yield from write_summary(request, source, budget.within(room), earlier, quoted=quoted, kept=told.text)
        told = told.after(request, places, written)
        draft = summarised(
            request,
            places,
            written.text,
            tuple(quotes),
            strategy=self.name,
            summariser=written.summariser,
            remembered=told,
            flagged=written.flagged,
            covered=covered,
        )
        reason, degraded = (written.failure, True) if written.failure else (Reason.COMPRESSED, False)
        freed = request.tokens - request.overhead_tokens - draft.tokens
        if freed <= 0:
            reason = written.failure or Reason.NOT_SMALLER
            report = RungReport(self.name, 0, reason, written.detail)
            return CompressionDraft(request.messages, request.sizes, (), reason, degraded, (report,), written.calls)
        report = RungReport(self.name, freed, reason, written.detail)
        return replace(draft, reason=reason, degraded=degraded, rungs=(report,), model_calls=written.calls)


def _ledger_room(request: CompressionRequest, places: list[int]) -> int:
    """Tokens that the restated ledger may take: what suits the target, and leaves the list under its hard limit."""
    config = request.config
    goals = request.tools.count_text(render_goals(request.goals.now))
    stays = _stays(request, places) + config.keep_human_tokens + goals
    left = config.hard_limit_tokens - stays - FRAME_TOKENS - LEAST_ROOM
    return min(ledger_room(config.target_tokens), left)


def _stays(request: CompressionRequest, places: list[int]) -> int:
    """Size of what is sent besides the summary message, in tokens."""
    replaced = set(places)
    return request.overhead_tokens + sum(
        size
        for place, size in enumerate(request.sizes)
        if place not in replaced and not is_summary(request.messages[place])
    )


def _room(request: CompressionRequest, places: list[int], quoted: str) -> int:
    """Tokens that a new summary may take: up to the target, or half of what is left under the soft limit."""
    standing = sum(request.tools.count_text(checkpoint.text) for checkpoint in request.shown)
    stays = _stays(request, places) + standing + FRAME_TOKENS + request.tools.count_text(quoted)
    return max(request.config.target_tokens - stays, (request.config.soft_limit_tokens - stays) // 2, LEAST_ROOM)
