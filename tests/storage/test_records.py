"""Records: a `schema_version` on each, and an error that names what cannot be read (requirement S5)."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress.errors import RecordError, StorageError
from langchain_ctxcompress.storage import SCHEMA_VERSION, CheckpointSummary, Quote, SessionHistory, SessionInfo
from langchain_ctxcompress.storage.keys import SessionKeys

texts = st.text(st.characters(exclude_categories=()), max_size=30)
checkpoints = st.builds(
    CheckpointSummary,
    checkpoint_id=texts,
    session_id=texts,
    number=st.integers(1, 10**9),
    level=st.integers(0, 3),
    text=texts,
    quotes=st.lists(st.builds(Quote, message_id=texts, text=texts, answered=st.booleans()), max_size=3).map(tuple),
    covered=st.dictionaries(texts, texts, max_size=4),
    previous=texts,
    shown=st.lists(texts, max_size=3).map(tuple),
    tokens_before=st.integers(0, 10**12),
    tokens_after=st.integers(0, 10**12),
    created_at=st.datetimes(timezones=st.just(UTC)),
)


def checkpoint(**fields: object) -> CheckpointSummary:
    return CheckpointSummary(**{"checkpoint_id": "c", "session_id": "s", "number": 1, "level": 3, **fields})


@given(checkpoints)
def test_a_checkpoint_comes_back_as_it_was(record: CheckpointSummary) -> None:
    stored = json.loads(json.dumps(record.dump()))
    assert CheckpointSummary.load(stored, name="it") == record
    assert stored["schema_version"] == SCHEMA_VERSION


def test_the_order_of_what_is_covered_is_kept() -> None:
    covered = {str(number): "hash" for number in (5, 3, 9, 1)}
    stored = json.loads(json.dumps(checkpoint(covered=covered).dump()))
    assert list(CheckpointSummary.load(stored, name="it").covered) == ["5", "3", "9", "1"]


def test_a_dump_shares_nothing_with_the_record() -> None:
    record = checkpoint(covered={"a": "b"})
    record.dump()["covered"]["c"] = "d"
    assert record.covered == {"a": "b"}


def test_a_field_that_is_not_known_is_passed_over() -> None:
    record = checkpoint()
    assert CheckpointSummary.load({**record.dump(), "a_later_field": 1}, name="it") == record


class TestS5:
    @pytest.mark.parametrize("version", [0, 2, 99, None, "1"])
    def test_an_unknown_schema_version_is_named(self, version: object) -> None:
        with pytest.raises(RecordError, match=f"checkpoint c has schema_version {version!r}.* reads {SCHEMA_VERSION}"):
            CheckpointSummary.load({**checkpoint().dump(), "schema_version": version}, name="checkpoint c")

    def test_a_record_without_a_version(self) -> None:
        with pytest.raises(RecordError, match="schema_version None"):
            SessionInfo.load({}, name="info")

    @pytest.mark.parametrize(
        ("change", "field"),
        [({"number": 0}, "number"), ({"level": 4}, "level"), ({"quotes": [{"text": "x"}]}, "quotes.0.message_id")],
    )
    def test_a_damaged_field_is_named(self, change: dict[str, object], field: str) -> None:
        with pytest.raises(RecordError, match=rf"checkpoint c is damaged \(fields: {field}\)"):
            CheckpointSummary.load({**checkpoint().dump(), **change}, name="checkpoint c")

    def test_a_missing_field_is_named(self) -> None:
        stored = checkpoint().dump()
        del stored["checkpoint_id"]
        with pytest.raises(RecordError, match="checkpoint_id"):
            CheckpointSummary.load(stored, name="checkpoint c")

    @pytest.mark.parametrize("value", [5, None, "x", []])
    def test_a_record_that_is_none(self, value: object) -> None:
        with pytest.raises(RecordError, match=f"checkpoint c is damaged: it holds a {type(value).__name__}"):
            CheckpointSummary.load(value, name="checkpoint c")  # type: ignore[arg-type]

    def test_it_is_a_storage_error_and_a_value_error(self) -> None:
        assert issubclass(RecordError, StorageError)
        assert issubclass(RecordError, ValueError)


class TestRatio:
    def test_what_is_left_as_a_share(self) -> None:
        assert checkpoint(tokens_before=200, tokens_after=50).ratio == 0.25

    def test_of_nothing(self) -> None:
        assert checkpoint(tokens_before=0, tokens_after=0).ratio == 1.0


def test_it_is_stamped_with_the_time_in_utc() -> None:
    before = datetime.now(UTC)
    stamped = checkpoint().created_at
    assert before <= stamped <= datetime.now(UTC)


@given(
    st.lists(st.tuples(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)), st.booleans()), min_size=2, max_size=4)
)
def test_checkpoints_of_one_number_are_in_order_with_or_without_a_time_zone(times: list[tuple[datetime, bool]]) -> None:
    """A record whose time has no zone (another writer's) is taken as UTC, and compared with the others."""
    store, keys = InMemoryStore(), SessionKeys("s")
    for place, (when, zone) in enumerate(times):
        stored = checkpoint(checkpoint_id=f"c{place}").dump() | {"created_at": when.isoformat() + "Z" * zone}
        value = {"schema_version": SCHEMA_VERSION, "record": json.dumps(stored)}
        store.put(keys.checkpoints, f"c{place}", value)
    found = SessionHistory(store, session_id="s").checkpoints()
    assert [one.created_at for one in found] == sorted(when.replace(tzinfo=UTC) for when, _ in times)
