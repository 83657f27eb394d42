"""What is known of a session as a whole: messages, tokens, times, compressions (requirement S3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SnapshotStore
from langchain_ctxcompress.errors import RecordError, StorageError, TokenCountError
from langchain_ctxcompress.storage import CheckpointSummary, SessionHistory, run, session_ids
from langchain_ctxcompress.tokens import MessageCounter
from tests.storage.stores import WatchedStore
from tests.support.conversations import exchanges
from tests.support.sizes import independent_tokens


@pytest.fixture
def store() -> BaseStore:
    return InMemoryStore()


def put(one: SessionHistory, **fields: object) -> None:
    record = {"checkpoint_id": "c", "session_id": "s", "number": 1, "level": 3, "text": "so far", **fields}
    run(one.put_checkpoint_steps(CheckpointSummary.model_validate(record)), one.store)


def test_tokens_are_those_of_what_was_written(store: BaseStore) -> None:
    """S3: each message once, counted by whoever opened the session."""
    asked: list[str | None] = []

    def count(messages: Sequence[BaseMessage]) -> list[int]:
        asked.extend(message.id for message in messages)
        return [10 * len(message.text) for message in messages]

    one = SessionHistory(store, session_id="s", count=count)
    messages = [HumanMessage("x" * size, id=str(size)) for size in (1, 2, 3)]
    for end in (2, 3, 3):
        one.append(messages[:end])
    SessionHistory(store, session_id="s", count=count).append(messages)
    assert one.info().tokens == SessionHistory(store, session_id="s").info().tokens == 60
    one.append([HumanMessage("four", id="3")])
    assert one.info().tokens == 100
    SessionHistory(store, session_id="s").append([HumanMessage("not counted", id="5")])
    assert SessionHistory(store, session_id="s").info().tokens == 100
    assert asked == ["1", "2", "3", "3"]


def test_what_cannot_be_counted_is_archived_all_the_same(store: BaseStore, caplog: pytest.LogCaptureFixture) -> None:
    def count(messages: Sequence[BaseMessage]) -> list[int]:
        raise TokenCountError("message '1' cannot be counted")

    one = SessionHistory(store, session_id="s", count=count)
    assert one.append([HumanMessage("x", id="1")]) == 1
    assert (one.info().messages, one.info().tokens) == (1, 0)
    assert "message '1' cannot be counted" in caplog.text


def test_a_write_that_failed_is_counted_when_it_is_made_after_all() -> None:
    store = WatchedStore()
    one = SessionHistory(store, session_id="s", count=lambda messages: [7] * len(messages))
    store.fail = lambda ops, number: OSError(28, "full") if any(isinstance(op, PutOp) for op in ops) else None
    with pytest.raises(StorageError):
        one.append([HumanMessage("x", id="1")])
    store.fail = lambda ops, number: None
    one.append([HumanMessage("x", id="1")])
    assert (one.info().messages, one.info().tokens) == (1, 7)


def test_a_compression_is_an_update(store: BaseStore) -> None:
    one = SessionHistory(store, session_id="s")
    one.append(exchanges(2))
    before = one.info().updated_at
    assert before is not None
    later = before + timedelta(hours=1)
    put(one, created_at=later, level=0)
    assert one.info().updated_at == later
    put(one, created_at=datetime(2024, 5, 15), checkpoint_id="naive", number=2)
    assert one.info().updated_at == later


def test_a_damaged_head_is_named(store: BaseStore) -> None:
    one = SessionHistory(store, session_id="s")
    one.append(exchanges(2))
    (head,) = run(one._log.writers(), store)
    for value in ({**head.value, "messages": "many"}, {"schema_version": 1}, {**head.value, "updated_at": 5}):
        store.put(head.namespace, head.key, value)
        with pytest.raises(RecordError, match="the head of a writer of session 's' is damaged: "):
            one.info()


def test_a_damaged_session_record_costs_no_other(store: BaseStore, caplog: pytest.LogCaptureFixture) -> None:
    """S5."""
    for name in "abc":
        SessionHistory(store, session_id=name).append([HumanMessage("x", id="1")])
    for key, value in (("b", {"schema_version": 1}), ("c", {"session_id": "{"})):
        store.put(("ctxcompress", "sessions"), key, value)
    assert run(session_ids(), store) == ["a"]
    assert [record.getMessage().split(" is damaged")[0] for record in caplog.records] == [
        "the record of session b",
        "the record of session c",
    ]


def test_a_compressor_counts_what_it_archives(store: BaseStore) -> None:
    """Messages that leave the list are counted as they were; the session was updated when it was compressed."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(600), store=store, session_id="s")
    messages = exchanges(30)
    result = compressor.compress(messages)
    info = compressor.history().info()
    assert result.checkpoint is not None
    assert (info.messages, info.tokens) == (len(messages), independent_tokens(messages))
    assert info.updated_at is not None
    assert info.updated_at >= result.checkpoint.created_at


def test_a_snapshot_counts_what_it_archives(store: BaseStore) -> None:
    snapshots = SnapshotStore(store, session_id="s", count=MessageCounter())
    snapshots.create(exchanges(3))
    assert SessionHistory(store, session_id="s").info().tokens == independent_tokens(exchanges(3))
