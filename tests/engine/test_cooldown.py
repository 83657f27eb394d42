"""The cool-down: three failed compressions in a row, one minute, a clock that tests set."""

from __future__ import annotations

import threading

import pytest

from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.engine.cooldown import FAILURES, SECONDS
from langchain_ctxcompress.summarize import TaskFailure, TaskResult

GOOD, BAD = TaskResult("ok"), TaskResult(failure=TaskFailure.ERROR)
LEFT_ALONE = TaskResult(failure=TaskFailure.COOLING_DOWN)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_defaults() -> None:
    assert (FAILURES, SECONDS) == (3, 60.0)
    assert not CoolDown().active


@pytest.mark.parametrize("failures", [1, 2, 3, 5])
def test_so_many_failures_in_a_row_start_it_and_it_ends(failures: int) -> None:
    clock = Clock()
    cooldown = CoolDown(failures, 10.0, clock)
    for _ in range(failures - 1):
        cooldown.note([BAD])
        assert not cooldown.active
    cooldown.note([BAD])
    assert cooldown.active
    clock.now = 9.99
    assert cooldown.active
    clock.now = 10.0
    assert not cooldown.active
    for _ in range(failures - 1):
        cooldown.note([BAD])
    assert not cooldown.active, "counting starts anew"


def test_a_success_between_starts_the_count_anew() -> None:
    cooldown = CoolDown(2, 10.0, Clock())
    for results in ([BAD], [GOOD], [BAD], [GOOD, GOOD]):
        cooldown.note(results)
    assert not cooldown.active


def test_one_failed_task_of_a_round_is_a_failed_round() -> None:
    cooldown = CoolDown(1, 10.0, Clock())
    cooldown.note([GOOD, BAD, GOOD])
    assert cooldown.active


def test_a_round_that_asked_nobody_does_not_count() -> None:
    cooldown = CoolDown(2, 10.0, Clock())
    cooldown.note([BAD])
    cooldown.note([])
    cooldown.note([LEFT_ALONE, LEFT_ALONE])
    assert not cooldown.active
    cooldown.note([BAD])
    assert cooldown.active


def test_threads_share_it() -> None:
    cooldown = CoolDown(800, 10.0, Clock())
    threads = [threading.Thread(target=lambda: [cooldown.note([BAD]) for _ in range(100)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cooldown.active, "no failure was lost"
