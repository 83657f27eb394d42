"""The index of a log: one item a message id, that says in which segments its revisions lie.

It is a way to find a message quickly. What the log says is the truth: an item that is damaged is written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from langchain_ctxcompress.storage.keys import SessionKeys, encode_label
from langchain_ctxcompress.storage.records import SCHEMA_VERSION
from langchain_ctxcompress.storage.steps import StoreSteps

Ref = list[Any]
"""A reference: hash of the bytes, hash of what they say, writer, segment, order."""

MOST_TRIES = 8
"""How often a writer looks whether its references are there."""


class Revised(Protocol):
    """What is asked of an entry of the log."""

    @property
    def message_id(self) -> str:
        """The message."""

    @property
    def record(self) -> str:
        """Hash of its bytes."""

    @property
    def order(self) -> int:
        """When it was appended; growing within a list."""


E = TypeVar("E", bound=Revised)


def refs_in(item: Any) -> list[Ref]:
    """The references that an item of the index holds, oldest first; none where it is damaged: it is written anew."""
    refs = item.value.get("refs") if item else None
    if not isinstance(refs, list) or not all(isinstance(ref, list) and len(ref) >= 4 for ref in refs):
        return []
    return sorted(refs, key=_order_of)


def _order_of(ref: Ref) -> int:
    return int(ref[4]) if len(ref) > 4 else 0  # written before the order was noted: in the order in which it was put


def point(keys: SessionKeys, own: Mapping[str, list[Ref]]) -> StoreSteps[None]:
    """Put references into the index, beside those of other writers.

    A store has no compare-and-set: two writers that put a reference to one message at once would keep one of them.
    So it is looked again whether one's own is there. Where both look away at the same moment all the same, the log
    has both revisions, and `find` asked for the lost one reads it there.
    """
    from langgraph.store.base import GetOp, PutOp

    for _ in range(MOST_TRIES):
        items = yield [GetOp(keys.ids, encode_label(message_id)) for message_id in own]
        puts: list[Any] = []
        for (message_id, refs), item in zip(own.items(), items, strict=True):
            there = refs_in(item)
            if any(ref not in there for ref in refs):
                merged = sorted([*there, *(ref for ref in refs if ref not in there)], key=_order_of)
                value = {"schema_version": SCHEMA_VERSION, "refs": merged}
                puts.append(PutOp(keys.ids, encode_label(message_id), value, index=False))
        if not puts:
            return
        yield puts


def news(entries: Sequence[E], refs: Mapping[str, Sequence[Ref]]) -> list[E]:
    """The entries that are to be written, in order.

    What the list says last of a message is to be its newest revision, also where it says again what an older one said.
    Of what it says before that, what is archived already is not written again.
    """
    last = {entry.message_id: entry.order for entry in entries}
    known = {message_id: [ref[0] for ref in rows] for message_id, rows in refs.items()}
    fresh: list[E] = []
    for entry in entries:
        records = known.setdefault(entry.message_id, [])
        newest = entry.order == last[entry.message_id]
        if entry.record not in (records[-1:] if newest else records):
            records.append(entry.record)
            fresh.append(entry)
    return fresh
