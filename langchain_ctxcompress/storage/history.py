"""`SessionHistory`: the append-only archive of a conversation. Never sent to a model."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.errors import describe
from langchain_ctxcompress.storage.backends import awipe, open_store, wipe
from langchain_ctxcompress.storage.branches import Branch
from langchain_ctxcompress.storage.history_routines import HistoryRoutines, OnDamage
from langchain_ctxcompress.storage.keys import root_of
from langchain_ctxcompress.storage.markdown import session_markdown
from langchain_ctxcompress.storage.pages import HistoryPages
from langchain_ctxcompress.storage.records import CheckpointSummary, SessionInfo
from langchain_ctxcompress.storage.redaction import RedactHook
from langchain_ctxcompress.storage.steps import StoreSteps, arun, run
from langchain_ctxcompress.storage.totals import CountMessages

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph.store.base import BaseStore

logger = logging.getLogger(__name__)

MOST_SESSIONS = 1_000_000
"""Sessions of a tenant that are listed at once."""


class SessionHistory(HistoryRoutines):
    """Every message of a session, every revision of it, and the summary checkpoints.

    Appending costs what is new, and is safe from several threads, processes and machines on one session.

    Args:
        store: A LangGraph store, the path of a SQLite file, a `sqlite:` or `postgresql:` URL, or `None` for memory.
        session_id: Whose conversation; any text.
        namespace: Keeps tenants apart: labels in front of everything that is stored.
        redact: Is given each message before it is archived, and returns it or a changed copy; summary texts are passed
            to it too, as human messages. What it takes out does not come back from the archive.
        count: Sizes of messages in tokens, for `info`: a `MessageCounter`, or `compressor.count`. Each message is
            counted once, when it is written; without a counter its size counts as 0.

    Raises:
        ConfigError: `store` is none of these.
    """

    def __init__(
        self,
        store: BaseStore | Path | str | None,
        *,
        session_id: str,
        namespace: Sequence[str] = (),
        redact: RedactHook | None = None,
        count: CountMessages | None = None,
    ) -> None:
        super().__init__(open_store(store), session_id, namespace, redact, count)

    def __repr__(self) -> str:
        return f"SessionHistory(ctxcompress_record='history', session_id={self.session_id!r})"

    def append(self, messages: Sequence[BaseMessage], *, after: str | None = None) -> int:
        """Archive what is new: a message with the same id and the same bytes is not written twice.

        Args:
            messages: Any messages; one without an id gets one. Summary messages and shortened ones are left out: they
                are no originals.
            after: The message that they follow, where that is not the last one of this history's last append: so a
                branch begins. A list that holds what it has in common with others says that by itself.

        Returns:
            How many were written.

        Raises:
            StorageError: The store failed; nothing may be replaced then.
            InvalidMessagesError: Something in the list is no message.
        """
        return run(self.append_steps(messages, after=after), self.store)

    async def aappend(self, messages: Sequence[BaseMessage], *, after: str | None = None) -> int:
        """As `append`, without blocking the loop."""
        return await arun(self.append_steps(messages, after=after), self.store)

    def messages(self, *, branch: Branch | str | None = None, on_damage: OnDamage = "raise") -> list[BaseMessage]:
        """Every message once, in the order of its first append, in its newest revision.

        Args:
            branch: Only what led to this message, by its id, or one of `branches()`. Where a branch parted with an
                edited message, each branch has its own revision of it.
            on_damage: `"skip"` returns what can be read, and logs what cannot.

        Raises:
            StorageError: The store failed.
            DamagedHistoryError: Records are damaged; it names them, and holds all messages that could be read.
            ConfigError: No message of that id is archived.
        """
        return run(self.messages_steps(branch, on_damage), self.store)

    async def amessages(
        self, *, branch: Branch | str | None = None, on_damage: OnDamage = "raise"
    ) -> list[BaseMessage]:
        """As `messages`, without blocking the loop."""
        return await arun(self.messages_steps(branch, on_damage), self.store)

    def branches(self) -> list[Branch]:
        """The branches of the session, the newest first: one, unless a thread was run again from an older point.

        What cannot be read is logged and left out.

        Raises:
            StorageError: The store failed.
        """
        return run(self.branches_steps(), self.store)

    async def abranches(self) -> list[Branch]:
        """As `branches`, without blocking the loop."""
        return await arun(self.branches_steps(), self.store)

    def iter(self, page: int = 500, *, on_damage: OnDamage = "raise") -> Iterator[BaseMessage]:
        """As `messages`, one after the other; what is held in memory follows the page, not the history.

        Args:
            page: Messages that are read at once, about; at least 1.
            on_damage: As in `messages`.

        Raises:
            ConfigError: `page` is smaller.
            DamagedHistoryError: Behind the last message that could be read. It names the others, and holds none.
        """
        check_least("page", page, 1)
        pages = HistoryPages(self._log, self._keys)
        while messages := run(pages.page(page), self.store):
            yield from messages
        self._judge(pages.problems, [], on_damage)

    async def aiter(self, page: int = 500, *, on_damage: OnDamage = "raise") -> AsyncIterator[BaseMessage]:
        """As `iter`, without blocking the loop."""
        check_least("page", page, 1)
        pages = HistoryPages(self._log, self._keys)
        while messages := await arun(pages.page(page), self.store):
            for message in messages:
                yield message
        self._judge(pages.problems, [], on_damage)

    def export_markdown(self) -> str:
        """The session as Markdown: its metadata, every message, the summary checkpoints.

        What messages say stands in fences that it cannot close. What cannot be read is logged and left out.
        """
        return session_markdown(self.info(), self.iter(on_damage="skip"), self.checkpoints())

    async def aexport_markdown(self) -> str:
        """As `export_markdown`, without blocking the loop."""
        messages = [message async for message in self.aiter(on_damage="skip")]
        return session_markdown(await self.ainfo(), messages, await self.acheckpoints())

    def search(self, query: str, *, limit: int = 5) -> list[BaseMessage]:
        """The messages that best match `query`, best first: by meaning where the store has an index, else by words.

        Args:
            query: What to look for; words in any order and case.
            limit: The most messages to return.
        """
        return run(self.search_steps(query, limit), self.store)

    async def asearch(self, query: str, *, limit: int = 5) -> list[BaseMessage]:
        """As `search`, without blocking the loop."""
        return await arun(self.search_steps(query, limit), self.store)

    def get(self, message_ids: Iterable[str]) -> list[BaseMessage]:
        """The newest revision of each message, in the order asked; those never seen are left out.

        Raises:
            StorageError: The store failed.
            DamagedHistoryError: Records are damaged; it names them, and holds the others.
            ConfigError: What is asked for is no list of ids.
        """
        return run(self.get_steps(message_ids), self.store)

    async def aget(self, message_ids: Iterable[str]) -> list[BaseMessage]:
        """As `get`, without blocking the loop."""
        return await arun(self.get_steps(message_ids), self.store)

    def checkpoints(self) -> list[CheckpointSummary]:
        """The session's summary checkpoints, oldest first; a damaged record is logged and left out."""
        return run(self.checkpoints_steps(), self.store)

    async def acheckpoints(self) -> list[CheckpointSummary]:
        """As `checkpoints`, without blocking the loop."""
        return await arun(self.checkpoints_steps(), self.store)

    def info(self) -> SessionInfo:
        """When the session started and was last written, its messages, their tokens and its compressions.

        Raises:
            StorageError: The store failed.
            RecordError: The record of a writer is damaged.
        """
        return run(self.info_steps(), self.store)

    async def ainfo(self) -> SessionInfo:
        """As `info`, without blocking the loop."""
        return await arun(self.info_steps(), self.store)

    def forget_messages(self, message_ids: Iterable[str]) -> int:
        """Remove messages for good: from the log, its index, every checkpoint and every snapshot.

        The text of each summary that covered one of them is taken back with them, and the checkpoint is marked stale;
        `ContextCompressor.forget_messages` writes it anew from what is left. What the caller holds (a graph's state,
        another history) is the caller's to clean. Let no two processes remove from one session at once.

        Args:
            message_ids: The messages; unknown ones are left out.

        Returns:
            How many were in the archive.

        Raises:
            StorageError: The store failed; call it again.
            RecordError: A damaged record could not be searched; the error names it, and all else was removed.
        """
        removed = run(self.forget_messages_steps(message_ids), self.store)
        wipe(self.store)
        return removed

    async def aforget_messages(self, message_ids: Iterable[str]) -> int:
        """As `forget_messages`, without blocking the loop."""
        removed = await arun(self.forget_messages_steps(message_ids), self.store)
        await awipe(self.store)
        return removed

    def clear(self) -> None:
        """Remove everything of this session: messages, index, checkpoints and snapshots."""
        run(self.clear_steps(), self.store)
        wipe(self.store)

    async def aclear(self) -> None:
        """As `clear`, without blocking the loop."""
        await arun(self.clear_steps(), self.store)
        await awipe(self.store)


def session_ids(namespace: Sequence[str] = ()) -> StoreSteps[list[str]]:
    """The ids of every session that a store holds for a tenant; a damaged record is logged and left out (S5)."""
    from langgraph.store.base import SearchOp

    items = (yield [SearchOp((*root_of(namespace), "sessions"), limit=MOST_SESSIONS)])[0]
    found: list[str] = []
    for item in items:
        try:
            found.append(str(json.loads(item.value["session_id"])))
        except (KeyError, TypeError, ValueError) as error:
            logger.warning("the record of session %s is damaged: %s; it is left out", item.key, describe(error))
    return found
