"""B8: tries, time-outs, many tasks at once and their progress."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.bands_concurrency import measure
from langchain_ctxcompress import (
    BandTask,
    ChatModelSummariser,
    compress_messages,
)
from tests.strategies.band_doors import ALL, HEAVY, Door, doors, quick, said
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel


@doors
@pytest.mark.parametrize(("errors", "status", "attempts"), [(1, "succeeded", 2), (2, "succeeded", 3), (9, "failed", 3)])
def test_an_error_is_tried_again_up_to_three_times(door: Door, errors: int, status: str, attempts: int) -> None:
    """B8."""
    messages = [AIMessage("A long remark. " * 20), HumanMessage("new")]
    replies = [*[RuntimeError("down")] * errors, "short"]
    summariser = quick(replies)
    (task,) = door(messages, ALL, summariser).tasks
    assert (task.status, task.attempt) == (status, attempts)
    assert summariser.model.calls == attempts
    if status == "failed":
        assert task.failure == "error"
        assert "RuntimeError" in task.detail


@doors
def test_a_call_that_hangs_is_given_up_and_tried_again_with_more_time(door: Door) -> None:
    """B8: the timeout grows with each attempt."""
    messages = [AIMessage("A long remark. " * 20), HumanMessage("new")]
    given: list[float] = []

    class Watched(ChatModelSummariser):
        def _seconds(self, task: Any, number: int) -> float:
            given.append(super()._seconds(task, number))
            return given[-1]

    model = ScriptedChatModel("short", delay=30)
    try:
        (task,) = door(messages, ALL, Watched(model, retry_wait=0), timeout=0.02).tasks
    finally:
        model.release()
    assert (task.status, task.failure, task.attempt) == ("failed", "timeout", 3)
    assert given == [0.02, 0.04, 0.08]


def test_a_task_has_5_seconds_and_3_attempts_whatever_the_summariser_does_elsewhere() -> None:
    """B8."""
    given: list[tuple[float | None, int | None]] = []

    class Watched(ChatModelSummariser):
        def run(self, tasks: Any, **options: Any) -> Any:
            given.extend((task.timeout, task.max_attempts) for task in tasks)
            return super().run(tasks, **options)

    compress_messages(exchanges(2, words=40), ALL, Watched(ScriptedChatModel("short"), timeout=60, attempts=1))
    assert set(given) == {(5.0, 3)}


@pytest.mark.parametrize(("concurrency", "delay"), [(1, 0.02), (4, 0.5), (8, 0.5)])
def test_tasks_run_at_once_and_not_more_of_them_than_allowed(concurrency: int, delay: float) -> None:
    """B8, with the benchmark's own model."""
    for run in measure(tasks=8, delay=delay, concurrency=concurrency):
        assert (run.tasks, run.peak) == (8, concurrency)


@doors
def test_ten_at_once_by_default(door: Door) -> None:
    """B8."""
    model = ScriptedChatModel("short", delay=0.5)
    assert door(exchanges(12, words=40), ALL, model).stats.compressed == 23
    assert model.peak == 10


@doors
@pytest.mark.parametrize("model", [None, "short"], ids=["extractive", "model"])
def test_progress_is_reported_as_tasks_end(door: Door, model: str | None) -> None:
    """B8."""
    messages = exchanges(6, words=40)
    heard: list[tuple[BandTask, int, int]] = []
    threads: set[int] = set()

    def on_progress(task: BandTask, ended: int, total: int) -> None:
        threads.add(threading.get_ident())
        heard.append((task, ended, total))

    scripted = ScriptedChatModel(model) if model else None
    result = door(messages, ALL, scripted, on_progress=on_progress)
    assert [(ended, total) for _, ended, total in heard] == [(number, 11) for number in range(1, 12)]
    assert sorted((task for task, *_ in heard), key=lambda task: task.message_index) == list(result.tasks)
    assert threads == {threading.get_ident()}


def test_progress_does_not_wait_for_the_last_task() -> None:
    """The first task that ends is heard of while another is still under way."""
    heard = threading.Event()
    slow = exchanges(1, words=40)[0].text

    def reply(prompt: Sequence[BaseMessage]) -> str:
        if said(prompt) == slow:
            assert heard.wait(20), "nothing was heard of the task that ended"
        return "short"

    messages = exchanges(2, words=40)
    result = compress_messages(
        messages, ALL, ScriptedChatModel(reply), timeout=30, attempts=1, on_progress=lambda *_: heard.set()
    )
    assert result.stats.compressed == 3


@doors
@pytest.mark.parametrize("model", [None, "short"], ids=["extractive", "model"])
def test_a_progress_callback_that_raises_costs_nothing(
    door: Door, model: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    def on_progress(*_: Any) -> None:
        raise RuntimeError("the bar is closed")

    scripted = ScriptedChatModel(model) if model else None
    result = door(exchanges(3, words=40), HEAVY, scripted, on_progress=on_progress)
    assert result.stats.compressed == 5
    assert "progress callback failed" in caplog.text
