"""Stores to try: they count, fail when told to, or have only one of the two kinds of methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore


class WatchedStore(BaseStore):
    """A store in memory that remembers what it was asked.

    Attributes:
        ops: Every operation, in order.
        batches: How many operations each batch had.
        fail: Asked before each batch, with its operations and its number from 0; what it returns is raised.
    """

    def __init__(self, inner: BaseStore | None = None) -> None:
        self.inner = inner or InMemoryStore()
        self.ops: list[Op] = []
        self.batches: list[int] = []
        self.fail: Callable[[list[Op], int], BaseException | None] = lambda ops, number: None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        error = self.fail(asked, len(self.batches))
        self.ops += asked
        self.batches.append(len(asked))
        if error is not None:
            raise error
        return self.inner.batch(asked)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)

    def writes(self) -> int:
        """How many writes were asked for."""
        return sum(isinstance(op, PutOp) for op in self.ops)

    def forget(self) -> None:
        """Forgets what was asked so far."""
        self.ops, self.batches = [], []

    def written(self) -> list[tuple[tuple[str, ...], str]]:
        """Where something was put, in order."""
        return [(op.namespace, op.key) for op in self.ops if type(op).__name__ == "PutOp" and op.value is not None]


class SyncOnlyStore(WatchedStore):
    """As LangGraph's `SqliteStore`: every async method raises."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        raise NotImplementedError


class AsyncOnlyStore(WatchedStore):
    """As LangGraph's `AsyncSqliteStore`: it works on its own loop, and a sync call from that loop is refused."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        msg = "Synchronous calls to AsyncSqliteStore are only allowed from a different thread"
        raise asyncio.InvalidStateError(msg)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        await asyncio.sleep(0)
        return super().batch(ops)


def everything(store: BaseStore) -> list[tuple[tuple[str, ...], str, dict[str, Any]]]:
    """All that a store holds."""
    return [(item.namespace, item.key, item.value) for item in store.search((), limit=1_000_000)]
