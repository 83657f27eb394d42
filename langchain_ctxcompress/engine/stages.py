"""The six stages as one generator: identify, prepare, summarise, checkpoint, update, validate.

It yields what has to be done outside (`StoreCall`, `ModelCall`) and is sent the results; the compressor's two drivers,
sync and async, carry them out. Everything between two yields is pure.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.engine.background import Background
from langchain_ctxcompress.engine.checking import check_given
from langchain_ctxcompress.engine.checkpointing import finished, with_orphans
from langchain_ctxcompress.engine.deferring import defers, has_work, start, started_event, take_up, under_way
from langchain_ctxcompress.engine.events import event_of
from langchain_ctxcompress.engine.idle import Seen, stale_in
from langchain_ctxcompress.engine.job import EngineSteps, Job, ModelCall, Prepared, ReportCall, SpanCall, StoreCall
from langchain_ctxcompress.engine.result import CompressionPlan, CompressionResult, Outcome
from langchain_ctxcompress.engine.sessions import Session
from langchain_ctxcompress.engine.validation import validated
from langchain_ctxcompress.engine.verdict import as_given, result_of
from langchain_ctxcompress.engine.weighing import early, foresee, priced, refused, weighed
from langchain_ctxcompress.errors import CtxCompressError, StorageError, describe
from langchain_ctxcompress.limits import ContextWindow, PrunerConfig, PruneUrgency, classify_prune_urgency
from langchain_ctxcompress.messages import Repair, ensure_ids, repair_messages
from langchain_ctxcompress.storage import StoreSteps, guard_messages
from langchain_ctxcompress.strategies import (
    CompressionDraft,
    CompressionRequest,
    Reason,
)
from langchain_ctxcompress.strategies.base import goals_of
from langchain_ctxcompress.summarize import TaskResult
from langchain_ctxcompress.tokens import Measured

logger = logging.getLogger(__name__)
T = TypeVar("T")


def compress(job: Job) -> EngineSteps[CompressionResult]:
    """All stages, and an event at the end where a compression was due.

    Raises:
        InvalidMessagesError: The list holds something that is no message.
        TokenCountError: A message cannot be counted.
        ContextLimitError: What must stay is over the hard limit, and `on_overflow` says to raise.
    """
    result = yield from _compress(job)
    event = event_of(job.session_id, result)
    if event is not None:
        yield ReportCall(event)
    return result


def _compress(job: Job) -> EngineSteps[CompressionResult]:
    started = time.monotonic()
    if not job.config.enabled:
        check_given(job.messages)
        return as_given(job, Reason.DISABLED)
    if (seen := job.session.seen) is not None and job.session.chain.partial:
        # A message that comes back is told by the store; it was asked for those that were there before.
        start = seen.behind(job.messages)
        check_given(job.messages, start)
        yield from _storing(job.session.look([*seen.standing, *job.messages[start:]] if start else job.messages))
    if (same := idle(job)) is not None:
        return same
    check_given(job.messages)
    prepared = yield from _storing(_prepare(job))
    request = prepared.request
    draft = yield from _drafted(job, request)
    if prepared.orphans:
        draft = with_orphans(prepared, draft)
    if prepared.in_order and draft.messages == request.messages:
        result = result_of(job, prepared, draft, started)
        if draft.reason in (Reason.BELOW_SOFT_LIMIT, Reason.IN_BACKGROUND) and not prepared.orphans:
            job.session.seen = Seen.of(prepared.measured, result.turns_kept, request.head)
        return replace(result, messages=list(job.messages))
    draft = replace(draft, checkpoints=finished(draft, prepared))
    try:
        view = prepared.view
        records = job.session.record(view.originals, draft.checkpoints, draft.actions, view.remnants)
        saved = yield from _storing(records)
    except StorageError as error:
        logger.warning("session %s: nothing is replaced, since it cannot be archived: %s", job.session_id, error)
        return _unarchived(job, prepared, str(error))
    return replace(result_of(job, prepared, draft, started), snapshots=tuple(saved))


def _unarchived(job: Job, prepared: Prepared, detail: str) -> CompressionResult:
    """The result where the store failed: nothing new is replaced. What was replaced and archived before stays so."""
    size = job.overhead_tokens + sum(job.tools.count(job.messages))
    result = replace(as_given(job, Reason.ARCHIVE_UNAVAILABLE, size), outcome=Outcome.FAILED, detail=detail)
    if not prepared.view.changed or prepared.orphans:
        return result
    after = job.overhead_tokens + sum(prepared.request.sizes)
    return replace(result, messages=list(prepared.request.messages), tokens_after=after)


def at_once(job: Job) -> CompressionResult | None:
    """The result of most steps, for which nothing is to be carried out; `None` where `compress` has to look."""
    known = job.session.seen is not None and not job.session.chain.partial
    return idle(job) if known and job.config.enabled else None


def idle(job: Job) -> CompressionResult | None:
    """The result for a list that only grew and is still under its soft limit; `None` where there is more to look at.

    Raises:
        StorageBoundaryError: A message that came to it holds what is never sent.
    """
    started = time.monotonic()
    if job.force:
        job.session.seen = None
        return None
    found = settled(
        job.session,
        job.messages,
        job.config,
        job.tools.count,
        overhead_tokens=job.overhead_tokens,
        background=job.background,
    )
    if found is None:
        return None
    now, tokens, reason = found
    goals = now.goals.with_given(job.goals).now
    return as_given(job, reason, tokens, turns_kept=now.turns(), seconds=time.monotonic() - started, goals=goals)


def settled(
    session: Session,
    messages: Sequence[BaseMessage],
    config: PrunerConfig,
    count: Callable[[Sequence[BaseMessage]], list[int]],
    *,
    overhead_tokens: int = 0,
    background: Background | None = None,
) -> tuple[Seen, int, Reason] | None:
    """A list that only grew and needs nothing now: what is remembered of it, its size in tokens, and why it stays.

    Args:
        session: Whose list it is; the list is remembered there, or forgotten where there is more to look at.
        messages: The list.
        config: The limits.
        count: Sizes of messages, in tokens.
        overhead_tokens: Size of what is sent besides the list.
        background: Where its compression may be under way.

    Raises:
        StorageBoundaryError: A message that came to it holds what is never sent.
    """
    before, session.seen = session.seen, None
    if before is None:
        return None
    guard_messages(messages, start=len(before.measured.messages))
    now = before.grown(messages, session.chain, count)
    if now is None:
        return None
    tokens = now.tokens(overhead_tokens)
    reason = Reason.BELOW_SOFT_LIMIT
    session_id = session.history.session_id
    if config.economic and (tokens >= session.weigh_from or has_work(background, session_id)):
        return None
    if tokens >= config.soft_limit_tokens:
        if tokens >= config.hard_limit_tokens or not under_way(background, session_id):
            return None
        reason = Reason.IN_BACKGROUND
    session.seen = now
    return now, tokens, reason


def _drafted(job: Job, request: CompressionRequest) -> EngineSteps[CompressionDraft]:
    """The draft of a list: what the background made of it, else what the strategy makes of it now."""
    calm = request.urgency is PruneUrgency.NONE
    if calm and job.config.economic and has_work(job.background, job.session_id):
        request = replace(request, urgency=PruneUrgency.SOFT)
    draft = yield from take_up(job, request)
    if draft is not None:
        step = request.after(draft)
        if step.tokens < request.config.hard_limit_tokens:
            return draft
        return validated(request, draft.then((yield from _run(job, step))))
    if calm:
        found = early(job, request) if job.config.economic else None
        if not isinstance(found, CompressionRequest):
            return validated(request, found) if found else request.unchanged(Reason.BELOW_SOFT_LIMIT, "none")
        request = found
    elif (kept := refused(job, request)) is not None:
        return kept
    if defers(job, request):
        return (yield from start(job, request, _run(job, request)))
    if request.summariser and request.candidates:
        yield ReportCall(started_event(job, request))
    return validated(request, (yield from _run(job, request)))


def plan(job: Job) -> EngineSteps[CompressionPlan]:
    """Stages one and two: what would happen. Nothing is written and no model is called."""
    check_given(job.messages)
    if not job.config.enabled:
        return CompressionPlan(
            PruneUrgency.NONE, job.overhead_tokens + sum(job.tools.count(job.messages)), Reason.DISABLED
        )
    request = (yield from _storing(_prepare(job))).request
    turns = request.window.turns
    basis = CompressionPlan(request.urgency, request.tokens, Reason.COMPRESSED, turns=len(turns))
    if request.urgency is PruneUrgency.NONE:
        best = weighed(job, request) if job.config.economic else None
        if best is None or best.costs.gain <= 0:
            return replace(basis, reason=Reason.BELOW_SOFT_LIMIT)
        request = best.request
    elif (kept := refused(job, request, remember=False)) is not None:
        return replace(basis, reason=kept.reason)
    seen = foresee(job.strategy, request)
    reason = Reason.COMPRESSED
    if not seen.tasks:
        reason = Reason.STRATEGY_FAILED if seen.draft is None else seen.draft.reason
    replaced = [turn for turn in turns if turn.indices and set(turn.indices) & request.candidates]
    return replace(
        basis,
        reason=reason,
        candidate_turns=len(replaced),
        candidate_tokens=sum(request.sizes[place] for place in request.candidates),
        model_calls=len(seen.tasks),
        model_tokens=sum(sum(job.tools.count(task.prompt)) for task in seen.tasks),
        tokens_after=request.overhead_tokens + seen.draft.tokens if seen.draft else request.tokens,
        costs=priced(request, seen),
    )


def _prepare(job: Job) -> StoreSteps[Prepared]:
    """Stage one: the list in order, and how urgent it is."""
    originals = ensure_ids(job.messages, job.session_id)
    view = yield from job.session.view(originals)
    repair = repair_messages(view.messages)
    if not repair.messages:  # results and nothing else (D6): no list at all is worse for a model than this one
        repair = Repair(list(view.messages))
    messages = ensure_ids(repair.messages, job.session_id)
    head, chain = view.head, job.session.chain
    config = job.config.model_copy(update={"min_candidate_turns": 1}) if job.force else job.config
    sizes = job.tools.count(messages)
    measured = Measured.of(messages, sizes, stale=stale_in(messages, head))
    request = CompressionRequest(
        measured.messages,
        tuple(sizes),
        config,
        PruneUrgency.NONE,
        job.tools,
        session_id=job.session_id,
        # What the provider was sent beyond what is counted here takes room, too.
        overhead_tokens=job.overhead_tokens + measured.unseen(job.overhead_tokens),
        head=head,
        shown=chain.shown(head),
        next_number=chain.next_number,
        summariser=job.summariser,
        summariser_window=job.summariser_window,
        instructions=job.instructions,
        agent=job.prefix,
        mode=job.mode,
        goals=goals_of(head).with_given(job.goals),
    )
    # The size alone decides: turns are told apart only where something is to be compressed.
    urgency = classify_prune_urgency(ContextWindow(total_token_estimate=request.tokens), config)
    if job.force and urgency is PruneUrgency.NONE:
        urgency = PruneUrgency.SOFT
    return Prepared(originals, view, repair.dropped, replace(request, urgency=urgency), measured)


def _run(job: Job, request: CompressionRequest) -> EngineSteps[CompressionDraft]:
    """Stages two and three: the strategy, its tasks carried out. A strategy that fails changes nothing (law 4)."""
    steps = job.strategy.run(request)
    read = written = cached = 0
    yield SpanCall(job.session_id, request.tokens)
    try:
        tasks = next(steps)
        while True:
            results: list[TaskResult] = yield ModelCall(tasks)
            read += sum(result.input_tokens for result in results)
            written += sum(result.output_tokens for result in results)
            cached += sum(result.cached_tokens for result in results)
            tasks = steps.send(results)
    except StopIteration as stop:
        if isinstance(stop.value, CompressionDraft):
            return replace(stop.value, input_tokens=read, output_tokens=written, cached_tokens=cached)
        detail = f"it returned a {type(stop.value).__name__}, not a CompressionDraft"
    except CtxCompressError:
        raise
    except Exception as error:  # noqa: BLE001 - a strategy may be anybody's (law 4)
        detail = describe(error)
    logger.error("the list is left as it is: strategy %s failed: %s", job.strategy.name, detail)
    return request.unchanged(Reason.STRATEGY_FAILED, job.strategy.name, detail)


def _storing(steps: StoreSteps[T]) -> EngineSteps[T]:
    """A storage routine as part of the engine: its batches become store calls."""
    try:
        ops = next(steps)
        while True:
            try:
                results = yield StoreCall(ops)
            except CtxCompressError as error:
                ops = steps.throw(error)
            else:
                ops = steps.send(results)
    except StopIteration as stop:
        value: T = stop.value
        return value
