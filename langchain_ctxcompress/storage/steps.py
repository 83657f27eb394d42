"""One copy of each storage routine, for sync and async.

A routine is a generator: it yields batches of store operations and is sent their results. `run` and `arun` carry the
batches to a store, so that no logic is written twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_ctxcompress.errors import CtxCompressError, StorageError, describe

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op

T = TypeVar("T")
StoreSteps = Generator["list[Op]", "list[Any]", T]
"""Yields batches of operations, is sent their results, returns a `T`."""

MAX_BATCH = 1_000
"""Operations in one batch; SQLite and PostgreSQL refuse statements with some tens of thousands of parameters."""

RACE = "changed size during iteration"
"""What Python says in a search of LangGraph's `InMemoryStore`, which has no lock, while another thread writes to it. It
is read and written again, which does no harm: a batch of it writes last of all, and the same under the same keys."""

RACES = 64
"""How often; the chance to meet a writer again and again halves each time, if not better."""


def run(steps: StoreSteps[T], store: BaseStore) -> T:
    """Carry out a routine.

    Raises:
        StorageError: The store failed; the routine was told, and did not catch it.
    """
    return _finish(steps, lambda ops: execute(store, ops))


async def arun(steps: StoreSteps[T], store: BaseStore) -> T:
    """Carry out a routine without blocking the loop; a store that has no async methods runs in a thread.

    Raises:
        StorageError: As in `run`.
    """
    try:
        ops = next(steps)
        while True:
            try:
                results = await aexecute(store, ops)
            except CtxCompressError as error:
                ops = steps.throw(error)
            else:
                ops = steps.send(results)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()  # now, and not when an interrupted step's frames are collected


def _finish(steps: StoreSteps[T], carry: Callable[[list[Op]], list[Any]]) -> T:
    try:
        ops = next(steps)
        while True:
            try:
                results = carry(ops)
            except CtxCompressError as error:
                ops = steps.throw(error)
            else:
                ops = steps.send(results)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()  # now, and not when an interrupted step's frames are collected


def execute(store: BaseStore, ops: Sequence[Op]) -> list[Any]:
    """Run a batch of operations, split where it is large.

    Raises:
        StorageError: The store failed, whatever it raised: stores raise their drivers' errors.
    """
    results: list[Any] = []
    try:
        for start in range(0, len(ops), MAX_BATCH):
            part = ops[start : start + MAX_BATCH]
            for left in reversed(range(RACES)):
                try:
                    results += store.batch(part)
                    break
                except RuntimeError as error:
                    if not left or RACE not in str(error):
                        raise
                    time.sleep(0.000_5)  # the writer has its turn
    except StorageError:  # a store of this package's own says what was wrong
        raise
    except Exception as error:
        raise _failed(store, error) from error
    return results


async def aexecute(store: BaseStore, ops: Sequence[Op]) -> list[Any]:
    """As `execute`, without blocking the loop.

    Raises:
        StorageError: As in `execute`.
    """
    import asyncio

    results: list[Any] = []
    try:
        for start in range(0, len(ops), MAX_BATCH):
            part = ops[start : start + MAX_BATCH]
            for left in reversed(range(RACES)):
                try:
                    results += await store.abatch(part)
                    break
                except NotImplementedError:  # SqliteStore: every async method raises it
                    results += await asyncio.to_thread(store.batch, part)
                    break
                except RuntimeError as error:
                    if not left or RACE not in str(error):
                        raise
                    await asyncio.sleep(0.000_5)
    except StorageError:  # a store of this package's own says what was wrong
        raise
    except Exception as error:
        raise _failed(store, error) from error
    return results


def _failed(store: BaseStore, error: Exception) -> StorageError:
    return StorageError(f"{type(store).__name__} failed: {describe(error)}")
