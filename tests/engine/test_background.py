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

from langchain_ctxcompress import ContextCompressor, PrunerConfig
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
