"""The log of a session with several writers, several revisions, and others who remove."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import run
from tests.storage.stores import everything
from tests.storage.test_log import history, says
from tests.support.conversations import exchanges


class TestThreads:
    @pytest.mark.parametrize("shared", [True, False], ids=["one-object", "an-object-each"])
    def test_no_message_is_lost_and_each_thread_keeps_its_order(self, shared: bool) -> None:
        store = InMemoryStore()
        one = history(store)
        start, errors = threading.Barrier(6), []

        def work(name: int) -> None:
            own = one if shared else history(store)
            start.wait()
            try:
                for number in range(20):
                    own.append([says(f"{name} {number}", f"{name}-{number}"), says("the same", "shared")])
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        ids = [message.id or "" for message in history(store).messages()]
        assert sorted(ids) == sorted([*(f"{name}-{number}" for name in range(6) for number in range(20)), "shared"])
        for name in range(6):
            own = [message_id for message_id in ids if message_id.startswith(f"{name}-")]
            assert own == [f"{name}-{number}" for number in range(20)]


class TestAtOnce:
    @given(st.lists(st.integers(0, 5), max_size=60), st.integers(2, 6))
    def test_what_is_known_of_the_session_is_right_in_whatever_order_writes_arrive(
        self, order: list[int], tasks: int
    ) -> None:
        store = InMemoryStore()
        one = history(store)
        steps = {task: one.append_steps([says(f"said {task}", f"m{task}")]) for task in range(tasks)}
        asked: dict[int, Any] = {}
        done: dict[int, Any] = {}
        for drawn in [*order, *(task for _ in range(200) for task in range(tasks))]:
            task = drawn % tasks
            if task in asked:
                done[task] = store.batch(asked.pop(task))  # it arrives; that the step hears of it comes later
            elif task in steps:
                try:
                    asked[task] = steps[task].send(done.pop(task, None))
                except StopIteration:
                    del steps[task]
        assert not steps
        assert history(store).info().messages == len(history(store).messages()) == tasks


class TestRevisions:
    def test_what_was_said_before_and_is_said_again_is_the_newest(self) -> None:
        store = InMemoryStore()
        one = history(store)
        for text in ("A", "B", "A"):
            assert one.append([says(text), says("other", "2")]) >= 1
        for reader in (one, history(store)):
            assert reader.messages() == [says("A"), says("other", "2")]
            assert list(reader.iter()) == reader.messages()
            assert reader.get(["1"]) == [says("A")]
        assert history(store).append([says("A")]) == 0

    def test_another_process_says_it_again(self) -> None:
        store = InMemoryStore()
        history(store).append([says("A")])
        history(store).append([says("B")])
        assert history(store).append([says("A")]) == 1
        assert history(store).messages() == history(store).get(["1"]) == [says("A")]

    def test_a_list_that_says_two_things_under_one_id_grows_nothing_when_it_comes_again(self) -> None:
        store = InMemoryStore()
        assert history(store).append([says("A"), says("B"), says("A")]) == 3
        for _ in range(3):
            assert history(store).append([says("A"), says("B"), says("A")]) == 0
        assert history(store).get(["1"]) == [says("A")]

    def test_two_writers_that_revise_one_message_at_once_lose_neither(self) -> None:
        """One reads the index before the other writes it, and writes it after."""
        store = InMemoryStore()
        history(store).append([says("first")])
        slow = history(store).append_steps([says("slow")])
        ops = next(slow)
        while not _writes(ops, "ids"):
            ops = slow.send(store.batch(ops))
        assert history(store).append([says("quick")]) == 1
        with pytest.raises(StopIteration):
            while True:
                ops = slow.send(store.batch(ops))
        assert history(store).messages() == [says("quick")], "the one that was said last"
        for text in ("first", "slow", "quick"):
            contents = {"1": content_hash(says(text))}
            assert run(history(store).get_steps(["1"], contents), store) == [says(text)]

    def test_references_without_an_order_are_read(self) -> None:
        """As they were written before it was noted."""
        store = InMemoryStore()
        one = history(store)
        one.append([says("A")])
        one.append([says("B"), says("x", "2")])
        for namespace, key, value in everything(store):
            if namespace[-1] == "ids":
                store.put(namespace, key, {**value, "refs": [ref[:4] for ref in value["refs"]]})
        assert history(store).get(["1", "2"]) == [says("B"), says("x", "2")]
        assert list(history(store).iter()) == [says("B"), says("x", "2")]

    @pytest.mark.parametrize("reads", [1, 2])
    def test_a_reference_that_another_writer_put_aside_is_put_back(self, reads: int) -> None:
        """The other one wrote the index from what it had read before."""
        store = InMemoryStore()
        history(store).append([says("first")])
        stale = next(entry for entry in everything(store) if entry[0][-1] == "ids")
        own = history(store).append_steps([says("own")])
        ops = next(own)
        while not _writes(ops, "ids"):
            ops = own.send(store.batch(ops))
        for _ in range(reads):
            ops = own.send(store.batch(ops))
            store.put(*stale)
            while not _writes(ops, "ids"):
                ops = own.send(store.batch(ops))
        with pytest.raises(StopIteration):
            while True:
                ops = own.send(store.batch(ops))
        assert history(store).get(["1"]) == [says("own")]


def _writes(ops: list[Any], where: str) -> bool:
    return any(type(op).__name__ == "PutOp" and op.namespace[-1] == where for op in ops)


class TestRemovedByAnother:
    def test_a_cleared_session_is_archived_again(self) -> None:
        store = InMemoryStore()
        one = history(store)
        one.append(exchanges(3))
        history(store).clear()
        assert one.append(exchanges(3)) == 6
        assert history(store).messages() == one.messages() == exchanges(3)
        assert one.info().messages == 6

    def test_cleared_and_written_by_the_other(self) -> None:
        store = InMemoryStore()
        one, other = history(store), history(store)
        one.append(exchanges(3))
        other.clear()
        other.append(exchanges(1))
        assert one.append(exchanges(3)) == 4
        assert history(store).messages() == exchanges(3)

    def test_a_forgotten_message_that_is_sent_again_is_new(self) -> None:
        store = InMemoryStore()
        one = history(store)
        one.append(exchanges(3))
        assert history(store).forget_messages(["ai-1"]) == 1
        assert one.append(exchanges(3)) == 1
        assert sorted(str(m.id) for m in history(store).messages()) == sorted(str(m.id) for m in exchanges(3))

    def test_a_compression_of_what_was_read_before_is_not_stored(self) -> None:
        """Its summary could repeat what is gone; the next step compresses what is left."""
        store = InMemoryStore()
        mine = ContextCompressor(config=PrunerConfig.for_limit(700), store=store, session_id="s")
        assert mine.compress(exchanges(40)).checkpoints
        grown = [*mine.view(exchanges(40)), *exchanges(80)[80:]]
        history(store).forget_messages(["human-3"])
        result = mine.compress(grown)
        assert (result.outcome.value, result.reason.value) == ("failed", "archive_unavailable")
        assert "removed" in result.detail
        assert result.messages == grown
        assert mine.compress(grown).checkpoints
