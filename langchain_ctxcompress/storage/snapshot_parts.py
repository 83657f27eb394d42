"""How snapshots lie in the store: one small record each, and parts that they share.

A snapshot refers to messages by id and hash of their bytes. These references are cut into parts where their content
says so, and a part is stored under its own hash: a snapshot whose list has much in common with an earlier one's stores
only the parts that are new, wherever the list was cut or grew. Removing a snapshot removes the parts that no other one
uses; a part that another process came to use meanwhile is put back.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from langchain_core.messages import BaseMessage
from pydantic import Field

from langchain_ctxcompress.errors import RecordError, describe
from langchain_ctxcompress.messages import is_derived
from langchain_ctxcompress.storage.codec import decode_message, encode_message, record_hash
from langchain_ctxcompress.storage.entries import Entry
from langchain_ctxcompress.storage.keys import SessionKeys
from langchain_ctxcompress.storage.records import SCHEMA_VERSION, CheckpointSummary, Moment, Record
from langchain_ctxcompress.storage.steps import StoreSteps

logger = logging.getLogger(__name__)

Purpose = Literal["recovery", "rollback", "emergency"]

MOST_SNAPSHOTS = 1_000_000
"""Snapshots of one session that are read at once."""

PART_ROWS = 512
"""References in a part at most; 64 on average."""

_CUT_BELOW = 4
"""A part ends behind a reference whose hash ends in a byte below it: one in 64."""


class Row(NamedTuple):
    """A reference to one message of a snapshot.

    Attributes:
        message_id: The message, as it is archived.
        record: Hash of its bytes.
        data: The message itself, encoded, where it is no original and so not in the history; else `None`.
        named: Whether it had an id when the snapshot was made.
    """

    message_id: str
    record: str
    data: str | None
    named: bool

    @classmethod
    def of(cls, given: BaseMessage, kept: BaseMessage, *, apart: bool) -> Row:
        """The reference to a message, as it is archived; one that is no original is not there, and goes along."""
        data = encode_message(kept)
        goes_along = apart or is_derived(kept)
        return cls(kept.id or "", record_hash(data), data if goes_along else None, bool(given.id))

    def message(self, entry: Entry | None, *, of: str) -> BaseMessage:
        """The message as it was given.

        Args:
            entry: What the history holds of it.
            of: What an error calls the snapshot.

        Raises:
            RecordError: It is not there any more, or is not what was saved.
        """
        data = self.data if self.data is not None else entry.data if entry else None
        if data is None or not data.isascii() or record_hash(data) != self.record:
            problem = "the archive does not hold any more" if data is None else "is not what was saved"
            msg = f"{of} cannot be restored: message {self.message_id!r} {problem}"
            raise RecordError(msg)
        message = decode_message(data, record=f"message {self.message_id!r} of {of}")
        return message if self.named else message.model_copy(update={"id": None})


class Snapshot(Record):
    """A restorable point of a session. Never sent to a model.

    Attributes:
        snapshot_id: Its id.
        session_id: Whose conversation it belongs to.
        purpose: What it is for: `recovery`, `rollback` or `emergency`.
        created_at: When.
        order: Nanoseconds since the epoch; the newest has the greatest.
        messages: How many messages it holds.
        parts: The parts with the references to them, in order.
        checkpoints: The parts with the summary checkpoints, in order.
        goals: The goals, as JSON values.
        metadata: The caller's own, as JSON values.
        forgotten: Messages that it held and that were removed since by `forget_messages`.
        content_hash: Hash of all of it, checked by `restore`.
    """

    ctxcompress_record: str = "snapshot"
    snapshot_id: str
    session_id: str
    purpose: Purpose
    created_at: Moment = Field(default_factory=lambda: datetime.now(UTC))
    order: int
    messages: int
    parts: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    goals: tuple[dict[str, Any], ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    forgotten: int = 0
    content_hash: str = ""

    def sealed(self) -> Snapshot:
        """The record with its content hash."""
        return self.model_copy(update={"content_hash": self._hash()})

    def check(self) -> None:
        """Compare the content hash.

        Raises:
            RecordError: The record is not what was saved.
        """
        if self.content_hash != self._hash():
            msg = f"snapshot {self.snapshot_id!r} is damaged: its content hash does not fit"
            raise RecordError(msg)

    def _hash(self) -> str:
        return record_hash(json.dumps(self.model_dump(mode="json", exclude={"content_hash"}), sort_keys=True))


def cut_parts(rows: Sequence[Row]) -> list[str]:
    """The references in parts, each as the text that is stored."""
    return [json.dumps(part) for part in _parts(rows)]


def _parts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    part: list[Row] = []
    for row in rows:
        part.append(row)
        if int(row.record[-2:], 16) < _CUT_BELOW or len(part) >= PART_ROWS:
            yield part
            part = []
    if part:
        yield part


def read_rows(texts: Sequence[str]) -> list[Row]:
    """The references that parts hold."""
    return [Row(*row) for text in texts for row in json.loads(text)]


def checkpoint_text(checkpoint: CheckpointSummary) -> str:
    """A checkpoint as the text of a part."""
    return json.dumps(checkpoint.dump(), sort_keys=True)


def read_checkpoint(text: str, *, name: str) -> CheckpointSummary:
    """The checkpoint that a part holds.

    Raises:
        RecordError: It is of an unknown version.
    """
    return CheckpointSummary.load(json.loads(text), name=name)


def write_steps(keys: SessionKeys, snapshot: Snapshot, texts: Mapping[str, str]) -> StoreSteps[None]:
    """Store a snapshot: first the parts that are new, then the record that refers to them.

    Args:
        keys: Where the session lies.
        snapshot: The record, sealed.
        texts: Its parts by name.
    """
    from langgraph.store.base import PutOp

    yield from _put_missing(keys, texts)
    value = {
        "schema_version": SCHEMA_VERSION,
        "ctxcompress_record": "snapshot",
        "record": json.dumps(snapshot.dump()),
    }
    yield [PutOp(keys.snapshots, snapshot.snapshot_id, value, index=False)]
    yield from _put_missing(keys, texts)  # another process may have removed a shared part before the record stood


def _put_missing(keys: SessionKeys, texts: Mapping[str, str]) -> StoreSteps[None]:
    from langgraph.store.base import GetOp, PutOp

    found = (yield [GetOp(keys.parts, name) for name in texts]) if texts else []
    missing = [name for name, item in zip(texts, found, strict=True) if item is None]
    if missing:
        value = {"schema_version": SCHEMA_VERSION, "ctxcompress_record": "part"}
        yield [PutOp(keys.parts, name, {**value, "text": texts[name]}, index=False) for name in missing]


def texts_steps(keys: SessionKeys, names: Sequence[str], *, of: str) -> StoreSteps[list[str]]:
    """The texts of parts, in order.

    Raises:
        RecordError: A part is missing or damaged; the error names it and `of`.
    """
    from langgraph.store.base import GetOp

    items = (yield [GetOp(keys.parts, name) for name in names]) if names else []
    texts: list[str] = []
    for name, item in zip(names, items, strict=True):
        text = item.value.get("text") if item else None
        if not isinstance(text, str) or not text.isascii() or record_hash(text) != name:
            msg = f"{of} is damaged: its part {name} is {'missing' if item is None else 'not what was saved'}"
            raise RecordError(msg)
        texts.append(text)
    return texts


def snapshot_steps(keys: SessionKeys, snapshot_id: str) -> StoreSteps[Snapshot | None]:
    """One snapshot's record; `None` where there is none.

    Raises:
        RecordError: It is damaged or of an unknown version.
    """
    from langgraph.store.base import GetOp

    item = (yield [GetOp(keys.snapshots, snapshot_id)])[0]
    return _read(item.value, snapshot_id) if item else None


def snapshots_steps(keys: SessionKeys) -> StoreSteps[list[Snapshot]]:
    """Every snapshot's record, newest first; a damaged one is logged and left out (S5)."""
    from langgraph.store.base import SearchOp

    items = (yield [SearchOp(keys.snapshots, limit=MOST_SNAPSHOTS)])[0]
    found: list[Snapshot] = []
    for item in items:
        try:
            found.append(_read(item.value, item.key))
        except RecordError as error:
            logger.warning("%s; it is left out", error)
    return sorted(found, key=lambda snapshot: (snapshot.order, snapshot.snapshot_id), reverse=True)


def _read(value: Mapping[str, Any], snapshot_id: str) -> Snapshot:
    name = f"snapshot {snapshot_id!r}"
    try:
        record = json.loads(value["record"]) if value.get("schema_version") == SCHEMA_VERSION else value
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{name} is damaged: {describe(error)}"
        raise RecordError(msg) from error
    return Snapshot.load(record, name=name)


def remove_steps(keys: SessionKeys, snapshots: Sequence[Snapshot]) -> StoreSteps[None]:
    """Remove snapshots, and the parts that no other one uses."""
    from langgraph.store.base import PutOp

    if snapshots:
        yield [PutOp(keys.snapshots, snapshot.snapshot_id, None) for snapshot in snapshots]
        yield from collect_steps(keys, {name for snapshot in snapshots for name in uses(snapshot)})


def uses(snapshot: Snapshot) -> set[str]:
    """The parts a snapshot refers to."""
    return {*snapshot.parts, *snapshot.checkpoints}


def collect_steps(keys: SessionKeys, names: Collection[str]) -> StoreSteps[None]:
    """Remove those of the parts that no snapshot uses; none while one cannot be read: it may use them."""
    from langgraph.store.base import GetOp, PutOp, SearchOp

    used = yield from _in_use(keys)
    there = (yield [SearchOp(keys.snapshots, limit=MOST_SNAPSHOTS)])[0]
    free = sorted(set(names) - used) if all(_is_readable(item) for item in there) else []
    if not free:
        return
    items = yield [GetOp(keys.parts, name) for name in free]
    yield [PutOp(keys.parts, name, None) for name in free]
    needed = yield from _in_use(keys)
    back = [item for item in items if item is not None and item.key in needed]
    if back:
        yield [PutOp(keys.parts, item.key, dict(item.value), index=False) for item in back]


def _in_use(keys: SessionKeys) -> StoreSteps[set[str]]:
    return {name for snapshot in (yield from snapshots_steps(keys)) for name in uses(snapshot)}


def _is_readable(item: Any) -> bool:
    try:
        _read(item.value, item.key)
    except RecordError:
        return False
    return True
