"""Law 5: never thrash. What cannot get smaller is not tried again and again at a price."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.laws.judge import STRATEGIES, progress
from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.models import ScriptedChatModel

LONG = 400


def big_tail() -> list[BaseMessage]:
    return [*exchanges(2), *exchanges(5, start=2, words=LONG)]


def big_system_prompt() -> list[BaseMessage]:
    return [SystemMessage("word " * 4_500, id="sys"), *exchanges(7)]


def all_pinned() -> list[BaseMessage]:
    return [pinned(message) for message in exchanges(20, words=LONG // 3)]


def tiny_middle_before_big_tail() -> list[BaseMessage]:
    small: list[BaseMessage] = []
    for number in range(4):
        small += [HumanMessage("ok?", id=f"h{number}"), AIMessage("ok.", id=f"a{number}")]
    return [*small, *exchanges(4, start=5, words=LONG)]


def one_huge_step() -> list[BaseMessage]:
    return agent_run(1, parallel=20, words=LONG // 4)


TAILS = [big_tail, big_system_prompt, all_pinned, tiny_middle_before_big_tail, one_huge_step]


@pytest.mark.parametrize("tail", TAILS)
def test_a_protected_set_over_the_trigger_is_a_noop_with_a_reason_and_no_model_call(
    tail: Callable[[], list[BaseMessage]],
) -> None:
    messages = [*tail(), HumanMessage("and?", id="q")]
    model = ScriptedChatModel("a summary")
    compressor = ContextCompressor(model, config=PrunerConfig(soft_limit_tokens=4_000, hard_limit_tokens=10**6))
    for step in range(10):
        result = compressor.compress(messages)
        assert result.tokens_before >= 4_000
        assert result.outcome == "noop"
        assert result.reason in ("protected_tail_over_trigger", "not_smaller")
        assert result.messages == messages
        messages = [*result.messages, HumanMessage(f"and {step}?", id=f"more-{step}")]
    assert model.calls == 0


async def test_the_same_async() -> None:
    model = ScriptedChatModel("a summary")
    compressor = ContextCompressor(model, config=PrunerConfig(soft_limit_tokens=4_000, hard_limit_tokens=10**6))
    for _ in range(10):
        assert (await compressor.acompress(big_tail())).reason == "protected_tail_over_trigger"
    assert model.calls == 0


def test_a_protected_tail_over_the_hard_limit_is_cut_once_and_then_left() -> None:
    call = {"name": "dump", "args": {}, "id": "c"}
    messages: list[BaseMessage] = [
        HumanMessage("dump it all", id="h"),
        AIMessage("", tool_calls=[call], id="a"),
        ToolMessage("row of data\n" * 20_000, tool_call_id="c", id="t"),
    ]
    model = ScriptedChatModel("a summary")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(2_000))
    outcomes = []
    for _ in range(10):
        result = compressor.compress(messages)
        outcomes.append(result.outcome)
        assert result.tokens_after < 2_000
        messages = result.messages
    assert outcomes == ["degraded"] + ["noop"] * 9
    assert model.calls == 0


def test_trigger_and_target_are_apart() -> None:
    """After a compression many steps go by until the next: a long run is not compressed at each of its steps."""
    model = ScriptedChatModel("the run goes well")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(8_000))
    run = agent_run(120, words=60)
    messages: list[BaseMessage] = run[:1]
    for place in range(1, len(run), 2):
        messages = compressor.compress([*messages, *run[place : place + 2]]).messages
    assert 2 <= model.calls <= 12


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=30)
@given(conversations(max_messages=100), st.integers(20, 3_000))
def test_runs_on_the_own_output_come_to_rest(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    result = compressor.compress(messages)
    for _ in range(8):
        before = result.messages
        result = compressor.compress(before)
        assert progress(before, result) == []
        if result.messages == before:
            break
    else:
        pytest.fail("eight runs on its own output did not come to rest")
    written = len(compressor.history().checkpoints())
    compressor.compress(result.messages)
    assert len(compressor.history().checkpoints()) == written, "a step that changes nothing records nothing"
