"""The append-only log of a session, with no locks.

A store has neither compare-and-set nor ranges of keys, so each writer (one `SessionLog` object) appends to a log of its
own, in numbered segments, and readers merge the logs by time. Two workers on one session cannot overwrite each other.
A segment is written before the index that points into it: a crash between the two costs a second copy, never a message.
The index is a way to find a message quickly; what the log says is the truth.
"""

from __future__ import annotations

import heapq
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import RecordError
from langchain_ctxcompress.storage.entries import Entry, Revision, Said
from langchain_ctxcompress.storage.index import Ref, news, point, refs_in
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label, segment_key
from langchain_ctxcompress.storage.records import SCHEMA_VERSION
from langchain_ctxcompress.storage.segments import (
    SEGMENT_CHARS,
    SEGMENT_ENTRIES,
    head_value,
    in_segments,
    read_segment,
    segment_value,
    segments_of,
)
from langchain_ctxcompress.storage.steps import StoreSteps
from langchain_ctxcompress.storage.totals import CountMessages, size_of

READ_AHEAD = 64
"""Segments of one writer that are read in one batch."""

MOST_WRITERS = 1_000_000
"""Writers of one session; each process that ever appended to it is one."""

MOST_KNOWN = 16_384
"""Messages that a log remembers to have written, so that a list that is appended again asks the store nothing. What is
older is looked up by its key: memory does not follow the history."""

__all__ = ["SEGMENT_CHARS", "SEGMENT_ENTRIES", "Entry", "SessionLog"]


class SessionLog:
    """Appends to one session, and reads it. Safe to share between threads.

    Args:
        keys: Where the session lies.
        session_id: The session, as it is recorded.
        count: Sizes of messages in tokens, noted when they are written.
    """

    def __init__(self, keys: SessionKeys, session_id: str, count: CountMessages | None = None) -> None:
        self._keys = keys
        self.session_id = session_id
        self._count = count
        self._writer = uuid4().hex
        self._lock = threading.Lock()
        self._named = False
        self._segments = 0
        self._messages = 0
        self._tokens = 0
        self._started: str | None = None
        self._last_order = 0
        self._known: OrderedDict[str, str] = OrderedDict()
        self._unpointed: list[dict[str, list[Ref]]] = []
        self.epoch = ""
        """Changes whenever something is removed from the session, by whomever; `""` before it is known."""

    def append(self, messages: Sequence[BaseMessage], parents: Sequence[Said | None] | None = None) -> StoreSteps[int]:
        """Write what is new of `messages`; all of them have ids. Returns how many were written.

        Same id and same bytes: nothing. Same id and other bytes: a new revision.

        Args:
            messages: The messages.
            parents: What each of them follows; by default not known.
        """
        if not messages:
            return 0
        entries = self._entries(messages, parents or [None] * len(messages))
        refs = yield from self._lookup(entries)
        yield from self._point()
        fresh = news([entry for entry in entries if entry.message_id in refs], refs)
        if fresh:
            said = {entry.order: message for entry, message in zip(entries, messages, strict=True)}
            tokens = size_of([said[entry.order] for entry in fresh], self._count)
            puts, head, own = self._segment_puts(fresh, tokens)
            try:
                yield [*puts, head]
            except BaseException:  # a step that is cancelled here may write them after all: then they count as copies
                with self._lock:
                    self._tokens -= tokens
                    self._messages -= len(fresh)  # they count when they are written after all
                raise
            self._named = True
            with self._lock:
                self._unpointed.append(own)
        self._remember(entries)
        yield from self._point()
        return len(fresh)

    def _point(self) -> StoreSteps[None]:
        """Let the index name what was written; what a step did not come to, the next one does."""
        while self._unpointed:
            own = self._unpointed[0]
            yield from point(self._keys, own)
            with self._lock:
                if self._unpointed and self._unpointed[0] is own:
                    self._unpointed.pop(0)

    def _lookup(self, entries: Sequence[Entry]) -> StoreSteps[dict[str, list[Ref]]]:
        """What the index says of the messages that this log does not remember to have written just so.

        One item is read besides: it tells whether what is remembered still holds.
        """
        from langgraph.store.base import GetOp

        while True:
            ids = list(dict.fromkeys(e.message_id for e in entries if self._known.get(e.message_id) != e.record))
            session, *found = yield [
                GetOp(self._keys.sessions, self._keys.session_key),
                *(GetOp(self._keys.ids, encode_label(message_id)) for message_id in ids),
            ]
            if self._still_holds(session):
                return {message_id: refs_in(item) for message_id, item in zip(ids, found, strict=True)}

    def _still_holds(self, session: Any) -> bool:
        """Whether nothing was removed from the session since this log last looked; if so, it begins anew."""
        epoch = str(session.value.get("epoch", "")) if session else ""
        with self._lock:
            if not self.epoch or epoch == self.epoch:
                self.epoch = epoch or uuid4().hex
                self._named = session is not None and bool(epoch)
                return True
            if not self._named and not epoch:
                return True  # nobody has written yet
            # Cleared, or some of it forgotten: a new log, so that no head speaks of segments that are gone.
            self._writer, self._segments, self._messages, self._tokens, self._started = uuid4().hex, 0, 0, 0, None
            self._known.clear()
            self._unpointed.clear()
            self.epoch, self._named = epoch or uuid4().hex, bool(epoch)
            return False

    def read(self, problems: list[RecordError] | None = None) -> StoreSteps[list[Entry]]:
        """Every revision of every message, oldest first; one that is followed by a copy of itself only once.

        Args:
            problems: Is given the error of each damaged segment, and all others are read (S5).

        Raises:
            RecordError: A segment is damaged, and no list for problems is given.
        """
        logs: list[list[Entry]] = []
        for head in (yield from self.writers()):
            entries = yield from self._read_writer(head.key, segments_of(head), problems)
            logs.append(entries)
        newest: dict[str, str] = {}
        result = []
        for entry in heapq.merge(*logs, key=lambda entry: entry.order):
            if newest.get(entry.message_id) != entry.record:
                newest[entry.message_id] = entry.record
                result.append(entry)
        return result

    def find(
        self,
        message_ids: Iterable[str],
        contents: Mapping[str, str] | None = None,
        problems: list[RecordError] | None = None,
    ) -> StoreSteps[list[Entry]]:
        """The newest revision of each message; with `contents`, the newest that says what its hash there says.

        One that the index does not name is looked for in the whole log. Messages that were never seen are left out.

        Args:
            message_ids: The messages.
            contents: Hashes of what they say, by id.
            problems: As in `read`.
        """
        known = yield from self._refs(message_ids)
        wanted: dict[str, Ref] = {}
        lost: set[Said] = set()
        for message_id, refs in known.items():
            said = (contents or {}).get(message_id)
            ref = next((ref for ref in reversed(refs) if said is None or ref[1] == said), refs[-1] if refs else None)
            if said is not None and (ref is None or ref[1] != said):
                lost.add((message_id, said))
            if ref is not None:
                wanted[message_id] = ref
        found = yield from self._fetch(((i, ref[0], ref[2], ref[3]) for i, ref in wanted.items()), problems)
        entries = {i: found[i, ref[0]] for i, ref in wanted.items() if (i, ref[0]) in found}
        if lost:
            entries |= {e.message_id: e for e in (yield from self.read(problems)) if e.said in lost}
        return [entries[message_id] for message_id in known if message_id in entries]

    def find_revisions(self, revisions: Iterable[Revision]) -> StoreSteps[dict[Revision, Entry]]:
        """The entries of revisions, each named by its message and the hash of its bytes.

        One that the index does not name is looked for in the whole log. Those that are not there are left out.
        """
        asked = set(revisions)
        known = yield from self._refs(sorted(message_id for message_id, _ in asked))
        found = yield from self._fetch(
            (message_id, ref[0], ref[2], ref[3])
            for message_id, refs in known.items()
            for ref in refs
            if (message_id, ref[0]) in asked
        )
        if asked - found.keys():
            everything = yield from self.read()
            found.update({key: e for e in everything if (key := (e.message_id, e.record)) in asked})
        return found

    def _refs(self, message_ids: Iterable[str]) -> StoreSteps[dict[str, list[Ref]]]:
        """What the index says of each message, in the order asked."""
        from langgraph.store.base import GetOp

        ids = list(dict.fromkeys(message_ids))
        items = (yield [GetOp(self._keys.ids, encode_label(message_id)) for message_id in ids]) if ids else []
        return {message_id: refs_in(item) for message_id, item in zip(ids, items, strict=True)}

    def _fetch(
        self, wanted: Iterable[tuple[str, str, str, int]], problems: list[RecordError] | None = None
    ) -> StoreSteps[dict[Revision, Entry]]:
        """Entries by message and record; `wanted` says in addition in which segment of which writer each lies."""
        from langgraph.store.base import GetOp

        asked = list(wanted)
        places = list(dict.fromkeys((writer, number) for _, _, writer, number in asked))
        loaded = (yield [GetOp(self._keys.log(w), segment_key(n)) for w, n in places]) if places else []
        revisions = {(message_id, record) for message_id, record, _, _ in asked}
        return {
            (entry.message_id, entry.record): entry
            for place, item in zip(places, loaded, strict=True)
            for entry in self.load(place, item, problems)
            if (entry.message_id, entry.record) in revisions
        }

    def _entries(self, messages: Sequence[BaseMessage], parents: Sequence[Said | None]) -> list[Entry]:
        with self._lock:
            start = max(time.time_ns(), self._last_order + 1)
            self._last_order = start + len(messages)
        pairs = zip(messages, parents, strict=True)
        return [Entry.of(message, start + place, parent) for place, (message, parent) in enumerate(pairs)]

    def _remember(self, entries: Sequence[Entry]) -> None:
        with self._lock:
            for entry in entries[-MOST_KNOWN:]:
                self._known[entry.message_id] = entry.record
                self._known.move_to_end(entry.message_id)
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    def _segment_puts(self, entries: list[Entry], tokens: int) -> tuple[list[Any], Any, dict[str, list[Ref]]]:
        """The puts for the segments and for the writer's head, and the references to the entries by message."""
        from langgraph.store.base import PutOp

        chunks = list(in_segments(entries))
        now = datetime.now(UTC).isoformat()
        with self._lock:
            first = self._segments
            self._segments += len(chunks)
            self._messages += len(entries)
            self._tokens += tokens
            self._started = self._started or now
            head = head_value(self._segments, self._messages, self._tokens, self._started, now)
        puts: list[Any] = []
        own: dict[str, list[Ref]] = {}
        for number, chunk in enumerate(chunks, first):
            value = segment_value(chunk)
            puts.append(PutOp(self._keys.log(self._writer), segment_key(number), value, index=False))
            for entry in chunk:
                ref = [entry.record, entry.content, self._writer, number, entry.order]
                own.setdefault(entry.message_id, []).append(ref)
        if not self._named:
            puts.append(PutOp(self._keys.sessions, self._keys.session_key, self._name(), index=False))
        return puts, PutOp(self._keys.writers, self._writer, head, index=False), own

    def _name(self) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, "session_id": json.dumps(self.session_id), "epoch": self.epoch}

    def begin_epoch(self) -> StoreSteps[None]:
        """Tell every other log of this session that what it remembers does not hold any more."""
        from langgraph.store.base import GetOp, PutOp

        if (yield [GetOp(self._keys.sessions, self._keys.session_key)])[0] is not None:
            with self._lock:
                self.epoch = uuid4().hex
            yield [PutOp(self._keys.sessions, self._keys.session_key, self._name(), index=False)]

    def writers(self) -> StoreSteps[list[Any]]:
        """The heads of all writers, as items.

        All at once: a store pages by time of change, and a writer that moves between two pages would be lost.
        """
        from langgraph.store.base import SearchOp

        items: list[Any] = (yield [SearchOp(self._keys.writers, limit=MOST_WRITERS)])[0]
        return items

    def segments(
        self, writer: str, start: int, segments: int, most: int = READ_AHEAD
    ) -> StoreSteps[tuple[list[tuple[int, Any]], bool]]:
        """The next segments of a writer as items with their numbers, and whether there are more.

        Args:
            writer: The writer.
            start: The first number that is asked for.
            segments: How many its head says there are. It may lag behind: the end is where one is missing.
            most: How many are asked for.
        """
        from langgraph.store.base import GetOp

        numbers = range(start, start + most)
        items = yield [GetOp(self._keys.log(writer), segment_key(number)) for number in numbers]
        found = [(number, item) for number, item in zip(numbers, items, strict=True) if item is not None]
        return found, numbers.stop < segments or items[-1] is not None

    def _read_writer(self, writer: str, segments: int, problems: list[RecordError] | None) -> StoreSteps[list[Entry]]:
        entries: list[Entry] = []
        start, more = 0, True
        while more:
            found, more = yield from self.segments(writer, start, segments)
            for number, item in found:
                entries += self.load((writer, number), item, problems)
            start += READ_AHEAD
        return entries

    def forget(self, message_ids: Collection[str]) -> None:
        """Take notice that messages were removed: they are new again when they are appended again."""
        with self._lock:
            for message_id in message_ids:
                self._known.pop(message_id, None)
            for own in self._unpointed:
                for message_id in message_ids:
                    own.pop(message_id, None)

    def load(self, place: tuple[str, int], item: Any, problems: list[RecordError] | None = None) -> list[Entry]:
        """The entries of the segment of a writer and number.

        Args:
            place: Writer and number.
            item: The segment as the store holds it.
            problems: Is given the error, and there are no entries.

        Raises:
            RecordError: It is missing, damaged or of an unknown version, and no list for problems is given.
        """
        try:
            return read_segment(item, f"segment {place[1]} of writer {place[0]} of session {self.session_id!r}")
        except RecordError as error:
            if problems is None:
                raise
            problems.append(error)
            return []
