"""Reading a log page by page: what is held in memory follows the page, not the history."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import RecordError
from langchain_ctxcompress.storage.entries import Entry
from langchain_ctxcompress.storage.index import Ref, refs_in
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label
from langchain_ctxcompress.storage.log import SessionLog
from langchain_ctxcompress.storage.segments import segments_of
from langchain_ctxcompress.storage.steps import StoreSteps

SEGMENTS = 4
"""Segments of one writer that are held at once."""

SLACK_SECONDS = 600
"""A writer notes its start when it writes, which is later than the order it gave its first messages."""


class Placed(NamedTuple):
    """An entry, and where it lies."""

    entry: Entry
    writer: str
    number: int


@dataclass(slots=True)
class _Open:
    """A writer's log that is being read."""

    writer: str
    segments: int
    start: int = 0
    more: bool = True
    entries: deque[Placed] = field(default_factory=deque)


class HistoryPages:
    """Every message once, in the order of its first append and in its newest revision, page by page.

    What is appended meanwhile by writers that were there at the start may or may not be seen.

    Args:
        log: The session's log.
        keys: Where it lies.
    """

    def __init__(self, log: SessionLog, keys: SessionKeys) -> None:
        self._log = log
        self._keys = keys
        self._waiting: deque[tuple[int, str, int]] | None = None
        self._open: dict[str, _Open] = {}
        self._heap: list[tuple[int, str]] = []
        self._yielded: set[str] = set()
        self.problems: list[RecordError] = []
        """What could not be read so far; all else is (S5)."""

    def page(self, size: int) -> StoreSteps[list[BaseMessage]]:
        """The next messages, about `size` of them; an empty list at the end."""
        while entries := (yield from self._entries(size)):
            if messages := (yield from self._messages(entries)):
                return messages
        return []

    def _messages(self, entries: Sequence[Placed]) -> StoreSteps[list[BaseMessage]]:
        """The messages whose first revision is among the entries: the index knows which that is."""
        from langgraph.store.base import GetOp

        ids = list(dict.fromkeys(placed.entry.message_id for placed in entries))
        items = yield [GetOp(self._keys.ids, encode_label(message_id)) for message_id in ids]
        refs = {message_id: refs_in(item) for message_id, item in zip(ids, items, strict=True)}
        first = [placed for placed in entries if self._is_first(placed, refs[placed.entry.message_id])]
        later = {(i, refs[i][-1][0]) for placed in first if len(refs[i := placed.entry.message_id]) > 1}
        newest = (yield from self._log.find_revisions(later)) if later else {}
        found: list[BaseMessage] = []
        for placed in first:
            own = refs[placed.entry.message_id]
            entry = newest.get((placed.entry.message_id, own[-1][0])) if own else None
            try:
                found.append((entry or placed.entry).message())
            except RecordError as error:
                self.problems.append(error)
        return found

    def _is_first(self, placed: Placed, refs: list[Ref]) -> bool:
        """Whether the entry is the first of its message. The few that the index does not tell of are remembered."""
        entry = placed.entry
        place = [placed.writer, placed.number, entry.order]  # one segment may say the same of a message twice
        if refs and refs[0][0] == entry.record and refs[0][2:] == place[: len(refs[0]) - 2]:
            return entry.message_id not in self._yielded
        # It is a copy, or a revision; one that is older than what the index names, another writer put aside.
        if entry.message_id in self._yielded or (refs and entry.order >= (refs[0][4] if len(refs[0]) > 4 else 0)):
            return False
        self._yielded.add(entry.message_id)
        return True

    def _entries(self, size: int) -> StoreSteps[list[Placed]]:
        """The next entries of all writers, merged by time."""
        if self._waiting is None:
            heads = [
                (_nanoseconds(item.value.get("started_at")), item.key, segments_of(item))
                for item in (yield from self._log.writers())
            ]
            self._waiting = deque(sorted(heads))
        page: list[Placed] = []
        while len(page) < size:
            while self._waiting and (not self._heap or self._waiting[0][0] <= self._heap[0][0]):
                _, writer, segments = self._waiting.popleft()
                yield from self._advance(_Open(writer, segments))
            if not self._heap:
                break
            log = self._open.pop(heapq.heappop(self._heap)[1])
            page.append(log.entries.popleft())
            yield from self._advance(log)
        return page

    def _advance(self, log: _Open) -> StoreSteps[None]:
        """Put a writer's log in line by its next entry; one that is at its end is let go."""
        while not log.entries and log.more:
            found, log.more = yield from self._log.segments(log.writer, log.start, log.segments, SEGMENTS)
            log.start += SEGMENTS
            for number, item in found:
                entries = self._log.load((log.writer, number), item, self.problems)
                log.entries.extend(Placed(entry, log.writer, number) for entry in entries)
        if log.entries:
            self._open[log.writer] = log
            heapq.heappush(self._heap, (log.entries[0].entry.order, log.writer))


def _nanoseconds(started_at: object) -> int:
    try:
        return int((datetime.fromisoformat(str(started_at)).timestamp() - SLACK_SECONDS) * 1e9)
    except ValueError:
        return 0  # a damaged head: its log is opened first
