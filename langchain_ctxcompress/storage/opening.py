"""Opening a session: the checkpoints that matter to a list, and no others.

A short session's checkpoints are read at once and known. Of a long one those are read that the list names, or that one
of its messages matters to, with the way between them: what is read and held follows the list, not the session's age.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import StorageError
from langchain_ctxcompress.messages import is_summary, summary_mark
from langchain_ctxcompress.storage.checkpoints import CheckpointStore
from langchain_ctxcompress.storage.records import CheckpointSummary
from langchain_ctxcompress.storage.steps import StoreSteps
from langchain_ctxcompress.storage.view import CheckpointChain

FEW = 16
"""Checkpoints that are read at once and held: each names some thousands of messages."""

MOST_HELD = 2 * FEW
"""Checkpoints that are held before the older ones are let go."""

MOST_ASKED = 16_384
"""Message ids that are remembered to be in no other checkpoint than those that are held."""


class OpenChain:
    """The checkpoints of a session as far as they are known.

    Args:
        store: Where they all are.

    Attributes:
        chain: What is known; it is whole where the session has few.
        epoch: The session's epoch when it was read; something was removed from it since if that is another one.
    """

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._asked: OrderedDict[str, None] = OrderedDict()
        self._read = False
        self._era = 0
        self._lock = threading.Lock()
        self.chain = CheckpointChain()
        self.epoch = ""

    def look(self, messages: Sequence[BaseMessage]) -> StoreSteps[None]:
        """Read what matters to a list and is not known yet.

        Raises:
            StorageError: The store failed. What was known before stays known, so that a list is shown as
                it was; the next look reads again.
        """
        held = self.chain
        try:
            yield from self._look(messages)
        except StorageError:
            with self._lock:
                if self.chain is not held:
                    self._start_over(held.with_records(self.chain.records))
                    self._read = False
            raise

    def _look(self, messages: Sequence[BaseMessage]) -> StoreSteps[None]:
        head = _named(messages)
        if not self._read or (head and not self.chain.partial and head[-1] not in self.chain.by_id):
            yield from self._open()
        era = -1
        while self.chain.partial and era != self._era:  # another thread may let go what was read here
            era = self._era
            yield from self._look_up(messages, head, era)

    def add(self, records: Sequence[CheckpointSummary]) -> None:
        """Take in checkpoints that were made just now; where many are held, the oldest are let go."""
        with self._lock:
            chain = self.chain.with_records(records)
            if len(chain.records) > MOST_HELD:
                self._start_over(CheckpointChain(chain.records[-FEW:], partial=True, numbered=chain.next_number - 1))
            else:
                self.chain = chain

    def exchange(self, record: CheckpointSummary) -> None:
        """Take in a checkpoint in place of the one that has its id."""
        with self._lock:
            self.chain = self.chain.exchanged(record)

    def renew(self) -> None:
        """Read again at the next look, and know until then what is known now."""
        with self._lock:
            self._read = False

    def forget(self) -> None:
        """Know nothing, and read again when asked."""
        with self._lock:
            self._read = False
            self.epoch = ""
            self._start_over(CheckpointChain())

    def _open(self) -> StoreSteps[None]:
        epoch = yield from self._store.epoch()
        newest = yield from self._store.newest(FEW + 1)
        partial = len(newest) > FEW
        read = [] if partial else self._store.whole((yield from self._store.named(newest)))
        with self._lock:
            self._start_over(CheckpointChain(read, partial=partial, numbered=max(newest.values(), default=0)))
            self.epoch, self._read = epoch, True

    def _start_over(self, chain: CheckpointChain) -> None:
        self.chain = chain
        self._asked.clear()
        self._era += 1

    def _look_up(self, messages: Sequence[BaseMessage], head: Sequence[str], era: int) -> StoreSteps[None]:
        # A summary message bears the id of the first message that was ever replaced, and matters to none by it.
        new = [m.id for m in messages if m.id and m.id not in self._asked and not is_summary(m)]
        touching = (yield from self._store.of_messages(new)) if new else set()
        yield from self._load({*touching, *head})
        known = self.chain.by_id
        touched = [known[i] for i in touching if i in known]
        if touched:
            oldest = min(record.number for record in touched)
            # A list without a summary message may stand on any of those that are known.
            heads = [known[head[-1]]] if head and head[-1] in known else self.chain.records
            yield from self._follow([record for record in heads if record.number >= oldest], oldest)
        if not head and (stands_on := self.chain.implied_head(messages)) is not None:
            yield from self._load(set(stands_on.shown))
        with self._lock:
            if era == self._era:
                self._asked.update(dict.fromkeys(new))
                while len(self._asked) > max(MOST_ASKED, len(messages)):
                    self._asked.popitem(last=False)

    def _follow(self, heads: Sequence[CheckpointSummary], oldest: int) -> StoreSteps[None]:
        """Read the way back from each head as far as it may matter: to the oldest checkpoint that touched the list."""
        ways = list(heads)
        passed: set[str] = set()
        while ways:
            yield from self._load({record.previous for record in ways})
            known = self.chain.by_id
            passed |= {record.checkpoint_id for record in ways}
            back = {i: known[i] for record in ways if (i := record.previous) in known and i not in passed}
            ways = [record for record in back.values() if record.number > oldest]

    def _load(self, checkpoint_ids: set[str]) -> StoreSteps[None]:
        missing = sorted(i for i in checkpoint_ids if i and i not in self.chain.by_id)
        read = self._store.whole((yield from self._store.named(missing))) if missing else []
        with self._lock:
            self.chain = self.chain.with_records(read)


def _named(messages: Sequence[BaseMessage]) -> Sequence[str]:
    """The checkpoints that a list's summary message shows, its head last."""
    mark = next((mark for m in messages if is_summary(m) and (mark := summary_mark(m))), None)
    return [str(i) for i in (mark or {}).get("checkpoint_ids") or ()]
