"""One routine for sync and async, and every failure of a store as `StorageError`."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import GetOp, PutOp
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress.errors import CtxCompressError, StorageError, describe
from langchain_ctxcompress.storage import StoreSteps, aexecute, arun, execute, run
from langchain_ctxcompress.storage.steps import MAX_BATCH
from tests.storage.stores import AsyncOnlyStore, SyncOnlyStore, WatchedStore

ERRORS = [
    OSError(28, "disk full"),
    sqlite3.OperationalError("locked"),
    ValueError("odd"),
    KeyError("k"),
    RuntimeError("odd"),
]


def copied(start: str, end: str) -> StoreSteps[str]:
    """Reads one value and writes it elsewhere; returns what it read."""
    item = (yield [GetOp(("a",), start)])[0]
    value = item.value if item else {"v": "nothing"}
    yield [PutOp(("a",), end, value, index=False)]
    return value["v"]


def forgiving() -> StoreSteps[list[str]]:
    """Goes on after a failure."""
    seen = []
    for _ in range(2):
        try:
            yield [GetOp(("a",), "x")]
            seen.append("ok")
        except StorageError as error:
            seen.append(str(error))
    return seen


def silent() -> StoreSteps[int]:
    """Asks nothing."""
    if False:
        yield []
    return 7


def in_both_ways(steps: Callable[[], StoreSteps[Any]], make: Callable[[], WatchedStore] = WatchedStore) -> list[Any]:
    """What a routine returns or raises, run in both ways."""
    outcomes: list[Any] = []
    for carry in (lambda: run(steps(), make()), lambda: asyncio.run(arun(steps(), make()))):
        try:
            outcomes.append(carry())
        except CtxCompressError as error:
            outcomes.append((type(error), str(error)))
    return outcomes


class TestRoutines:
    def test_results_are_sent_and_the_value_comes_back(self) -> None:
        def make() -> WatchedStore:
            store = WatchedStore()
            store.put(("a",), "from", {"v": "x"})
            return store

        assert in_both_ways(lambda: copied("from", "to"), make) == ["x", "x"]
        store = make()
        run(copied("from", "to"), store)
        assert store.get(("a",), "to").value == {"v": "x"}

    def test_one_that_asks_nothing(self) -> None:
        assert in_both_ways(silent) == [7, 7]

    def test_a_failure_reaches_the_routine_which_may_go_on(self) -> None:
        def make() -> WatchedStore:
            store = WatchedStore()
            store.fail = lambda ops, number: OSError(28, "full") if number == 0 else None
            return store

        assert in_both_ways(forgiving, make) == [["WatchedStore failed: OSError: full", "ok"]] * 2

    @pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
    def test_a_failure_it_does_not_catch_reaches_the_caller(self, error: Exception) -> None:
        def make() -> WatchedStore:
            store = WatchedStore()
            store.fail = lambda ops, number: error
            return store

        expected = (StorageError, f"WatchedStore failed: {describe(error)}")
        assert in_both_ways(lambda: copied("a", "b"), make) == [expected, expected]

    def test_the_drivers_own_error_is_the_cause(self) -> None:
        store = WatchedStore()
        error = sqlite3.OperationalError("locked")
        store.fail = lambda ops, number: error
        with pytest.raises(StorageError) as caught:
            execute(store, [GetOp(("a",), "x")])
        assert caught.value.__cause__ is error

    def test_what_is_no_failure_of_the_store_is_left_alone(self) -> None:
        store = WatchedStore()
        store.fail = lambda ops, number: KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            run(copied("a", "b"), store)


class TestBatches:
    @pytest.mark.parametrize("count", [0, 1, MAX_BATCH, MAX_BATCH + 1, 2_500])
    async def test_large_ones_are_split_and_the_results_stay_in_order(self, count: int) -> None:
        store = WatchedStore()
        for number in range(0, count, 100):
            store.put(("a",), str(number), {"v": number})
        ops = [GetOp(("a",), str(number)) for number in range(count)]
        for results in (execute(store, ops), await aexecute(store, ops)):
            assert [item.value["v"] for item in results if item] == list(range(0, count, 100))
            assert len(results) == count
        assert max(store.batches, default=0) <= MAX_BATCH


class TestKindsOfStores:
    async def test_a_store_without_async_methods_runs_in_a_thread(self) -> None:
        store = SyncOnlyStore()
        threads: list[int] = []
        store.fail = lambda ops, number: threads.append(threading.get_ident())  # type: ignore[func-returns-value]
        assert await arun(copied("a", "b"), store) == "nothing"
        assert threads
        assert threading.get_ident() not in threads, "the loop was blocked"

    async def test_its_failure_is_a_storage_error_too(self) -> None:
        store = SyncOnlyStore()
        store.fail = lambda ops, number: OSError(28, "full")
        with pytest.raises(StorageError, match="SyncOnlyStore failed: OSError: full"):
            await arun(copied("a", "b"), store)

    async def test_a_store_of_the_loop(self) -> None:
        store = AsyncOnlyStore()
        assert await arun(copied("a", "b"), store) == "nothing"
        with pytest.raises(StorageError, match="AsyncOnlyStore failed: InvalidStateError"):
            run(copied("a", "b"), store)

    async def test_other_tasks_go_on_meanwhile(self) -> None:
        store = AsyncOnlyStore()
        results = await asyncio.gather(*(arun(copied("a", str(number)), store) for number in range(20)))
        assert results == ["nothing"] * 20


class Racing(InMemoryStore):
    """Fails so often as LangGraph's own does while another thread writes to it."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def batch(self, ops: Any) -> list[Any]:
        if self.left > 0:
            self.left -= 1
            raise RuntimeError("dictionary changed size during iteration")
        return super().batch(ops)

    async def abatch(self, ops: Any) -> list[Any]:
        return self.batch(ops)


def test_a_store_in_memory_that_another_thread_writes_to_is_asked_again() -> None:
    store = Racing(20)
    run(copied("x", "y"), store)
    assert store.left == 0
    assert store.get(("a",), "y") is not None


async def test_a_store_in_memory_that_another_thread_writes_to_is_asked_again_async() -> None:
    store = Racing(20)
    await arun(copied("x", "y"), store)
    assert store.left == 0
    assert store.get(("a",), "y") is not None


async def test_one_that_never_ends_is_a_failure() -> None:
    with pytest.raises(StorageError):
        run(copied("x", "y"), Racing(10**6))
    with pytest.raises(StorageError):
        await arun(copied("x", "y"), Racing(10**6))
