"""What became of a list: the result, its outcome and its reason."""

from __future__ import annotations

import logging
import time
from typing import Any

from langchain_ctxcompress.engine.job import Job, Prepared
from langchain_ctxcompress.engine.result import CompressionResult, Outcome
from langchain_ctxcompress.engine.trust import reliability_of, validation_of
from langchain_ctxcompress.engine.weighing import costs_of
from langchain_ctxcompress.errors import ContextLimitError
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.messages import is_derived
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest, Reason
from langchain_ctxcompress.strategies.base import goals_of

logger = logging.getLogger("langchain_ctxcompress.compressor")


def as_given(job: Job, reason: Reason, tokens: int = 0, **known: Any) -> CompressionResult:
    """The result that leaves a list as it was given; `known` is what else is to be said of it."""
    fields = {"goals": job.goals or (), **known}
    return CompressionResult(list(job.messages), Outcome.NOOP, reason, tokens, tokens, **fields)


def result_of(job: Job, prepared: Prepared, draft: CompressionDraft, started: float) -> CompressionResult:
    """The result, its outcome and reason; raises where the caller wants an overflow raised."""
    request = prepared.request
    after = request.overhead_tokens + draft.tokens
    before = request.overhead_tokens + sum(job.tools.count(prepared.originals))
    outcome, reason = judge(prepared, draft, after, job.config)
    overflow = reason in (Reason.PROTECTED_SET_OVER_HARD_LIMIT, Reason.STILL_OVER_HARD_LIMIT)
    if overflow and job.config.on_overflow == "raise":
        raise ContextLimitError(overflow_text(request, draft, after), tokens=after, limit=job.config.hard_limit_tokens)
    kept_ids = {message.id for message in draft.messages if not is_derived(message)}
    kept = sum(1 for t in request.window.turns if not t.is_summary and any(m.id in kept_ids for m in t.messages))
    turns = sum(1 for turn in request.window.turns if not turn.is_summary)
    details = [rung.detail for rung in draft.rungs if rung.detail]
    if overflow:
        details.append(overflow_text(request, draft, after))
    reliability, warnings = reliability_of(job, draft)
    shown = request.after(draft).shown
    return CompressionResult(
        list(draft.messages),
        outcome,
        reason,
        before,
        after,
        checkpoint=draft.checkpoints[-1] if draft.checkpoints else None,
        checkpoints=draft.checkpoints,
        turns_kept=kept,
        turns_replaced=turns - kept,
        model_calls=draft.model_calls,
        seconds=time.monotonic() - started,
        background_seconds=draft.background_seconds,
        input_tokens=draft.input_tokens,
        output_tokens=draft.output_tokens,
        rungs=draft.rungs,
        detail="; ".join(details),
        validation=validation_of(job, draft, shown),
        reliability=reliability,
        warnings=warnings,
        goals=(goals_of(draft.checkpoints[-1]) if draft.checkpoints else request.goals).now,
        costs=costs_of(
            request,
            draft,
            read_tokens=draft.input_tokens - draft.cached_tokens,
            cached_tokens=draft.cached_tokens,
            written_tokens=draft.output_tokens,
        )
        if draft.messages != request.messages
        else None,
    )


def judge(prepared: Prepared, draft: CompressionDraft, after: int, config: PrunerConfig) -> tuple[Outcome, Reason]:
    """Outcome and reason of a draft."""
    changed = draft.messages != prepared.request.messages
    if after >= config.hard_limit_tokens:
        if draft.reason in (Reason.INVALID_RESULT, Reason.STRATEGY_FAILED):
            return Outcome.FAILED, draft.reason
        request = prepared.request
        protected = request.overhead_tokens + sum(request.sizes[place] for place in request.protected)
        over = draft.reason is Reason.PROTECTED_SET_OVER_HARD_LIMIT or protected >= config.hard_limit_tokens
        return Outcome.FAILED, Reason.PROTECTED_SET_OVER_HARD_LIMIT if over else Reason.STILL_OVER_HARD_LIMIT
    if changed:
        lesser = draft.degraded or draft.reason is Reason.EMERGENCY
        return (Outcome.DEGRADED if lesser else Outcome.APPLIED), draft.reason
    if draft.reason in (Reason.INVALID_RESULT, Reason.STRATEGY_FAILED):
        return Outcome.FAILED, draft.reason
    if not prepared.in_order:
        return Outcome.APPLIED, Reason.RESTORED if prepared.view.changed else Reason.REPAIRED
    return Outcome.NOOP, draft.reason


def overflow_text(request: CompressionRequest, draft: CompressionDraft, after: int) -> str:
    """The breakdown of what must stay, and the remedy."""
    kinds: dict[str, int] = {}
    for message, size in zip(draft.messages, draft.sizes, strict=True):
        kinds[message.type] = kinds.get(message.type, 0) + size
    parts = ", ".join(f"{kind} {size}" for kind, size in sorted(kinds.items(), key=lambda entry: -entry[1]))
    return (
        f"what must stay takes {after} tokens, the hard limit is {request.config.hard_limit_tokens}"
        f" (besides the messages {request.overhead_tokens}; by kind: {parts}): raise hard_limit_tokens, shorten the"
        " system prompt, unpin messages, or set cut_newest_human=True"
    )


def log_result(job: Job, result: CompressionResult) -> None:
    """Say in one line what became of a list, and why."""
    if result.reason is Reason.TRUNCATED and not job.session.warned:
        job.session.warned = True
        logger.warning(
            "session %s: at the hard limit of %d tokens turns were dropped without a summary (they are in the archive):"
            " the first %d, the last %d and what else must stay leave too little to summarise under the soft limit of"
            " %d. Raise the limits, or lower recent_turns",
            job.session_id,
            job.config.hard_limit_tokens,
            job.config.pinned_prefix_turns,
            job.config.recent_turns,
            job.config.soft_limit_tokens,
        )
    level = logging.INFO if result.changed else logging.DEBUG
    if not logger.isEnabledFor(level):
        return
    logger.log(
        level,
        "session %s: %s (%s), %d -> %d tokens, %d turns replaced, %d model calls, %.3f s",
        job.session_id,
        result.outcome,
        result.reason,
        result.tokens_before,
        result.tokens_after,
        result.turns_replaced,
        result.model_calls,
        result.seconds,
    )
