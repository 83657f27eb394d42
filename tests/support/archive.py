"""What stands in a SQLite archive, read with `sqlite3` and `json` alone: no line of the package has a hand in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, message_to_dict


class RawArchive:
    """An archive as its rows say.

    Args:
        path: The file of the store.
        session_id: Letters, digits, `-` and `_`: others are written in a way that is the package's own.
    """

    def __init__(self, path: Path, session_id: str) -> None:
        self.path = path
        self.base = f"ctxcompress.session.{session_id}"

    def _rows(self, where: str) -> Iterator[dict[str, Any]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=30)) as connection:
            pattern = f"{self.base}.{where}"
            rows = connection.execute("SELECT value FROM store WHERE prefix GLOB ? ORDER BY prefix, key", (pattern,))
            for (value,) in rows.fetchall():
                yield json.loads(value)

    def revisions(self) -> dict[str, list[dict[str, Any]]]:
        """Everything that each message ever said, oldest first, as `message_to_dict` gives it."""
        found: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for segment in self._rows("log.*"):
            for message_id, _record, _content, order, data, *_ in json.loads(segment["entries"]):
                found.setdefault(message_id, []).append((order, json.loads(data)))
        return {i: [said for _, said in sorted(rows, key=lambda row: row[0])] for i, rows in found.items()}

    def checkpoints(self) -> int:
        """How many checkpoints there are, those that name no summary too."""
        return sum(1 for _ in self._rows("checkpoints"))

    def covered(self) -> set[str]:
        """Every id that a checkpoint covers."""
        return {i for record in self._rows("checkpoints") for i in _covered(record)}


def _covered(record: dict[str, Any]) -> list[str]:
    inner = record.get("record", record)
    inner = json.loads(inner) if isinstance(inner, str) else inner
    return list(inner["covered"])


def plain(message: BaseMessage) -> dict[str, Any]:
    """A message as the archive has it."""
    said: dict[str, Any] = json.loads(json.dumps(message_to_dict(message)))
    return said
