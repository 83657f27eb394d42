"""`SnapshotStore`: restorable points of a session. Never sent to a model (requirement S2)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from uuid import uuid4

from langchain_core.messages import BaseMessage
from pydantic import BaseModel, ValidationError

from langchain_ctxcompress.arguments import check_kind, check_least
from langchain_ctxcompress.errors import ConfigError, RecordError, SnapshotNotFoundError, describe
from langchain_ctxcompress.messages import ensure_ids, require_messages
from langchain_ctxcompress.storage.codec import record_hash
from langchain_ctxcompress.storage.history import SessionHistory
from langchain_ctxcompress.storage.keys import SessionKeys
from langchain_ctxcompress.storage.records import CheckpointSummary
from langchain_ctxcompress.storage.redaction import RedactHook, Redactor
from langchain_ctxcompress.storage.snapshot_parts import (
    Purpose,
    Row,
    Snapshot,
    checkpoint_text,
    cut_parts,
    read_checkpoint,
    read_rows,
    remove_steps,
    snapshot_steps,
    snapshots_steps,
    texts_steps,
    write_steps,
)
from langchain_ctxcompress.storage.steps import StoreSteps, arun, run
from langchain_ctxcompress.storage.totals import CountMessages

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

Snapshots = list[Snapshot]
GoalType = type[BaseModel] | Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class RestoredSnapshot:
    """What a snapshot gives back.

    Attributes:
        snapshot: Its record.
        messages: The messages, equal to what was saved.
        checkpoints: The summary checkpoints, equal to what was saved.
        goals: The goals: dicts of JSON values, or what the goal type made of them.
    """

    snapshot: Snapshot
    messages: list[BaseMessage]
    checkpoints: list[CheckpointSummary] = field(default_factory=list)
    goals: list[Any] = field(default_factory=list)


class SnapshotStore:
    """Saves and restores points of a session: messages, checkpoints and goals.

    A snapshot refers to the session history, where its messages are archived first if they are not yet. What it costs
    besides is what it does not share with earlier snapshots. Safe from several threads and processes.

    Args:
        store: A LangGraph store, the path of a SQLite file, a `sqlite:` or `postgresql:` URL, or `None` for memory.
        session_id: Whose conversation; any text.
        namespace: Keeps tenants apart; the same as the session history's.
        goal_type: What `restore` makes goals of again: a pydantic model (`Goal`), or a callable that is given each
            dict. Without it goals come back as dicts of JSON values. `compressor.snapshots()` gives `Goal`s.
        redact: As in `SessionHistory`; what it changes is saved and restored as changed.
        count: As in `SessionHistory`.

    Raises:
        ConfigError: `store` is none of these.
    """

    def __init__(
        self,
        store: BaseStore | Path | str | None,
        *,
        session_id: str,
        namespace: Sequence[str] = (),
        goal_type: GoalType | None = None,
        redact: RedactHook | None = None,
        count: CountMessages | None = None,
    ) -> None:
        self._history = SessionHistory(store, session_id=session_id, namespace=namespace, count=count)
        self.store = self._history.store
        self.session_id = session_id
        self.goal_type = goal_type
        self._keys = SessionKeys(session_id, namespace)
        self._redactor = Redactor(redact)
        self._last_order = 0

    def __repr__(self) -> str:
        return f"SnapshotStore(ctxcompress_record='snapshot', session_id={self.session_id!r})"

    def create(
        self,
        messages: Sequence[BaseMessage],
        checkpoints: Sequence[CheckpointSummary] = (),
        goals: Sequence[BaseModel | Mapping[str, Any]] = (),
        purpose: Purpose = "recovery",
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """Save a point.

        Args:
            messages: The messages, in order; summary messages and shortened ones too.
            checkpoints: The summary checkpoints.
            goals: The goals: pydantic models, or dicts of JSON values.
            purpose: What it is for: `recovery`, `rollback` or `emergency`.
            metadata: Anything else, as JSON values.

        Returns:
            Its record.

        Raises:
            InvalidMessagesError: Something in `messages` is no message.
            ConfigError: The purpose is unknown, or a goal or the metadata is not made of JSON values.
            StorageError: The store failed; no snapshot was made.
        """
        return run(self.create_steps(messages, checkpoints, goals, purpose, metadata=metadata), self.store)

    async def acreate(
        self,
        messages: Sequence[BaseMessage],
        checkpoints: Sequence[CheckpointSummary] = (),
        goals: Sequence[BaseModel | Mapping[str, Any]] = (),
        purpose: Purpose = "recovery",
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """As `create`, without blocking the loop."""
        return await arun(self.create_steps(messages, checkpoints, goals, purpose, metadata=metadata), self.store)

    def restore(self, snapshot_id: str | Snapshot, *, goal_type: GoalType | None = None) -> RestoredSnapshot:
        """Give back what was saved.

        Args:
            snapshot_id: The snapshot, by its id or its record.
            goal_type: As in the class, for this call.

        Raises:
            SnapshotNotFoundError: There is no such snapshot.
            ConfigError: What was given is neither an id nor a record.
            RecordError: It, or something it refers to, is damaged or missing; the error names what.
        """
        return run(self.restore_steps(snapshot_id, goal_type=goal_type), self.store)

    async def arestore(self, snapshot_id: str | Snapshot, *, goal_type: GoalType | None = None) -> RestoredSnapshot:
        """As `restore`, without blocking the loop."""
        return await arun(self.restore_steps(snapshot_id, goal_type=goal_type), self.store)

    def list(self) -> Snapshots:
        """The snapshots' records, newest first; a damaged one is logged and left out."""
        return run(snapshots_steps(self._keys), self.store)

    async def alist(self) -> Snapshots:
        """As `list`, without blocking the loop."""
        return await arun(snapshots_steps(self._keys), self.store)

    def cleanup(self, keep: int = 5, older_than: timedelta | None = None, *, purpose: Purpose | None = None) -> int:
        """Remove old snapshots.

        Args:
            keep: The newest so many always stay.
            older_than: Of the others, only those older than this go. By default all of them.
            purpose: Only snapshots of this purpose are looked at. By default all are.

        Returns:
            How many were removed.

        Raises:
            ConfigError: `keep` is negative, or `older_than` no timedelta.
        """
        return run(self.cleanup_steps(keep, older_than, purpose), self.store)

    async def acleanup(
        self, keep: int = 5, older_than: timedelta | None = None, *, purpose: Purpose | None = None
    ) -> int:
        """As `cleanup`, without blocking the loop."""
        return await arun(self.cleanup_steps(keep, older_than, purpose), self.store)

    def delete(self, snapshot_id: str | Snapshot) -> None:
        """Remove one snapshot. The session history keeps its messages.

        Args:
            snapshot_id: As in `restore`.

        Raises:
            SnapshotNotFoundError: There is no such snapshot.
            ConfigError: What was given is neither an id nor a record.
        """
        run(self.delete_steps(snapshot_id), self.store)

    async def adelete(self, snapshot_id: str | Snapshot) -> None:
        """As `delete`, without blocking the loop."""
        await arun(self.delete_steps(snapshot_id), self.store)

    def create_steps(
        self,
        messages: Sequence[BaseMessage],
        checkpoints: Sequence[CheckpointSummary],
        goals: Sequence[BaseModel | Mapping[str, Any]],
        purpose: Purpose,
        *,
        metadata: Mapping[str, Any] | None,
        apart: Collection[str] = (),
    ) -> StoreSteps[Snapshot]:
        """The routine behind `create`.

        Args:
            messages: As in `create`, as are the others.
            checkpoints: As in `create`.
            goals: As in `create`.
            purpose: As in `create`.
            metadata: As in `create`.
            apart: Ids of messages that are saved, and kept out of the history: they bear no mark, and are no originals.
        """
        if purpose not in get_args(Purpose):
            msg = f"purpose is {purpose!r}: it must be one of {', '.join(get_args(Purpose))}"
            raise ConfigError(msg)
        for place, checkpoint in enumerate(checkpoints):
            check_kind(f"item {place} of checkpoints", checkpoint, CheckpointSummary, "a CheckpointSummary")
        saved_goals = tuple(_plain(goal, f"goal {place}") for place, goal in enumerate(goals))
        saved_metadata = _plain(metadata or {}, "metadata")
        archived = yield from self._archive_steps(messages, apart)
        rows = [Row.of(given, kept, apart=kept.id in apart) for given, kept in zip(messages, archived, strict=True)]
        parts = cut_parts(rows)
        saved = [checkpoint_text(self._redactor.checkpoint(checkpoint)) for checkpoint in checkpoints]
        texts = {record_hash(text): text for text in (*parts, *saved)}
        snapshot = Snapshot(
            snapshot_id=f"s{uuid4().hex[:12]}",
            session_id=self.session_id,
            purpose=purpose,
            order=self._next_order(),
            messages=len(rows),
            parts=tuple(map(record_hash, parts)),
            checkpoints=tuple(map(record_hash, saved)),
            goals=saved_goals,
            metadata=saved_metadata,
        ).sealed()
        yield from write_steps(self._keys, snapshot, texts)
        return snapshot

    def restore_steps(
        self, snapshot_id: str | Snapshot, *, goal_type: GoalType | None = None
    ) -> StoreSteps[RestoredSnapshot]:
        """The routine behind `restore`."""
        snapshot = yield from self._found(snapshot_id)
        snapshot.check()
        name = f"snapshot {snapshot.snapshot_id!r}"
        rows = read_rows((yield from texts_steps(self._keys, snapshot.parts, of=name)))
        texts = yield from texts_steps(self._keys, snapshot.checkpoints, of=name)
        checkpoints = [read_checkpoint(text, name=f"a checkpoint of {name}") for text in texts]
        entries = yield from self._history.revisions_steps(
            (row.message_id, row.record) for row in rows if row.data is None
        )
        messages = [row.message(entries.get((row.message_id, row.record)), of=name) for row in rows]
        goals = [_goal(goal, goal_type or self.goal_type, name) for goal in snapshot.goals]
        return RestoredSnapshot(snapshot, messages, checkpoints, goals)

    def cleanup_steps(
        self, keep: int, older_than: timedelta | None = None, purpose: Purpose | None = None
    ) -> StoreSteps[int]:
        """The routine behind `cleanup`."""
        check_least("keep", keep)
        if older_than is not None:
            check_kind("older_than", older_than, timedelta, "a timedelta")
        found = yield from snapshots_steps(self._keys)
        old = [snapshot for snapshot in found if purpose in (None, snapshot.purpose)][keep:]
        if older_than is not None:
            limit = datetime.now(UTC) - older_than
            old = [snapshot for snapshot in old if snapshot.created_at < limit]
        yield from remove_steps(self._keys, old)
        return len(old)

    def delete_steps(self, snapshot_id: str | Snapshot) -> StoreSteps[None]:
        """The routine behind `delete`."""
        yield from remove_steps(self._keys, [(yield from self._found(snapshot_id))])

    def _found(self, named: str | Snapshot) -> StoreSteps[Snapshot]:
        snapshot_id = named.snapshot_id if isinstance(named, Snapshot) else named
        if not isinstance(snapshot_id, str):
            msg = f"a {type(snapshot_id).__name__} names no snapshot: give its id, or the record that `create` returned"
            raise ConfigError(msg)
        snapshot = yield from snapshot_steps(self._keys, snapshot_id)
        if snapshot is None:
            msg = f"there is no snapshot {snapshot_id!r} in session {self.session_id!r}"
            raise SnapshotNotFoundError(msg)
        return snapshot

    def _archive_steps(
        self, messages: Sequence[BaseMessage], apart: Collection[str]
    ) -> StoreSteps[Sequence[BaseMessage]]:
        """Archive the originals; returns all messages as they are archived: with ids, and redacted."""
        require_messages(messages)
        archived = [self._redactor.message(message) for message in ensure_ids(messages, self.session_id)]
        originals = [message for message in archived if message.id not in apart]
        yield from self._history.append_steps(originals, whole=True)
        return archived

    def _next_order(self) -> int:
        self._last_order = max(time.time_ns(), self._last_order + 1)
        return self._last_order


def _plain(value: BaseModel | Mapping[str, Any], name: str) -> dict[str, Any]:
    """The value as JSON gives it back.

    Raises:
        ConfigError: JSON would not give it back as it is.
    """
    check_kind(name, value, (BaseModel, Mapping), "a pydantic model or a mapping of JSON values")
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else dict(value)
    try:
        back: dict[str, Any] = json.loads(json.dumps(plain, allow_nan=False))
    except (TypeError, ValueError) as error:
        msg = f"{name} cannot be saved: {describe(error)}; use JSON values"
        raise ConfigError(msg) from error
    if back != plain:
        msg = f"{name} would not come back as it is: use JSON values (lists, not tuples; texts as keys)"
        raise ConfigError(msg)
    return back


def _goal(goal: dict[str, Any], goal_type: GoalType | None, name: str) -> Any:
    if goal_type is None:
        return goal
    try:
        validate: Callable[[dict[str, Any]], Any] = getattr(goal_type, "model_validate", goal_type)
        return validate(goal)
    except (ValidationError, TypeError, ValueError, KeyError) as error:
        msg = f"a goal of {name} cannot be read as {getattr(goal_type, '__name__', goal_type)}: {describe(error)}"
        raise RecordError(msg) from error
