"""The two thin drivers: they carry out what the engine asks for, one blocking, one on the loop."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langchain_ctxcompress.engine.cooldown import CoolDown
from langchain_ctxcompress.engine.events import EventCallback, EventSink, Telling
from langchain_ctxcompress.engine.job import (
    Call,
    EngineSteps,
    ModelCall,
    ReportCall,
    SpanCall,
    StartCall,
    StoreCall,
    WaitCall,
)
from langchain_ctxcompress.errors import CtxCompressError
from langchain_ctxcompress.storage import aexecute, execute
from langchain_ctxcompress.summarize import ChatModelSummariser, CompressionTask, TaskFailure, TaskResult
from langchain_ctxcompress.summarize.tracing import span

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

T = TypeVar("T")


class Driver:
    """Runs the engine's store calls on a store and its model calls on the summariser.

    Args:
        summariser: The chat-model summariser; `None` where there is none.
        cooldown: When it is left alone.
        on_event: Told of every event.
    """

    def __init__(
        self, summariser: ChatModelSummariser | None, cooldown: CoolDown, on_event: EventCallback | None = None
    ) -> None:
        self.summariser = summariser
        self.cooldown = cooldown
        self.on_event = on_event

    def run(self, steps: EngineSteps[T], store: BaseStore | None, sink: EventSink | None = None) -> T:
        """Carry out the engine's calls, blocking.

        Args:
            steps: What the engine does.
            store: Where it archives; `None` where it does not.
            sink: Takes the events, besides the compressor's callback.
        """
        answers: list[TaskResult] = []
        telling = Telling(self.on_event, sink)
        with ExitStack() as spans:
            try:
                call = next(steps)
                while True:
                    try:
                        results = self._carry(call, store, telling, spans)
                        if isinstance(call, ModelCall):
                            answers = results
                    except CtxCompressError as error:
                        call = steps.throw(error)
                    else:
                        call = steps.send(results)
            except StopIteration as stop:
                value: T = stop.value
                return value
            finally:
                steps.close()  # now, and not when an interrupted step's frames are collected
                self.cooldown.note(answers)

    async def arun(
        self, steps: EngineSteps[T], store: BaseStore | None, sink: EventSink | None = None, *, offload: bool = False
    ) -> T:
        """Carry out the engine's calls on the loop.

        Args:
            steps: What the engine does.
            store: As in `run`.
            sink: As in `run`.
            offload: Whether what the engine does between two calls is done in a thread, so that the loop goes on.
        """
        answers: list[TaskResult] = []
        answer: Any = None
        failed: CtxCompressError | None = None
        telling = Telling(self.on_event, sink)
        with ExitStack() as spans:
            try:
                while True:
                    moved = await _moved(steps, answer, failed) if offload else _move(steps, answer, failed)
                    if isinstance(moved, _Returned):
                        value: T = moved.value
                        return value
                    answer, failed = None, None
                    try:
                        answer = await self._acarry(moved, store, telling, spans)
                        if isinstance(moved, ModelCall):
                            answers = answer
                    except CtxCompressError as error:
                        failed = error
            finally:
                if not offload:  # a thread may be at it still
                    steps.close()
                self.cooldown.note(answers)

    def _carry(self, call: Call, store: BaseStore | None, telling: Telling, spans: ExitStack) -> Any:
        if isinstance(call, ModelCall):
            asked = self._asked()
            return asked.run(call.tasks) if asked else _left_alone(call.tasks)
        if isinstance(call, StoreCall):
            return execute(cast("BaseStore", store), call.ops)
        if isinstance(call, StartCall):
            return call.background.start(call.session_id, call.work, call.steps, self)
        if isinstance(call, WaitCall):
            return call.work.wait()
        return telling.tell(call.event) if isinstance(call, ReportCall) else _open(spans, call)

    async def _acarry(self, call: Call, store: BaseStore | None, telling: Telling, spans: ExitStack) -> Any:
        if isinstance(call, ModelCall):
            asked = self._asked()
            return await asked.arun(call.tasks) if asked else _left_alone(call.tasks)
        if isinstance(call, StoreCall):
            return await aexecute(cast("BaseStore", store), call.ops)
        if isinstance(call, StartCall):
            return call.background.astart(call.session_id, call.work, call.steps, self)
        if isinstance(call, WaitCall):
            return await call.work.await_()
        return await telling.atell(call.event) if isinstance(call, ReportCall) else _open(spans, call)

    def _asked(self) -> ChatModelSummariser | None:
        """The summariser, unless there is none or it is left alone."""
        return None if self.cooldown.active else self.summariser


def _left_alone(tasks: Sequence[CompressionTask]) -> list[TaskResult]:
    alone = TaskResult(failure=TaskFailure.COOLING_DOWN, detail="the summariser is cooling down", attempts=0)
    return [alone] * len(tasks)


def _open(spans: ExitStack, call: SpanCall) -> None:
    """Open the span of a compression; it ends with the run."""
    about = {"ctxcompress.session_id": call.session_id, "ctxcompress.tokens_before": call.tokens}
    spans.enter_context(span("ctxcompress compress", about))


@dataclass(frozen=True, slots=True)
class _Returned:
    """What steps came to."""

    value: Any


def _move(steps: EngineSteps[Any], answer: Any, failed: CtxCompressError | None) -> Call | _Returned:
    """The next call, or the end: as a value, since a `StopIteration` cannot leave a thread's future."""
    try:
        return steps.send(answer) if failed is None else steps.throw(failed)
    except StopIteration as stop:
        return _Returned(stop.value)


async def _moved(steps: EngineSteps[Any], answer: Any, failed: CtxCompressError | None) -> Call | _Returned:
    import asyncio

    return await asyncio.to_thread(_move, steps, answer, failed)
