"""Removing messages from a session so that they are gone: from the log, its index, the checkpoints and the snapshots.

Whatever may still repeat a removed message is taken back: the text of each summary that covered it, the summary
message's text wherever that shows such a summary, and what the ledger took from it. Those checkpoints are marked stale;
what the others of their messages said can be summarised again from the archive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from langchain_ctxcompress.errors import RecordError
from langchain_ctxcompress.messages import is_summary, summary_mark
from langchain_ctxcompress.storage.codec import decode_message, encode_message, record_hash
from langchain_ctxcompress.storage.entries import Entry, Said
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label, segment_key
from langchain_ctxcompress.storage.log import SessionLog
from langchain_ctxcompress.storage.log_reader import READ_AHEAD
from langchain_ctxcompress.storage.records import CheckpointSummary, checkpoint_value
from langchain_ctxcompress.storage.segments import segment_value, segments_of
from langchain_ctxcompress.storage.snapshot_parts import (
    Row,
    Snapshot,
    checkpoint_text,
    collect_steps,
    cut_parts,
    read_checkpoint,
    read_rows,
    snapshots_steps,
    texts_steps,
    uses,
    write_steps,
)
from langchain_ctxcompress.storage.steps import StoreSteps

if TYPE_CHECKING:
    from langgraph.store.base import Op

TAKEN_BACK = "A summary of earlier messages stood here. Some of them were removed, and it was taken back with them."
"""The text of a summary message that may have repeated a removed message, until it is written anew."""


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What has to be taken out of records.

    Attributes:
        forgotten: The ids of the removed messages.
        stale: The checkpoints whose own text may repeat one of them.
    """

    forgotten: frozenset[str]
    stale: frozenset[str] = field(default=frozenset())

    @classmethod
    def of(cls, forgotten: Iterable[str], checkpoints: Sequence[CheckpointSummary]) -> Cleaning:
        """The cleaning of a session; stale is what covered one of them, or was merged from what is stale."""
        ids = frozenset(forgotten)
        stale = {c.checkpoint_id for c in checkpoints if ids & c.covered.keys() or ids & _quoted(c)}
        before = -1
        while before != len(stale):
            before = len(stale)
            stale |= {c.checkpoint_id for c in checkpoints if stale.intersection(c.merged)}
        return cls(ids, frozenset(stale))

    def checkpoint(self, record: CheckpointSummary) -> CheckpointSummary:
        """The checkpoint without the removed messages; the same object where it has nothing of them."""
        ids = self.forgotten
        own = record.checkpoint_id in self.stale
        ledger = self._ledger(record.ledger)
        altered = {i: entry for i, entry in record.altered.items() if i not in ids}
        shows = own or ledger != record.ledger or not self.stale.isdisjoint(record.shown)
        if not shows and len(altered) == len(record.altered):
            return record
        covered = {i: said for i, said in record.covered.items() if i not in ids}
        taken_back = {"text": "", "stale": True} if own else {}
        if shows:
            taken_back |= {"renewed": record.renewed + 1, "stale": True}
        return record.model_copy(
            update={
                "covered": covered,
                "altered": altered,
                "ledger": ledger,
                "quotes": tuple(quote for quote in record.quotes if quote.message_id not in ids),
                "rendered": TAKEN_BACK if shows and record.rendered else record.rendered,
                **taken_back,
            }
        )

    def _ledger(self, ledger: dict[str, Any]) -> dict[str, Any]:
        """The ledger without the entries that name a removed message as a source."""

        def stays(entry: Any) -> bool:
            return not (isinstance(entry, dict) and self.forgotten.intersection(entry.get("sources") or ()))

        return {
            kind: [entry for entry in entries if stays(entry)] if isinstance(entries, list) else entries
            for kind, entries in ledger.items()
        }

    def row(self, row: Row) -> Row | None:
        """The reference of a snapshot without them; `None` where it refers to one."""
        if row.message_id in self.forgotten:
            return None
        if row.data is None:
            return row
        message = decode_message(row.data, record=f"message {row.message_id!r}")
        shown = (summary_mark(message) or {}).get("checkpoint_ids") or ()
        if not is_summary(message) or self.stale.isdisjoint(shown):
            return row
        data = encode_message(message.model_copy(update={"content": TAKEN_BACK}))
        return row._replace(record=record_hash(data), data=data)


def forget_steps(
    keys: SessionKeys, log: SessionLog, message_ids: Collection[str], checkpoints: Sequence[CheckpointSummary]
) -> StoreSteps[int]:
    """Remove messages.

    Args:
        keys: Where the session lies.
        log: Its log.
        message_ids: The messages.
        checkpoints: All checkpoints of the session.

    Returns:
        How many of them were in the log.

    Raises:
        RecordError: A damaged record could not be searched; everything else was removed.
    """
    from langgraph.store.base import PutOp

    cleaning = Cleaning.of(message_ids, checkpoints)
    # The checkpoints go first: whoever reads meanwhile may miss a message, but finds no summary of what is gone.
    changed = [clean for c in checkpoints if (clean := cleaning.checkpoint(c)) is not c]
    if changed:
        yield [PutOp(keys.checkpoints, c.checkpoint_id, checkpoint_value(c), index=False) for c in changed]
    # And every other process drops what it remembers: what is sent again after this is new.
    yield from log.begin_epoch()
    problems = yield from _forget_in_snapshots(keys, cleaning)
    removed, damaged = yield from _forget_in_log(keys, log, cleaning.forgotten)
    labels = [encode_label(message_id) for message_id in sorted(cleaning.forgotten)]
    if labels:
        yield [PutOp(namespace, label, None) for label in labels for namespace in (keys.ids, keys.texts, keys.touched)]
    log.forget(cleaning.forgotten)
    yield from log.begin_epoch()
    if problems or damaged:
        msg = f"{removed} messages were removed, but not all can be searched: {'; '.join([*problems, *damaged])}"
        raise RecordError(msg)
    return removed


def _forget_in_log(
    keys: SessionKeys, log: SessionLog, message_ids: Collection[str]
) -> StoreSteps[tuple[int, list[str]]]:
    """Rewrite every segment that holds a removed message, or what followed one. A written one is never appended to.

    Returns:
        How many messages went, and what could not be read.
    """
    from langgraph.store.base import PutOp

    removed: set[str] = set()
    problems: list[str] = []
    parents = yield from _parents(log, message_ids)
    for head in (yield from log.writers()):
        start, more = 0, True
        while more:
            found, more = yield from log.segments(head.key, start, segments_of(head))
            start += READ_AHEAD
            puts: list[Op] = []
            for number, item in found:
                try:
                    entries = log.load((head.key, number), item)
                except RecordError as error:
                    problems.append(str(error))
                    continue
                kept = [_relinked(entry, parents) for entry in entries if entry.message_id not in message_ids]
                if kept != entries:
                    removed.update(entry.message_id for entry in entries if entry.message_id in message_ids)
                    puts.append(PutOp(keys.log(head.key), segment_key(number), segment_value(kept), index=False))
            if puts:
                yield puts
    return len(removed), problems


def _parents(log: SessionLog, message_ids: Collection[str]) -> StoreSteps[dict[Said, Said | None]]:
    """What each message that is to be removed followed. What cannot be read is named when it is to be rewritten."""
    parents: dict[Said, Said | None] = {}
    for head in (yield from log.writers()) if message_ids else ():
        start, more = 0, True
        while more:
            found, more = yield from log.segments(head.key, start, segments_of(head))
            start += READ_AHEAD
            for number, item in found:
                with suppress(RecordError):
                    entries = log.load((head.key, number), item)
                    parents |= {entry.said: entry.parent for entry in entries if entry.message_id in message_ids}
    return parents


def _relinked(entry: Entry, parents: Mapping[Said, Said | None]) -> Entry:
    """The entry as it follows what the removed message followed: its branch keeps its beginning."""
    parent, passed = entry.parent, set[Said]()
    while parent is not None and parent in parents and parent not in passed:
        passed.add(parent)
        parent = parents[parent]
    return replace(entry, parent=parent) if passed else entry


def _forget_in_snapshots(keys: SessionKeys, cleaning: Cleaning) -> StoreSteps[list[str]]:
    """Take removed messages out of every snapshot; returns what could not be read."""
    problems: list[str] = []
    freed: set[str] = set()
    for snapshot in (yield from snapshots_steps(keys)):
        try:
            freed |= yield from _forget_in_snapshot(keys, snapshot, cleaning)
        except RecordError as error:
            problems.append(str(error))
    yield from collect_steps(keys, freed)
    return problems


def _forget_in_snapshot(keys: SessionKeys, snapshot: Snapshot, cleaning: Cleaning) -> StoreSteps[set[str]]:
    """Store a snapshot anew without the removed messages; returns the parts it used before."""
    name = f"snapshot {snapshot.snapshot_id!r}"
    rows = read_rows((yield from texts_steps(keys, snapshot.parts, of=name)))
    texts = yield from texts_steps(keys, snapshot.checkpoints, of=name)
    saved = [read_checkpoint(text, name=f"a checkpoint of {name}") for text in texts]
    # A snapshot's checkpoint may be one that the session does not have: what it covers counts by itself.
    wider = Cleaning(cleaning.forgotten, cleaning.stale | Cleaning.of(cleaning.forgotten, saved).stale)
    kept = [row for old in rows if (row := wider.row(old)) is not None]
    clean = [wider.checkpoint(checkpoint) for checkpoint in saved]
    if kept == rows and clean == saved:
        return set()
    parts, records = cut_parts(kept), [checkpoint_text(checkpoint) for checkpoint in clean]
    changed = snapshot.model_copy(
        update={
            "messages": len(kept),
            "parts": tuple(map(record_hash, parts)),
            "checkpoints": tuple(map(record_hash, records)),
            "forgotten": snapshot.forgotten + len(rows) - len(kept),
        }
    ).sealed()
    yield from write_steps(keys, changed, {record_hash(text): text for text in (*parts, *records)})
    return uses(snapshot) - uses(changed)


def _quoted(checkpoint: CheckpointSummary) -> set[str]:
    return {quote.message_id for quote in checkpoint.quotes}
