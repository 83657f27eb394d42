"""The routines behind `SessionHistory`: what it asks of the store, without the waiting.

Each is a generator that yields batches of store operations, so that its sync and its async door share one copy, and a
larger routine (a compression, a snapshot) can take it in as a step of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_ids, check_least, check_text
from langchain_ctxcompress.errors import ConfigError, DamagedHistoryError, RecordError
from langchain_ctxcompress.messages import ensure_ids, is_derived, require_messages
from langchain_ctxcompress.storage.branches import BEGINNING, Branch, BranchTree, followed, said
from langchain_ctxcompress.storage.checkpoints import CheckpointStore
from langchain_ctxcompress.storage.entries import Entry, Revision, Said
from langchain_ctxcompress.storage.forgetting import forget_steps
from langchain_ctxcompress.storage.keys import SessionKeys
from langchain_ctxcompress.storage.log import SessionLog
from langchain_ctxcompress.storage.records import CheckpointSummary, SessionInfo
from langchain_ctxcompress.storage.redaction import RedactHook, Redactor
from langchain_ctxcompress.storage.search import rank
from langchain_ctxcompress.storage.steps import StoreSteps
from langchain_ctxcompress.storage.text_index import TextIndex
from langchain_ctxcompress.storage.totals import CountMessages, session_info

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

logger = logging.getLogger(__name__)

OnDamage = Literal["raise", "skip"]
"""What to do about records that cannot be read. Either way they cost no other record."""


class HistoryRoutines:
    """A session's log, its index of texts and its summary checkpoints, and what is done with them.

    Args:
        store: Where it lies, opened.
        session_id: Whose conversation.
        namespace: The labels in front of everything that is stored.
        redact: Is given each message before it is archived.
        count: Sizes of messages in tokens.
    """

    def __init__(
        self,
        store: BaseStore,
        session_id: str,
        namespace: Sequence[str],
        redact: RedactHook | None,
        count: CountMessages | None,
    ) -> None:
        self.store = store
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

    def append_steps(
        self, messages: Sequence[BaseMessage], *, after: str | None = None, whole: bool = False
    ) -> StoreSteps[int]:
        """The routine behind `append`; `whole` says that the list begins where the conversation does."""
        require_messages(messages)
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
        check_text("query", query)
        check_least("limit", limit)
        ids = yield from self._texts.search(query, limit)
        found = (yield from self.get_steps(ids, on_damage="skip")) if ids else []
        return found or rank((yield from self.messages_steps(on_damage="skip")), query, limit)

    def info_steps(self) -> StoreSteps[SessionInfo]:
        """The routine behind `info`."""
        heads = yield from self._log.writers()
        return session_info(self.session_id, heads, (yield from self.checkpoints_steps()))

    def forget_messages_steps(self, message_ids: Iterable[str]) -> StoreSteps[int]:
        """The routine behind `forget_messages`."""
        ids = set(check_ids("message_ids", message_ids))
        checkpoints = yield from self.checkpoints_steps()
        return (yield from forget_steps(self._keys, self._log, ids, checkpoints))

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
        entries = yield from self._log.find(check_ids("message_ids", message_ids), contents, problems)
        return self._judge(problems, _decoded(entries, problems), on_damage)

    def _judge(
        self, problems: Sequence[RecordError], messages: list[BaseMessage], on_damage: OnDamage
    ) -> list[BaseMessage]:
        """The messages that could be read; what could not is said."""
        if on_damage not in get_args(OnDamage):
            msg = f"on_damage is {on_damage!r}: it must be one of {', '.join(get_args(OnDamage))}"
            raise ConfigError(msg)
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


def _in_place(messages: Sequence[BaseMessage], archived: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The list with its originals as they are archived."""
    own = iter(archived)
    return [message if is_derived(message) else next(own) for message in messages]
