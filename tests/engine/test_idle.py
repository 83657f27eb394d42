"""A step that needs nothing costs what is new in it, and says the same as a look at the whole list would."""

from __future__ import annotations

import gc
import logging
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, Goal, PrunerConfig
from langchain_ctxcompress.engine import stages
from langchain_ctxcompress.engine.sessions import MOST_LISTS
from langchain_ctxcompress.storage.view import Reach
from langchain_ctxcompress.strategies import Reason
from langchain_ctxcompress.tokens import count_message
from tests.support.conversations import conversations, copied, exchanges


def said(result):
    messages = [(type(m), m.id, m.content) for m in result.messages]
    return result.outcome, result.reason, result.tokens_before, result.tokens_after, result.turns_kept, messages


@given(conversations(max_messages=40, ids="all"), st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_a_list_that_grows_step_by_step_is_judged_as_one_seen_for_the_first_time(messages, steps):
    growing = ContextCompressor(config=PrunerConfig(), session_id="s")
    end = 0
    for step in steps:
        end += step
        fresh = ContextCompressor(config=PrunerConfig(), session_id="s")
        # The list that is given each time is the full one, so a repair of the one before is made again.
        assert said(growing.compress(messages[:end])) == said(fresh.compress(messages[:end]))


@pytest.fixture
def looked(monkeypatch):
    """How often a whole list was looked at."""
    calls = []
    prepare = stages._prepare
    monkeypatch.setattr(stages, "_prepare", lambda job: (calls.append(len(job.messages)), prepare(job))[1])
    return calls


def test_only_the_first_look_is_at_the_whole_list(looked):
    compressor = ContextCompressor(config=PrunerConfig())
    messages = exchanges(50)
    for _ in range(5):
        messages = [
            *messages,
            HumanMessage("and then?", id=f"h{len(messages)}"),
            AIMessage("this", id=f"a{len(messages)}"),
        ]
        assert compressor.compress(messages).tokens_after == sum(compressor.count(messages))
    assert looked == [102]


@pytest.mark.parametrize("door", ["shorter", "other content", "no id", "orphan", "forced", "over the soft limit"])
def test_what_is_no_simple_continuation_is_looked_at_whole(door, looked):
    compressor = ContextCompressor(config=PrunerConfig(soft_limit_tokens=3_000))
    messages = exchanges(20)
    compressor.compress(messages)
    assert looked == [40]
    changed = {
        "shorter": messages[:-1],
        "other content": [messages[0], messages[1].model_copy(update={"content": "edited"}), *messages[2:]],
        "no id": [*messages, HumanMessage("new")],
        "orphan": [*messages, ToolMessage("nobody asked", tool_call_id="x", id="orphan")],
        "forced": messages,
        "over the soft limit": [*messages, *exchanges(100, start=20)],
    }[door]
    compressor.compress(changed, force=door == "forced")
    assert looked == [40, len(changed)]


def test_a_list_that_is_loaded_anew_is_known_by_what_it_holds(looked):
    compressor = ContextCompressor(config=PrunerConfig())
    messages = exchanges(50)
    for _ in range(3):
        messages = [*copied(messages), HumanMessage("and then?", id=f"h{len(messages)}")]
        assert compressor.compress(messages).tokens_after == sum(map(count_message, messages))
    assert looked == [101]


def answer(number, reported):
    usage = {"input_tokens": reported, "output_tokens": 7, "total_tokens": reported + 7}
    return AIMessage(f"Answer {number}.", id=f"a{number}", usage_metadata=usage)


def talk(turns, reported):
    """Gives a conversation; `reported` says what the provider read for each answer, of the size of what it was sent."""
    messages = []
    for number in range(turns):
        messages.append(HumanMessage(f"Question {number}?", id=f"h{number}"))
        messages.append(answer(number, reported(number, sum(map(count_message, messages)))))
    return messages


@pytest.mark.parametrize("step", [1, 2, 20])
def test_what_the_provider_reads_beyond_what_is_counted_here_counts(step):
    compressor = ContextCompressor(config=PrunerConfig())
    messages = talk(10, lambda _, size: size + 1_000)
    for end in range(0, len(messages), step):
        compressor.compress(messages[:end])
    own = sum(map(count_message, messages))
    assert compressor.compress(messages).tokens_after == own + 1_000
    assert compressor.compress(messages, overhead_tokens=400).tokens_after == own + 1_000
    assert compressor.compress(messages, overhead_tokens=1_500).tokens_after == own + 1_500


@pytest.mark.parametrize(
    "reported",
    [
        pytest.param(lambda number, size: size + (900_000 if number % 2 else 0), id="another agent's answers"),
        pytest.param(lambda _, size: size // 2, id="less than was counted"),
        pytest.param(lambda _number, _size: 0, id="nothing"),
    ],
)
def test_a_report_that_the_others_do_not_bear_out_does_not_count(reported):
    messages = talk(10, reported)
    result = ContextCompressor(config=PrunerConfig()).compress(messages)
    assert (result.reason, result.tokens_after) == (Reason.BELOW_SOFT_LIMIT, sum(map(count_message, messages)))


def test_what_was_reported_before_a_compression_is_no_longer_true():
    config = PrunerConfig(soft_limit_tokens=1_000, hard_limit_tokens=4_000)
    compressor = ContextCompressor(config=config, session_id="s")
    small = compressor.compress(talk(80, lambda _, size: size)).messages
    for again in (compressor, ContextCompressor(config=config, session_id="s", store=compressor.store)):
        grown = [*small, HumanMessage("And now?", id="now")]
        result = again.compress(grown)
        assert (result.reason, result.tokens_after) == (Reason.BELOW_SOFT_LIMIT, sum(map(count_message, grown)))


def test_a_trigger_by_what_was_reported_leaves_room_for_it_under_the_hard_limit():
    config = PrunerConfig(soft_limit_tokens=2_000, hard_limit_tokens=3_000)
    messages = talk(100, lambda _, size: size + 1_500)
    own = sum(map(count_message, messages))
    assert own < 2_000 < 3_000 <= own + 1_500
    result = ContextCompressor(config=config).compress(messages)
    assert result.changed
    assert sum(map(count_message, result.messages)) + 1_500 < 3_000


def test_lists_of_sessions_long_past_are_let_go():
    compressor = ContextCompressor(config=PrunerConfig())
    message = HumanMessage("hello", id="h")
    held = weakref.ref(message)
    compressor.compress([message], session_id="first")
    del message
    gc.collect()
    assert held() is not None
    for number in range(MOST_LISTS):
        compressor.compress(exchanges(1), session_id=f"session {number}")
    gc.collect()
    assert held() is None


def test_an_original_that_comes_back_is_no_new_message(looked):
    compressor = ContextCompressor(config=PrunerConfig(soft_limit_tokens=1_000, recent_turns=2))
    messages = exchanges(40)
    small = compressor.compress(messages).messages
    assert len(small) < 20
    compressor.compress(small)
    again = [*small, messages[10], AIMessage("yes", id="yes"), HumanMessage("and now?", id="now")]
    assert messages[10].id not in {m.id for m in compressor.compress(again).messages}
    assert len(looked) == 3


@pytest.mark.parametrize("compressions", [4, 40])  # of the second session only the newest checkpoints are held
def test_a_step_reads_no_chain_of_checkpoints_anew(compressions, monkeypatch):
    compressor = ContextCompressor(config=PrunerConfig.for_limit(600, recent_turns=1), session_id="s")
    messages, number = [], 0
    while number < compressions:
        result = compressor.compress([*messages, *exchanges(4, start=1_000 * number + len(messages))])
        number += result.changed
        messages = result.messages
    wide = PrunerConfig()
    assert not compressor.compress([*messages, HumanMessage("so", id="step")], config=wide).changed
    read = []
    monkeypatch.setattr(Reach, "add", lambda _self, record: read.append(record))
    for step in range(10):
        messages = [*messages, HumanMessage("so", id="step" if not step else f"step{step}")]
        assert compressor.compress(messages, config=wide).reason is Reason.BELOW_SOFT_LIMIT
    assert not read


@given(
    conversations(max_messages=40, ids="all"),
    st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=8),
    st.integers(50, 4_000),
    st.integers(0, 300),
)
def test_a_list_is_left_alone_only_where_a_look_at_all_of_it_would_leave_it(messages, steps, soft, overhead):
    """Whoever is asked first says nothing else, and what is remembered of the list says the same later."""
    config = PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=100_000)
    growing, asked = (ContextCompressor(config=config, session_id="s") for _ in range(2))
    end = 0
    for step, ask in steps:
        end += step
        given_now, fresh = messages[:end], ContextCompressor(config=config, session_id="s")
        whole = fresh.compress(given_now, overhead_tokens=overhead)
        if whole.changed:
            assert not asked.leaves_alone(given_now, overhead_tokens=overhead)
            return
        left = ask and asked.leaves_alone(given_now, overhead_tokens=overhead)
        if not left:
            assert said(asked.compress(given_now, overhead_tokens=overhead)) == said(whole)
        assert said(growing.compress(given_now, overhead_tokens=overhead)) == said(whole)
    assert said(asked.compress(messages[:end], overhead_tokens=overhead)) == said(whole)


def test_most_steps_are_left_alone(looked):
    compressor = ContextCompressor(config=PrunerConfig())
    messages = exchanges(50)
    assert not compressor.leaves_alone(messages), "nothing is known of it yet"
    compressor.compress(messages)
    for number in range(5):
        messages = [*messages, HumanMessage("and then?", id=f"h{number}"), AIMessage("this", id=f"a{number}")]
        assert compressor.leaves_alone(messages)
    result = compressor.compress(messages)
    assert looked == [100]
    assert (result.turns_kept, result.tokens_after) == (55, sum(compressor.count(messages)))


@pytest.mark.parametrize("case", ["debug", "disabled", "another store", "goals", "orphan", "over the soft limit"])
def test_where_there_is_more_to_say_a_list_is_not_left_alone(case, caplog):
    config = PrunerConfig(soft_limit_tokens=3_000, enabled=case != "disabled")
    compressor = ContextCompressor(config=config)
    messages = exchanges(20)
    goal = Goal(description="Refund the order.") if case == "goals" else None
    compressor.compress(messages, goal=goal, force=case == "goals")
    messages = compressor.compress(messages, goal=goal).messages
    more = {"orphan": ToolMessage("x", tool_call_id="x", id="o"), "over the soft limit": HumanMessage("w " * 9_000)}
    with caplog.at_level(logging.DEBUG if case == "debug" else logging.INFO, logger="langchain_ctxcompress.compressor"):
        store = InMemoryStore() if case == "another store" else None
        grown = [*messages, more.get(case, HumanMessage("so", id="so"))]
        assert not compressor.leaves_alone(grown, store=store)
