"""`SessionHistory`: the append-only archive of a conversation. Never sent to a model."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import InvalidMessagesError, RecordError
from langchain_ctxcompress.messages import ensure_ids, is_derived
from langchain_ctxcompress.storage.backends import open_store
from langchain_ctxcompress.storage.keys import SessionKeys, root_of
from langchain_ctxcompress.storage.log import Entry, SessionLog
from langchain_ctxcompress.storage.records import SCHEMA_VERSION, CheckpointSummary, SessionInfo
from langchain_ctxcompress.storage.search import rank
from langchain_ctxcompress.storage.steps import StoreSteps, arun, run

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph.store.base import BaseStore

logger = logging.getLogger(__name__)

MOST_CHECKPOINTS = 1_000_000
"""Checkpoints of one session that are read at once."""


class SessionHistory:
    """Every message of a session, every revision of it, and the summary checkpoints.

    Appending costs what is new, and is safe from several threads, processes and machines on one session.

    Args:
        store: A LangGraph store, the path of a SQLite file, a `sqlite:` or `postgresql:` URL, or `None` for memory.
        session_id: Whose conversation; any text.
        namespace: Keeps tenants apart: labels in front of everything that is stored.

    Raises:
        ConfigError: `store` is none of these.
    """

    def __init__(self, store: BaseStore | Path | str | None, *, session_id: str, namespace: Sequence[str] = ()) -> None:
        self.store = open_store(store)
        self.session_id = session_id
        self.namespace = tuple(namespace)
        self._keys = SessionKeys(session_id, namespace)
        self._log = SessionLog(self._keys, session_id)
        self._last_id = ""

    def append(self, messages: Sequence[BaseMessage]) -> int:
        """Archive what is new: a message with the same id and the same bytes is not written twice.

        Args:
            messages: Any messages; one without an id gets one. Summary messages and
                shortened ones are left out: they are no originals.

        Returns:
            How many were written.

        Raises:
            StorageError: The store failed; nothing may be replaced then.
            InvalidMessagesError: Something in the list is no message.
        """
        return run(self.append_steps(messages), self.store)

    async def aappend(self, messages: Sequence[BaseMessage]) -> int:
        """As `append`, without blocking the loop."""
        return await arun(self.append_steps(messages), self.store)

    def messages(self) -> list[BaseMessage]:
        """Every message once, in the order of its first append, in its newest revision.

        Raises:
            StorageError: The store failed.
            RecordError: A record is damaged; the error names it. `messages_and_errors` reads the others.
        """
        return run(self.messages_steps(), self.store)

    async def amessages(self) -> list[BaseMessage]:
        """As `messages`, without blocking the loop."""
        return await arun(self.messages_steps(), self.store)

    def search(self, query: str, *, limit: int = 5) -> list[BaseMessage]:
        """The messages that best match the words of `query`, best first.

        Args:
            query: Words to look for, in any order and case.
            limit: The most messages to return.
        """
        return rank(self.messages(), query, limit)

    async def asearch(self, query: str, *, limit: int = 5) -> list[BaseMessage]:
        """As `search`, without blocking the loop."""
        return rank(await self.amessages(), query, limit)

    def get(self, message_ids: Iterable[str]) -> list[BaseMessage]:
        """The newest revision of each message, in the order asked; those never seen are left out."""
        return run(self.get_steps(message_ids), self.store)

    def checkpoints(self) -> list[CheckpointSummary]:
        """The session's summary checkpoints, oldest first; a damaged record is logged and left out."""
        return run(self.checkpoints_steps(), self.store)

    async def acheckpoints(self) -> list[CheckpointSummary]:
        """As `checkpoints`, without blocking the loop."""
        return await arun(self.checkpoints_steps(), self.store)

    def info(self) -> SessionInfo:
        """When the session started and was last written, how many messages and compressions it has."""
        totals = run(self._log.totals(), self.store)
        compressions = sum(1 for checkpoint in self.checkpoints() if checkpoint.level)
        return SessionInfo(session_id=self.session_id, compressions=compressions, **totals)

    def clear(self) -> None:
        """Remove everything of this session: messages, index and checkpoints."""
        run(self.clear_steps(), self.store)

    async def aclear(self) -> None:
        """As `clear`, without blocking the loop."""
        await arun(self.clear_steps(), self.store)

    def append_steps(self, messages: Sequence[BaseMessage]) -> StoreSteps[int]:
        """The routine behind `append`."""
        for place, message in enumerate(messages):
            if not isinstance(message, BaseMessage):
                msg = f"item {place} is a {type(message).__name__}, not a LangChain message"
                raise InvalidMessagesError(msg)
        own = [message for message in messages if not is_derived(message)]
        # A message without an id is told from an equal one before it by the message that it follows.
        identified = ensure_ids(own, f"{self.session_id}\x1f{self._last_id}")
        written = yield from self._log.append(identified)
        if identified:
            self._last_id = identified[-1].id or ""
        return written

    def messages_steps(self) -> StoreSteps[list[BaseMessage]]:
        """The routine behind `messages`."""
        newest: dict[str, Entry] = {}
        for entry in (yield from self._log.read()):
            newest[entry.message_id] = entry  # a later revision keeps the place of the first
        return [entry.message() for entry in newest.values()]

    def get_steps(
        self, message_ids: Iterable[str], contents: dict[str, str] | None = None
    ) -> StoreSteps[list[BaseMessage]]:
        """The routine behind `get`; `contents` asks for the revision that says what its hash says."""
        entries = yield from self._log.find(message_ids, contents)
        return [entry.message() for entry in entries]

    def put_checkpoint_steps(self, checkpoint: CheckpointSummary) -> StoreSteps[None]:
        """Write a summary checkpoint; the same one again changes nothing."""
        from langgraph.store.base import PutOp

        value = {"schema_version": SCHEMA_VERSION, "record": json.dumps(checkpoint.dump())}
        yield [PutOp(self._keys.checkpoints, checkpoint.checkpoint_id, value, index=False)]

    def checkpoints_steps(self) -> StoreSteps[list[CheckpointSummary]]:
        """The routine behind `checkpoints`."""
        from langgraph.store.base import SearchOp

        items = (yield [SearchOp(self._keys.checkpoints, limit=MOST_CHECKPOINTS)])[0]
        found: list[CheckpointSummary] = []
        for item in items:
            try:
                found.append(_checkpoint(item.value, item.key))
            except RecordError as error:  # one damaged record costs no other (S5)
                logger.warning("session %s: %s; it is left out", self.session_id, error)
        return sorted(
            found, key=lambda checkpoint: (checkpoint.number, checkpoint.created_at, checkpoint.checkpoint_id)
        )

    def checkpoint_steps(self, checkpoint_id: str) -> StoreSteps[CheckpointSummary | None]:
        """Read one checkpoint.

        Raises:
            RecordError: It is damaged or of an unknown version.
        """
        from langgraph.store.base import GetOp

        item = (yield [GetOp(self._keys.checkpoints, checkpoint_id)])[0]
        return _checkpoint(item.value, checkpoint_id) if item else None

    def clear_steps(self) -> StoreSteps[None]:
        """The routine behind `clear`."""
        from langgraph.store.base import PutOp, SearchOp

        while items := (yield [SearchOp(self._keys.base, limit=500)])[0]:
            yield [PutOp(tuple(item.namespace), item.key, None) for item in items]
        yield [PutOp(self._keys.sessions, self._keys.session_key, None)]
        self._log = SessionLog(self._keys, self.session_id)
        self._last_id = ""


def session_ids(namespace: Sequence[str] = ()) -> StoreSteps[list[str]]:
    """The ids of every session that a store holds for a tenant."""
    from langgraph.store.base import SearchOp

    items = (yield [SearchOp((*root_of(namespace), "sessions"), limit=MOST_CHECKPOINTS)])[0]
    return [json.loads(item.value["session_id"]) for item in items]


def _checkpoint(value: dict[str, Any], key: str) -> CheckpointSummary:
    name = f"checkpoint {key}"
    try:
        record = json.loads(value["record"]) if value.get("schema_version") == SCHEMA_VERSION else value
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{name} is damaged: {type(error).__name__}: {error}"
        raise RecordError(msg) from error
    return CheckpointSummary.load(record, name=name)
