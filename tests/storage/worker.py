"""What the processes do that share a session, or are killed in the middle of it. Run by a fork server."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.storage import encode_message, open_store

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.storage.warm"])

SENT_AGAIN = 6
"""Messages a process sends again when it starts, as a client does that does not know what was stored."""

LIMITS = PrunerConfig.for_limit(700)
COMPRESS_EVERY = 5


def said(number: int, who: str = "m") -> BaseMessage:
    """A message that tells by its id what it has to say."""
    text = f"{who}{number}: the parcel {number * 7919 % 10_007} is in hall {number % 13}. " + "It waits. " * (
        number % 9
    )
    return (HumanMessage, AIMessage)[number % 2](text, id=f"{who}{number}")


def compressor(store: Any, session_id: str) -> ContextCompressor:
    return ContextCompressor(config=LIMITS, store=store, session_id=session_id)


def stream(place: str, session_id: str, acknowledged: str) -> None:
    """Append message after message and compress now and then, until somebody kills it.

    A line in the file `acknowledged` says that the append of that message had returned.
    """
    file = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    store = open_store(place)
    history = SessionHistory(store, session_id=session_id)
    worker = compressor(store, session_id)
    stored = history.messages()
    history.append(stored[-SENT_AGAIN:])
    context = worker.view(stored)
    number = len(stored)
    while True:
        message = said(number)
        history.append([message])
        os.write(file, f"{message.id}\n".encode())
        os.fsync(file)
        context = [*context, message]
        if number % COMPRESS_EVERY == 0:
            context = worker.compress(context).messages
        number += 1


def share(place: str, who: str, count: int, meeting: str, report: str) -> None:
    """Append to a session that another process appends to as well, and compress it; then say what is seen.

    Args:
        place: The store.
        who: The name of this process.
        count: How many messages it appends.
        meeting: A folder in which the processes wait for each other.
        report: The file for what it saw.
    """
    store = open_store(place)
    history = SessionHistory(store, session_id="shared")
    worker = compressor(store, "shared")
    meet(meeting, "start", who)
    outcomes: list[str] = []
    for number in range(count):
        both = HumanMessage(f"said by both {number}", id=f"both{number}")
        history.append([said(number, who), both] if number % 10 == 0 else [said(number, who)])
        if number % 20 == 19:
            result = worker.compress(history.messages())
            outcomes.append(f"{result.outcome} {result.reason}")
    meet(meeting, "end", who)
    saw = {"view": seen(place, worker), "outcomes": outcomes, "ids": [message.id for message in history.messages()]}
    Path(report).write_text(json.dumps(saw))


def seen(place: str, worker: ContextCompressor | None = None) -> list[str]:
    """The active context of the shared session, encoded."""
    worker = worker or compressor(open_store(place), "shared")
    return [encode_message(message) for message in worker.view(worker.history().messages())]


def meet(folder: str, when: str, who: str) -> None:
    """Wait until two processes are here."""
    (Path(folder) / f"{when}-{who}").touch()
    while len(list(Path(folder).glob(f"{when}-*"))) < 2:
        time.sleep(0.002)
