"""Law 2: nothing is lost. What leaves is covered, comes back byte for byte, and leaves only once it is archived."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.laws.judge import STRATEGIES, as_bytes, lost
from tests.support.conversations import agent_run, conversations, exchanges

LIMITS = st.integers(20, 3_000)


class FailingStore(InMemoryStore):
    """A store that fails from the nth batch of writes on, or at reads."""

    def __init__(self, *, writes: int | None = None, reads: bool = False) -> None:
        super().__init__()
        self.writes = writes
        self.reads = reads

    def batch(self, ops: Any) -> list[Any]:
        ops = list(ops)
        if any(isinstance(op, PutOp) for op in ops):
            if self.writes is not None:
                self.writes -= 1
                if self.writes < 0:
                    raise OSError(28, "disk full")
        elif self.reads:
            raise OSError("unreachable")
        return super().batch(ops)

    async def abatch(self, ops: Any) -> list[Any]:
        return self.batch(ops)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=25)
@given(conversations(surrogates=True, nul=True, max_messages=120), LIMITS)
def test_what_leaves_is_covered_and_comes_back_byte_for_byte(
    strategy: str, messages: list[BaseMessage], limit: int
) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    first = compressor.compress(messages)
    assert lost(compressor, first.messages, messages) == []
    second = compressor.compress(first.messages)
    assert lost(compressor, second.messages, messages) == []


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=400)
@given(conversations(surrogates=True, nul=True), LIMITS)
def test_what_leaves_comes_back_deeper(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    first = compressor.compress(messages)
    assert lost(compressor, first.messages, messages) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_store_that_fails_at_a_write_replaces_nothing(strategy: str, writes: int) -> None:
    messages = [*exchanges(20), ToolMessage("orphan", tool_call_id="gone", id="orphan")]
    store = FailingStore(writes=writes)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(300), strategy=strategy, store=store)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("failed", "archive_unavailable")
    assert "disk full" in result.detail
    assert [id(message) for message in result.messages] == [id(message) for message in messages]
    assert result.checkpoint is None
    assert not result.changed
    store.writes = None
    healed = compressor.compress(messages)
    assert healed.changed
    assert lost(compressor, healed.messages, messages) == []


def test_a_store_that_fails_later_brings_nothing_back_that_was_replaced_before() -> None:
    """A client that keeps the whole list is not sent all of it for one failed write."""
    store = FailingStore()
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900), store=store)
    messages = exchanges(20)
    first = compressor.compress(messages)
    assert first.changed
    store.writes = 0
    grown = [*messages, *exchanges(20, start=20)]
    failed = compressor.compress(grown)
    assert (failed.outcome, failed.reason, failed.changed) == ("failed", "archive_unavailable", False)
    assert failed.messages == [*first.messages, *grown[40:]]
    assert failed.tokens_after < failed.tokens_before
    store.writes = None
    assert lost(compressor, compressor.compress(grown).messages, grown) == []


def test_a_view_that_cannot_be_read_anew_shows_what_is_known() -> None:
    """A client that keeps the whole list is not sent all of it for one failed read."""
    store = FailingStore()
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900), store=store, session_id="s")
    messages = exchanges(20)
    shown = compressor.compress(messages).messages
    assert compressor.view(messages) == shown
    store.reads = True
    assert compressor.view(messages) == shown
    assert compressor.compress(messages).messages == shown
    store.reads = False
    other = ContextCompressor(config=PrunerConfig.for_limit(900), store=store, session_id="s")
    grown = [*messages, *exchanges(20, start=20)]
    assert other.compress(grown).changed
    assert compressor.view(grown) == other.view(grown), "what another process did is seen again"


async def test_a_store_that_fails_at_a_write_replaces_nothing_async() -> None:
    messages = exchanges(20)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(300), store=FailingStore(writes=0))
    result = await compressor.acompress(messages)
    assert (result.outcome, result.reason) == ("failed", "archive_unavailable")
    assert result.messages == messages


def test_a_store_that_cannot_be_read_or_written_costs_the_compression_and_nothing_else() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(300), store=FailingStore(writes=0, reads=True))
    messages = exchanges(20)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("failed", "archive_unavailable")
    assert result.messages == messages
    below = compressor.compress(messages[:2])
    assert (below.outcome, below.messages) == ("noop", messages[:2])


def test_originals_are_archived_before_the_checkpoint_that_refers_to_them() -> None:
    """A process killed between two writes leaves a copy too many, never a checkpoint without its originals."""
    for writes in range(1, 10):
        store = FailingStore(writes=writes)
        compressor = ContextCompressor(config=PrunerConfig.for_limit(300), store=store, session_id="s")
        result = compressor.compress(exchanges(20))
        store.writes = None
        for checkpoint in compressor.history().checkpoints():
            found = ContextCompressor(store=store, config=PrunerConfig(), session_id="s").expand(
                checkpoint.checkpoint_id
            )
            assert found is not None
            assert {message.id for message in found} >= set(checkpoint.covered)
        if result.reason != "archive_unavailable":
            break
    else:
        pytest.fail("no number of writes was enough")


def test_everything_of_the_list_is_archived_the_tail_included() -> None:
    messages = agent_run(15, words=20)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(400))
    assert compressor.compress(messages).changed
    assert [as_bytes(m) for m in compressor.history().messages()] == [as_bytes(m) for m in messages]


def test_an_idle_step_writes_nothing() -> None:
    store = FailingStore(writes=0)
    compressor = ContextCompressor(config=PrunerConfig(), store=store)
    for number in range(1, 6):
        result = compressor.compress(exchanges(number))
        assert (result.outcome, result.reason) == ("noop", "below_soft_limit")
    assert store.writes == 0


def test_a_message_cut_where_it_stands_comes_back_whole() -> None:
    huge = "\n".join(f"line {number}: value {number * 7}" for number in range(3_000))
    call = {"name": "dump", "args": {}, "id": "c"}
    messages = [
        HumanMessage("dump it", id="h"),
        AIMessage("", tool_calls=[call], id="a"),
        ToolMessage(huge, tool_call_id="c", id="t", artifact={"rows": 3}),
        HumanMessage("and now?", id="h2"),
    ]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(500))
    result = compressor.compress(messages)
    assert result.messages[2].text != huge
    assert compressor.expand_message("t") == messages[2]
    assert lost(compressor, result.messages, messages) == []


def test_a_new_revision_is_what_the_id_brings_back() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(300))
    messages = exchanges(20)
    first = compressor.compress(messages)
    covering = next(record for record in first.checkpoints if "human-3" in record.covered)
    edited = HumanMessage("quite different", id="human-3")
    later = compressor.compress([*first.messages[:1], edited, *first.messages[1:], *exchanges(20, start=20)])
    assert later.changed
    assert compressor.expand_message("human-3") == edited
    expanded = compressor.expand(covering.checkpoint_id)
    assert expanded is not None
    assert next(m for m in expanded if m.id == "human-3") == messages[6], "the checkpoint covers the old revision"
