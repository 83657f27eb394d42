"""S2, S5: snapshots give back what was saved, cost what is new, and say so when they are damaged."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from langchain_ctxcompress import (
    CheckpointSummary,
    ConfigError,
    ContextCompressor,
    PrunerConfig,
    SessionHistory,
    SnapshotStore,
)
from langchain_ctxcompress.errors import RecordError, SnapshotNotFoundError
from langchain_ctxcompress.ledger import Goal, GoalCheckpoint, GoalDecision
from langchain_ctxcompress.storage import open_store, summary_message
from tests.storage.stores import SyncOnlyStore, WatchedStore
from tests.support.conversations import conversations
from tests.support.postgres import BACKENDS, location


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    return open_store(location(request.param, request, tmp_path))


def checkpoint(number: int, text: str = "what was said") -> CheckpointSummary:
    return CheckpointSummary(
        checkpoint_id=f"c{number}",
        session_id="s",
        number=number,
        level=3,
        text=text,
        covered={f"m{number}": "hash"},
        altered={"x": ("hash", json.dumps({"a": 1}))},
        rendered="rendered",
        first_id="m0",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def dumped(messages):
    return [message.model_dump() for message in messages]


@given(conversations(max_messages=25, surrogates=True, nul=True), st.integers(0, 3))
@settings(max_examples=40)
def test_restore_gives_back_what_was_saved(messages, checkpoints):
    """Messages of every kind, with and without ids, repeated ids too; in the order they were given."""
    snapshots = SnapshotStore(InMemoryStore(), session_id="s")
    saved = [checkpoint(number) for number in range(1, checkpoints + 1)]
    goals = [{"description": "é \x00 \ud800", "steps": [1, None, {"a": 1.5}]}]
    made = snapshots.create(messages, saved, goals, "rollback", metadata={"why": "a test"})
    restored = SnapshotStore(snapshots.store, session_id="s").restore(made.snapshot_id)
    assert dumped(restored.messages) == dumped(messages)
    assert restored.checkpoints == saved
    assert restored.goals == goals
    assert restored.snapshot == made
    assert (made.purpose, made.metadata, made.messages) == ("rollback", {"why": "a test"}, len(messages))


def test_a_compressed_list_is_restored(store):
    """Summary messages and shortened ones are no originals; a snapshot holds them all the same."""
    messages = [HumanMessage(f"question {i} about order A-{i} " * 20, id=f"h{i}") for i in range(40)]
    messages = [m for i, h in enumerate(messages) for m in (h, AIMessage(f"answer {i} " * 20, id=f"a{i}"))]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s")
    result = compressor.compress(messages)
    snapshots = SnapshotStore(store, session_id="s")
    made = snapshots.create(result.messages, result.checkpoints)
    restored = snapshots.restore(made.snapshot_id)
    assert restored.messages == result.messages
    assert restored.checkpoints == list(result.checkpoints)
    assert len(compressor.history().messages()) == len(messages)


def test_messages_that_are_not_archived_are_archived(store):
    made = SnapshotStore(store, session_id="s").create([HumanMessage("new", id="m")])
    assert SessionHistory(store, session_id="s").messages() == [HumanMessage("new", id="m")]
    assert made.messages == 1


def test_an_older_revision_is_restored_as_it_was(store):
    snapshots = SnapshotStore(store, session_id="s")
    made = snapshots.create([HumanMessage("before", id="m")])
    SessionHistory(store, session_id="s").append([HumanMessage("after", id="m")])
    assert snapshots.restore(made.snapshot_id).messages == [HumanMessage("before", id="m")]


class TestGoals:
    GOAL = Goal(
        description="ship it",
        priority=2,
        checkpoints=(GoalCheckpoint(text="first", status="completed"),),
        decisions=(GoalDecision(text="use SQL", locked=True),),
    )

    def test_models_come_back_as_dicts_or_as_what_the_caller_names(self, store):
        made = SnapshotStore(store, session_id="s").create([], goals=[self.GOAL])
        assert SnapshotStore(store, session_id="s").restore(made.snapshot_id).goals == [
            self.GOAL.model_dump(mode="json")
        ]
        assert SnapshotStore(store, session_id="s", goal_type=Goal).restore(made.snapshot_id).goals == [self.GOAL]
        named = SnapshotStore(store, session_id="s").restore(made.snapshot_id, goal_type=lambda goal: goal["priority"])
        assert named.goals == [2]

    def test_a_goal_of_another_shape_is_named(self, store):
        class Other(BaseModel):
            amount: int

        snapshots = SnapshotStore(store, session_id="s")
        made = snapshots.create([], goals=[self.GOAL])
        with pytest.raises(RecordError, match=f"{made.snapshot_id}.*Other"):
            snapshots.restore(made.snapshot_id, goal_type=Other)

    @pytest.mark.parametrize("value", [{"a": (1, 2)}, {1: "a"}, {"a": object()}, {"a": float("nan")}])
    def test_what_json_would_change_is_refused(self, store, value):
        snapshots = SnapshotStore(store, session_id="s")
        with pytest.raises(ConfigError, match="goal 0"):
            snapshots.create([], goals=[value])
        with pytest.raises(ConfigError, match="metadata"):
            snapshots.create([], metadata=value)
        assert snapshots.list() == []


class TestCost:
    def messages(self, count: int) -> list[HumanMessage]:
        return [HumanMessage(f"message {i} " * 5, id=f"m{i}") for i in range(count)]

    def bytes_put(self, store: WatchedStore) -> int:
        return sum(len(json.dumps(op.value)) for op in store.ops if type(op).__name__ == "PutOp" and op.value)

    @pytest.mark.parametrize("change", ["grown", "cut in front", "same"])
    def test_a_snapshot_costs_what_is_new(self, change):
        """2,000 messages in common: what is written does not follow them."""
        store = WatchedStore()
        snapshots = SnapshotStore(store, session_id="s")
        before = self.messages(2_000)
        snapshots.create(before, [checkpoint(1)])
        after = {"grown": [*before, HumanMessage("one more", id="new")], "cut in front": before[700:], "same": before}
        store.forget()
        made = snapshots.create(after[change], [checkpoint(1)])
        assert self.bytes_put(store) < 15_000 + 33 * len(made.parts)
        assert dumped(snapshots.restore(made.snapshot_id).messages) == dumped(after[change])

    def test_messages_are_not_copied(self):
        store = WatchedStore()
        SessionHistory(store, session_id="s").append(self.messages(500))
        store.forget()
        SnapshotStore(store, session_id="s").create(self.messages(500))
        assert "message 17 " not in json.dumps([op.value for op in store.ops if type(op).__name__ == "PutOp"])


class TestRemoval:
    def made(self, store, count: int = 7) -> tuple[SnapshotStore, list[str]]:
        snapshots = SnapshotStore(store, session_id="s")
        talk = [HumanMessage(f"message {i}", id=f"m{i}") for i in range(200)]
        return snapshots, [
            snapshots.create(talk[: 100 + 10 * i], [checkpoint(i + 1)]).snapshot_id for i in range(count)
        ]

    def test_list_is_newest_first(self, store):
        snapshots, made = self.made(store)
        assert [snapshot.snapshot_id for snapshot in snapshots.list()] == made[::-1]

    def test_cleanup_keeps_five(self, store):
        snapshots, made = self.made(store)
        assert snapshots.cleanup() == 2
        assert [snapshot.snapshot_id for snapshot in snapshots.list()] == made[:1:-1]
        for snapshot_id in made[2:]:
            snapshots.restore(snapshot_id)

    def test_cleanup_by_age_never_takes_the_newest(self, store):
        snapshots, made = self.made(store)
        assert snapshots.cleanup(keep=3, older_than=timedelta(hours=1)) == 0
        assert snapshots.cleanup(keep=3, older_than=timedelta(0)) == 4
        assert [snapshot.snapshot_id for snapshot in snapshots.list()] == made[:3:-1]

    def test_cleanup_refuses_a_negative_number(self, store):
        with pytest.raises(ConfigError, match="keep is -1"):
            SnapshotStore(store, session_id="s").cleanup(keep=-1)

    def test_delete_leaves_the_others_and_the_history(self, store):
        snapshots, made = self.made(store)
        snapshots.delete(made[3])
        for snapshot_id in made[:3] + made[4:]:
            snapshots.restore(snapshot_id)
        with pytest.raises(SnapshotNotFoundError):
            snapshots.restore(made[3])
        assert len(SessionHistory(store, session_id="s").messages()) == 160

    def test_the_last_one_takes_every_part_with_it(self, store):
        snapshots, _ = self.made(store)
        assert snapshots.cleanup(keep=0) == 7
        assert store.search(("ctxcompress", "session", "s", "parts"), limit=1_000) == []
        assert store.search(("ctxcompress", "session", "s", "snapshots"), limit=1_000) == []

    def test_an_unknown_id_is_named(self, store):
        snapshots = SnapshotStore(store, session_id="s")
        for call in (snapshots.restore, snapshots.delete):
            with pytest.raises(SnapshotNotFoundError, match="'nope'") as caught:
                call("nope")
            assert isinstance(caught.value, KeyError)

    @pytest.mark.parametrize("moment", range(8))
    def test_a_part_that_is_removed_while_it_is_taken_into_use_stays(self, moment):
        """Another process removes the only other snapshot at any moment of a `create`: the new one is whole."""
        store = WatchedStore()
        talk = [HumanMessage(f"message {i}", id=f"m{i}") for i in range(100)]
        other = SnapshotStore(store.inner, session_id="s")
        old = other.create(talk)

        def meanwhile(ops, number):
            if number == moment:
                other.delete(old.snapshot_id)

        store.fail = meanwhile
        made = SnapshotStore(store, session_id="s").create(talk)
        assert len(other.restore(made.snapshot_id).messages) == 100

    @pytest.mark.parametrize("moment", range(8))
    def test_a_part_that_is_taken_into_use_while_it_is_removed_stays(self, moment):
        store = WatchedStore()
        talk = [HumanMessage(f"message {i}", id=f"m{i}") for i in range(100)]
        other = SnapshotStore(store.inner, session_id="s")
        old = other.create(talk)
        made: list[str] = []

        def meanwhile(ops, number):
            if number == moment:
                made.append(other.create(talk).snapshot_id)

        store.fail = meanwhile
        SnapshotStore(store, session_id="s").delete(old.snapshot_id)
        store.fail = lambda ops, number: None
        for snapshot_id in made:
            assert len(other.restore(snapshot_id).messages) == 100


async def test_async_twins_do_the_same():
    for inner in (WatchedStore(), SyncOnlyStore()):
        snapshots = SnapshotStore(inner, session_id="s")
        messages = [SystemMessage("be brief", id="1"), ToolMessage("r", tool_call_id="c", id="2")]
        made = [await snapshots.acreate(messages, [checkpoint(1)], [{"a": 1}]) for _ in range(4)]
        restored = await snapshots.arestore(made[0].snapshot_id)
        assert (restored.messages, restored.checkpoints, restored.goals) == (messages, [checkpoint(1)], [{"a": 1}])
        await snapshots.adelete(made[3].snapshot_id)
        assert [snapshot.snapshot_id for snapshot in await snapshots.alist()] == [m.snapshot_id for m in made[2::-1]]
        assert await snapshots.acleanup(keep=1) == 2


def test_what_redact_takes_out_is_not_saved(store):
    """A snapshot gives back what the archive has."""

    def redact(message):
        return message.model_copy(update={"content": str(message.content).replace("secret", "[…]")})

    snapshots = SnapshotStore(store, session_id="s", redact=redact)
    head = checkpoint(1).model_copy(update={"rendered": "a secret summary", "altered": {}})
    made = snapshots.create(
        [HumanMessage("my secret", id="m"), summary_message(head)], [head.model_copy(update={"text": "secret"})]
    )
    restored = snapshots.restore(made.snapshot_id)
    assert [message.content for message in restored.messages] == ["my […]", "a […] summary"]
    assert restored.checkpoints[0].text == "[…]"
    assert "secret" not in str([item.value for item in store.search((), limit=1_000)])
