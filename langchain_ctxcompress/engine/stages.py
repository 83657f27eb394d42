"""The six stages as one generator: identify, prepare, summarise, checkpoint, update, validate.

It yields what has to be done outside (`StoreCall`, `ModelCall`) and is sent the results; the compressor's two drivers,
sync and async, carry them out. Everything between two yields is pure.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.engine.result import CompressionPlan, CompressionResult, Outcome
from langchain_ctxcompress.engine.sessions import Session
from langchain_ctxcompress.errors import ContextLimitError, CtxCompressError, InvalidMessagesError, StorageError
from langchain_ctxcompress.limits import PrunerConfig, PruneUrgency, classify_prune_urgency
from langchain_ctxcompress.messages import content_hash, ensure_ids, is_derived, is_summary, repair_messages
from langchain_ctxcompress.storage import CheckpointSummary, StoreSteps, View
from langchain_ctxcompress.strategies import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    Reason,
    Tools,
)
from langchain_ctxcompress.strategies.ageing import checkpoint_name
from langchain_ctxcompress.summarize import CompressionTask, TaskResult

if TYPE_CHECKING:
    from langgraph.store.base import Op

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreCall:
    """A batch of store operations to be carried out."""

    ops: list[Op]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Tasks to be run on the summariser."""

    tasks: list[CompressionTask]


Call = StoreCall | ModelCall
EngineSteps = Generator[Call, Any, T]


@dataclass(frozen=True)
class Job:
    """One compression: the list, whose it is, and with what it is compressed.

    Attributes:
        messages: The list as given.
        session: The archive and checkpoints it belongs to.
        config: The limits.
        strategy: How it gets smaller.
        tools: Counting and cutting.
        overhead_tokens: Size of what is sent besides the list.
        force: Compress whatever the limits say.
        instructions: The caller's own, for the summariser.
        summariser: Whether there is a chat model.
        summariser_window: Its window in tokens; `None` where it is not known.
    """

    messages: Sequence[BaseMessage]
    session: Session
    config: PrunerConfig
    strategy: CompressionStrategy
    tools: Tools
    overhead_tokens: int = 0
    force: bool = False
    instructions: str = ""
    summariser: bool = False
    summariser_window: int | None = None

    @property
    def session_id(self) -> str:
        """Whose conversation it is."""
        return self.session.history.session_id


@dataclass(frozen=True)
class Prepared:
    """The list in order: ids given, checkpoints applied, what was broken repaired, everything counted."""

    originals: list[BaseMessage]
    view: View
    orphans: tuple[BaseMessage, ...]
    request: CompressionRequest

    @property
    def in_order(self) -> bool:
        """Whether the list was in order as it came."""
        return not self.view.changed and list(map(id, self.request.messages)) == list(map(id, self.originals))


def compress(job: Job) -> EngineSteps[CompressionResult]:
    """All stages.

    Raises:
        InvalidMessagesError: The list holds something that is no message.
        TokenCountError: A message cannot be counted.
        ContextLimitError: What must stay is over the hard limit, and `on_overflow` says to raise.
    """
    started = time.monotonic()
    _check(job.messages)
    if not job.config.enabled:
        return _as_given(job, Reason.DISABLED)
    prepared = yield from _storing(_prepare(job))
    request = prepared.request
    if request.urgency is PruneUrgency.NONE:
        draft = request.unchanged(Reason.BELOW_SOFT_LIMIT, "none")
    else:
        draft = yield from _run(job, request)
    draft = _validated(request, draft)
    if prepared.orphans:
        draft = _with_orphans(prepared, draft)
    if prepared.in_order and draft.messages == request.messages:
        result = _result(job, prepared, draft, started)
        return replace(result, messages=list(job.messages))
    try:
        yield from _storing(job.session.record(prepared.view.messages, _finished(draft, prepared)))
    except StorageError as error:
        logger.warning("session %s: nothing is replaced, since it cannot be archived: %s", job.session_id, error)
        size = job.overhead_tokens + sum(job.tools.count(job.messages))
        return replace(_as_given(job, Reason.ARCHIVE_UNAVAILABLE, size), outcome=Outcome.FAILED, detail=str(error))
    return _result(job, prepared, draft, started)


def plan(job: Job) -> EngineSteps[CompressionPlan]:
    """Stages one and two: what would happen. Nothing is written and no model is called."""
    _check(job.messages)
    if not job.config.enabled:
        return CompressionPlan(
            PruneUrgency.NONE, job.overhead_tokens + sum(job.tools.count(job.messages)), Reason.DISABLED
        )
    request = (yield from _storing(_prepare(job))).request
    turns = request.window.turns
    basis = {"urgency": request.urgency, "tokens": request.tokens, "turns": len(turns)}
    if request.urgency is PruneUrgency.NONE:
        return CompressionPlan(**basis, reason=Reason.BELOW_SOFT_LIMIT)
    steps = job.strategy.run(request)
    tasks: list[CompressionTask] = []
    reason = Reason.COMPRESSED
    try:
        tasks = next(steps)
    except StopIteration as stop:
        reason = stop.value.reason
    finally:
        steps.close()
    replaced = [turn for turn in turns if turn.indices and set(turn.indices) & request.candidates]
    return CompressionPlan(
        **basis,
        reason=reason,
        candidate_turns=len(replaced),
        candidate_tokens=sum(request.sizes[place] for place in request.candidates),
        model_calls=len(tasks),
        model_tokens=sum(sum(job.tools.count(task.prompt)) for task in tasks),
    )


def view(job: Job) -> EngineSteps[list[BaseMessage]]:
    """The active context as the stored checkpoints make it."""
    _check(job.messages)
    found = yield from _storing(job.session.view(ensure_ids(job.messages, job.session_id)))
    return found.messages


def _check(messages: Sequence[BaseMessage]) -> None:
    for place, message in enumerate(messages):
        if not isinstance(message, BaseMessage):
            msg = (
                f"item {place} of messages is a {type(message).__name__}, not a LangChain message:"
                " convert the list with langchain_core.messages.convert_to_messages"
            )
            raise InvalidMessagesError(msg)


def _prepare(job: Job) -> StoreSteps[Prepared]:
    """Stage one: the list in order, and how urgent it is."""
    originals = ensure_ids(job.messages, job.session_id)
    view = yield from job.session.view(originals)
    repair = repair_messages(view.messages)
    messages = ensure_ids(repair.messages, job.session_id)
    head, chain = view.head, job.session.chain
    config = job.config.model_copy(update={"min_candidate_turns": 1}) if job.force else job.config
    request = CompressionRequest(
        tuple(messages),
        tuple(job.tools.count(messages)),
        config,
        PruneUrgency.NONE,
        job.tools,
        session_id=job.session_id,
        overhead_tokens=job.overhead_tokens,
        head=head,
        shown=chain.shown(head),
        next_number=chain.next_number,
        summariser=job.summariser,
        summariser_window=job.summariser_window,
        instructions=job.instructions,
    )
    urgency = classify_prune_urgency(request.window, config)
    if job.force and urgency is PruneUrgency.NONE:
        urgency = PruneUrgency.SOFT
    return Prepared(originals, view, repair.dropped, replace(request, urgency=urgency))


def _run(job: Job, request: CompressionRequest) -> EngineSteps[CompressionDraft]:
    """Stages two and three: the strategy, its tasks carried out. A strategy that fails changes nothing (law 4)."""
    steps = job.strategy.run(request)
    try:
        tasks = next(steps)
        while True:
            results: list[TaskResult] = yield ModelCall(tasks)
            tasks = steps.send(results)
    except StopIteration as stop:
        draft: CompressionDraft = stop.value
        return draft
    except CtxCompressError:
        raise
    except Exception as error:
        logger.exception("strategy %s failed; the list is left as it is", job.strategy.name)
        detail = f"{type(error).__name__}: {error}"
        return request.unchanged(Reason.STRATEGY_FAILED, job.strategy.name, detail)


def _validated(request: CompressionRequest, draft: CompressionDraft) -> CompressionDraft:
    """Stage six, before anything is applied: not larger, legal, nothing protected lost; else everything stays.

    The package's own strategies are legal by construction; this is for everybody's.
    """
    problem = ""
    if draft.tokens > sum(request.sizes):
        problem = "the result is larger"
    elif draft.messages != request.messages:
        repaired = repair_messages(draft.messages)
        ids = {message.id for message in draft.messages}
        if repaired.changed:
            problem = "the result is not legal"
        elif any(request.messages[place].id not in ids for place in request.protected):
            problem = "a protected message is missing"
        elif lost := _uncovered(request, draft, ids):
            problem = f"message {lost!r} left without being covered by a checkpoint"
    if not problem:
        return draft
    logger.error("the draft is refused: %s", problem)
    refused = request.unchanged(Reason.INVALID_RESULT, "validation", problem)
    return replace(refused, rungs=(*draft.rungs, *refused.rungs), model_calls=draft.model_calls)


def _uncovered(request: CompressionRequest, draft: CompressionDraft, ids: set[str | None]) -> str | None:
    covered = {message_id for record in draft.checkpoints for message_id in record.covered}
    gone = (m.id for m in request.messages if m.id not in ids and not is_summary(m))
    return next((message_id for message_id in gone if message_id not in covered), None)


def _with_orphans(prepared: Prepared, draft: CompressionDraft) -> CompressionDraft:
    """The draft with a checkpoint of level 0 in front that lists the orphan results that were dropped."""
    request = prepared.request
    covered = {message.id or "": content_hash(message) for message in prepared.orphans}
    record = CheckpointSummary(
        checkpoint_id=checkpoint_name(request.session_id, "orphans", *covered, *covered.values()),
        session_id=request.session_id,
        number=request.next_number,
        level=0,
        covered=covered,
        strategy="repair",
    )
    return replace(draft, checkpoints=(record, *draft.checkpoints))


def _finished(draft: CompressionDraft, prepared: Prepared) -> list[CheckpointSummary]:
    """Stage four: the checkpoints as they are stored; the last knows the final size."""
    if not draft.checkpoints:
        return []
    after = prepared.request.overhead_tokens + draft.tokens
    *earlier, last = draft.checkpoints
    return [*earlier, last.model_copy(update={"tokens_after": after})]


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


def _as_given(job: Job, reason: Reason, tokens: int = 0) -> CompressionResult:
    return CompressionResult(list(job.messages), Outcome.NOOP, reason, tokens, tokens)


def _result(job: Job, prepared: Prepared, draft: CompressionDraft, started: float) -> CompressionResult:
    """The result, its outcome and reason; raises where the caller wants an overflow raised."""
    request = prepared.request
    after = request.overhead_tokens + draft.tokens
    before = request.overhead_tokens + sum(job.tools.count(prepared.originals))
    outcome, reason = _judge(prepared, draft, after, job.config)
    if reason is Reason.PROTECTED_SET_OVER_HARD_LIMIT and job.config.on_overflow == "raise":
        raise ContextLimitError(_overflow_text(request, draft, after), tokens=after, limit=job.config.hard_limit_tokens)
    kept_ids = {message.id for message in draft.messages if not is_derived(message)}
    kept = sum(1 for t in request.window.turns if not t.is_summary and any(m.id in kept_ids for m in t.messages))
    turns = sum(1 for turn in request.window.turns if not turn.is_summary)
    details = [rung.detail for rung in draft.rungs if rung.detail]
    if reason is Reason.PROTECTED_SET_OVER_HARD_LIMIT:
        details.append(_overflow_text(request, draft, after))
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
        rungs=draft.rungs,
        detail="; ".join(details),
    )


def _judge(prepared: Prepared, draft: CompressionDraft, after: int, config: PrunerConfig) -> tuple[Outcome, Reason]:
    changed = draft.messages != prepared.request.messages
    if after >= config.hard_limit_tokens:
        failed = draft.reason in (Reason.INVALID_RESULT, Reason.STRATEGY_FAILED)
        return Outcome.FAILED, draft.reason if failed else Reason.PROTECTED_SET_OVER_HARD_LIMIT
    if changed:
        lesser = draft.degraded or draft.reason is Reason.EMERGENCY
        return (Outcome.DEGRADED if lesser else Outcome.APPLIED), draft.reason
    if draft.reason in (Reason.INVALID_RESULT, Reason.STRATEGY_FAILED):
        return Outcome.FAILED, draft.reason
    if not prepared.in_order:
        return Outcome.APPLIED, Reason.RESTORED if prepared.view.changed else Reason.REPAIRED
    return Outcome.NOOP, draft.reason


def _overflow_text(request: CompressionRequest, draft: CompressionDraft, after: int) -> str:
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
