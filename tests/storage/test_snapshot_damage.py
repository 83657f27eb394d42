"""Damaged snapshots, and what no snapshot is made of."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import HumanMessage

from langchain_ctxcompress import (
    ConfigError,
    SnapshotStore,
)
from langchain_ctxcompress.errors import InvalidMessagesError, RecordError, StorageError
from langchain_ctxcompress.storage import open_store
from tests.storage.stores import WatchedStore
from tests.storage.test_snapshots import checkpoint
from tests.support.postgres import BACKENDS, location


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    return open_store(location(request.param, request, tmp_path))


class TestDamage:
    """S5: the error names the record, and costs no other."""

    def made(self, store):
        snapshots = SnapshotStore(store, session_id="s")
        return snapshots, snapshots.create([HumanMessage(f"m{i}", id=f"m{i}") for i in range(3)], [checkpoint(1)])

    def change(self, store, where: str, change):
        for item in store.search(("ctxcompress", "session", "s", *where.split()), limit=100):
            store.put(item.namespace, item.key, change(dict(item.value)), index=False)

    @pytest.mark.parametrize(
        ("field", "value"),
        [("goals", [{"description": "other"}]), ("metadata", {"a": 1}), ("purpose", "emergency"), ("parts", [])],
    )
    def test_a_changed_record_is_noticed(self, store, field, value):
        snapshots, made = self.made(store)

        def changed(stored):
            record = json.loads(stored["record"])
            assert record[field] != value
            return {**stored, "record": json.dumps({**record, field: value})}

        self.change(store, "snapshots", changed)
        with pytest.raises(RecordError, match=made.snapshot_id):
            snapshots.restore(made.snapshot_id)

    def test_a_changed_or_missing_part_is_noticed(self, store):
        snapshots, made = self.made(store)
        self.change(store, "parts", lambda stored: {**stored, "text": stored["text"].replace("m1", "m2")})
        with pytest.raises(RecordError, match=f"{made.snapshot_id}.*part"):
            snapshots.restore(made.snapshot_id)
        for name in {*made.parts, *made.checkpoints}:
            store.delete(("ctxcompress", "session", "s", "parts"), name)
        with pytest.raises(RecordError, match="missing"):
            snapshots.restore(made.snapshot_id)

    def test_a_changed_message_is_noticed(self, store):
        snapshots, made = self.made(store)
        self.change(store, "log", lambda stored: {**stored, "entries": stored["entries"].replace("m1", "m9")})
        with pytest.raises(RecordError, match=rf"{made.snapshot_id}.*'m1'"):
            snapshots.restore(made.snapshot_id)

    def test_a_message_that_is_gone_is_named(self, store):
        snapshots, made = self.made(store)
        for part in ("log", "ids"):
            for item in store.search(("ctxcompress", "session", "s", part), limit=100):
                store.delete(item.namespace, item.key)
        with pytest.raises(RecordError, match=rf"{made.snapshot_id}.*'m0'"):
            snapshots.restore(made.snapshot_id)

    def test_a_message_that_the_index_lost_is_found_in_the_log(self, store):
        snapshots, made = self.made(store)
        store.delete(("ctxcompress", "session", "s", "ids"), "m1")
        assert len(snapshots.restore(made.snapshot_id).messages) == 3

    def test_an_unknown_version_costs_no_other(self, store, caplog):
        snapshots, made = self.made(store)
        self.change(store, "snapshots", lambda stored: {**stored, "schema_version": 99})
        good = snapshots.create([HumanMessage("x", id="x")])
        assert [snapshot.snapshot_id for snapshot in snapshots.list()] == [good.snapshot_id]
        assert made.snapshot_id in caplog.text
        with pytest.raises(RecordError, match="99"):
            snapshots.restore(made.snapshot_id)


class TestRefusals:
    def test_an_unknown_purpose(self, store):
        with pytest.raises(ConfigError, match=r"'fun'.*recovery, rollback, emergency"):
            SnapshotStore(store, session_id="s").create([], purpose="fun")

    def test_what_is_no_message(self, store):
        with pytest.raises(InvalidMessagesError, match="item 1"):
            SnapshotStore(store, session_id="s").create([HumanMessage("a"), "b"])

    def test_a_record_names_its_snapshot_as_its_id_does(self):
        snapshots = SnapshotStore(None, session_id="s")
        made = [snapshots.create([HumanMessage("a", id=f"m{i}")]) for i in range(2)]
        assert snapshots.restore(made[0]) == snapshots.restore(made[0].snapshot_id)
        snapshots.delete(made[0])
        assert snapshots.list() == made[1:]

    @pytest.mark.parametrize("given", [None, 3, b"s1", ["s1"]])
    def test_what_names_no_snapshot_is_refused(self, given):
        snapshots = SnapshotStore(None, session_id="s")
        for method in (snapshots.restore, snapshots.delete):
            with pytest.raises(ConfigError, match=f"a {type(given).__name__} names no snapshot: give its id"):
                method(given)

    def test_a_store_that_fails_makes_no_snapshot(self):
        store = WatchedStore()
        snapshots = SnapshotStore(store, session_id="s")
        store.fail = lambda ops, number: OSError(28, "disk full") if number == 2 else None
        with pytest.raises(StorageError, match="disk full"):
            snapshots.create([HumanMessage("a", id="a")])
        store.fail = lambda ops, number: None
        assert snapshots.list() == []
