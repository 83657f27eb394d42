"""Recorded conversations: five files of them beside the repository, or where `CTXCOMPRESS_TEST_DATA` says."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import convert_to_messages

VARIABLE = "CTXCOMPRESS_TEST_DATA"
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded conversation.

    Attributes:
        name: Its file, line and id, "tau_retail:12:tau2-retail-gpt41-40-t0": ids repeat within a file.
        messages: The messages, without ids, as they are in the file.
    """

    name: str
    messages: tuple[BaseMessage, ...]

    def with_ids(self) -> list[BaseMessage]:
        """Gives copies of the messages, each with an id of its own."""
        return [m.model_copy(update={"id": f"{self.name}/{index}"}) for index, m in enumerate(self.messages)]


def folder() -> Path | None:
    """Gives the folder of the recordings; `None` if there is none."""
    path = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else BESIDE
    return path if path.is_dir() and any(path.glob("*.jsonl")) else None


def files() -> list[Path]:
    """Gives every file of recordings; none if the folder is absent."""
    found = folder()
    return sorted(found.glob("*.jsonl")) if found else []


needs_recordings = pytest.mark.skipif(
    folder() is None, reason=f"no recorded conversations: neither in ${VARIABLE} nor in ../shared/data"
)


@cache
def load(path: Path) -> tuple[Recording, ...]:
    """Reads every conversation of a file, in its order."""
    return tuple(
        Recording(f"{path.stem}:{number}:{record['id']}", tuple(convert_to_messages(record["messages"])))
        for number, record in enumerate(records(path), start=1)
    )


def records(path: Path) -> list[dict[str, Any]]:
    """Reads the lines of a JSONL file; a line ends at a newline and at nothing else."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]
