"""What a compressor archived: the doors to originals, and the ways of removing them for good."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.limits import PrunerConfig

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from langchain_ctxcompress.engine import Sessions
    from langchain_ctxcompress.ledger import Goal, Goals
    from langchain_ctxcompress.report import SessionReport
    from langchain_ctxcompress.storage import SessionHistory, SnapshotStore, StoreSteps
    from langchain_ctxcompress.strategies import Tools


class Originals:
    """The archive's side of a compressor: what was replaced comes back from here, or is forgotten."""

    config: PrunerConfig
    session_id: str
    _sessions: Sessions
    _tools: Tools

    def __repr__(self) -> str:
        """What it is set to."""
        limits = f"soft_limit_tokens={self.config.soft_limit_tokens}, hard_limit_tokens={self.config.hard_limit_tokens}"
        return f"{type(self).__name__}(session_id={self.session_id!r}, {limits}, store={type(self.store).__name__})"

    @property
    def store(self) -> BaseStore:
        """Where originals are archived."""
        return self._sessions.store

    def history(self, session_id: str | None = None) -> SessionHistory:
        """The archive of a session."""
        return self._sessions.get(session_id or self.session_id).history

    def report(self, session_id: str | None = None) -> SessionReport:
        """A session as its archive tells it: in a terminal by rich, in a notebook, as plots, or as a page.

        Args:
            session_id: Whose; by default this compressor's own.

        Raises:
            StorageError: The store failed.
        """
        from langchain_ctxcompress.report.reporting import report_of

        return report_of(
            self.history(session_id),
            count=self._tools.count,
            count_text=self._tools.count_text,
            soft_limit_tokens=self.config.soft_limit_tokens,
            hard_limit_tokens=self.config.hard_limit_tokens,
        )

    def snapshots(self, session_id: str | None = None) -> SnapshotStore:
        """The restorable points of a session: those that were taken before last resorts, and the caller's own.

        The goals of one that is restored are `Goal`s again.
        """
        return self._sessions.get(session_id or self.session_id).snapshots

    def goals(self, session_id: str | None = None, *, given: Goals | None = None) -> tuple[Goal, ...]:
        """The goals of a session as they stand after its last compression, the most important first.

        Args:
            session_id: Whose; by default the compressor's own session.
            given: What the caller would pass as `goal`.

        Raises:
            StorageError: The archive cannot be read.
        """
        from langchain_ctxcompress.ledger import read_goals
        from langchain_ctxcompress.strategies.base import goals_of

        newest = next(reversed(self.history(session_id).checkpoints()), None)
        return goals_of(newest).with_given(None if given is None else read_goals(given)).now

    def view(self, messages: Sequence[BaseMessage], *, session_id: str | None = None) -> list[BaseMessage]:
        """The active context of a full list as the stored checkpoints make it: nothing is compressed anew.

        Args:
            messages: The conversation; it is not changed.
            session_id: Whose archive it belongs to.

        Raises:
            InvalidMessagesError: The list holds something that is no message.
        """
        from langchain_ctxcompress.engine import recall
        from langchain_ctxcompress.storage import run

        return run(recall.view(self._sessions.get(session_id or self.session_id), messages), self.store)

    async def aview(self, messages: Sequence[BaseMessage], *, session_id: str | None = None) -> list[BaseMessage]:
        """As `view`, without blocking the loop."""
        from langchain_ctxcompress.engine import recall
        from langchain_ctxcompress.storage import arun

        return await arun(recall.view(self._sessions.get(session_id or self.session_id), messages), self.store)

    def expand(self, checkpoint_id: str, *, session_id: str | None = None) -> list[BaseMessage] | None:
        """The originals that a checkpoint covers, in order and byte for byte; `None` for an unknown checkpoint.

        Args:
            checkpoint_id: The checkpoint.
            session_id: Where to look; by default in every session of the store, those last used first.
        """
        from langchain_ctxcompress.engine import recall
        from langchain_ctxcompress.storage import run

        return run(recall.expand(self._sessions, checkpoint_id, session_id), self.store)

    async def aexpand(self, checkpoint_id: str, *, session_id: str | None = None) -> list[BaseMessage] | None:
        """As `expand`, without blocking the loop."""
        from langchain_ctxcompress.engine import recall
        from langchain_ctxcompress.storage import arun

        return await arun(recall.expand(self._sessions, checkpoint_id, session_id), self.store)

    def expand_message(self, message_id: str, *, session_id: str | None = None) -> BaseMessage | None:
        """The newest archived revision of a message, byte for byte; `None` if it was never seen.

        Args:
            message_id: The message.
            session_id: Where to look; by default in every session of the store, those last used first.
        """
        from langchain_ctxcompress.engine import recall
        from langchain_ctxcompress.storage import run

        return run(recall.expand_message(self._sessions, message_id, session_id), self.store)

    async def aexpand_message(self, message_id: str, *, session_id: str | None = None) -> BaseMessage | None:
        """As `expand_message`, without blocking the loop."""
        from langchain_ctxcompress.engine import recall
        from langchain_ctxcompress.storage import arun

        return await arun(recall.expand_message(self._sessions, message_id, session_id), self.store)

    def forget(self, session_id: str | None = None) -> None:
        """Remove everything of a session from the store: messages, index, checkpoints and snapshots."""
        from langchain_ctxcompress.storage import run, wipe

        run(self._forget_steps(session_id or self.session_id), self.store)
        wipe(self.store)

    async def aforget(self, session_id: str | None = None) -> None:
        """As `forget`, without blocking the loop."""
        from langchain_ctxcompress.storage import arun, awipe

        await arun(self._forget_steps(session_id or self.session_id), self.store)
        await awipe(self.store)

    def forget_messages(self, message_ids: Iterable[str], *, session_id: str | None = None) -> int:
        """Remove messages of a session for good: from the archive, every checkpoint and every snapshot.

        Summaries that covered one of them are written anew, without a model, from what is left; the next step shows the
        new ones. What the caller holds (a graph's state, another history) is the caller's to clean.

        Args:
            message_ids: The messages.
            session_id: Whose they are.

        Returns:
            How many of them were in the archive.

        Raises:
            StorageError: The store failed; call it again.
            RecordError: A damaged record could not be searched; the error names it, and all else was removed.
        """
        from langchain_ctxcompress import engine
        from langchain_ctxcompress.storage import run, wipe

        session = self._sessions.get(session_id or self.session_id)
        removed = run(engine.forget_messages(session, message_ids, self._tools, self.config), self.store)
        wipe(self.store)
        return removed

    async def aforget_messages(self, message_ids: Iterable[str], *, session_id: str | None = None) -> int:
        """As `forget_messages`, without blocking the loop."""
        from langchain_ctxcompress import engine
        from langchain_ctxcompress.storage import arun, awipe

        session = self._sessions.get(session_id or self.session_id)
        removed = await arun(engine.forget_messages(session, message_ids, self._tools, self.config), self.store)
        await awipe(self.store)
        return removed

    def _forget_steps(self, session_id: str) -> StoreSteps[None]:
        session = self._sessions.get(session_id)
        try:
            yield from session.history.clear_steps()
        finally:
            session.forget()
