"""Opening a store: LangGraph's `BaseStore` is the one storage interface.

SQLite is opened with WAL and `synchronous=NORMAL`: what was written survives a killed process; a power cut can cost the
last commits but not the file. One connection is shared by all threads of a process (`SqliteStore` locks it), and other
processes wait for up to 30 seconds for a lock. PostgreSQL is used over one connection, which is made again when it is
lost: up to 10 seconds for a connection, up to 30 for a lock. A batch that fails leaves nothing behind, and no fault
(a full disk, a file that is read-only, a lock, a lost server) outlives itself: the next batch works when it is over.
"""

from __future__ import annotations

import logging
import os
import re
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_ctxcompress.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

logger = logging.getLogger(__name__)

BUSY_SECONDS = 30.0
"""How long a process waits for another one's lock on a SQLite file; then the batch fails, written not at all."""

_POSTGRES = ("postgres:", "postgresql:")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
"""What stands before a colon, two letters or more: `C:` is a drive."""

ALLOWED = "it must be the path of a SQLite file, sqlite:PATH, postgresql://… or :memory:"


def open_store(store: BaseStore | Path | str | None) -> BaseStore:
    """The store that is meant.

    Args:
        store: A LangGraph store (returned as it is), the path of a SQLite file (made where it is missing, for its owner
            only), `sqlite:PATH` or `sqlite:///PATH` (as SQLAlchemy has it: a fourth slash makes it absolute), a
            `postgresql:` URL (extra `postgres`), or `None` or `:memory:` for a store in memory.
            A text with a colon behind its first word is no path: write `sqlite:odd:name.db`, or give a `Path`.

    Raises:
        ConfigError: It is none of these.
        StorageError: The file or the server cannot be opened.
    """
    if store is None or (isinstance(store, str) and is_memory(store)):
        from langgraph.store.memory import InMemoryStore

        logger.info("no store is given: originals are kept in memory and end with this process")
        return InMemoryStore()
    if isinstance(store, str):
        if is_postgres(store):
            return _open_postgres(store)
        store = sqlite_path(store)
    if isinstance(store, Path):
        return _open_sqlite(store)
    from langgraph.store.base import BaseStore

    if isinstance(store, BaseStore):
        return store
    msg = f"store is a {type(store).__name__}: it must be a LangGraph BaseStore, a path, a URL or None"
    raise ConfigError(msg)


def is_memory(store: str) -> bool:
    """Whether a text means a store in memory."""
    return store.removeprefix("sqlite:").lstrip("/") == ":memory:"


def is_postgres(store: str) -> bool:
    """Whether a text is the URL of a PostgreSQL server."""
    return store.startswith(_POSTGRES)


def sqlite_path(store: str) -> Path:
    """The path of the SQLite file that a text means.

    Raises:
        ConfigError: The text names another kind of store, a host, or none. What stands behind the scheme is not
            repeated: it may hold a password.
    """
    scheme = _SCHEME.match(store)
    if scheme and scheme[1] != "sqlite":  # taken for a path, it would make folders named after a password
        msg = f"store begins with {scheme[0]!r}: {ALLOWED}"
        raise ConfigError(msg)
    path = store[scheme.end() :] if scheme else store
    if scheme and path.startswith("//"):  # a URL, as SQLAlchemy reads it: three slashes and a path, relative or not
        if not path.startswith("///"):
            msg = f"store begins with 'sqlite://' and names a host: write sqlite:PATH, or sqlite:///PATH; {ALLOWED}"
            raise ConfigError(msg)
        path = path[3:]
    if not path.strip("/"):
        msg = f"store is {store!r}, which names no file: {ALLOWED}"
        raise ConfigError(msg)
    return Path(path)


def _open_sqlite(path: Path) -> BaseStore:
    import sqlite3

    from langchain_ctxcompress.storage.sqlite import ArchiveSqliteStore, use_wal

    try:
        path = path.expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=BUSY_SECONDS)
    except (OSError, ValueError, RuntimeError, sqlite3.Error) as error:  # NUL in the path; an unknown ~user
        msg = f"the SQLite file {str(path)!r} cannot be opened: {error}"
        raise StorageError(msg) from error
    try:
        use_wal(connection, BUSY_SECONDS)
        connection.execute("PRAGMA secure_delete=ON")  # what is removed is overwritten, not only let go
        store = ArchiveSqliteStore(connection)
        store.setup()
    except sqlite3.Error as error:
        connection.close()
        msg = f"the SQLite file {path} cannot be used as a store: {error}"
        raise StorageError(msg) from error
    weakref.finalize(store, connection.close)
    return store


def wipe(store: BaseStore) -> None:
    """Take what was removed out of the files of a store, too.

    A SQLite store that `open_store` opened overwrites what it removes; what the write-ahead log still holds of it is
    moved out of there. Others keep removed rows as their makers have it: a SQLite file of the caller's own until
    `VACUUM`, PostgreSQL until its own vacuum.
    """
    import sqlite3

    connection = getattr(getattr(store, "inner", store), "conn", None)
    if not isinstance(connection, sqlite3.Connection):
        return
    try:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.Error as error:
        busy = error
    if busy:
        logger.warning("removed messages may stand in the write-ahead log until no other process reads the file")


async def awipe(store: BaseStore) -> None:
    """As `wipe`, without blocking the loop."""
    import asyncio

    await asyncio.to_thread(wipe, store)


def _open_postgres(url: str) -> BaseStore:
    try:
        from langchain_ctxcompress.storage.postgres import ArchivePostgresStore
    except ImportError as error:
        msg = "a postgresql: URL needs the extra: pip install 'langchain-ctxcompress[postgres]'"
        raise ConfigError(msg) from error
    try:
        store = ArchivePostgresStore(url)
        store.setup()
    except Exception as error:
        msg = f"the PostgreSQL server cannot be used as a store: {type(error).__name__}"
        raise StorageError(msg) from error
    return store
