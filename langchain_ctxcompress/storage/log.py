"""The append-only log of a session, with no locks.

A store has neither compare-and-set nor ranges of keys, so each writer (one `SessionLog` object) appends to a log of its
own, in numbered segments, and readers merge the logs by time. Two workers on one session cannot overwrite each other.
A segment is written before the index that points into it: a crash between the two costs a second copy, never a message.
The index is a way to find a message quickly; what the log says is the truth.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.storage.entries import Entry, Said
from langchain_ctxcompress.storage.index import Ref, news, point, refs_in
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label
from langchain_ctxcompress.storage.log_reader import LogReader
from langchain_ctxcompress.storage.records import SCHEMA_VERSION
from langchain_ctxcompress.storage.segments import SEGMENT_CHARS, SEGMENT_ENTRIES
from langchain_ctxcompress.storage.steps import StoreSteps
from langchain_ctxcompress.storage.totals import CountMessages, size_of
from langchain_ctxcompress.storage.writer import Writer

MOST_KNOWN = 16_384
"""Messages that a log remembers to have written, so that a list that is appended again asks the store nothing. What is
older is looked up by its key: memory does not follow the history."""

__all__ = ["SEGMENT_CHARS", "SEGMENT_ENTRIES", "Entry", "SessionLog"]


class SessionLog(LogReader):
    """Appends to one session, and reads it. Safe to share between threads.

    Args:
        keys: Where the session lies.
        session_id: The session, as it is recorded.
        count: Sizes of messages in tokens, noted when they are written.
    """

    def __init__(self, keys: SessionKeys, session_id: str, count: CountMessages | None = None) -> None:
        super().__init__(keys, session_id)
        self._count = count
        self._writer = Writer(keys)
        self._lock = threading.Lock()
        self._named = False
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
            own = yield from self._writer.write(fresh, tokens, [] if self._named else [self._naming()])
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
            self._writer = Writer(self._keys)
            self._known.clear()
            self._unpointed.clear()
            self.epoch, self._named = epoch or uuid4().hex, bool(epoch)
            return False

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

    def _naming(self) -> Any:
        """The put that says that the session is there, and under which epoch."""
        from langgraph.store.base import PutOp

        name = {"schema_version": SCHEMA_VERSION, "session_id": json.dumps(self.session_id), "epoch": self.epoch}
        return PutOp(self._keys.sessions, self._keys.session_key, name, index=False)

    def begin_epoch(self) -> StoreSteps[None]:
        """Tell every other log of this session that what it remembers does not hold any more."""
        from langgraph.store.base import GetOp

        if (yield [GetOp(self._keys.sessions, self._keys.session_key)])[0] is not None:
            with self._lock:
                self.epoch = uuid4().hex
            yield [self._naming()]

    def forget(self, message_ids: Collection[str]) -> None:
        """Take notice that messages were removed: they are new again when they are appended again."""
        with self._lock:
            for message_id in message_ids:
                self._known.pop(message_id, None)
            for own in self._unpointed:
                for message_id in message_ids:
                    own.pop(message_id, None)
