"""LangGraph's checkpointers by name, sync and async, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver


@contextmanager
def sync_saver(kind: str, place: Any) -> Iterator[Any]:
    """A checkpointer: `none`, `memory`, `sqlite` or `postgres`; `place` is its file or URL."""
    if kind in ("none", "memory"):
        yield InMemorySaver() if kind == "memory" else None
    elif kind == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver

        with SqliteSaver.from_conn_string(str(place)) as saver:
            yield saver
    else:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(place) as saver:
            saver.setup()
            yield saver


@asynccontextmanager
async def async_saver(kind: str, place: Any) -> AsyncIterator[Any]:
    """The same for async graphs."""
    if kind in ("none", "memory"):
        yield InMemorySaver() if kind == "memory" else None
    elif kind == "sqlite":
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with AsyncSqliteSaver.from_conn_string(str(place)) as saver:
            yield saver
    else:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        async with AsyncPostgresSaver.from_conn_string(place) as saver:
            await saver.setup()
            yield saver
