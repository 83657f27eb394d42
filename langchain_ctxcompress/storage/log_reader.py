"""The log of a session as it is read: what all of its writers wrote, merged by time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_ctxcompress.errors import RecordError
from langchain_ctxcompress.storage.entries import Entry, Revision, Said
from langchain_ctxcompress.storage.index import Ref, refs_in
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label, segment_key
from langchain_ctxcompress.storage.segments import read_segment, segments_of
from langchain_ctxcompress.storage.steps import StoreSteps

READ_AHEAD = 64
"""Segments of one writer that are read in one batch."""

MOST_WRITERS = 1_000_000
"""Writers of one session; each process that ever appended to it is one."""


class LogReader:
    """Reads one session. It remembers nothing.

    Args:
        keys: Where the session lies.
        session_id: The session, as it is recorded.
    """

    def __init__(self, keys: SessionKeys, session_id: str) -> None:
        self._keys = keys
        self.session_id = session_id

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
