"""`SessionHistory`: the append-only archive of a conversation. Never sent to a model."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import DamagedHistoryError, InvalidMessagesError, RecordError
from langchain_ctxcompress.messages import ensure_ids, is_derived
from langchain_ctxcompress.storage.backends import awipe, open_store, wipe
from langchain_ctxcompress.storage.branches import BEGINNING, Branch, BranchTree, followed, said
from langchain_ctxcompress.storage.checkpoints import CheckpointStore
from langchain_ctxcompress.storage.forgetting import forget_steps
from langchain_ctxcompress.storage.keys import SessionKeys, root_of
from langchain_ctxcompress.storage.log import Entry, Revision, Said, SessionLog
from langchain_ctxcompress.storage.markdown import session_markdown
from langchain_ctxcompress.storage.pages import HistoryPages
from langchain_ctxcompress.storage.records import CheckpointSummary, SessionInfo
from langchain_ctxcompress.storage.redaction import RedactHook, Redactor
from langchain_ctxcompress.storage.search import rank
from langchain_ctxcompress.storage.steps import StoreSteps, arun, run
from langchain_ctxcompress.storage.text_index import TextIndex
from langchain_ctxcompress.storage.totals import CountMessages, session_info

if TYPE_CHECKING:
    from pathlib import Path

    from langgraph.store.base import BaseStore

logger = logging.getLogger(__name__)

OnDamage = Literal["raise", "skip"]
"""What to do about records that cannot be read. Either way they cost no other record."""

MOST_SESSIONS = 1_000_000
"""Sessions of a tenant that are listed at once."""


class SessionHistory:
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
        self.store = open_store(store)
        self.session_id = session_id
        self.namespace = tuple(namespace)
        self._keys = SessionKeys(session_id, namespace)
        self._count = count
        self._log = SessionLog(self._keys, session_id, count)
        self._last_id = ""
        self._last: Said | None = None
        self._redactor = Redactor(redact)
        self._texts = TextIndex(self.store, self._keys)
        self.summaries = CheckpointStore(self._keys, session_id)

    def __repr__(self) -> str:
        return f"SessionHistory(ctxcompress_record='history', session_id={self.session_id!r})"

    def append(self, messages: Sequence[BaseMessage], *, after: str | None = None) -> int:
        """Archive what is new: a message with the same id and the same bytes is not written twice.

        Args:
            messages: Any messages; one without an id gets one. Summary messages and
                shortened ones are left out: they are no originals.
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
            page: Messages that are read at once, about.
            on_damage: As in `messages`.

        Raises:
            DamagedHistoryError: Behind the last message that could be read. It names the others, and holds none.
        """
        pages = HistoryPages(self._log, self._keys)
        while messages := run(pages.page(page), self.store):
            yield from messages
        self._judge(pages.problems, [], on_damage)

    async def aiter(self, page: int = 500, *, on_damage: OnDamage = "raise") -> AsyncIterator[BaseMessage]:
        """As `iter`, without blocking the loop."""
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
        return session_markdown(await arun(self.info_steps(), self.store), messages, await self.acheckpoints())

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
        """
        return run(self.get_steps(message_ids), self.store)

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

    def forget_messages(self, message_ids: Iterable[str]) -> int:
        """Remove messages for good: from the log, its index, every checkpoint and every snapshot.

        The text of each summary that covered one of them is taken back with them, and the checkpoint is marked stale;
        `ContextCompressor.forget` writes it anew from what is left. What the caller holds (a graph's state, another
        history) is the caller's to clean. Let no two processes remove from one session at once.

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

    def append_steps(
        self, messages: Sequence[BaseMessage], *, after: str | None = None, whole: bool = False
    ) -> StoreSteps[int]:
        """The routine behind `append`; `whole` says that the list begins where the conversation does."""
        check_messages(messages)
        own = [message for message in messages if not is_derived(message)]
        # A message without an id is told from an equal one before it by the message that it follows.
        identified = ensure_ids(own, f"{self.session_id}\x1f{self._last_id}")
        archived = [self._redactor.message(message) for message in identified]
        before = BEGINNING if whole else self._last if after is None else (after, "")
        parents = followed(_in_place(messages, archived), before)
        own_parents = [parent for message, parent in zip(messages, parents, strict=True) if not is_derived(message)]
        written = yield from self._log.append(archived, own_parents)
        if written:
            yield from self._texts.put(archived)
        if archived:
            self._last = said(archived[-1])
            self._last_id = self._last[0]
        return written

    def search_steps(self, query: str, limit: int) -> StoreSteps[list[BaseMessage]]:
        """The routine behind `search`."""
        ids = yield from self._texts.search(query, limit)
        found = (yield from self.get_steps(ids, on_damage="skip")) if ids else []
        return found or rank((yield from self.messages_steps(on_damage="skip")), query, limit)

    def info_steps(self) -> StoreSteps[SessionInfo]:
        """The routine behind `info`."""
        heads = yield from self._log.writers()
        return session_info(self.session_id, heads, (yield from self.checkpoints_steps()))

    def forget_messages_steps(self, message_ids: Iterable[str]) -> StoreSteps[int]:
        """The routine behind `forget_messages`."""
        checkpoints = yield from self.checkpoints_steps()
        return (yield from forget_steps(self._keys, self._log, set(message_ids), checkpoints))

    def revisions_steps(self, revisions: Iterable[Revision]) -> StoreSteps[dict[Revision, Entry]]:
        """The archived bytes of revisions, each named by its message and the hash of its bytes."""
        return (yield from self._log.find_revisions(revisions))

    def branches_steps(self) -> StoreSteps[list[Branch]]:
        """The routine behind `branches`."""
        problems: list[RecordError] = []
        tree = BranchTree((yield from self._log.read(problems)))
        self._judge(problems, [], "skip")
        return tree.branches()

    def messages_steps(
        self, branch: Branch | str | None = None, on_damage: OnDamage = "raise"
    ) -> StoreSteps[list[BaseMessage]]:
        """The routine behind `messages`."""
        problems: list[RecordError] = []
        entries = yield from self._log.read(problems)
        if branch is not None:
            entries = BranchTree(entries).entries(branch)
        newest = {entry.message_id: entry for entry in entries}  # a later revision keeps the place of the first
        return self._judge(problems, _decoded(newest.values(), problems), on_damage)

    def get_steps(
        self, message_ids: Iterable[str], contents: dict[str, str] | None = None, on_damage: OnDamage = "raise"
    ) -> StoreSteps[list[BaseMessage]]:
        """The routine behind `get`; `contents` asks for the revision that says what its hash says."""
        problems: list[RecordError] = []
        entries = yield from self._log.find(message_ids, contents, problems)
        return self._judge(problems, _decoded(entries, problems), on_damage)

    def _judge(
        self, problems: Sequence[RecordError], messages: list[BaseMessage], on_damage: OnDamage
    ) -> list[BaseMessage]:
        """The messages that could be read; what could not is said."""
        if problems and on_damage == "raise":
            raise DamagedHistoryError(list(dict.fromkeys(map(str, problems))), messages)
        for problem in dict.fromkeys(map(str, problems)):
            logger.warning("session %s: %s; it is left out", self.session_id, problem)
        return messages

    def put_checkpoint_steps(self, checkpoint: CheckpointSummary, *, again: bool = False) -> StoreSteps[None]:
        """Write a summary checkpoint; the same one again changes nothing.

        Args:
            checkpoint: The checkpoint.
            again: It is there already, and covers now what it covered then, or less.
        """
        yield from self.summaries.put(self._redactor.checkpoint(checkpoint), again=again)

    def checkpoints_steps(self) -> StoreSteps[list[CheckpointSummary]]:
        """The routine behind `checkpoints`."""
        return (yield from self.summaries.all())

    def checkpoint_steps(self, checkpoint_id: str) -> StoreSteps[CheckpointSummary | None]:
        """Read one checkpoint.

        Raises:
            RecordError: It is damaged or of an unknown version.
        """
        return (yield from self.summaries.one(checkpoint_id))

    @property
    def epoch(self) -> str:
        """What the last append found: it changes whenever something is removed from the session, by whomever."""
        return self._log.epoch

    def clear_steps(self) -> StoreSteps[None]:
        """The routine behind `clear`."""
        from langgraph.store.base import PutOp, SearchOp

        yield from self._log.begin_epoch()
        while items := (yield [SearchOp(self._keys.base, limit=500)])[0]:
            yield [PutOp(tuple(item.namespace), item.key, None) for item in items]
        yield [PutOp(self._keys.sessions, self._keys.session_key, None)]
        self._log = SessionLog(self._keys, self.session_id, self._count)
        self._last_id = ""
        self._last = None


def _decoded(entries: Iterable[Entry], problems: list[RecordError]) -> list[BaseMessage]:
    messages: list[BaseMessage] = []
    for entry in entries:
        try:
            messages.append(entry.message())
        except RecordError as error:
            problems.append(error)
    return messages


def check_messages(messages: Sequence[Any]) -> None:
    """Refuse what is no message.

    Raises:
        InvalidMessagesError: Something in the list is none; the error says where.
    """
    for place, message in enumerate(messages):
        if not isinstance(message, BaseMessage):
            msg = f"item {place} is a {type(message).__name__}, not a LangChain message"
            raise InvalidMessagesError(msg)


def _in_place(messages: Sequence[BaseMessage], archived: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The list with its originals as they are archived."""
    own = iter(archived)
    return [message if is_derived(message) else next(own) for message in messages]


def session_ids(namespace: Sequence[str] = ()) -> StoreSteps[list[str]]:
    """The ids of every session that a store holds for a tenant; a damaged record is logged and left out (S5)."""
    from langgraph.store.base import SearchOp

    items = (yield [SearchOp((*root_of(namespace), "sessions"), limit=MOST_SESSIONS)])[0]
    found: list[str] = []
    for item in items:
        try:
            found.append(str(json.loads(item.value["session_id"])))
        except (KeyError, TypeError, ValueError) as error:
            logger.warning("the record of session %s is damaged: %r; it is left out", item.key, error)
    return found
