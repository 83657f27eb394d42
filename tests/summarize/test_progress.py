"""The summariser tells of each task as it ends, through both of its drivers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from langchain_ctxcompress import ChatModelSummariser
from langchain_ctxcompress.summarize import CompressionTask, TaskResult
from tests.support.models import ScriptedChatModel

Run = Callable[..., list[TaskResult]]


def _sync(summariser: ChatModelSummariser, *args: Any, **options: Any) -> list[TaskResult]:
    return summariser.run(*args, **options)


def _async(summariser: ChatModelSummariser, *args: Any, **options: Any) -> list[TaskResult]:
    return asyncio.run(summariser.arun(*args, **options))


drivers = pytest.mark.parametrize("run", [_sync, _async], ids=["sync", "async"])


def tasks(number: int, **fields: Any) -> list[CompressionTask]:
    return [CompressionTask((HumanMessage(f"task {place}"),), 50, **fields) for place in range(number)]


@drivers
@pytest.mark.parametrize("number", [0, 1, 2, 25])
def test_each_task_is_told_of_once_with_its_own_result(run: Run, number: int) -> None:
    heard: list[tuple[int, TaskResult]] = []
    model = ScriptedChatModel(lambda prompt: f"answer to {prompt[0].text}")
    results = run(ChatModelSummariser(model), tasks(number), on_done=lambda *told: heard.append(told))
    assert [result.text for result in results] == [f"answer to task {place}" for place in range(number)]
    assert sorted(heard, key=lambda told: told[0]) == list(enumerate(results))


@drivers
def test_nobody_needs_to_listen(run: Run) -> None:
    assert [result.text for result in run(ChatModelSummariser(ScriptedChatModel("ok")), tasks(3))] == ["ok"] * 3


@drivers
def test_failures_are_told_of_too(run: Run) -> None:
    heard: list[TaskResult] = []
    summariser = ChatModelSummariser(ScriptedChatModel(RuntimeError("down")), attempts=1)
    run(summariser, tasks(3), on_done=lambda _, result: heard.append(result))
    assert [result.failure for result in heard] == ["error"] * 3


@drivers
@pytest.mark.parametrize("number", [1, 4])
def test_a_listener_that_raises_costs_no_result(run: Run, number: int, caplog: pytest.LogCaptureFixture) -> None:
    def on_done(*_: Any) -> None:
        raise ValueError("closed")

    results = run(ChatModelSummariser(ScriptedChatModel("ok")), tasks(number), on_done=on_done)
    assert [result.text for result in results] == ["ok"] * number
    assert caplog.text.count("progress callback failed") == number


@drivers
@pytest.mark.parametrize(("own", "of_the_task", "made"), [(2, None, 2), (2, 3, 3), (5, 1, 1)])
def test_a_task_may_have_its_own_number_of_attempts(run: Run, own: int, of_the_task: int | None, made: int) -> None:
    model = ScriptedChatModel(RuntimeError("down"))
    summariser = ChatModelSummariser(model, attempts=own, retry_wait=0)
    (result,) = run(summariser, tasks(1, max_attempts=of_the_task))
    assert (result.attempts, model.calls) == (made, made)
