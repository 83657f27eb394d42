"""The append-only log: O(new), idempotent, and without locks between writers (requirement S3, law 2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress.errors import RecordError, StorageError
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import SessionHistory, encode_message, run, session_ids
from langchain_ctxcompress.storage.log import SEGMENT_CHARS, SEGMENT_ENTRIES
from tests.storage.stores import WatchedStore, everything
from tests.support.conversations import conversations, exchanges


def history(store: BaseStore, session_id: str = "s") -> SessionHistory:
    return SessionHistory(store, session_id=session_id)


def says(text: str, message_id: str = "1") -> HumanMessage:
    return HumanMessage(text, id=message_id)


class Model:
    """What an archive should hold: every revision, oldest first; what a list says last of a message is its newest."""

    def __init__(self) -> None:
        self.revisions: dict[str, list[BaseMessage]] = {}
        self.sent: list[dict[str, str]] = [{}, {}, {}]

    def append(self, writer: int, messages: list[BaseMessage]) -> int:
        """A writer that sent the very same before does not take back what others said since."""
        sent, written = self.sent[writer], 0
        last = {message.id: place for place, message in enumerate(messages)}
        changed = {m.id for m in messages if sent.get(m.id or "") != encode_message(m)}
        for place, message in enumerate(messages):
            known = self.revisions.setdefault(message.id or "", [])
            against = known[-1:] if last[message.id] == place else known
            if message.id in changed and encode_message(message) not in map(encode_message, against):
                known.append(message)
                written += 1
        sent |= {message.id or "": encode_message(message) for message in messages}
        return written

    def messages(self) -> list[BaseMessage]:
        return [revisions[-1] for revisions in self.revisions.values()]


class TestAppend:
    @settings(max_examples=80)
    @given(
        conversations(max_messages=40, ids="all"),
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 40)), max_size=8),
    )
    def test_whoever_appends_whatever_again_each_revision_is_there_once(
        self, messages: list[BaseMessage], script: list[tuple[int, int, int]]
    ) -> None:
        store, model = InMemoryStore(), Model()
        writers = [history(store) for _ in range(3)]
        for writer, start, length in script:
            part = messages[start : start + length]
            assert writers[writer].append(part) == model.append(writer, part)
        for reader in (*writers, history(store)):
            assert reader.messages() == model.messages()
            assert reader.get(model.revisions) == model.messages()

    def test_the_same_bytes_are_written_once(self) -> None:
        store = WatchedStore()
        one = history(store)
        assert one.append(exchanges(3)) == 6
        store.forget()
        assert one.append(exchanges(3)) == 0
        assert len(store.ops) == 1, "an idle append asks one thing: whether something was removed meanwhile"
        assert store.written() == []
        assert history(store).append(exchanges(3)) == 0
        assert store.written() == [], "another writer read that all of it is there"

    def test_the_same_id_with_other_bytes_is_a_new_revision(self) -> None:
        one = history(InMemoryStore())
        one.append([says("first"), says("between", "2")])
        assert one.append([says("second")]) == 1
        assert one.messages() == [says("second"), says("between", "2")]
        assert one.get(["1"]) == [says("second")]

    def test_metadata_alone_makes_a_revision_too(self) -> None:
        one = history(InMemoryStore())
        one.append([says("x")])
        seen = says("x").model_copy(update={"response_metadata": {"seen": True}})
        assert one.append([seen]) == 1
        assert one.messages() == [seen]

    def test_two_revisions_in_one_list(self) -> None:
        one = history(InMemoryStore())
        assert one.append([says("first"), says("second")]) == 2
        assert one.messages() == one.get(["1"]) == [says("second")]

    def test_one_message_twice_in_one_list_is_written_once_at_its_first_place(self) -> None:
        one = history(InMemoryStore())
        assert one.append([says("x", "1"), says("y", "2"), says("x", "1")]) == 2
        assert one.messages() == [says("x", "1"), says("y", "2")]

    @pytest.mark.parametrize("before", [0, 100, 1_000])
    def test_an_append_costs_what_is_new(self, before: int) -> None:
        store = WatchedStore()
        one = history(store)
        old = exchanges(before // 2)
        one.append(old)
        store.forget()
        one.append([*old, says("new", "new")])
        assert len(store.ops) <= 8, "reads and writes grow with what is old"
        assert len(store.written()) <= 4
        assert sum(len(str(op)) for op in store.ops) < 3_000, "what is written grows with what is old"

    def test_a_large_append_is_few_batches(self) -> None:
        store = WatchedStore()
        history(store).append(exchanges(2_000))
        assert len(store.batches) <= 20


class TestSegments:
    def test_many_messages_and_large_ones(self) -> None:
        store = InMemoryStore()
        small = [says("x", f"small-{n}") for n in range(3 * SEGMENT_ENTRIES + 1)]
        large = [says("y" * (SEGMENT_CHARS // 2), f"large-{n}") for n in range(5)]
        history(store).append([*small, *large])
        sizes = [
            (len(rows), len(value["entries"]))
            for namespace, _, value in everything(store)
            if namespace[-2] == "log"
            for rows in [json.loads(value["entries"])]
        ]
        assert sum(rows for rows, _ in sizes) == len(small) + len(large)
        assert all(rows <= SEGMENT_ENTRIES for rows, _ in sizes)
        assert all(chars < 1.2 * SEGMENT_CHARS + 2_000 for _, chars in sizes)
        assert history(store).messages() == [*small, *large]

    def test_a_message_larger_than_a_segment(self) -> None:
        store = InMemoryStore()
        huge = says("z" * (3 * SEGMENT_CHARS), "huge")
        history(store).append([says("a", "1"), huge, says("b", "2")])
        assert history(store).messages() == [says("a", "1"), huge, says("b", "2")]

    def test_more_segments_than_are_read_at_once(self) -> None:
        store = InMemoryStore()
        one = history(store)
        for number in range(150):
            one.append([says("x", str(number))])
        assert [message.id for message in history(store).messages()] == [str(number) for number in range(150)]


class TestOrder:
    def test_two_writers_in_turn(self) -> None:
        store = InMemoryStore()
        writers = [history(store), history(store)]
        for number in range(20):
            writers[number % 2].append([says("x", str(number))])
        assert [message.id for message in writers[0].messages()] == [str(number) for number in range(20)]

    def test_a_clock_that_stands_still_or_goes_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        one = history(InMemoryStore())
        times = iter([1_000, 1_000, 500, 500, 2_000])
        monkeypatch.setattr("langchain_ctxcompress.storage.log.time.time_ns", lambda: next(times))
        for number in range(5):
            one.append([says("x", f"{number}a"), says("y", f"{number}b")])
        assert [message.id for message in one.messages()] == [f"{n}{part}" for n in range(5) for part in "ab"]
        orders = [entry.order for entry in run(one._log.read(), one.store)]
        assert orders == sorted(set(orders)), "readers merge writers by an order that grows within each"


class TestFind:
    def test_the_revision_that_says_what_is_asked_for(self) -> None:
        store = InMemoryStore()
        one = history(store)
        revisions = [says(text) for text in ("first", "second", "third")]
        for revision in revisions:
            one.append([revision])
        for revision in revisions:
            wanted = {"1": content_hash(revision)}
            assert run(history(store).get_steps(["1"], wanted), store) == [revision]
        assert run(one.get_steps(["1"], {"1": "something it never said"}), store) == [revisions[-1]]

    def test_in_the_order_asked_and_without_what_was_never_seen(self) -> None:
        one = history(InMemoryStore())
        one.append([says("a", "a"), says("b", "b"), says("c", "c")])
        assert [message.id for message in one.get(["c", "never", "a", "c"])] == ["c", "a"]
        assert one.get([]) == []
        assert one.get(["never"]) == []

    def test_one_message_costs_one_segment(self) -> None:
        store = WatchedStore()
        one = history(store)
        one.append(exchanges(500))
        store.forget()
        one.get(["human-250"])
        assert len(store.ops) == 2


class TestFailures:
    def failing(self, at: int) -> WatchedStore:
        store = WatchedStore()
        store.fail = lambda ops, number: OSError(28, "full") if number == at else None
        return store

    @pytest.mark.parametrize("at", [0, 1, 2])
    def test_an_append_that_failed_is_made_good_by_the_next(self, at: int) -> None:
        store = self.failing(at)
        one = history(store)
        with pytest.raises(StorageError):
            one.append(exchanges(2))
        one.append(exchanges(2))
        for reader in (one, history(store)):
            assert reader.messages() == exchanges(2)
            assert reader.get(["ai-1"]) == [exchanges(2)[3]]
        assert run(session_ids(), store) == ["s"]

    def test_what_failed_is_not_counted(self) -> None:
        store = self.failing(1)
        one = history(store)
        with pytest.raises(StorageError):
            one.append(exchanges(2))
        one.append(exchanges(2))
        assert one.info().messages == 4

    def test_a_writer_that_died_between_segment_and_index_costs_no_message(self) -> None:
        store = self.failing(2)
        with pytest.raises(StorageError):
            history(store).append(exchanges(2))
        assert history(store).messages() == exchanges(2)

    @pytest.mark.parametrize(
        "damage",
        [
            {"entries": "{"},
            {"entries": "5"},
            {"entries": "[[1]]"},
            {"entries": "[5]"},
            {"schema_version": 99},
            {"schema_version": None},
        ],
    )
    def test_a_damaged_segment_is_named(self, damage: dict[str, Any]) -> None:
        store = InMemoryStore()
        history(store).append([says("x")])
        namespace, key, value = next(entry for entry in everything(store) if entry[0][-2] == "log")
        store.put(namespace, key, {**value, **damage})
        for read in (lambda: history(store).messages(), lambda: history(store).get(["1"])):
            with pytest.raises(RecordError, match=rf"segment 0 of writer {namespace[-1]} of session 's'"):
                read()

    def test_a_segment_without_entries_is_named(self) -> None:
        store = InMemoryStore()
        history(store).append([says("x")])
        namespace, key, _ = next(entry for entry in everything(store) if entry[0][-2] == "log")
        store.put(namespace, key, {"schema_version": 1})
        with pytest.raises(RecordError, match=r"segment 0 .* is damaged: KeyError"):
            history(store).messages()

    def test_a_missing_segment_is_named_where_its_message_is_asked_for(self) -> None:
        store = InMemoryStore()
        history(store).append([says("x")])
        namespace, key, _ = next(entry for entry in everything(store) if entry[0][-2] == "log")
        store.delete(namespace, key)
        with pytest.raises(RecordError, match="segment 0"):
            history(store).get(["1"])

    def test_damage_in_one_segment_costs_no_message_of_another(self) -> None:
        store = InMemoryStore()
        one = history(store)
        one.append([says("a", "a")])
        one.append([says("b", "b")])
        namespace, key, value = next(e for e in everything(store) if e[0][-2] == "log" and e[1].endswith("0"))
        store.put(namespace, key, {**value, "entries": "{"})
        assert one.get(["b"]) == [says("b", "b")]

    def test_a_damaged_message_is_named(self) -> None:
        store = InMemoryStore()
        history(store).append([says("x")])
        namespace, key, value = next(entry for entry in everything(store) if entry[0][-2] == "log")
        store.put(namespace, key, {**value, "entries": value["entries"].replace("human", "alien")})
        with pytest.raises(RecordError, match="message '1' is damaged"):
            history(store).messages()
