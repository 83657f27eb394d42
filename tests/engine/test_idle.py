"""A step that needs nothing costs what is new in it, and says the same as a look at the whole list would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine import stages
from tests.support.conversations import conversations, exchanges


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


@pytest.mark.parametrize("door", ["shorter", "other object", "no id", "orphan", "forced", "over the soft limit"])
def test_what_is_no_simple_continuation_is_looked_at_whole(door, looked):
    compressor = ContextCompressor(config=PrunerConfig(soft_limit_tokens=3_000))
    messages = exchanges(20)
    compressor.compress(messages)
    assert looked == [40]
    changed = {
        "shorter": messages[:-1],
        "other object": [messages[0].model_copy(), *messages[1:]],
        "no id": [*messages, HumanMessage("new")],
        "orphan": [*messages, ToolMessage("nobody asked", tool_call_id="x", id="orphan")],
        "forced": messages,
        "over the soft limit": [*messages, *exchanges(100, start=20)],
    }[door]
    compressor.compress(changed, force=door == "forced")
    assert looked == [40, len(changed)]


def test_an_original_that_comes_back_is_no_new_message(looked):
    compressor = ContextCompressor(config=PrunerConfig(soft_limit_tokens=1_000, recent_turns=2))
    messages = exchanges(40)
    small = compressor.compress(messages).messages
    assert len(small) < 20
    compressor.compress(small)
    again = [*small, messages[10], AIMessage("yes", id="yes"), HumanMessage("and now?", id="now")]
    assert messages[10].id not in {m.id for m in compressor.compress(again).messages}
    assert len(looked) == 3
