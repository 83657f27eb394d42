"""The benchmark of what users wait for plays whole sessions, and finds the waits that there are."""

from __future__ import annotations

from benchmarks.latency import langchains, ours, played

STEPS = 30


def test_each_contestant_plays_the_whole_session_and_summarises() -> None:
    for middleware in (ours(background=True), ours(background=False), langchains):
        found = played(middleware, STEPS, 0.0, 0.0)
        assert found["summaries"] > 0
        assert found["seconds_between_steps"] >= found["longest_step_seconds"] > 0


def test_a_summary_within_the_step_is_waited_for_each_time() -> None:
    for middleware in (ours(background=False), langchains):
        found = played(middleware, STEPS, 0.0, 0.4)
        assert found["steps_that_waited"] >= found["summaries"] > 0
        assert found["waited_seconds"] >= 0.4 * found["summaries"]
