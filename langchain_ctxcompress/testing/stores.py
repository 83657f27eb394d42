"""`StoreConformance`: whether a `BaseStore` keeps a conversation as this package needs it kept.

    import pytest
    from langchain_ctxcompress.testing.stores import StoreConformance

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self):
            with MyStore(...) as store:
                yield store

Each test is given a store that is its own, or shared: sessions have fresh ids. Only those who run it need pytest. For
pytest to show the values of a failed comparison, call `pytest.register_assert_rewrite("langchain_ctxcompress.testing")`
first.
"""
# ruff: noqa: S101 - these are tests

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.storage import CheckpointSummary, SessionHistory, SnapshotStore

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

ODD_TEXTS = ("", "NUL \x00", "half of a pair \ud800", "é ü 漢字 한글 🚀", "line\r\nline\u2028line", "x" * 300_000)
ODD_IDS = ("a.b", "a/b c", "%_*", "é漢", "NUL\x00", "half \ud800", "x" * 1_000, "CaSe", "case", "~41", "A")
MANY = 1_500
"""Messages in one append; more than a batch of store operations holds."""


class StoreConformance:
    """Tests of a store. A subclass has a fixture `store`; all of them pass, or the store is not fit for an archive."""

    def test_messages_come_back_byte_for_byte(self, store: BaseStore) -> None:
        """Laws 2 and 8: every kind of message, and what JSON and databases are known to break."""
        history = _history(store)
        messages = list(_messages())
        assert history.append(messages) == len(messages)
        assert [m.model_dump() for m in _again(history).messages()] == [m.model_dump() for m in messages]

    def test_append_is_idempotent(self, store: BaseStore) -> None:
        """The same id with the same bytes is written once, by whichever writer."""
        history = _history(store)
        messages = list(_messages())
        history.append(messages)
        assert history.append(messages) == 0
        assert _again(history).append(messages) == 0
        assert len(_again(history).messages()) == len(messages)

    def test_newest_revision_keeps_the_first_place(self, store: BaseStore) -> None:
        """An edited message is a new revision under its id."""
        history = _history(store)
        history.append([HumanMessage("before", id="edited"), AIMessage("answer", id="answer")])
        history.append([HumanMessage("after", id="edited")])
        assert [(m.id, m.content) for m in _again(history).messages()] == [("edited", "after"), ("answer", "answer")]

    def test_a_large_append_is_whole_and_in_order(self, store: BaseStore) -> None:
        """More operations than one batch may have; read whole, by page and by id."""
        history = _history(store)
        ids = [f"m{number}" for number in range(MANY)]
        assert history.append([HumanMessage(f"text of {i}", id=i) for i in ids]) == MANY
        fresh = _again(history)
        assert [message.id for message in fresh.messages()] == ids
        assert [message.id for message in fresh.iter(page=100)] == ids
        assert [message.id for message in fresh.get(["m1499", "unknown", "m0"])] == ["m1499", "m0"]

    def test_sessions_and_tenants_are_kept_apart(self, store: BaseStore) -> None:
        """Any text is a session id, and no two of them meet."""
        run = uuid4().hex
        histories = [SessionHistory(store, session_id=f"{run}{odd}") for odd in ODD_IDS]
        histories += [SessionHistory(store, session_id=f"{run}{odd}", namespace=["tenant", odd]) for odd in ODD_IDS]
        for number, history in enumerate(histories):
            history.append([HumanMessage(f"of {number}", id="same id")])
        for number, history in enumerate(histories):
            assert [message.content for message in _again(history).messages()] == [f"of {number}"]

    def test_many_writers_lose_nothing(self, store: BaseStore) -> None:
        """Law 2: writers on one session need no locks; each keeps its own order."""
        history = _history(store)
        start = threading.Barrier(4)

        def write(writer: int) -> None:
            own = _again(history)
            start.wait()
            for number in range(25):
                own.append([HumanMessage(f"{number}", id=f"{writer}-{number}")])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        found = [str(message.id) for message in _again(history).messages()]
        assert sorted(found) == sorted(f"{writer}-{number}" for writer in range(4) for number in range(25))
        for writer in range(4):
            own = [i for i in found if i.startswith(f"{writer}-")]
            assert own == [f"{writer}-{number}" for number in range(25)]

    def test_checkpoints_come_back_in_order(self, store: BaseStore) -> None:
        """S3, S5: the checkpoints that compressions leave, and the originals they cover."""
        session = uuid4().hex
        compressor = _compressor(store, session)
        messages = _long_talk()
        made = list(compressor.compress(messages).checkpoints)
        assert made
        again = _compressor(store, session)
        assert again.history().checkpoints() == sorted(made, key=lambda checkpoint: checkpoint.number)
        covered = {i for checkpoint in made for i in checkpoint.covered}
        originals = {str(message.id): message for message in messages}
        for message_id in covered:
            assert again.expand_message(message_id) == originals[message_id]

    def test_another_process_makes_the_same_view(self, store: BaseStore) -> None:
        """Law 9: the active context follows from the messages and the store alone."""
        session = uuid4().hex
        messages = _long_talk()
        result = _compressor(store, session).compress(messages)
        assert _compressor(store, session).view(messages) == result.messages

    def test_snapshots_restore_what_was_saved(self, store: BaseStore) -> None:
        """S2: messages, checkpoints and goals, newest snapshot first, and no more than asked for after a cleanup."""
        session = uuid4().hex
        snapshots = SnapshotStore(store, session_id=session)
        messages = list(_messages())
        checkpoint = CheckpointSummary(
            checkpoint_id="c1", session_id=session, number=1, level=3, text="NUL \x00 \ud800"
        )
        goal = {"description": "é \x00", "checkpoints": [{"text": "first", "status": "completed"}], "priority": 2}
        made = [
            snapshots.create(messages[: number + 1], [checkpoint], [goal], "rollback").snapshot_id
            for number in range(len(messages))
        ]
        restored = SnapshotStore(store, session_id=session).restore(made[-1])
        assert [m.model_dump() for m in restored.messages] == [m.model_dump() for m in messages]
        assert (restored.checkpoints, restored.goals) == ([checkpoint], [goal])
        assert [snapshot.snapshot_id for snapshot in snapshots.list()] == made[::-1]
        assert snapshots.cleanup(keep=2) == len(made) - 2
        assert snapshots.restore(made[-2]).messages == messages[:-1]

    def test_forgotten_messages_are_gone(self, store: BaseStore) -> None:
        """What is removed stands nowhere in the store; what is not removed stays."""
        session = uuid4().hex
        secret = f"secret{uuid4().hex}"
        messages = _long_talk()
        messages[4] = messages[4].model_copy(update={"content": f"please keep {secret} to yourself"})
        compressor = _compressor(store, session)
        compressor.compress(messages)
        SnapshotStore(store, session_id=session).create(messages)
        history = compressor.history()
        assert compressor.forget_messages([str(messages[4].id)]) == 1
        assert history.search(secret) == []
        assert len(_again(history).messages()) == len(messages) - 1
        assert not any(
            secret in str(item.value) for item in store.search(("ctxcompress", "session", session), limit=9_999)
        )
        history.clear()
        assert store.search(("ctxcompress", "session", session), limit=10) == []

    def test_async_methods_do_the_same(self, store: BaseStore) -> None:
        """Every method has an async twin; a store without async methods is used in a thread."""
        history = _history(store)
        messages = list(_messages())

        async def both() -> list[BaseMessage]:
            await history.aappend(messages)
            assert await _again(history).asearch("漢字", limit=1)
            return await _again(history).amessages()

        assert [m.model_dump() for m in _run(both)] == [m.model_dump() for m in messages]


def _history(store: BaseStore) -> SessionHistory:
    return SessionHistory(store, session_id=f"conformance {uuid4().hex}")


def _again(history: SessionHistory) -> SessionHistory:
    """The same session as another process has it: nothing is remembered."""
    return SessionHistory(history.store, session_id=history.session_id, namespace=history.namespace)


def _compressor(store: BaseStore, session_id: str) -> ContextCompressor:
    return ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id=session_id)


def _run(routine: Callable[[], Coroutine[Any, Any, list[BaseMessage]]]) -> list[BaseMessage]:
    """The result of a coroutine, on a loop of its own and in a thread of its own: the test may be run on a loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, routine()).result()


def _messages() -> Iterator[BaseMessage]:
    yield SystemMessage("Be brief.", id="system")
    for number, text in enumerate(ODD_TEXTS):
        yield HumanMessage(text, id=f"human {number}", name="Ünal")
    for number, odd in enumerate(ODD_IDS):
        yield HumanMessage(f"has an odd id {number}", id=odd)
    call = {"name": "search", "args": {"z": 1, "a": [None, True, 1.5, 2**70, {"deep": "\x00"}]}, "id": "call-1"}
    yield AIMessage(
        [{"type": "text", "text": "漢字"}, {"type": "thinking", "thinking": "…"}], tool_calls=[call], id="ai"
    )
    yield ToolMessage("found", tool_call_id="call-1", artifact={"bytes": b"\x00\xff", "pair": (1, 2)}, id="tool")


def _long_talk() -> list[BaseMessage]:
    """A conversation that is over the limit of `_compressor`."""
    talk: list[BaseMessage] = []
    for number in range(40):
        talk.append(
            HumanMessage(f"Question {number}: where is order A-{1000 + number}, and why? " * 3, id=f"h{number}")
        )
        talk.append(AIMessage(f"Order A-{1000 + number} waits for part {number}, which is late. " * 3, id=f"a{number}"))
    return talk
