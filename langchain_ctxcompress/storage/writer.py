"""One writer of a session's log: how much it has written, and the head in which it says so."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from langchain_ctxcompress.storage.entries import Entry
from langchain_ctxcompress.storage.index import Ref
from langchain_ctxcompress.storage.keys import SessionKeys, segment_key
from langchain_ctxcompress.storage.segments import head_value, in_segments, segment_value
from langchain_ctxcompress.storage.steps import StoreSteps


class Writer:
    """Numbers the segments of one log and keeps its head. Safe to share between threads.

    Args:
        keys: Where the session lies.
    """

    def __init__(self, keys: SessionKeys) -> None:
        self.name = uuid4().hex
        self._keys = keys
        self._lock = threading.Lock()
        self._segments = 0
        self._messages = 0
        self._tokens = 0
        self._started = ""
        self._writing = 0
        self._side_by_side = False

    def write(self, entries: list[Entry], tokens: int, besides: Sequence[Any]) -> StoreSteps[dict[str, list[Ref]]]:
        """Write entries in segments of their own, and then the head.

        Args:
            entries: What is written, in order.
            tokens: Its size.
            besides: Puts that go with it.

        Returns:
            By message, the references to its entries.
        """
        from langgraph.store.base import PutOp

        chunks = list(in_segments(entries))
        first = self._count(len(chunks), len(entries), tokens)
        puts: list[Any] = []
        refs: dict[str, list[Ref]] = {}
        for number, chunk in enumerate(chunks, first):
            place = self._keys.log(self.name), segment_key(number)
            puts.append(PutOp(*place, segment_value(chunk), index=False))
            for entry in chunk:
                ref = [entry.record, entry.content, self.name, number, entry.order]
                refs.setdefault(entry.message_id, []).append(ref)
        try:
            yield from self._put([*puts, *besides])
        except BaseException:  # a step that is cancelled here may write them after all: then they count as copies
            self._count(0, -len(entries), -tokens)
            raise
        while self._ends_side_by_side():
            yield from self._put([])
        return refs

    def _count(self, segments: int, messages: int, tokens: int) -> int:
        """Add to what is written; gives the number of the first segment that was added."""
        with self._lock:
            first = self._segments
            self._segments += segments
            self._messages += messages
            self._tokens += tokens
            return first

    def _put(self, puts: list[Any]) -> StoreSteps[None]:
        """Write puts, and the head behind them. Of two steps at once the one that began first may arrive last."""
        from langgraph.store.base import PutOp

        now = datetime.now(UTC).isoformat()
        with self._lock:
            self._started = self._started or now
            head = head_value(self._segments, self._messages, self._tokens, self._started, now)
            self._side_by_side = self._side_by_side or self._writing > 0
            self._writing += 1
        try:
            yield [*puts, PutOp(self._keys.writers, self.name, head, index=False)]
        finally:
            with self._lock:
                self._writing -= 1

    def _ends_side_by_side(self) -> bool:
        """Whether this step is the last of several that wrote the head: what arrived last may not be the newest."""
        with self._lock:
            last = self._side_by_side and not self._writing
            self._side_by_side = self._side_by_side and not last
            return last
