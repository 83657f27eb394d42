"""`SessionHistory`: everything comes back, from every store, and from no other session (requirement S3, law 2)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from langchain_ctxcompress.errors import ConfigError, InvalidMessagesError, RecordError, StorageError
from langchain_ctxcompress.messages import pin, repair_messages
from langchain_ctxcompress.storage import (
    CheckpointSummary,
    SessionHistory,
    arun,
    encode_message,
    open_store,
    run,
    session_ids,
)
from tests.messages.drawn import ai, summary
from tests.storage.stores import AsyncOnlyStore, SyncOnlyStore, WatchedStore, everything
from tests.support.conversations import conversations, copied, exchanges
from tests.support.postgres import BACKENDS, location


def history(store: Any, session_id: str = "s", namespace: tuple[str, ...] = ()) -> SessionHistory:
    return SessionHistory(store, session_id=session_id, namespace=namespace)


def checkpoint(number: int = 1, **fields: Any) -> CheckpointSummary:
    return CheckpointSummary(
        **{"checkpoint_id": f"c{number}", "session_id": "s", "number": number, "level": 3, "text": "so far", **fields}
    )


def put(one: SessionHistory, *records: CheckpointSummary) -> None:
    for record in records:
        run(one.put_checkpoint_steps(record), one.store)


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BaseStore:
    return open_store(location(request.param, request, tmp_path))


class TestArchive:
    @settings(max_examples=60)
    @given(conversations(max_messages=40, duplicate_ids=False, surrogates=True, nul=True))
    def test_everything_comes_back_byte_for_byte(self, messages: list[BaseMessage]) -> None:
        before = copied(messages)
        one = history(InMemoryStore())
        assert one.append(messages) == len(messages)
        back = history(one.store).messages()
        assert messages == before
        assert all(message.id for message in back)
        for stored, message in zip(back, messages, strict=True):
            own = stored if message.id else stored.model_copy(update={"id": None})
            assert encode_message(own) == encode_message(message)

    @settings(max_examples=15)
    @given(messages=conversations(max_messages=40, ids="all", duplicate_ids=False, surrogates=True, nul=True))
    def test_and_from_a_file(self, messages: list[BaseMessage], tmp_path_factory: pytest.TempPathFactory) -> None:
        path = tmp_path_factory.mktemp("files") / "history.db"
        history(path).append(messages)
        assert history(path).messages() == messages
        assert history(path).get([messages[-1].id or ""]) == [messages[-1]]

    def test_an_empty_session(self, store: BaseStore) -> None:
        one = history(store)
        assert one.append([]) == 0
        assert one.messages() == one.search("x") == one.get(["x"]) == one.checkpoints() == []
        assert run(session_ids(), store) == []

    def test_a_change_after_the_append_does_not_reach_the_archive(self, store: BaseStore) -> None:
        message = HumanMessage([{"type": "text", "text": "x"}], id="1")
        one = history(store)
        one.append([message])
        message.content[0]["text"] = "changed"  # type: ignore[index]
        one.messages()[0].content = "changed too"
        assert one.messages() == [HumanMessage([{"type": "text", "text": "x"}], id="1")]

    def test_what_is_no_original_is_not_archived(self, store: BaseStore) -> None:
        original = HumanMessage("x", id="1")
        added = repair_messages([ai("a"), original]).added[0].model_copy(update={"id": "2"})
        one = history(store)
        assert one.append([original, summary(id="1"), added]) == 1
        assert one.messages() == [original]

    def test_a_pinned_message_is_an_original(self, store: BaseStore) -> None:
        one = history(store)
        assert one.append([pin(HumanMessage("x", id="1"))]) == 1

    @pytest.mark.parametrize("intruder", ["text", None, 5, {"role": "user", "content": "x"}, ("human", "x")])
    def test_what_is_no_message_is_refused_by_its_place_and_nothing_is_written(self, intruder: Any) -> None:
        store = WatchedStore()
        with pytest.raises(InvalidMessagesError, match=f"1 of messages is a {type(intruder).__name__}"):
            history(store).append([HumanMessage("x", id="1"), intruder])
        assert store.ops == []

    def test_a_store_that_is_none_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="store is a int"):
            history(5)

    def test_messages_without_ids_said_again_are_two(self, store: BaseStore) -> None:
        one = history(store)
        for _ in range(2):
            one.append([HumanMessage("yes")])
        one.append([HumanMessage("yes"), HumanMessage("yes")])
        assert [message.text for message in one.messages()] == ["yes"] * 4


class TestSearch:
    def test_the_best_first(self, store: BaseStore) -> None:
        one = history(store)
        one.append([*exchanges(20), AIMessage("The refund of order 4711 is on its way.", id="refund")])
        assert [message.id for message in one.search("refund 4711", limit=1)] == ["refund"]
        assert one.search("K-00049", limit=1)[0].id == "ai-7"
        assert len(one.search("question answer order code")) == 5
        assert one.search("no such thing zzz", limit=3) == []

    def test_in_the_newest_revision(self, store: BaseStore) -> None:
        one = history(store)
        for text in ("the old words", "the new words"):
            one.append([HumanMessage(text, id="1")])
        assert one.search("old") == []
        assert [message.text for message in one.search("new")] == ["the new words"]


class TestInfo:
    def test_times_messages_and_compressions(self, store: BaseStore) -> None:
        one = history(store)
        start = datetime.now(UTC)
        one.append(exchanges(2))
        between = datetime.now(UTC)
        one.append(exchanges(3))
        put(one, checkpoint(1), checkpoint(2), checkpoint(3, level=0))
        info = history(store).info()
        assert (info.session_id, info.messages, info.compressions) == ("s", 6, 2)
        assert info.started_at is not None
        assert info.updated_at is not None
        assert start <= info.started_at <= between <= info.updated_at <= datetime.now(UTC)

    def test_over_several_writers(self, store: BaseStore) -> None:
        for number in range(3):
            history(store).append([HumanMessage("x", id=str(number))])
        assert history(store).info().messages == 3

    def test_of_an_empty_session(self, store: BaseStore) -> None:
        info = history(store).info()
        assert (info.messages, info.compressions, info.started_at, info.updated_at) == (0, 0, None, None)


class TestCheckpoints:
    def test_oldest_first_whatever_the_store_says(self, store: BaseStore) -> None:
        one = history(store)
        when = datetime(2024, 5, 15, tzinfo=UTC)
        records = [
            checkpoint(1, created_at=when + timedelta(hours=9)),
            checkpoint(2, created_at=when, text="漢字 \ud800 \x00"),
            checkpoint(2, checkpoint_id="c2b", created_at=when + timedelta(hours=1)),
            checkpoint(3, created_at=when),
        ]
        put(one, *reversed(records))
        assert one.checkpoints() == records
        assert history(store).checkpoints() == records

    def test_the_same_one_again_changes_nothing(self, store: BaseStore) -> None:
        one = history(store)
        record = checkpoint()
        put(one, record, record)
        assert one.checkpoints() == [record]

    def test_one_by_its_id(self, store: BaseStore) -> None:
        one = history(store)
        record = checkpoint()
        put(one, record)
        assert run(one.checkpoint_steps("c1"), store) == record
        assert run(one.checkpoint_steps("never"), store) is None

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            ({"schema_version": 99}, "schema_version 99"),
            ({"record": "{"}, "damaged"),
            ({"record": None}, "damaged"),
            ({"record": "5"}, "damaged"),
            ({"record": '{"schema_version": 1}'}, "damaged"),
            ({"record": '{"schema_version": 7}'}, "schema_version 7"),
        ],
    )
    def test_s5_a_damaged_one_is_named_and_costs_no_other(
        self, damage: dict[str, Any], words: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        store = InMemoryStore()
        one = history(store)
        records = [checkpoint(1), checkpoint(2), checkpoint(3)]
        put(one, *records)
        namespace, key, value = next(e for e in everything(store) if e[0][-1] == "checkpoints" and e[1] == "c2")
        store.put(namespace, key, {**value, **damage})
        with caplog.at_level(logging.WARNING):
            assert one.checkpoints() == [records[0], records[2]]
        said = [record.getMessage() for record in caplog.records]
        assert len(said) == 1
        assert "c2" in said[0]
        assert words in said[0]
        with pytest.raises(RecordError, match="c2"):
            run(one.checkpoint_steps("c2"), store)


ASYNC_STORES: list[Callable[[], BaseStore]] = [InMemoryStore, SyncOnlyStore, AsyncOnlyStore]


async def use(one: SessionHistory, again: SessionHistory) -> None:
    """All that can be done without blocking the loop."""
    assert await one.aappend(exchanges(10)) == 20
    assert await one.aappend(exchanges(11)) == 2
    assert await again.aappend(exchanges(11)) == 0
    assert await again.amessages() == exchanges(11)
    assert [message.id for message in await again.asearch("K-00049", limit=1)] == ["ai-7"]
    record = checkpoint()
    await arun(one.put_checkpoint_steps(record), one.store)
    assert await again.acheckpoints() == [record]
    assert (await again.ainfo()).messages == 22
    await asyncio.gather(*(one.aappend([HumanMessage("x", id=f"task {number}")]) for number in range(20)))
    assert len(await again.amessages()) == 42
    assert await again.aget(["ai-7", "unknown", "human-0"]) == [exchanges(8)[15], exchanges(1)[0]]
    await one.aclear()
    assert await again.amessages() == []


class TestAsync:
    @pytest.mark.parametrize("make", ASYNC_STORES)
    async def test_in_every_kind_of_store(self, make: Callable[[], BaseStore]) -> None:
        store = make()
        await use(history(store), history(store))

    async def test_in_a_file_whose_store_has_no_async_methods(self, tmp_path: Path) -> None:
        await use(history(tmp_path / "history.db"), history(tmp_path / "history.db"))

    async def test_in_langgraphs_own_async_store(self, tmp_path: Path) -> None:
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "history.db")) as store:
            await store.setup()
            await use(history(store), history(store))

    async def test_sync_and_async_write_the_same(self) -> None:
        left, right = InMemoryStore(), InMemoryStore()
        history(left).append(exchanges(5))
        await history(right).aappend(exchanges(5))
        assert history(left).messages() == history(right).messages()


class TestFailures:
    @pytest.mark.parametrize(
        "use",
        [
            lambda one: one.append(exchanges(1)),
            lambda one: one.messages(),
            lambda one: one.search("x"),
            lambda one: one.get(["1"]),
            lambda one: one.checkpoints(),
            lambda one: one.info(),
            lambda one: one.clear(),
        ],
        ids=["append", "messages", "search", "get", "checkpoints", "info", "clear"],
    )
    @pytest.mark.parametrize(
        "error", [OSError(28, "disk full"), RuntimeError("odd"), json.JSONDecodeError("bad", "", 0)]
    )
    def test_whatever_a_store_raises_is_a_storage_error(
        self, use: Callable[[SessionHistory], Any], error: Exception
    ) -> None:
        store = WatchedStore()
        store.fail = lambda ops, number: error
        with pytest.raises(StorageError, match=f"WatchedStore failed: {type(error).__name__}") as caught:
            use(history(store))
        assert caught.value.__cause__ is error

    @pytest.mark.parametrize(
        "use",
        [
            lambda one: one.aappend(exchanges(1)),
            lambda one: one.amessages(),
            lambda one: one.asearch("x"),
            lambda one: one.acheckpoints(),
            lambda one: one.aclear(),
        ],
        ids=["aappend", "amessages", "asearch", "acheckpoints", "aclear"],
    )
    @pytest.mark.parametrize("make", [WatchedStore, SyncOnlyStore, AsyncOnlyStore])
    async def test_async_too(
        self, use: Callable[[SessionHistory], Awaitable[Any]], make: Callable[[], WatchedStore]
    ) -> None:
        store = make()
        store.fail = lambda ops, number: OSError(28, "disk full")
        with pytest.raises(StorageError, match="failed: OSError: disk full"):
            await use(history(store))

    def test_a_file_that_was_closed(self, tmp_path: Path) -> None:
        one = history(tmp_path / "history.db")
        one.store.conn.close()  # type: ignore[attr-defined]
        with pytest.raises(StorageError, match="SqliteStore failed: ProgrammingError"):
            one.append(exchanges(1))
