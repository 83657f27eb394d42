"""`Archive`: the sessions of a store that is there already. Nothing is made by looking."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_ctxcompress.cli.settings import check_store, default_store, shown_store
from langchain_ctxcompress.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from langchain_ctxcompress.storage import SessionHistory, SessionInfo, SnapshotStore
    from langchain_ctxcompress.tokens import MessageCounter

UNKNOWN = "-"
"""What stands in a table for a time that is not known."""


class Archive:
    """The archive that a command looks into.

    Args:
        store: As it was given; `None` for the file in the user's data directory, which counts as empty where it is
            missing.

    Attributes:
        shown: The store as it may be shown, without a password.

    Raises:
        ConfigError: It names no store, or one that ends with each command.
        StorageError: It is not there, is no archive, or cannot be opened.
    """

    def __init__(self, store: str | None) -> None:
        from langchain_ctxcompress.storage import open_store
        from langchain_ctxcompress.storage.backends import is_memory, is_postgres, sqlite_path
        from langchain_ctxcompress.tokens import MessageCounter

        named = store if store is not None else default_store()
        check_store(named)
        self.shown = shown_store(named)
        self.count: MessageCounter = MessageCounter()
        if is_memory(named):
            msg = f"--store is {named!r}: nothing stays in memory from one command to the next"
            raise ConfigError(msg)
        path = None if is_postgres(named) else sqlite_path(named).expanduser()
        missing = path is not None and not path.exists()
        if missing and store is not None:
            msg = f"there is no file {str(path)!r}: sessions are archived there by `compress --out … --store`"
            raise StorageError(msg)
        if path is not None and not missing:
            _refuse_other_files(path)
        self.store = open_store(None if missing else named)

    def session_ids(self) -> list[str]:
        """The ids of all sessions, sorted."""
        from langchain_ctxcompress.storage import run, session_ids

        return sorted(run(session_ids(), self.store))

    def find(self, name: str) -> str:
        """The id of the session that is meant: this id, or the only one that begins so.

        Raises:
            StorageError: There is none, or several begin so.
        """
        ids = self.session_ids()
        if name in ids:
            return name
        begun = [session_id for session_id in ids if name and session_id.startswith(name)]
        if len(begun) == 1:
            return begun[0]
        if begun:
            some = ", ".join(repr(session_id) for session_id in begun[:3])
            msg = f"{len(begun)} sessions begin with {name!r}: {some}{', …' if len(begun) > 3 else ''}"
            raise StorageError(msg)
        others = "`ctxcompress history list` shows those there are" if ids else "there are none"
        msg = f"there is no session {name!r} in {self.shown}: {others}"
        raise StorageError(msg)

    def history(self, session_id: str) -> SessionHistory:
        """The history of a session."""
        from langchain_ctxcompress.storage import SessionHistory

        return SessionHistory(self.store, session_id=session_id, count=self.count)

    def snapshots(self, session_id: str) -> SnapshotStore:
        """The snapshots of a session."""
        from langchain_ctxcompress.storage import SnapshotStore

        return SnapshotStore(self.store, session_id=session_id, count=self.count)

    def search(self, query: str, sessions: Sequence[str], most: int) -> tuple[list[tuple[str, BaseMessage]], list[str]]:
        """The messages that match best, with their sessions, the best first; and what could not be read.

        Args:
            query: What is looked for.
            sessions: Where.
            most: The most messages to return.
        """
        from langchain_ctxcompress.storage.search import rank

        found: list[tuple[str, BaseMessage]] = []
        errors: list[str] = []
        for name in sessions:
            try:
                found += [(name, message) for message in self.history(name).search(query, limit=most)]
            except StorageError as error:  # one damaged session costs no other
                errors.append(str(error))
        if len(sessions) > 1:  # each session's own order says nothing of the others
            places = {id(message): place for place, message in enumerate(rank([m for _, m in found], query, most))}
            found.sort(key=lambda one: places.get(id(one[1]), len(places)))
        return found[:most], errors

    def info(self, session_id: str) -> SessionInfo:
        """What is known of a session; a size that was not noted is counted now.

        Raises:
            StorageError: The store failed.
            RecordError: A record is damaged.
        """
        history = self.history(session_id)
        info = history.info()
        if info.messages and not info.tokens:
            info = info.model_copy(update={"tokens": sum(self.count([m])[0] for m in history.iter(on_damage="skip"))})
        return info


def shown_time(when: datetime | None) -> str:
    """A time as people read it, in their own time zone, to the minute."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M") if when else UNKNOWN


def _refuse_other_files(path: Path) -> None:
    """Opening a file as a store writes tables into it: a database of something else is left alone.

    Raises:
        StorageError: It is a database without a store in it.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store'").fetchone()
    except sqlite3.Error:  # what is wrong is said when it is opened
        return
    if found is None:
        msg = f"the file {str(path)!r} is no archive: no session was ever stored in it"
        raise StorageError(msg)
