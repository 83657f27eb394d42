"""Conversations for the command line's tests, and the command line as another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import messages_to_dict
from langchain_core.messages.utils import convert_to_messages

from langchain_ctxcompress.tokens import MessageCounter

LIMIT = 800
"""Tokens: `exchanges(12)` is about twice as large."""


def exchanges(number: int, label: str = "a") -> list[dict[str, Any]]:
    """A conversation in OpenAI's format: a system prompt, then `number` questions, each with a call and an answer."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You keep the books of a warehouse."}]
    for n in range(number):
        call = {"id": f"call-{n % 3}", "type": "function", "function": {"name": "stock", "arguments": f'{{"n": {n}}}'}}
        goods = " ".join(f"shelf {n}-{k} holds {n * 7 + k} boxes of screws;" for k in range(6))
        messages += [
            {"role": "user", "content": f"{label}: how much of item {n} is there?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call-{n % 3}", "content": goods},
            {"role": "assistant", "content": f"Of item {n} there are {n * 42} boxes, order O-{1000 + n}."},
        ]
    return messages


def langchain(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    dumped: list[dict[str, Any]] = json.loads(json.dumps(messages_to_dict(convert_to_messages(messages))))
    return dumped


def tokens(messages: list[dict[str, Any]]) -> int:
    return sum(MessageCounter()(convert_to_messages(messages)))


def write(path: Path, *records: Any) -> str:
    """Write a line for each record, a text as it is."""
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def ctxcompress(
    *arguments: str, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "langchain_ctxcompress.cli", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, **(env or {})},
    )
