"""Tasks and their results: what a strategy asks for and is sent."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from langchain_core.messages import HumanMessage

from langchain_ctxcompress.summarize import CompressionTask, TaskFailure, TaskResult, TaskStatus


def test_a_task_starts_pending_without_an_attempt() -> None:
    task = CompressionTask((HumanMessage("summarise"),), 100)
    assert (task.status, task.attempt, task.timeout) == (TaskStatus.PENDING, 0, None)
    with pytest.raises(FrozenInstanceError):
        task.attempt = 1  # type: ignore[misc]


@pytest.mark.parametrize("failure", list(TaskFailure))
def test_a_result_with_a_failure_is_not_ok_whatever_it_says(failure: TaskFailure) -> None:
    assert not TaskResult("some text", failure).ok


def test_a_result_without_a_failure_is_ok() -> None:
    assert TaskResult("some text").ok
