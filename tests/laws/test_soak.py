"""Many conversations at once while model and store fail: nothing is lost, broken, left running or held."""

from __future__ import annotations

import pytest

from benchmarks.soak import soak


def sound(record: dict) -> None:
    assert record["lost"] == []
    assert record["broken"] == []
    assert record["threads_left"] == []
    assert record["locks_held"] == []
    assert record["outcomes"]["summarised"] > record["conversations"] // 2
    assert record["model_faults"]
    assert record["store_faults"]


def test_a_few_hundred_steps(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL")
    record = soak(steps=168, threads=8, share=0.15, seed=5)
    assert record["steps"] == 168
    sound(record)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_twenty_thousand_steps_leave_memory_flat(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL")
    record = soak(steps=20_000, threads=50, share=0.05, seed=2)
    sound(record)
    half, end = record["quarters"][1], record["quarters"][3]
    assert end["objects"] < 1.05 * half["objects"], record["quarters"]
