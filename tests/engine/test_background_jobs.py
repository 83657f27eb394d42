"""What becomes of jobs in the background that fail, die, are stopped or are too many."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress import CompressionStrategy
from langchain_ctxcompress.strategies import Reason
from langchain_ctxcompress.summarize import CompressionTask
from tests.engine.test_background import SAID, Gated, new_compressor
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel


@pytest.fixture
def gate() -> Iterator[Gated]:
    model = Gated()
    yield model
    model.release()


def test_a_summariser_that_fails_ends_in_the_extractive_summary() -> None:
    compressor = new_compressor(ScriptedChatModel([RuntimeError("down")]))
    compressor.summariser.retry_wait = 0.0
    compressor.compress(exchanges(20), background=True)
    compressor.background.of("s").future.result(20)
    result = compressor.compress(exchanges(21), background=True)
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")


class Idle(CompressionStrategy):
    """Asks its model, and changes nothing."""

    name = "idle"

    def run(self, request):
        yield [CompressionTask((HumanMessage("?"),), 10)]
        return request.unchanged(Reason.NOT_SMALLER, self.name)


class Broken(CompressionStrategy):
    name = "broken"

    def run(self, request):
        yield [CompressionTask((HumanMessage("?"),), 10)]
        raise KeyError("a defect")


@pytest.mark.parametrize("strategy", [Idle(), Broken()])
def test_a_job_that_frees_nothing_is_not_started_at_each_step(strategy: CompressionStrategy) -> None:
    model = ScriptedChatModel("no")
    compressor, messages = new_compressor(model, strategy=strategy), exchanges(20)
    for step in range(12):
        result = compressor.compress(messages, background=True)
        assert result.messages == messages
        if work := compressor.background.of("s"):
            work.future.exception(20)
        messages = [*messages, HumanMessage(f"go on {step}", id=f"more-{step}")]
    assert model.calls <= 2


def test_an_error_in_a_job_costs_the_job_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    compressor, messages = new_compressor(ScriptedChatModel(SAID)), exchanges(20)
    with monkeypatch.context() as patch:
        patch.setattr("langchain_ctxcompress.engine.deferring.validated", lambda *_: 1 / 0)
        compressor.compress(messages, background=True)
        compressor.background.of("s").future.exception(20)
    assert compressor.compress(messages, background=True).messages == messages
    assert compressor.background.counts["failed"] == 1


def test_where_no_thread_is_to_be_had_the_step_goes_on_and_asks_again(
    gate: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    compressor, messages = new_compressor(gate), exchanges(20)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        result = compressor.compress(messages, background=True)
    assert (result.outcome, result.reason, result.messages) == ("noop", "in_background", messages)
    assert compressor.background.of("s") is None, "a step at the hard limit would wait for it for ever"
    assert compressor.compress(messages, background=True).detail == "started"


def test_a_job_that_dies_with_its_loop_is_a_later_compression(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)

    async def step() -> None:
        calls = gate.calls
        assert (await compressor.acompress(messages, background=True)).messages == messages
        while gate.calls == calls:
            await asyncio.sleep(0.01)

    asyncio.run(step())
    asyncio.run(step())
    assert gate.cancelled == 2
    assert compressor.background.counts == {"started": 2, "lost": 1}
    compressor._driver.summariser.model = ScriptedChatModel(SAID)
    assert asyncio.run(compressor.acompress([*messages, *exchanges(30, start=20)])).outcome == "applied"


async def test_close_cancels_what_is_under_way(gate: Gated) -> None:
    compressor = new_compressor(gate)
    await compressor.acompress(exchanges(20), session_id="on the loop", background=True)
    work = compressor.background.of("on the loop")
    assert work is not None
    assert work.task is not None
    while not gate.calls:
        await asyncio.sleep(0.01)
    compressor.close()
    await asyncio.wait([work.task])
    assert work.task.cancelled()
    assert gate.cancelled == 1
    assert compressor.background.of("on the loop") is None


def test_a_thread_that_is_told_to_stop_asks_its_model_no_more(gate: Gated) -> None:
    compressor = new_compressor(gate, strategy=Twice())
    compressor.compress(exchanges(20), background=True)
    work = compressor.background.of("s")
    assert work is not None
    while not gate.calls:
        threading.Event().wait(0.01)
    compressor.close()
    gate.release()
    assert type(work.future.exception(20)).__name__ == "StoppedError"
    assert gate.calls == 1


class Twice(CompressionStrategy):
    """Asks its model twice."""

    name = "twice"

    def run(self, request):
        yield [CompressionTask((HumanMessage("1"),), 10)]
        yield [CompressionTask((HumanMessage("2"),), 10)]
        return request.unchanged(Reason.NOT_SMALLER, self.name)


def test_jobs_are_bounded_in_number_and_threads_do_not_mix(gate: Gated) -> None:
    """200 conversations on one compressor, in 20 threads."""
    model = Gated(lambda prompt: "summary of " + next(w for w in prompt[-1].text.split() if w.startswith("talk-")))
    compressor = new_compressor(model)

    def talk(name: str) -> list[BaseMessage]:
        return [m.model_copy(update={"content": f"talk-{name} {m.content}"}) for m in exchanges(20)]

    def step(names: range) -> None:
        for name in names:
            result = compressor.compress(talk(str(name)), session_id=str(name), background=True)
            assert result.messages == talk(str(name))

    threads = [threading.Thread(target=step, args=(range(i, 200, 20),)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    counts = compressor.background.counts
    assert (counts["started"], counts["refused"]) == (16, 184)
    works = [(str(i), work) for i in range(200) if (work := compressor.background.of(str(i)))]
    assert len(works) == 16
    model.release()
    for name, work in works:
        work.future.result(30)
        result = compressor.compress(talk(name), session_id=name, background=True)
        (summary,) = [m for m in result.messages if is_summary(m)]
        assert f"summary of talk-{name}" in summary.text
        others = {f"talk-{i}" for i in range(200)} - {f"talk-{name}"}
        assert not others & set(summary.text.split())
    assert model.peak <= 16
