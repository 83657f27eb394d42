"""What a compressor remembers of its sessions: archive and checkpoints. A cache: the store is the truth."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langchain_ctxcompress.engine.idle import Seen
from langchain_ctxcompress.errors import StorageError
from langchain_ctxcompress.ledger import Goal
from langchain_ctxcompress.storage import (
    CheckpointChain,
    CheckpointSummary,
    CountMessages,
    OpenChain,
    RedactHook,
    SessionHistory,
    SnapshotStore,
    StoreSteps,
    View,
)
from langchain_ctxcompress.strategies import EmergencyAction

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

logger = logging.getLogger(__name__)

MOST_SESSIONS = 1_024
"""Sessions that are remembered at once; a forgotten one is read again from the store."""

MOST_LISTS = 64
"""Sessions, the newest used, whose last list is held, so that its next step costs what is new in it."""

SNAPSHOTS_KEPT = 20
"""The newest snapshots of emergencies that stay; others' snapshots are never removed."""

LEDGERS_KEPT = 8
"""The newest checkpoints that hold the ledger. Each holds all of it, so the older ones need not: a fork from further
back reads it off the summary message."""


class Session:
    """The archive of one session, and the checkpoints as last read.

    Args:
        history: Its archive.
        snapshots: Its restorable points.
    """

    def __init__(self, history: SessionHistory, snapshots: SnapshotStore) -> None:
        self.history = history
        self.snapshots = snapshots
        self._open = OpenChain(history.summaries)
        self.seen: Seen | None = None
        """The last list that needed nothing."""
        self.weigh_from = 0
        """How large a list must be, in tokens, before it is weighed again whether a compression pays."""
        self.warned = False
        """Whether the log has said that turns are dropped without a summary."""
        self.epoch = 0
        """How often messages were removed from it for good."""

    @property
    def chain(self) -> CheckpointChain:
        """The checkpoints that are known: all that matter to the last list."""
        return self._open.chain

    def view(self, messages: Sequence[BaseMessage]) -> StoreSteps[View]:
        """The active context of a list; reads the checkpoints that matter to it where they are not known yet."""
        yield from self.look(messages)
        return self.chain.apply(messages)

    def look(self, messages: Sequence[BaseMessage]) -> StoreSteps[None]:
        """Read the checkpoints that matter to a list and are not known yet.

        A store that cannot be read costs no more than this: the list is taken as it is.
        """
        known = self._open.epoch
        try:
            yield from self._open.look(messages)
        except StorageError as error:
            logger.warning("session %s: its checkpoints cannot be read: %s", self.history.session_id, error)
        if known and self._open.epoch != known:
            self.epoch += 1  # somebody else removed messages: a draft in the making may say what is gone

    def record(
        self,
        messages: Sequence[BaseMessage],
        checkpoints: Sequence[CheckpointSummary],
        actions: Sequence[EmergencyAction] = (),
        remnants: Sequence[BaseMessage] = (),
    ) -> StoreSteps[list[str]]:
        """Archive messages and checkpoints: first the originals, then what refers to them.

        Args:
            messages: The originals.
            checkpoints: The new checkpoints, oldest first.
            actions: Last resorts: what was there before each is saved as a snapshot.
            remnants: Messages of the list that are what is left of originals, and bear no mark that says so.

        Returns:
            The ids of the snapshots, one for each action.

        Raises:
            StorageError: The store failed; or something was removed from the session since its checkpoints were read,
                so that a new one could repeat what is gone.
        """
        yield from self.history.append_steps(messages, whole=True)
        if self._open.epoch and self.history.epoch != self._open.epoch:
            self.forget()
            msg = "messages were removed from the session meanwhile: what is left is compressed at the next step"
            raise StorageError(msg)
        self._open.epoch = self.history.epoch
        saved = yield from self._save(actions, remnants)
        for checkpoint in checkpoints:
            yield from self.history.put_checkpoint_steps(checkpoint)
        self._open.add(checkpoints)
        outdated = [record for record in self.chain.records[:-LEDGERS_KEPT] if record.ledger]
        for record in outdated:
            bare = record.model_copy(update={"ledger": {}})
            yield from self.history.put_checkpoint_steps(bare, again=True)
            self._open.exchange(bare)
        return saved

    def _save(self, actions: Sequence[EmergencyAction], remnants: Sequence[BaseMessage]) -> StoreSteps[list[str]]:
        """A snapshot for each action, of the list as it was before it (P8)."""
        apart = {message.id or "" for message in remnants}
        saved: list[str] = []
        for action in actions:
            snapshot = yield from self.snapshots.create_steps(
                action.messages,
                action.checkpoints,
                action.goals,
                "emergency",
                metadata={"action": action.name},
                apart=apart,
            )
            saved.append(snapshot.snapshot_id)
        if saved:
            yield from self.snapshots.cleanup_steps(SNAPSHOTS_KEPT, purpose="emergency")
        return saved

    def renew(self) -> None:
        """Read the checkpoints again at the next view, as another process may have left them."""
        self._open.renew()

    def forget(self) -> None:
        """Know no checkpoints, and read them again at the next view; drafts in the making are of no use any more."""
        self._open.forget()
        self.epoch += 1


class Sessions:
    """The sessions of one store, the newest used remembered.

    Args:
        store: Where they are archived.
        namespace: The tenant.
        redact: Applied to all that is archived.
        count: Sizes of messages in tokens, for what is known of a session.
    """

    def __init__(
        self,
        store: BaseStore,
        namespace: Sequence[str],
        redact: RedactHook | None = None,
        count: CountMessages | None = None,
    ) -> None:
        self.store = store
        self._count = count
        self._redact = redact
        self.namespace = tuple(namespace)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._listed: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, session_id: str) -> Session:
        """The session of that id."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                session = self._sessions[session_id] = self._opened(session_id)
                if len(self._sessions) > MOST_SESSIONS:
                    self._sessions.popitem(last=False)
            self._sessions.move_to_end(session_id)
            self._listed[session_id] = session
            self._listed.move_to_end(session_id)
            if len(self._listed) > MOST_LISTS:
                self._listed.popitem(last=False)[1].seen = None
            return session

    def history(self, session_id: str) -> SessionHistory:
        """The archive of a session that is looked into: that is no use of it, and no other is forgotten for it."""
        with self._lock:
            session = self._sessions.get(session_id)
        return (session or self._opened(session_id)).history

    def known(self) -> list[str]:
        """The ids of the sessions that are remembered, the last used first."""
        with self._lock:
            return list(reversed(self._sessions))

    def _opened(self, session_id: str) -> Session:
        where, redact, count = self.namespace, self._redact, self._count
        return Session(
            SessionHistory(self.store, session_id=session_id, namespace=where, redact=redact, count=count),
            SnapshotStore(
                self.store, session_id=session_id, namespace=where, redact=redact, count=count, goal_type=_goal
            ),
        )


def _goal(value: dict[str, Any]) -> Goal | dict[str, Any]:
    """A goal of a snapshot; a caller's own kind of goal as it was saved."""
    try:
        goal = Goal.model_validate(value)
    except ValidationError:
        return value
    return goal if goal.model_dump(mode="json") == value else value
