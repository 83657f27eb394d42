"""LangGraph's PostgreSQL store as an archive needs it: a lost connection is made anew, and no wait is without an end.

Imported when a `postgresql:` URL is opened, and by nothing else: it needs the extra `postgres`.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable
from typing import Any

import psycopg
from langgraph.store.base import Op, Result
from langgraph.store.postgres import PostgresStore
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row

CONNECT_SECONDS = 10
"""How long a connection may take to be made, unless the URL says `connect_timeout`."""

LOCK_SECONDS = 30.0
"""How long a statement waits for another connection's lock, and a new process for one that is making the tables."""

SILENT_SECONDS = 30
"""After how long without an answer a connection counts as lost, unless the URL says `tcp_user_timeout`."""

_SETUP = 7_225_409_311
"""The advisory lock under which tables are made; any number that nobody else takes."""


class ArchivePostgresStore(PostgresStore):
    """A `PostgresStore` over one connection that is made again when it is lost. Safe to share between threads.

    A batch that a lost connection cut off is carried out once more: reading again and putting the same again change
    nothing. If the server cannot be reached, the batch fails at once, and the next one tries again.

    Args:
        url: The server.

    Raises:
        psycopg.Error: There is no connection.
    """

    conn: psycopg.Connection[DictRow]

    def __init__(self, url: str) -> None:
        waits = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": SILENT_SECONDS * 1_000}
        self._parameters: dict[str, Any] = waits | conninfo_to_dict(url)
        self._turn = threading.RLock()
        super().__init__(self._connected())

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out a batch; see the class for what a lost connection costs."""
        asked = list(ops)
        with self._turn:
            if self.conn.closed:
                self.conn = self._connected()
            try:
                return super().batch(asked)
            except psycopg.Error:
                if not self.conn.closed:
                    raise
                self.conn = self._connected()
                return super().batch(asked)

    def setup(self) -> None:
        """Make the tables, one process after the other: LangGraph's own setup fails where two do it at once."""
        with self._turn:
            if self._version() == len(self.MIGRATIONS) - 1:
                return
            end = time.monotonic() + LOCK_SECONDS
            # Asked for again and again: a statement that waits for the lock would hold up the making of an index.
            while not self._value(f"SELECT pg_try_advisory_lock({_SETUP})"):
                if time.monotonic() > end:
                    msg = "another process has been making the tables for too long"
                    raise TimeoutError(msg)
                time.sleep(0.05)
            try:
                super().setup()
            finally:
                self.conn.execute(f"SELECT pg_advisory_unlock({_SETUP})")

    def _version(self) -> int:
        """The newest migration that was made; -1 for none."""
        if self._value("SELECT to_regclass('store_migrations')::text") is None:
            return -1
        newest = self._value("SELECT max(v) FROM store_migrations")
        return -1 if newest is None else int(newest)

    def _value(self, query: str) -> Any:
        row = self.conn.execute(query).fetchone()
        return next(iter(row.values())) if row else None

    def _connected(self) -> psycopg.Connection[DictRow]:
        connection = psycopg.Connection[DictRow].connect(
            **self._parameters, autocommit=True, prepare_threshold=0, row_factory=dict_row
        )
        try:
            connection.execute(f"SET lock_timeout = {int(LOCK_SECONDS * 1_000)}")
        except psycopg.Error:
            connection.close()
            raise
        weakref.finalize(self, connection.close)
        return connection
