"""A damaged record, or one of an unknown version, gives a clear error and costs no other record (S5)."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.errors import DamagedHistoryError, RecordError
from langchain_ctxcompress.storage import SnapshotStore, run, session_ids
from tests.storage.stores import everything
from tests.support.conversations import exchanges
from tests.support.legality import violations

DAMAGES: list[tuple[Any, str]] = [
    ({"schema_version": 99}, "schema_version 99"),
    ({"schema_version": None}, "schema_version None"),
    ({"entries": "[["}, "is damaged"),
    ({"entries": None}, "is damaged"),
    ({"entries": "[[1, 2]]"}, "is damaged"),
    ({"entries": "[5]"}, "is damaged"),
]


def history(store: BaseStore) -> SessionHistory:
    return SessionHistory(store, session_id="s")


def damage(store: BaseStore, room: str, place: int, change: dict[str, Any]) -> str:
    """Change one record; returns its key."""
    records = sorted((e for e in everything(store) if room in e[0][-2:]), key=lambda entry: entry[1])
    namespace, key, value = records[place]
    store.put(namespace, key, {**value, **change})
    return key


@pytest.fixture
def store() -> BaseStore:
    """Four segments: messages 0 to 5 in the first, 6 to 11 in the second, and so on."""
    store = InMemoryStore()
    one = history(store)
    for part in range(4):
        one.append(exchanges(12)[part * 6 : part * 6 + 6])
    return store


OTHERS = exchanges(12)[:6] + exchanges(12)[12:]


class TestSegments:
    @pytest.mark.parametrize(("change", "words"), DAMAGES, ids=[words + str(n) for n, (_, words) in enumerate(DAMAGES)])
    def test_the_error_names_it_and_holds_all_others(
        self, store: BaseStore, change: dict[str, Any], words: str
    ) -> None:
        damage(store, "log", 1, change)
        with pytest.raises(DamagedHistoryError, match=r"segment 1 of writer \w+ of session 's'") as caught:
            history(store).messages()
        assert words in str(caught.value)
        assert caught.value.messages == OTHERS
        assert len(caught.value.problems) == 1
        assert isinstance(caught.value, RecordError)

    def test_skip_returns_them_and_says_what_is_missing(
        self, store: BaseStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        damage(store, "log", 1, {"entries": "{"})
        with caplog.at_level(logging.WARNING):
            assert history(store).messages(on_damage="skip") == OTHERS
        assert ["segment 1" in record.getMessage() for record in caplog.records] == [True]

    def test_iter_gives_all_others_before_it_raises(self, store: BaseStore) -> None:
        damage(store, "log", 1, {"entries": "{"})
        found = []
        with pytest.raises(DamagedHistoryError, match="segment 1"):
            for message in history(store).iter(page=2):
                found.append(message)
        assert found == OTHERS
        assert list(history(store).iter(on_damage="skip")) == OTHERS

    async def test_async_twins(self, store: BaseStore) -> None:
        damage(store, "log", 1, {"entries": "{"})
        with pytest.raises(DamagedHistoryError):
            await history(store).amessages()
        assert await history(store).amessages(on_damage="skip") == OTHERS
        assert [m async for m in history(store).aiter(on_damage="skip")] == OTHERS

    def test_single_messages(self, store: BaseStore) -> None:
        damage(store, "log", 1, {"entries": "{"})
        assert history(store).get(["human-0"]) == [exchanges(1)[0]]
        with pytest.raises(DamagedHistoryError, match="segment 1") as caught:
            history(store).get(["human-0", "human-3"])
        assert caught.value.messages == [exchanges(1)[0]]

    def test_search_export_and_branches_use_what_there_is(self, store: BaseStore) -> None:
        damage(store, "log", 1, {"entries": "{"})
        assert history(store).search("K-00014", limit=1) == history(store).get(["ai-2"])
        assert history(store).export_markdown().count(r"id ai\-") == 9
        assert [branch.last_id for branch in history(store).branches()] == ["ai-11"]

    def test_one_message_in_a_whole_segment(self, store: BaseStore) -> None:
        value = next(e[2] for e in everything(store) if "log" in e[0][-2:] and e[1].endswith("1"))
        damage(
            store, "log", 1, {"entries": value["entries"].replace('\\"type\\": \\"human\\"', '\\"type\\": \\"alien\\"')}
        )
        with pytest.raises(DamagedHistoryError, match="message 'human-3'") as caught:
            history(store).messages()
        assert [m.id for m in caught.value.messages if m.id not in {o.id for o in OTHERS}] == ["ai-3", "ai-4", "ai-5"]


class TestIndexHeadsAndNames:
    @pytest.mark.parametrize("change", [{"refs": None}, {"refs": "x"}, {"refs": [[1]]}, {"refs": []}])
    def test_an_index_item_is_written_anew(self, store: BaseStore, change: dict[str, Any]) -> None:
        damage(store, "ids", 0, change)
        assert history(store).messages() == list(history(store).iter()) == exchanges(12)
        assert history(store).append(exchanges(12)) == 1
        assert history(store).messages() == list(history(store).iter()) == exchanges(12)
        assert history(store).get([str(m.id) for m in exchanges(12)]) == exchanges(12)

    @pytest.mark.parametrize("change", [{"segments": None}, {"segments": "x", "started_at": 5}])
    def test_a_head_costs_no_message(self, store: BaseStore, change: dict[str, Any]) -> None:
        damage(store, "writers", 0, change)
        assert history(store).messages() == list(history(store).iter()) == exchanges(12)


class TestCompressions:
    def compressor(self, store: BaseStore) -> ContextCompressor:
        return ContextCompressor(config=PrunerConfig.for_limit(700), store=store, session_id="s")

    def test_a_session_with_a_damaged_segment_is_compressed_on(self, store: BaseStore) -> None:
        damage(store, "log", 1, {"entries": "{"})
        result = self.compressor(store).compress(exchanges(40))
        assert result.outcome == "applied"
        covered = {i for checkpoint in result.checkpoints for i in checkpoint.covered}
        lost = {str(message.id) for message in exchanges(12)[6:12]}
        for message in exchanges(40):
            if message.id in covered - lost:
                assert self.compressor(store).expand_message(str(message.id)) == message
        with pytest.raises(DamagedHistoryError, match="segment 1"):
            self.compressor(store).expand_message("human-3")

    @pytest.mark.parametrize("change", [{"schema_version": 7}, {"record": "{"}, {"record": "5"}])
    def test_a_damaged_checkpoint_stops_no_compression(self, change: dict[str, Any]) -> None:
        store = InMemoryStore()
        first = self.compressor(store).compress(exchanges(40))
        damage(store, "checkpoints", 0, change)
        grown = [*first.messages, *exchanges(80)[80:]]
        result = self.compressor(store).compress(grown)
        assert result.outcome == "applied"
        assert violations(result.messages, original=grown) == []
        assert history(store).messages() == exchanges(80)

    def test_a_damaged_message_in_a_checkpoint(self) -> None:
        store = InMemoryStore()
        long = [HumanMessage("word " * 3_000, id="long"), *exchanges(40)]
        first = self.compressor(store).compress(long)
        for namespace, key, value in everything(store):
            if namespace[-1] == "checkpoints":
                record = value["record"].replace('"altered": {}', '"altered": {"long": ["x", "{"]}')
                store.put(namespace, key, {**value, "record": record})
        result = self.compressor(store).compress([*first.messages, *exchanges(80)[80:]])
        assert result.outcome == "applied"


class TestSnapshotsAndSessions:
    def test_a_damaged_snapshot_takes_no_other_with_it(self) -> None:
        store = InMemoryStore()
        snapshots = SnapshotStore(store, session_id="s")
        made = [snapshots.create(exchanges(number)).snapshot_id for number in (5, 6, 7)]
        store.put(*next((n, k, {**v, "schema_version": 9}) for n, k, v in everything(store) if k == made[1]))
        assert [snapshot.snapshot_id for snapshot in snapshots.list()] == [made[2], made[0]]
        with pytest.raises(RecordError, match=f"{made[1]}.*schema_version 9"):
            snapshots.restore(made[1])
        snapshots.delete(made[0])
        assert snapshots.restore(made[2]).messages == exchanges(7)

    def test_a_snapshot_of_a_newer_version_keeps_its_parts(self) -> None:
        """Whoever can read it may still want it."""
        store = InMemoryStore()
        snapshots = SnapshotStore(store, session_id="s")
        made = [snapshots.create(exchanges(5)).snapshot_id for _ in range(2)]
        newer = next((n, k, v) for n, k, v in everything(store) if k == made[1])
        store.put(newer[0], newer[1], {**newer[2], "schema_version": 9})
        snapshots.delete(made[0])
        store.put(*newer)
        assert snapshots.restore(made[1]).messages == exchanges(5)

    def test_a_damaged_name_costs_no_other_session(self) -> None:
        store = InMemoryStore()
        for name in ("a", "b"):
            SessionHistory(store, session_id=name).append(exchanges(1))
        store.put(("ctxcompress", "sessions"), "a", {"schema_version": 1})
        assert run(session_ids(), store) == ["b"]
