"""Each field of each kind of record, damaged in many ways: what is asked of the session ends well, or says why not."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory, SnapshotStore
from langchain_ctxcompress.errors import CtxCompressError
from langchain_ctxcompress.storage import run, session_ids
from tests.storage.stores import everything
from tests.support.conversations import exchanges
from tests.support.legality import violations

VALUES: list[Any] = [
    *[None, True, 7, -1, 1.5, "x", "", [None], {"a": 1}, [["a"]], [7], "[]", "{}", "null", "[[1]]"],
]
NAMES = [
    "checkpoints ctxcompress_record",
    "checkpoints record",
    "checkpoints schema_version",
    "ids refs",
    "ids schema_version",
    "log ctxcompress_record",
    "log entries",
    "log schema_version",
    "numbers number",
    "numbers schema_version",
    "parts ctxcompress_record",
    "parts schema_version",
    "parts text",
    "sessions epoch",
    "sessions schema_version",
    "sessions session_id",
    "snapshots ctxcompress_record",
    "snapshots record",
    "snapshots schema_version",
    "touched by",
    "touched schema_version",
    "writers messages",
    "writers schema_version",
    "writers segments",
    "writers started_at",
    "writers tokens",
    "writers updated_at",
]
Record = tuple[tuple[str, ...], str, dict[str, Any]]


@cache
def session() -> tuple[list[Record], str]:
    """The records of a session of two compressions and a snapshot, and the snapshot's id."""
    store = InMemoryStore()
    keeper = compressor(store)
    left = keeper.compress(exchanges(40), force=True).messages
    keeper.compress([*left, *exchanges(48)[-16:]], force=True)
    snapshot = SnapshotStore(store, session_id="s").create(exchanges(3))
    return everything(store), snapshot.snapshot_id


def compressor(store: InMemoryStore) -> ContextCompressor:
    return ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s")


def fields() -> dict[str, tuple[Record, str]]:
    """The first record of each kind, for each of its fields."""
    found: dict[str, tuple[Record, str]] = {}
    for record in session()[0]:
        kind = record[0][3] if len(record[0]) > 3 else record[0][-1]
        for field in record[2]:
            found.setdefault(f"{kind} {field}", (record, field))
    return found


def asked(store: InMemoryStore, snapshot_id: str) -> list[Callable[[], Any]]:
    """All that can be asked of a session; the last of it removes it."""
    history, snapshots = SessionHistory(store, session_id="s"), SnapshotStore(store, session_id="s")
    return [
        history.messages,
        history.export_markdown,
        history.info,
        history.checkpoints,
        lambda: history.search("order"),
        lambda: history.get("human-3"),
        lambda: run(session_ids(), store),
        lambda: SessionHistory(store, session_id="s").append(exchanges(49)[-4:]),
        snapshots.list,
        lambda: snapshots.restore(snapshot_id),
        lambda: compressor(store).compress(exchanges(50), force=True),
        lambda: compressor(store).view(exchanges(50)),
        lambda: history.forget_messages(["human-3"]),
        lambda: snapshots.cleanup(keep=0),
        history.clear,
    ]


def check(name: str, value: Any) -> None:
    records, snapshot_id = session()
    (namespace, key, record), field = fields()[name]
    store = InMemoryStore()
    for place, known, given in records:
        store.put(place, known, copy.deepcopy(given))
    store.put(namespace, key, {**record, field: copy.deepcopy(value)})
    for ask in asked(store, snapshot_id):
        try:
            result = ask()
        except CtxCompressError as error:
            assert str(error)
        else:
            messages = getattr(result, "messages", None)
            assert not isinstance(messages, list) or violations(messages) == []


def test_every_field_that_is_written_is_tried() -> None:
    assert sorted(fields()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_field_costs_a_clear_error_at_most(name: str) -> None:
    check(name, VALUES[zlib.crc32(name.encode()) % len(VALUES)])
    if name in {"numbers number", "touched by", "ids refs"}:  # small records without a whole that is checked
        check(name, True)
        check(name, [None])


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_any_field_damaged_in_any_way_costs_a_clear_error_at_most(value: Any) -> None:
    for name in NAMES:
        check(name, value)
