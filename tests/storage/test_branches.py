"""Branches: lists that part share their past, and do not mix (requirement L6's time travel, law 8)."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ConfigError, ContextCompressor, PrunerConfig, SessionHistory, SnapshotStore, pin
from langchain_ctxcompress.storage import CheckpointSummary, open_store, summary_message
from tests.storage.stores import everything
from tests.support.conversations import exchanges


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return open_store(None if request.param == "memory" else tmp_path / "archive.db")


def history(store) -> SessionHistory:
    return SessionHistory(store, session_id="s")


def says(*ids: str) -> list[BaseMessage]:
    return [HumanMessage(f"text of {i}", id=i) for i in ids]


def ids(messages) -> list[str]:
    return [str(message.id) for message in messages]


@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 1_000), st.integers(1, 5)), min_size=1, max_size=12))
@settings(max_examples=60)
def test_every_list_that_was_archived_is_a_branch_of_its_own(script):
    """Lists grow and part at random places; whoever appended them, each comes back as it was, whole."""
    store = InMemoryStore()
    lists: list[list[BaseMessage]] = [[]]
    for number, (which, cut, more) in enumerate(script):
        base = lists[which % len(lists)]
        kept = base if cut % 3 else base[: cut % (len(base) + 1)]
        grown = [*kept, *says(*(f"{number}-{i}" for i in range(more)))]
        history(store).append(grown) if kept else history(store).append(grown, after="")
        if kept is base:
            lists.remove(base)
        lists.append(grown)
    reader = history(store)
    for messages in lists:
        if messages:
            assert reader.messages(branch=messages[-1].id) == messages
    tips = {messages[-1].id for messages in lists if messages}
    prefixes = {message.id for messages in lists for message in messages[:-1]}
    assert {branch.last_id for branch in reader.branches()} == tips - prefixes
    assert sorted(ids(reader.messages())) == sorted({i for messages in lists for i in ids(messages)})


class TestBranches:
    def test_one_list_is_one_branch(self, store):
        one = history(store)
        for message in exchanges(3):
            one.append([message])
        (branch,) = one.branches()
        assert (branch.last_id, branch.forked_after, branch.messages) == ("ai-2", "", 6)
        assert one.messages(branch=branch) == one.messages(branch="ai-2") == one.messages() == exchanges(3)

    def test_other_processes_go_on_with_it(self, store):
        """An append that holds nothing of what came before goes on where the log ends."""
        for message in exchanges(3):
            history(store).append([message])
        assert [branch.messages for branch in history(store).branches()] == [6]

    def test_two_branches_say_where_they_parted(self, store):
        history(store).append(says("a", "b", "c"))
        history(store).append(says("a", "b", "x", "y"))
        newest, oldest = history(store).branches()
        assert (newest.last_id, newest.forked_after, newest.messages) == ("y", "b", 4)
        assert (oldest.last_id, oldest.forked_after, oldest.messages) == ("c", "b", 3)
        assert ids(history(store).messages(branch="y")) == ["a", "b", "x", "y"]
        assert ids(history(store).messages(branch="c")) == ["a", "b", "c"]
        assert ids(history(store).messages(branch="b")) == ["a", "b"]
        assert ids(history(store).messages()) == ["a", "b", "c", "x", "y"]

    def test_after_says_where_a_branch_begins(self, store):
        one = history(store)
        one.append(says("a", "b", "c"))
        one.append(says("x"), after="a")
        one.append(says("y"))
        assert ids(one.messages(branch="y")) == ["a", "x", "y"]

    def test_an_edited_message_parts_branches_under_one_id(self, store):
        """Time travel that edits a message: each branch has its own words of it."""
        first = [*says("a"), HumanMessage("before", id="q"), AIMessage("one", id="r1")]
        second = [*says("a"), HumanMessage("after", id="q"), AIMessage("two", id="r2")]
        history(store).append(first)
        history(store).append(second)
        assert history(store).messages(branch="r1") == first
        assert history(store).messages(branch="r2") == second
        assert {branch.forked_after for branch in history(store).branches()} == {"a"}

    def test_branches_that_end_with_one_id_are_told_apart(self, store):
        history(store).append([*says("a"), HumanMessage("before", id="q")])
        history(store).append([*says("a"), HumanMessage("after", id="q")])
        found = history(store).branches()
        assert [history(store).messages(branch=branch)[-1].content for branch in found] == ["after", "before"]
        assert history(store).messages(branch="q")[-1].content == "after"

    def test_metadata_alone_makes_no_branch(self, store):
        messages = says("a", "b", "c")
        history(store).append(messages)
        pinned = [messages[0], pin(messages[1]), *messages[2:]]
        history(store).append(pinned)
        (branch,) = history(store).branches()
        assert history(store).messages(branch=branch) == pinned

    def test_an_unknown_one_is_named(self, store):
        with pytest.raises(ConfigError, match="'nope'"):
            history(store).messages(branch="nope")
        assert history(store).branches() == []

    async def test_async_twins(self, store):
        one = history(store)
        await one.aappend(says("a", "b"))
        await one.aappend(says("x"), after="a")
        assert ids(await one.amessages(branch="x")) == ["a", "x"]
        assert [branch.last_id for branch in await one.abranches()] == ["x", "b"]

    def test_a_snapshot_of_an_older_point_is_a_branch(self, store):
        history(store).append(says("a", "b", "c"))
        SnapshotStore(store, session_id="s").create(says("a", "x"))
        assert ids(history(store).messages(branch="x")) == ["a", "x"]

    def test_a_log_from_before_branches_is_one_branch(self, store):
        history(store).append(says("a", "b"))
        history(store).append(says("a", "x"))
        for namespace, key, value in everything(store):
            if namespace[-2] == "log":
                rows = [row[:5] for row in json.loads(value["entries"])]
                store.put(namespace, key, {**value, "entries": json.dumps(rows)}, index=False)
        assert ids(history(store).messages(branch="x")) == ["a", "b", "x"]


class TestForget:
    @pytest.mark.parametrize("seed", range(5))
    def test_a_branch_keeps_its_beginning_when_one_of_it_is_forgotten(self, store, seed):
        dice = random.Random(seed)
        shared, left, right = ([f"{name}{i}" for i in range(6)] for name in "slr")
        history(store).append(says(*shared, *left))
        history(store).append(says(*shared, *right))
        gone = dice.sample([*shared, *left[:-1], *right[:-1]], 6)
        assert history(store).forget_messages(gone) == 6
        for branch in (left, right):
            kept = [i for i in (*shared, *branch) if i not in gone]
            assert ids(history(store).messages(branch=branch[-1])) == kept


def test_compressed_lists_that_part_are_branches(store):
    """What follows a summary message follows the last message that it stands for."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s")
    talk = [m.model_copy(update={"content": f"{m.content} " + "and so on " * 20}) for m in exchanges(60)]
    base = compressor.compress(talk[:60]).messages
    assert len(base) < 30
    left = compressor.compress([*base, *talk[60:]], force=True).messages
    other = [m.model_copy(update={"id": f"{m.id}-x", "content": f"other {m.content}"}) for m in talk[60:]]
    compressor.compress([*base, *other], force=True)
    compressor.history().append([*left, HumanMessage("the end", id="end")])
    read = history(store)
    assert read.messages(branch=other[-1].id) == [*talk[:60], *other]
    assert read.messages(branch="end") == [*talk, HumanMessage("the end", id="end")]
    assert {branch.forked_after for branch in read.branches()} == {talk[59].id}


def test_what_stands_right_behind_a_summary_message_follows_what_that_covers(store):
    one = history(store)
    one.append(says("a", "b", "c"))
    one.append(says("a", "x"))
    head = CheckpointSummary(
        checkpoint_id="c1", session_id="s", number=1, level=3, first_id="b", last_id="c", rendered="so far"
    )
    history(store).append([*says("a"), summary_message(head), *says("new")])
    assert ids(one.messages(branch="new")) == ["a", "b", "c", "new"]
