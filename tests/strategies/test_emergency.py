"""`emergency` (P8): the last resort over the hard limit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.strategies.cutting import SMALLEST_CUT, cut_message, cut_text
from tests.strategies.requests import TOOLS
from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.legality import is_summary, mark_kind, violations
from tests.support.sizes import independent_message_tokens, independent_tokens, text_tokens


def emergency(messages: list[BaseMessage], limit: int, strategy: str = "emergency", **fields: object) -> object:
    config = PrunerConfig.for_limit(limit, **fields)
    return ContextCompressor(config=config, strategy=strategy).compress(messages)


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=200, max_size=2_000), st.integers(0, 400))
def test_a_cut_text_keeps_head_and_tail_around_a_marker_that_names_the_original(text: str, most: int) -> None:
    cut = cut_text(text, most, TOOLS, "m1")
    assert "the original is message m1" in cut
    head, _, tail = cut.partition("[…")
    tail = tail.partition("]")[2]
    assert text.startswith(head.removesuffix("\n"))
    assert text.endswith(tail.removeprefix("\n"))
    assert text_tokens(cut) <= max(most, text_tokens(cut_text(text, 0, TOOLS, "m1"))) + 4


def test_the_tail_of_a_tool_s_output_is_where_the_error_is() -> None:
    text = "compiling\n" * 5_000 + "error: missing semicolon in line 7"
    cut = cut_text(text, 100, TOOLS, "m1")
    assert cut.startswith("compiling")
    assert cut.endswith("missing semicolon in line 7")


@settings(max_examples=60)
@given(conversations(max_messages=30, surrogates=True), st.integers(SMALLEST_CUT, 400))
def test_a_cut_message_keeps_its_id_its_calls_and_its_place_in_a_batch(messages: list[BaseMessage], most: int) -> None:
    for message in messages:
        cut = cut_message(message, most, TOOLS)
        assert (cut.id, cut.type, cut.name) == (message.id, message.type, message.name)
        assert mark_kind(cut) == "cut"
        if isinstance(message, AIMessage) and isinstance(cut, AIMessage):
            assert [call["id"] for call in cut.tool_calls] == [call["id"] for call in message.tool_calls]
            assert [sorted(c["args"]) for c in cut.tool_calls] == [sorted(c["args"]) for c in message.tool_calls]
        if isinstance(message, ToolMessage) and isinstance(cut, ToolMessage):
            assert (cut.tool_call_id, cut.status) == (message.tool_call_id, message.status)


def test_a_result_of_300k_tokens_in_the_last_turn_is_cut_and_names_its_original() -> None:
    call = {"name": "dump", "args": {}, "id": "c"}
    messages = [
        SystemMessage("Be brief.", id="s"),
        *exchanges(3),
        HumanMessage("dump it", id="h"),
        AIMessage("", tool_calls=[call], id="a"),
        ToolMessage("a row of the table\n" * 60_000, tool_call_id="c", id="huge"),
    ]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(4_000))
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("degraded", "emergency")
    assert independent_tokens(result.messages) < 4_000
    assert "the original is message huge" in result.messages[-1].text
    assert result.messages[-2:-1] == messages[-2:-1]
    assert compressor.expand_message("huge") == messages[-1]


def test_a_sixtyfold_parallel_call_is_cut_where_it_is_largest_and_stays_whole() -> None:
    messages = agent_run(1, parallel=60, words=100)[:-1]
    result = emergency(messages, 10_000, "ladder")
    assert [message.id for message in result.messages] == [message.id for message in messages]
    assert violations(result.messages) == []
    assert independent_tokens(result.messages) < 10_000
    assert messages[0] in result.messages


def test_huge_arguments_of_a_call_are_cut_and_small_ones_stay() -> None:
    edits = [{"old": "a", "new": "y = 2\n" * 9_000}]
    args = {"path": "a.py", "content": "x = 1\n" * 20_000, "mode": 420, "deep": {"list": [1, 2]}, "edits": edits}
    blocks = [
        {"type": "text", "text": "I write it."},
        {"type": "tool_use", "id": "c", "name": "write", "input": args},
    ]
    messages = [
        HumanMessage("write it", id="h"),
        AIMessage(blocks, tool_calls=[{"name": "write", "args": args, "id": "c"}], id="a"),
        ToolMessage("ok", tool_call_id="c", id="t"),
    ]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_000))
    result = compressor.compress(messages)
    cut = result.messages[1]
    assert isinstance(cut, AIMessage)
    assert independent_tokens(result.messages) < 1_000
    kept = cut.tool_calls[0]["args"]
    assert {key: kept[key] for key in ("path", "mode", "deep")} == {k: args[k] for k in ("path", "mode", "deep")}
    assert kept["content"].startswith("x = 1\n")
    assert kept["content"].endswith("[…]")
    assert kept["edits"][0]["old"] == "a"
    assert kept["edits"][0]["new"].endswith("[…]")
    assert "x = 1\\nx = 1\\n" * 1_000 not in json.dumps(cut.content), "what the blocks say again is cut as well"
    assert compressor.expand_message("a") == messages[1]


@pytest.mark.parametrize("opted", [False, True])
def test_the_newest_human_message_is_cut_only_where_the_user_opted_in(opted: bool) -> None:
    question = HumanMessage("why is that so? " * 3_000, id="q")
    messages = [SystemMessage("Be kind.", id="s"), *exchanges(6), question]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(500, cut_newest_human=opted))
    result = compressor.compress(messages)
    if opted:
        assert (result.outcome, result.reason) == ("degraded", "emergency")
        assert independent_tokens(result.messages) < 500
        assert result.messages[-1].text.startswith("why is that so? why")
        assert "the original is message q" in result.messages[-1].text
        assert compressor.expand_message("q") == question
    else:
        assert (result.outcome, result.reason) == ("failed", "protected_set_over_hard_limit")
        assert result.messages[-1] is question


def test_a_pin_is_never_cut_not_even_the_newest_question() -> None:
    messages = [
        SystemMessage("rule " * 400, id="s"),
        pinned(HumanMessage("word " * 400, id="p")),
        AIMessage("ok", id="a"),
        pinned(HumanMessage("why? " * 400, id="q")),
    ]
    result = ContextCompressor(config=PrunerConfig.for_limit(300, cut_newest_human=True)).compress(messages)
    assert result.outcome == "failed"
    assert [m for m in messages if m in result.messages] == [messages[0], messages[1], messages[3]]


def test_the_summary_message_is_said_shorter_before_anything_is_cut() -> None:
    config = PrunerConfig(soft_limit_tokens=3_000, hard_limit_tokens=9_000, target_tokens=3_000)
    compressor = ContextCompressor(config=config)
    first = compressor.compress(exchanges(60)).messages
    before = next(message for message in first if is_summary(message))
    limit = independent_tokens(first) - 100
    tight = PrunerConfig.for_limit(limit)
    second = ContextCompressor(
        config=tight, strategy="emergency", store=compressor.store, session_id=compressor.session_id
    ).compress(first)
    after = next(message for message in second.messages if is_summary(message))
    assert (after.id, second.reason) == (before.id, "emergency")
    assert independent_message_tokens(after) < independent_message_tokens(before)
    assert [m for m in second.messages if not is_summary(m)] == [m for m in first if not is_summary(m)]


def test_what_is_not_protected_is_dropped_last_and_covered() -> None:
    messages = [*exchanges(200, words=2), HumanMessage("and?", id="q")]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(300), strategy="emergency")
    result = compressor.compress(messages)
    assert result.tokens_after < 300
    assert result.messages[-1].id == "q"
    assert compressor.expand_message("human-3") == messages[6]
    assert result.messages[0].type == "human"


def test_under_the_limit_there_is_no_emergency() -> None:
    messages = exchanges(10)
    result = emergency(messages, 10**6)
    assert (result.outcome, result.messages) == ("noop", messages)
