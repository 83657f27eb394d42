"""LangGraph's SQLite store as an archive needs it: a batch is written whole or not at all, also when the disk is full.

Imported when a SQLite file is opened, and by nothing else: it needs LangGraph.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from langgraph.store.sqlite import SqliteStore


class ArchiveSqliteStore(SqliteStore):
    """A `SqliteStore` that rolls a failed batch back.

    LangGraph's commits what a failed batch had written so far; and where the commit itself fails, as on a full disk,
    its transaction stays open and every later batch fails.
    """

    @contextmanager
    def _cursor(self, *, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        with self.lock:
            cursor = self.conn.cursor()
            try:
                if transaction:
                    cursor.execute("BEGIN")
                yield cursor
                if transaction:
                    cursor.execute("COMMIT")
            except BaseException:
                if self.conn.in_transaction:
                    with suppress(sqlite3.Error):  # what made the batch fail is said, not this
                        self.conn.execute("ROLLBACK")
                raise
            finally:
                cursor.close()

    def setup(self) -> None:
        """Make the tables in one transaction, so that a process that is killed meanwhile leaves none or all of them.

        Raises:
            sqlite3.Error: The file cannot be read or written, or another process holds it for too long.
        """
        with self.lock:
            if self.is_setup or self._version() == len(self.MIGRATIONS) - 1:
                self.is_setup = True
                return
            self.conn.execute("BEGIN IMMEDIATE")
            try:
                self.conn.execute("CREATE TABLE IF NOT EXISTS store_migrations (v INTEGER PRIMARY KEY)")
                first = self._version() + 1
                for version, statement in enumerate(self.MIGRATIONS[first:], start=first):
                    self.conn.execute(statement)
                    self.conn.execute("INSERT INTO store_migrations (v) VALUES (?)", (version,))
            except BaseException:
                self.conn.execute("ROLLBACK")
                raise
            self.conn.execute("COMMIT")
            self.is_setup = True

    def _version(self) -> int:
        """The newest migration that was made; -1 for none."""
        found = self.conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'store_migrations'").fetchone()
        newest = self.conn.execute("SELECT max(v) FROM store_migrations").fetchone() if found else None
        return -1 if newest is None or newest[0] is None else int(newest[0])


def use_wal(connection: sqlite3.Connection, seconds: float) -> None:
    """Set the journal mode; two processes that do it at once get an error at once, whatever the busy timeout is.

    Args:
        connection: The file.
        seconds: For how long it is tried.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            connection.execute("PRAGMA synchronous=NORMAL")
            return
