"""Compression in the background, laws 2, 4, 5, 8 and 9: the step goes on, and what comes of it is used if it holds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import CompressionStrategy, ContextCompressor, PrunerConfig
from langchain_ctxcompress.strategies import Reason
from langchain_ctxcompress.summarize import CompressionTask
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens

CONFIG = PrunerConfig(soft_limit_tokens=1_500, hard_limit_tokens=4_000)
SAID = "the user asked about many orders"


class Gated(ScriptedChatModel):
    """A summariser that answers when the test lets it."""

    def __init__(self, replies: Any = SAID, **fields: Any) -> None:
        super().__init__(replies, delay=60.0, **fields)


@pytest.fixture
def gate() -> Iterator[Gated]:
    model = Gated()
    yield model
    model.release()


def new_compressor(model: Any, **arguments: Any) -> ContextCompressor:
    return ContextCompressor(model, **{"config": CONFIG, "session_id": "s", **arguments})


def finish(compressor: ContextCompressor, model: Gated) -> None:
    """Let the summariser answer, and the job end."""
    work = compressor.background.of("s")
    assert work is not None
    model.release()
    work.future.exception(20)


def contents(messages: list[BaseMessage]) -> list[tuple[Any, Any]]:
    return [(message.id, message.content) for message in messages]


def test_at_soft_the_step_goes_on_and_a_later_one_applies(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    first = compressor.compress(messages, background=True)
    assert (first.outcome, first.reason, first.messages) == ("noop", "in_background", messages)
    messages = [*messages, *exchanges(2, start=20)]
    second = compressor.compress(messages, background=True)
    assert (second.reason, second.messages) == ("in_background", messages)
    assert compressor.history().messages() == [], "a job writes nothing"
    finish(compressor, gate)
    messages = [*messages, *exchanges(2, start=22)]
    third = compressor.compress(messages, background=True)
    assert (third.outcome, third.reason, gate.calls) == ("applied", "compressed", 1)
    inline = new_compressor(ScriptedChatModel(SAID)).compress(exchanges(20)).messages
    assert contents(third.messages) == [*contents(inline), *contents(exchanges(4, start=20))]
    assert compressor.history().messages() == messages
    assert compressor.background.counts == {"started": 1, "applied": 1}
    assert compressor.compress(third.messages, background=True).outcome == "noop"


def test_a_look_at_the_view_costs_no_draft(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    finish(compressor, gate)
    assert contents(compressor.view(messages)) == contents(messages)
    assert compressor.compress(messages, background=True).outcome == "applied"


async def test_the_same_on_the_loop(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    first = await compressor.acompress(messages, background=True)
    assert (first.reason, first.messages) == ("in_background", messages)
    work = compressor.background.of("s")
    assert work is not None
    gate.release()
    assert await work.await_()
    messages = [*messages, *exchanges(4, start=20)]
    later = await compressor.acompress(messages, background=True)
    assert (later.outcome, gate.calls) == ("applied", 1)
    assert contents(later.messages)[-8:] == contents(exchanges(4, start=20))


def test_at_hard_the_step_waits_for_what_is_under_way(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    grown = [*messages, *exchanges(30, start=20)]
    threading.Timer(0.2, gate.release).start()
    result = compressor.compress(grown, background=True)
    assert result.outcome == "applied"
    assert result.tokens_before >= 4_000 > result.tokens_after
    assert gate.calls == 1
    assert compressor.background.counts["applied"] == 1


async def test_at_hard_the_step_waits_on_the_loop(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    await compressor.acompress(messages, background=True)
    asyncio.get_running_loop().call_later(0.2, gate.release)
    result = await compressor.acompress([*messages, *exchanges(30, start=20)], background=True)
    assert (result.outcome, gate.calls) == ("applied", 1)


def test_at_hard_what_would_not_be_enough_is_not_waited_for() -> None:
    model = ScriptedChatModel(lambda prompt: SAID)
    gate = Gated(lambda prompt: SAID)
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    compressor._driver.summariser.model = model  # the job holds on to the first, the step asks the second
    result = compressor.compress([*messages, *exchanges(90, start=20)], background=True)
    gate.release()
    assert result.tokens_after < 4_000
    assert compressor.background.counts["dropped"] == 1
    assert model.calls >= 1
    assert compressor.background.of("s") is None


async def test_a_blocking_step_does_not_wait_for_a_job_of_the_loop_it_blocks(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    await compressor.acompress(messages, background=True)
    compressor._driver.summariser.model = ScriptedChatModel(SAID)
    result = compressor.compress([*messages, *exchanges(30, start=20)], background=True)
    assert result.outcome == "applied"
    assert compressor.background.counts["dropped"] == 1


def test_without_a_chat_model_a_step_compresses_at_once() -> None:
    result = new_compressor(None).compress(exchanges(20), background=True)
    assert result.outcome == "applied"


def test_a_covered_message_that_was_edited_meanwhile_stays(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    finish(compressor, gate)
    edited = [HumanMessage("no, cancel it", id=m.id) if m.id == "human-7" else m for m in messages]
    result = compressor.compress([*edited, *exchanges(1, start=20)], background=True)
    assert result.outcome == "applied"
    assert "no, cancel it" in [m.content for m in result.messages]
    assert violations(result.messages) == []
    assert sum(map(is_summary, result.messages)) == 1
    assert compressor.background.counts["partly"] == 1
    assert compressor.expand_message("human-8") == messages[16]


def test_a_recent_message_that_was_removed_meanwhile_does_not_matter(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    finish(compressor, gate)
    left = [m for m in messages if m.id not in ("human-18", "ai-18")]
    result = compressor.compress(left, background=True)
    assert result.outcome == "applied"
    assert "human-18" not in [m.id for m in result.messages]
    assert compressor.background.counts["partly"] == 1


def test_a_covered_message_that_was_removed_meanwhile_is_not_brought_back(gate: Gated) -> None:
    """So does a fork, which never held it: what is said of it in the draft must not appear."""
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    finish(compressor, gate)
    left = [m for m in messages if m.id not in ("human-7", "ai-7")]
    result = compressor.compress(left, background=True)
    assert (result.reason, result.messages) == ("in_background", left)
    assert compressor.background.counts == {"started": 2, "dropped": 1}


def test_messages_forgotten_meanwhile_are_forgotten(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    finish(compressor, gate)
    compressor.forget()
    assert compressor.compress(messages, background=True).reason == "in_background"
    assert compressor.history().checkpoints() == []
    assert compressor.background.counts["dropped"] == 1


def test_a_forced_compression_does_not_wait(gate: Gated) -> None:
    compressor, messages = new_compressor(gate), exchanges(20)
    compressor.compress(messages, background=True)
    compressor._driver.summariser.model = ScriptedChatModel("kept the SQL")
    result = compressor.compress(messages, force=True, instructions="keep the SQL", background=True)
    assert result.outcome == "applied"
    assert compressor.background.counts["dropped"] == 1


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


def test_a_process_started_meanwhile_reads_the_list_as_it_is(gate: Gated) -> None:
    store, messages = InMemoryStore(), exchanges(20)
    compressor = new_compressor(gate, store=store)
    compressor.compress(messages, background=True)
    assert new_compressor(None, store=store).view(messages) == messages
    finish(compressor, gate)
    assert new_compressor(None, store=store).view(messages) == messages
    applied = compressor.compress(messages, background=True).messages
    assert new_compressor(None, store=store).view(messages) == applied


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(1, 6), st.booleans(), st.integers(0, 9)), min_size=4, max_size=14))
def test_whatever_the_pace_nothing_is_lost_and_every_list_is_legal(steps: list[tuple[int, bool, int]]) -> None:
    """Exchanges come in, jobs end or not, a message of the middle is edited or removed by the application."""
    store = InMemoryStore()
    model = ScriptedChatModel("a summary of what was said so far")
    compressor = new_compressor(model, store=store)
    said: dict[str, BaseMessage] = {}
    removed: set[str] = set()
    messages: list[BaseMessage] = []
    count = 0
    for new, ends, what in steps:
        fresh = exchanges(new, start=count, words=30)
        count += new
        messages = [*messages, *fresh]
        work = compressor.background.of("s")
        if ends and work is not None:
            work.future.exception(20)
        middle = next((m for m in messages[8:-8] if not is_summary(m) and m.type == "ai"), None)
        if middle is not None and what == 0:
            edited = AIMessage(f"edited {count}", id=middle.id)
            messages = [edited if m is middle else m for m in messages]
        elif middle is not None and what == 1:
            messages = [m for m in messages if m is not middle]
            removed.add(str(middle.id))
        said.update({str(m.id): m for m in messages if not is_summary(m)})
        before = messages
        result = compressor.compress(messages, background=True)
        messages = result.messages
        assert violations(messages) == []
        assert independent_tokens(messages) < 4_000
        assert new_compressor(None, store=store).view(messages) == messages, "law 9"
        gone = {m.id for m in before} - {m.id for m in messages}
        for message_id in gone:
            assert compressor.expand_message(str(message_id)) == said[str(message_id)]
    compressor.close()
