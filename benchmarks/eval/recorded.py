"""Filler from recorded conversations, where there are any: real questions, real tool results, real answers."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_messages

VARIABLE = "CTXCOMPRESS_TEST_DATA"
_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
_CHATS = ("tau_airline.jsonl", "tau_retail.jsonl", "tau2_telecom.jsonl")


def folder() -> Path | None:
    """The folder of the recordings: named by the variable, or beside the project; `None` if there is none."""
    path = Path(os.environ.get(VARIABLE, _BESIDE))
    return path if all((path / name).is_file() for name in _CHATS) else None


def conversations(path: Path) -> list[list[BaseMessage]]:
    """Every conversation of the chats, without its system messages.

    Args:
        path: The folder.
    """
    lines = [line for name in _CHATS for line in (path / name).read_text(encoding="utf-8").split("\n") if line]
    whole = [convert_to_messages(json.loads(line)["messages"]) for line in lines]
    return [[message for message in messages if message.type != "system"] for messages in whole]


class RecordedFiller:
    """Gives the exchanges of recorded conversations, one conversation after the other.

    Args:
        rng: Which come, and in what order.
        path: The folder of the recordings.
    """

    def __init__(self, rng: random.Random, path: Path) -> None:
        chosen = conversations(path)
        rng.shuffle(chosen)
        self._exchanges = (exchange for messages in chosen for exchange in exchanges(messages))

    def exchange(self) -> list[BaseMessage]:
        """The next exchange. Without ids."""
        return next(self._exchanges)


def exchanges(messages: list[BaseMessage]) -> list[list[BaseMessage]]:
    """A conversation cut in front of what the user says; what comes before the first such message is left out.

    Args:
        messages: A conversation.
    """
    found: list[list[BaseMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            found.append([])
        if found:
            found[-1].append(message)
    return found
