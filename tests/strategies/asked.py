"""A summary that is being written: what is asked for, and what comes of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.strategies.base import (
    CompressionRequest,
)
from langchain_ctxcompress.strategies.summarising import WrittenSummary, write_summary
from langchain_ctxcompress.summarize import CompressionTask, SummaryBudget, TaskFailure, TaskResult
from tests.strategies.lettered import limits, of

BUDGET = SummaryBudget(3, 60, 100)
PLAIN = "The user asked for one thing after the other."


def asking(messages: Sequence[BaseMessage], **fields: Any) -> CompressionRequest:
    return of(messages, limits(500, 9_000), summariser=True, **fields)


class Asked:
    """A summary that is being written: what is asked for, and what comes of the answers."""

    def __init__(self, request: CompressionRequest, source: Sequence[BaseMessage] | None = None, **fields: Any) -> None:
        budget = fields.pop("budget", BUDGET)
        self._steps = write_summary(request, source or request.messages, budget, fields.pop("earlier", ""), **fields)
        self.tasks: list[CompressionTask] = []
        self.summary: WrittenSummary | None = None
        self._next(None)

    def _next(self, results: Any) -> None:
        try:
            self.tasks = next(self._steps) if results is None else self._steps.send(results)
        except StopIteration as stop:
            self.tasks, self.summary = [], stop.value

    def answer(self, *results: str | TaskResult) -> Asked:
        self._next([TaskResult(one) if isinstance(one, str) else one for one in results])
        return self

    def shown(self) -> list[int]:
        """How much of the conversation each part shows, its frame included."""
        return [len(task.prompt[-1].text) for task in self.tasks]

    def said(self, place: int = 0) -> str:
        return "\n".join(message.text for message in self.tasks[place].prompt)


def failed(failure: TaskFailure = TaskFailure.ERROR, detail: str = "", attempts: int = 1) -> TaskResult:
    return TaskResult("", failure, detail, attempts=attempts)
