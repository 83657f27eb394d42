"""Chat message histories as applications have them: a file, a table in SQLite, a table in PostgreSQL.

They behave as those of langchain-community and langchain-postgres do: messages are kept as dicts, each read makes new
objects, and only the blocking methods are written (LangChain runs them in a thread for async callers).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict


class ListHistory(BaseChatMessageHistory):
    """A list in memory, the same objects at each read."""

    def __init__(self) -> None:
        self.messages: list[BaseMessage] = []

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.messages = [*self.messages, *messages]

    def clear(self) -> None:
        self.messages = []


class FileHistory(BaseChatMessageHistory):
    """One JSON file a session."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def messages(self) -> list[BaseMessage]:
        return messages_from_dict(json.loads(self.path.read_text())) if self.path.exists() else []

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.path.write_text(json.dumps(messages_to_dict([*self.messages, *messages])))

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)


class SqlHistory(BaseChatMessageHistory):
    """Rows of one table in SQLite."""

    def __init__(self, path: Path, session_id: str) -> None:
        self.path = path
        self.session_id = session_id
        self._run("CREATE TABLE IF NOT EXISTS message_store (id INTEGER PRIMARY KEY, session_id TEXT, message TEXT)")

    def _run(self, statement: str, *rows: tuple[str, ...]) -> list[tuple[str]]:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            if statement.startswith("INSERT"):
                connection.executemany(statement, rows)
                return []
            return connection.execute(statement, *rows).fetchall()

    @property
    def messages(self) -> list[BaseMessage]:
        rows = self._run("SELECT message FROM message_store WHERE session_id = ? ORDER BY id", (self.session_id,))
        return messages_from_dict([json.loads(row[0]) for row in rows])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        rows = [(self.session_id, json.dumps(data)) for data in messages_to_dict(messages)]
        self._run("INSERT INTO message_store (session_id, message) VALUES (?, ?)", *rows)

    def clear(self) -> None:
        self._run("DELETE FROM message_store WHERE session_id = ?", (self.session_id,))


class PostgresHistory(BaseChatMessageHistory):
    """Rows of one table in PostgreSQL; `jsonb`, as langchain-postgres has it."""

    def __init__(self, url: str, session_id: str) -> None:
        self.url = url
        self.session_id = session_id
        self._run("CREATE TABLE IF NOT EXISTS message_store (id SERIAL PRIMARY KEY, session_id TEXT, message JSONB)")

    def _run(self, statement: str, *rows: tuple[str, ...]) -> list[tuple[dict]]:
        import psycopg

        with psycopg.connect(self.url) as connection, connection.cursor() as cursor:
            for row in rows or ((),):
                cursor.execute(statement, row)
            return cursor.fetchall() if cursor.description else []

    @property
    def messages(self) -> list[BaseMessage]:
        rows = self._run("SELECT message FROM message_store WHERE session_id = %s ORDER BY id", (self.session_id,))
        return messages_from_dict([row[0] for row in rows])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        rows = [(self.session_id, json.dumps(data)) for data in messages_to_dict(messages)]
        self._run("INSERT INTO message_store (session_id, message) VALUES (%s, %s)", *rows)

    def clear(self) -> None:
        self._run("DELETE FROM message_store WHERE session_id = %s", (self.session_id,))
