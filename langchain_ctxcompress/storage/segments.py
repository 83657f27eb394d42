"""The segments of a writer's log: so many entries as one record of the store.

Reading one message back loads its whole segment, so a segment is bounded in entries and in size.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langchain_ctxcompress.errors import RecordError, describe
from langchain_ctxcompress.storage.entries import Entry
from langchain_ctxcompress.storage.records import SCHEMA_VERSION

SEGMENT_ENTRIES = 64
SEGMENT_CHARS = 262_144
"""A segment ends at either: reading one message back loads its whole segment."""


def segment_value(entries: Iterable[Entry]) -> dict[str, Any]:
    """A segment as the store holds it."""
    rows = [[e.message_id, e.record, e.content, e.order, e.data, e.parent] for e in entries]
    return {"schema_version": SCHEMA_VERSION, "ctxcompress_record": "segment", "entries": json.dumps(rows)}


def read_segment(item: Any, name: str) -> list[Entry]:
    """The entries of a segment.

    Args:
        item: The segment as the store holds it; `None` where it is missing.
        name: What an error calls it.

    Raises:
        RecordError: It is missing, damaged or of an unknown version.
    """
    value = item.value if item else {}
    if value.get("schema_version") != SCHEMA_VERSION:
        msg = f"{name} has schema_version {value.get('schema_version')!r}; this version reads {SCHEMA_VERSION}"
        raise RecordError(msg)
    try:
        return [_entry(row) for row in json.loads(value["entries"])]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        msg = f"{name} is damaged: {describe(error)}"
        raise RecordError(msg) from error


def _entry(row: Sequence[Any]) -> Entry:
    message_id, record, content, order, data, *rest = row  # without a parent: written before branches were told apart
    parent = rest[0] if rest else None
    return Entry(message_id, record, content, order, data, None if parent is None else (parent[0], parent[1]))


def in_segments(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries as segments, in order."""
    chunk: list[Entry] = []
    size = 0
    for entry in entries:
        if chunk and (len(chunk) >= SEGMENT_ENTRIES or size + len(entry.data) > SEGMENT_CHARS):
            yield chunk
            chunk, size = [], 0
        chunk.append(entry)
        size += len(entry.data)
    if chunk:
        yield chunk


def head_value(segments: int, messages: int, tokens: int, started_at: str, updated_at: str) -> dict[str, Any]:
    """A writer's head as the store holds it: what it has written until now, and when."""
    return {
        "schema_version": SCHEMA_VERSION,
        "segments": segments,
        "messages": messages,
        "tokens": tokens,
        "started_at": started_at,
        "updated_at": updated_at,
    }


def segments_of(head: Any) -> int:
    """How many segments a writer's head says there are; 0 where it is damaged: then they are read to their end."""
    segments = head.value.get("segments")
    return segments if isinstance(segments, int) else 0
