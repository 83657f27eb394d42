"""When a compression is left to the background, and when what came of it is taken up."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from langchain_ctxcompress.engine.adopting import adopt, continues, could_fit
from langchain_ctxcompress.engine.background import Background, Drafted, Work
from langchain_ctxcompress.engine.events import STARTED, CompressionEvent, EventKind
from langchain_ctxcompress.engine.job import EngineSteps, Job, ReportCall, StartCall, WaitCall
from langchain_ctxcompress.engine.validation import validated
from langchain_ctxcompress.limits import PruneUrgency
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest, Reason

logger = logging.getLogger("langchain_ctxcompress.compressor")


def defers(job: Job, request: CompressionRequest) -> bool:
    """Whether the work is to be done in the background: it is not pressing, and there is a model to wait for."""
    pressing = job.force or request.urgency is not PruneUrgency.SOFT
    return job.background is not None and not pressing and request.summariser and bool(request.candidates)


def has_work(background: Background | None, session_id: str) -> bool:
    """Whether the session has a job, under way or done."""
    return background is not None and background.of(session_id) is not None


def under_way(background: Background | None, session_id: str) -> bool:
    """Whether a job of the session is at work and has not ended."""
    work = background.of(session_id) if background else None
    return work is not None and not work.done


def start(job: Job, request: CompressionRequest, steps: EngineSteps[CompressionDraft]) -> EngineSteps[CompressionDraft]:
    """Start the work; the list goes on unchanged.

    Args:
        job: The step.
        request: The list.
        steps: The work.
    """
    if job.background is None:
        return (yield from steps)
    if job.background.rests(job.session_id, request.tokens):
        return request.unchanged(Reason.NOT_SMALLER, "background", "the last attempt freed nothing")
    drafting = _timed(job, request, steps)
    started = yield StartCall(job.background, job.session_id, Work(request), drafting)
    if started:
        yield ReportCall(started_event(job, request, background=True))
        logger.info("session %s: at %d tokens a compression starts in the background", job.session_id, request.tokens)
    return request.unchanged(Reason.IN_BACKGROUND, "background", STARTED if started else "no room for one more job")


def started_event(job: Job, request: CompressionRequest, *, background: bool = False) -> CompressionEvent:
    """The event that says that work starts."""
    return CompressionEvent(
        kind=EventKind.STARTED, session_id=job.session_id, background=background, tokens_before=request.tokens
    )


def take_up(job: Job, request: CompressionRequest) -> EngineSteps[CompressionDraft | None]:
    """What the background made of the list; `None` where there is nothing that holds.

    A step at the hard limit waits for a job that is under way, if what it can free will do.
    """
    background, session_id = job.background, job.session_id
    work = background.of(session_id) if background else None
    if background is None or work is None or request.urgency is PruneUrgency.NONE:
        return None
    if job.force:
        background.drop(session_id, work, "a compression was asked for")
        return None
    if not work.done:
        if request.urgency is PruneUrgency.SOFT:
            return request.unchanged(Reason.IN_BACKGROUND, "background", "under way")
        will_do = continues(work.request.messages, request.messages) and could_fit(work.request, request)
        if not (will_do and (yield WaitCall(work))):
            background.drop(session_id, work, "the list is over its hard limit, and it would not be enough")
            return None
    drafted = background.take(session_id, work)
    return _adopted(job, request, background, drafted) if drafted is not None else None


def _adopted(
    job: Job, request: CompressionRequest, background: Background, drafted: Drafted
) -> CompressionDraft | None:
    adopted = adopt(drafted, request, job.session.chain)
    if adopted is not None and not adopted.checkpoints:
        background.rest(job.session_id, request)
        return adopted if request.urgency is PruneUrgency.SOFT else None
    draft = validated(request, adopted) if adopted is not None else None
    if draft is None or draft.reason is Reason.INVALID_RESULT:
        background.counts["dropped"] += 1
        logger.info("session %s: a compression from the background is dropped: the list changed", job.session_id)
        return None
    whole = continues(drafted.request.messages, request.messages)
    background.counts["applied" if whole else "partly"] += 1
    return replace(draft, background_seconds=drafted.seconds)


def _timed(job: Job, request: CompressionRequest, steps: EngineSteps[CompressionDraft]) -> EngineSteps[Drafted]:
    """The work as a job: its draft, checked, and what it was made for."""
    epoch, started = job.session.epoch, time.monotonic()
    draft = validated(request, (yield from steps))
    seconds = time.monotonic() - started
    yield ReportCall(
        CompressionEvent(
            kind=EventKind.READY,
            session_id=job.session_id,
            reason=str(draft.reason),
            background=True,
            tokens_before=request.tokens,
            tokens_after=request.overhead_tokens + draft.tokens,
            seconds=seconds,
            model_calls=draft.model_calls,
            input_tokens=draft.input_tokens,
            output_tokens=draft.output_tokens,
        )
    )
    return Drafted(request, draft, job.session, epoch, seconds)
