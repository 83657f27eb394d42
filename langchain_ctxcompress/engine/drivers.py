"""The two thin drivers: they carry out what the engine asks for, one blocking, one on the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_ctxcompress.engine.cooldown import CoolDown
from langchain_ctxcompress.engine.job import EngineSteps, StoreCall
from langchain_ctxcompress.errors import CtxCompressError
from langchain_ctxcompress.storage import aexecute, execute
from langchain_ctxcompress.summarize import ChatModelSummariser, CompressionTask, TaskFailure, TaskResult

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

T = TypeVar("T")


class Driver:
    """Runs the engine's store calls on a store and its model calls on the summariser.

    Args:
        summariser: The chat-model summariser; `None` where there is none.
        cooldown: When it is left alone.
    """

    def __init__(self, summariser: ChatModelSummariser | None, cooldown: CoolDown) -> None:
        self.summariser = summariser
        self.cooldown = cooldown

    def run(self, steps: EngineSteps[T], store: BaseStore) -> T:
        """Carry out the engine's calls, blocking."""
        answers: list[TaskResult] = []
        try:
            call = next(steps)
            while True:
                try:
                    if isinstance(call, StoreCall):
                        results: list[Any] = execute(store, call.ops)
                    else:
                        asked = self._asked()
                        results = answers = asked.run(call.tasks) if asked else _left_alone(call.tasks)
                except CtxCompressError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(results)
        except StopIteration as stop:
            value: T = stop.value
            return value
        finally:
            self.cooldown.note(answers)

    async def arun(self, steps: EngineSteps[T], store: BaseStore) -> T:
        """Carry out the engine's calls on the loop."""
        answers: list[TaskResult] = []
        try:
            call = next(steps)
            while True:
                try:
                    if isinstance(call, StoreCall):
                        results: list[Any] = await aexecute(store, call.ops)
                    else:
                        asked = self._asked()
                        results = answers = await asked.arun(call.tasks) if asked else _left_alone(call.tasks)
                except CtxCompressError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(results)
        except StopIteration as stop:
            value: T = stop.value
            return value
        finally:
            self.cooldown.note(answers)

    def _asked(self) -> ChatModelSummariser | None:
        """The summariser, unless there is none or it is left alone."""
        return None if self.cooldown.active else self.summariser


def _left_alone(tasks: Sequence[CompressionTask]) -> list[TaskResult]:
    alone = TaskResult(failure=TaskFailure.COOLING_DOWN, detail="the summariser is cooling down", attempts=0)
    return [alone] * len(tasks)
