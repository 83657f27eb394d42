"""The boundary between what is kept and what is sent (requirement S4).

Session history and snapshots are never sent to a model; only the active context is. The originals that the archive
gives back are ordinary messages, and may be sent. What may not: the objects that keep them (a history, a log entry, a
summary checkpoint's record, a snapshot), and their serialised forms. Each of these says `ctxcompress_record` wherever
it is written down as text, so it is recognised in a string, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from langchain_ctxcompress.errors import StorageBoundaryError
from langchain_ctxcompress.storage.entries import Entry
from langchain_ctxcompress.storage.history import SessionHistory
from langchain_ctxcompress.storage.keys import ROOT
from langchain_ctxcompress.storage.log import SessionLog
from langchain_ctxcompress.storage.records import CheckpointSummary, Record
from langchain_ctxcompress.storage.snapshot_parts import Snapshot
from langchain_ctxcompress.storage.snapshots import RestoredSnapshot, SnapshotStore

_RECORD_KEY = "ctxcompress_record"
_WRITTEN = re.compile(rf"""\b{_RECORD_KEY}\\*["']?\s{{0,8}}[:=]\s{{0,8}}\\*["']([a-z]+)""")
"""The mark in JSON (escaped or not), in Python's notation of a dict, and in that of an object."""

SNAPSHOT_KINDS = frozenset({"snapshot", "part"})

_OBJECTS: tuple[tuple[type, str, str, str], ...] = (
    (Snapshot, "snapshot", "snapshot", "snapshot_id"),
    (SnapshotStore, "snapshot", "the snapshot store of session", "session_id"),
    (SessionHistory, "history", "the history of session", "session_id"),
    (SessionLog, "log", "the log of session", "session_id"),
    (Entry, "entry", "the archive's entry for message", "message_id"),
    (CheckpointSummary, "checkpoint", "the record of summary checkpoint", "checkpoint_id"),
    (Record, "record", "a record of session", "session_id"),
)
"""What is kept: its class, its kind, how an error calls it, and where its id stands."""

Finding = tuple[str, str]
"""What was found (`snapshot`, or another kind of record), and how it is called."""


def is_session_history(value: object) -> TypeGuard[SessionHistory]:
    """Whether a value is the archive of a session."""
    return isinstance(value, SessionHistory)


def is_snapshot(value: object) -> TypeGuard[Snapshot | RestoredSnapshot]:
    """Whether a value is a snapshot: its record, or what was restored from one."""
    return isinstance(value, Snapshot | RestoredSnapshot)


def prevent_snapshot_in_prompt(prompt: object) -> None:
    """Refuse a prompt that holds a snapshot, in whatever form.

    Args:
        prompt: A text, a message, a prompt value, or any nesting of lists and dicts of them.

    Raises:
        StorageBoundaryError: It holds a snapshot, the store of them, or the text of one; the error names it and where.
    """
    _prevent(prompt, snapshots=True, history=False, quoted=True)


def prevent_history_in_prompt(prompt: object) -> None:
    """Refuse a prompt that holds the session history or a record of it, in whatever form.

    Messages that were read from the history are ordinary messages and pass.

    Args:
        prompt: A text, a message, a prompt value, or any nesting of lists and dicts of them.

    Raises:
        StorageBoundaryError: It holds a history, a record of one, or the text of a record; the error says which, and
            where.
    """
    _prevent(prompt, snapshots=False, history=True, quoted=True)


def guard_prompt(prompt: object) -> None:
    """Both, for the prompts that this package builds.

    A text that is a record as a whole is refused. One that only quotes a record passes: what a user or a tool happened
    to paste into the conversation must not stop the agent.

    Raises:
        StorageBoundaryError: It holds what must not be sent; the error names it and where.
    """
    _prevent(prompt, snapshots=True, history=True, quoted=False)


def guard_messages(messages: Sequence[object], *, start: int = 0) -> None:
    """As `guard_prompt`, for a list on its way to the main model. An ordinary text costs one look for the mark.

    Args:
        messages: The list.
        start: The first place that is looked at: what is before it was looked at before.

    Raises:
        StorageBoundaryError: It holds what must not be sent; the error names it and where.
    """
    for place, message in enumerate(messages[start:], start):
        if not _is_plain(message):
            _prevent(message, snapshots=True, history=True, quoted=False, start=f"messages[{place}]")


def _is_plain(message: object) -> bool:
    """Whether a message is nothing but an ordinary text."""
    if not isinstance(message, BaseMessage) or not isinstance(message.content, str) or message.additional_kwargs:
        return False
    return _RECORD_KEY not in message.content and not vars(message).get("tool_calls")


def _prevent(prompt: object, *, snapshots: bool, history: bool, quoted: bool, start: str = "prompt") -> None:
    for place, value in _walk(prompt, start):
        for kind, name in _kept(value, quoted=quoted):
            if snapshots if kind in SNAPSHOT_KINDS else history:
                layer = "snapshots are" if kind in SNAPSHOT_KINDS else "the session history is"
                msg = f"{name} stands in the prompt ({place}): {layer} never sent to a model; send the messages instead"
                raise StorageBoundaryError(msg)


def _walk(prompt: object, start: str) -> Iterator[tuple[str, object]]:
    """Every value in a prompt that is sent, with its place; each object once, so a cycle ends."""
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [(start, prompt)]
    while waiting:
        place, value = waiting.pop()
        if not isinstance(value, str):
            if id(value) in seen:
                continue
            seen.add(id(value))
        yield place, value
        waiting += reversed(list(_inside(place, value)))


def _inside(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, BaseMessage):
        # Artifacts and response metadata are not sent.
        yield f"{place}.content", value.content
        yield f"{place}.additional_kwargs", value.additional_kwargs
        for call in getattr(value, "tool_calls", ()):
            yield f"{place}.tool_calls", call.get("args")
    elif callable(to_messages := getattr(value, "to_messages", None)):  # a prompt value
        yield f"{place}.messages", to_messages()
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{place}[{key!r}]", inner
    elif isinstance(value, list | tuple | set | frozenset):
        for index, inner in enumerate(value):
            yield f"{place}[{index}]", inner
    elif isinstance(value, BaseModel) and not isinstance(value, Record):
        for name in type(value).model_fields:
            yield f"{place}.{name}", getattr(value, name, None)


def _kept(value: object, *, quoted: bool) -> list[Finding]:
    """What of the archive a value is; nothing for what may be sent."""
    if isinstance(value, str):
        return _kept_text(value) if quoted or _is_whole(value) else []
    if isinstance(value, Mapping):
        kind = value.get(_RECORD_KEY)
        named = f" {identity!r}" if (identity := value.get(f"{kind}_id")) else ""
        return [(str(kind), f"a serialised {kind} record{named}")] if kind else []
    found = _kept_object(value)
    return [found] if found else []


def _kept_object(value: object) -> Finding | None:
    value = value.snapshot if isinstance(value, RestoredSnapshot) else value
    for kept, kind, name, identity in _OBJECTS:
        if isinstance(value, kept):
            return kind, f"{name} {getattr(value, identity, '')!r}".strip()
    # An item as a store returns it, where it lies in this package's part of the store.
    namespace = getattr(value, "namespace", None)
    if not isinstance(namespace, tuple | list) or tuple(namespace[:1]) != (ROOT,):
        return None
    kind = "snapshot" if {"snapshots", "parts"} & set(namespace[-1:]) else "item"
    return kind, f"an item of the archive ({getattr(value, 'key', '')!r})"


def _kept_text(text: str) -> list[Finding]:
    if _RECORD_KEY not in text:
        return []
    found: list[Finding] = []
    for kind in dict.fromkeys(match[1] for match in _WRITTEN.finditer(text)):
        identity = re.search(rf"""\b{kind}_id\\*["']?\s{{0,8}}[:=]\s{{0,8}}\\*(["'][\w-]+)""", text)
        named = f" {identity[1][1:]!r}" if identity else ""
        found.append((kind, f"the text of a {kind} record{named}"))
    return found


def _is_whole(text: str) -> bool:
    """Whether a text is nothing but a record, or a list of records, in JSON."""
    if _RECORD_KEY not in text or text.strip()[:1] not in ("{", "["):
        return False
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and _RECORD_KEY in first
