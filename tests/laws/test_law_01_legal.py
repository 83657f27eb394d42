"""Law 1: legal by construction. Whatever comes in, what goes out is a list that every provider takes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.testing import check_messages
from tests.laws.judge import STRATEGIES, as_bytes, illegal, over, progress, refused
from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.legality import violations

LIMITS = st.integers(20, 3_000)


def check(messages: list[BaseMessage], limit: int, strategy: str) -> None:
    before = [as_bytes(message) for message in messages]
    objects = list(map(id, messages))
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    first = compressor.compress(messages)
    assert illegal(compressor, first.messages, messages) == []
    second = compressor.compress(first.messages)
    assert illegal(compressor, second.messages, first.messages) == []
    assert progress(first.messages, second) == []
    assert refused(first) + refused(second) == []
    assert list(map(id, messages)) == objects, "the input list was changed"
    assert [as_bytes(message) for message in messages] == before, "a message of the input was changed"


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=30)
@given(conversations(surrogates=True, nul=True, max_messages=150), LIMITS)
def test_every_output_is_legal_in_order_and_the_input_unchanged(
    strategy: str, messages: list[BaseMessage], limit: int
) -> None:
    check(messages, limit, strategy)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=600)
@given(conversations(surrogates=True, nul=True), LIMITS)
def test_every_output_is_legal_deeper(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    check(messages, limit, strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", range(60, 900, 60))
def test_no_limit_parts_a_parallel_batch(strategy: str, limit: int) -> None:
    messages = [SystemMessage("Be brief.", id="sys"), *agent_run(12, words=15, parallel=3, reuse_calls=True)]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    result = compressor.compress(messages)
    assert illegal(compressor, result.messages, messages) == []


def test_an_orphan_result_is_dropped_and_archived() -> None:
    orphan = ToolMessage("nobody asked", tool_call_id="gone", id="orphan")
    messages = [HumanMessage("hi", id="h"), orphan, AIMessage("hello", id="a")]
    compressor = ContextCompressor(config=PrunerConfig())
    result = compressor.compress(messages)
    assert [message.id for message in result.messages] == ["h", "a"]
    assert (result.outcome, result.reason) == ("applied", "repaired")
    assert compressor.expand_message("orphan") == orphan
    assert compressor.expand(result.checkpoints[0].checkpoint_id) == [orphan]


def test_an_unanswered_call_in_the_middle_gets_an_error_and_one_at_the_end_stays_open() -> None:
    call = {"name": "look", "args": {}, "id": "c1"}
    messages = [HumanMessage("hi"), AIMessage("", tool_calls=[call]), HumanMessage("well?")]
    middle = ContextCompressor(config=PrunerConfig()).compress(messages).messages
    assert isinstance(middle[2], ToolMessage)
    assert (middle[2].status, middle[2].tool_call_id) == ("error", "c1")
    assert violations(middle) == []
    end = ContextCompressor(config=PrunerConfig()).compress(messages[:2])
    assert end.messages == messages[:2]
    assert end.outcome == "noop"


def words_before_calls() -> dict[str, list[BaseMessage]]:
    """Lists in which only the user's questions part the model's words from its next call."""
    chat, run = exchanges(3, words=40), agent_run(12, words=40)
    tasks = [m for start in range(0, 24, 3) for m in agent_run(3, start=start, words=40)]
    said = [message for message in tasks if (message.id or "").startswith("done")]
    return {
        "an answer in the prefix, calls in the last turns": [*chat, *run, HumanMessage("and?", id="q")],
        "answers pinned": [pinned(m) if m in said[2:6] else m for m in tasks],
        "answers and a step pinned": [pinned(m) if m in said[1:3] or m.id == "step-13" else m for m in tasks],
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", words_before_calls())
@pytest.mark.parametrize("limit", [300, 700, 1_000, 1_400])
def test_no_call_comes_to_follow_the_models_own_words(strategy: str, name: str, limit: int) -> None:
    """Gemini refuses it; that the model said something and then called is never the package's doing."""
    messages = words_before_calls()[name]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    result = compressor.compress(messages)
    assert check_messages(messages, providers=["Gemini"]) == []
    assert check_messages(result.messages, providers=["Gemini"]) == []
    assert over(result.messages, messages, limit) == [] or strategy in ("middle-out", "clear-tools", "bands")


@pytest.mark.parametrize("strategy", ["ladder", "emergency"])
def test_what_parts_pinned_words_from_a_pinned_step_stays_from_the_first_rung_on(strategy: str) -> None:
    """A later rung may leave the pinned messages alone, and can bring back no question that an earlier one took."""
    talk, run = exchanges(6, words=30), agent_run(3, words=30)[1:-1]
    talk[5], run[-1] = pinned(talk[5]), pinned(run[-1])
    messages = [*talk, AIMessage("So I look.", id="so"), *run, HumanMessage("and now?", id="now")]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(20), strategy=strategy)
    result = compressor.compress(messages)
    assert illegal(compressor, result.messages, messages) == []
    assert check_messages(result.messages, providers=["Gemini"]) == []


def test_the_judge_judges_every_strategy_that_is_registered() -> None:
    names = "from langchain_ctxcompress.strategies import strategy_names; print(*strategy_names())"
    fresh = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True)
    assert sorted(STRATEGIES) == fresh.stdout.split()


@pytest.mark.parametrize("strategy", ["ladder", "emergency", "top-down-truncation"])
def test_a_pinned_answer_keeps_a_human_message_in_front(strategy: str) -> None:
    """Anthropic and Gemini refuse a list that begins with the model's words."""
    messages = exchanges(8)
    messages[3] = pinned(messages[3])
    compressor = ContextCompressor(config=PrunerConfig.for_limit(30), strategy=strategy)
    result = compressor.compress(messages)
    assert result.messages[0].type == "human"
    assert messages[3] in result.messages
