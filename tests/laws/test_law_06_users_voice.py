"""Law 6: the user's voice stays. System messages, pins and the newest human message are never paraphrased."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, pin
from tests.laws.judge import STRATEGIES, as_bytes, voice_lost
from tests.support.conversations import agent_run, conversations, exchanges

LIMITS = st.integers(20, 3_000)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=40)
@given(conversations(surrogates=True, nul=True, max_messages=120), LIMITS)
def test_protected_messages_are_there_byte_for_byte_after_one_run_and_after_two(
    strategy: str, messages: list[BaseMessage], limit: int
) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    first = compressor.compress(messages)
    assert voice_lost(first.messages, messages) == []
    second = compressor.compress(first.messages)
    assert voice_lost(second.messages, first.messages) == []


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=600)
@given(conversations(surrogates=True, nul=True), LIMITS)
def test_protected_messages_are_there_deeper(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    first = compressor.compress(messages)
    assert voice_lost(first.messages, messages) == []
    assert voice_lost(compressor.compress(first.messages).messages, first.messages) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_newest_question_stays_though_it_is_over_the_limit_alone(strategy: str) -> None:
    question = HumanMessage("why is that so? " * 2_000, id="q")
    messages = [SystemMessage("Be kind.", id="s"), *exchanges(10), question]
    result = ContextCompressor(config=PrunerConfig.for_limit(500), strategy=strategy).compress(messages)
    assert as_bytes(result.messages[-1]) == as_bytes(question)
    assert as_bytes(result.messages[0]) == as_bytes(messages[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_task_of_a_long_run_is_the_newest_human_message_and_stays(strategy: str) -> None:
    messages = agent_run(100, words=60)
    result = ContextCompressor(config=PrunerConfig.for_limit(1_000), strategy=strategy).compress(messages)
    assert messages[0] in result.messages


def test_a_message_said_twice_under_one_id_does_not_take_the_newest_along() -> None:
    """A copy in the middle is replaced; its twin at the end is the newest question, at the next step too."""
    messages = exchanges(30)
    messages.append(messages[8].model_copy(deep=True))
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900))
    first = compressor.compress(messages)
    assert first.changed
    assert first.messages[-1] == messages[-1]
    assert [m.id for m in first.messages].count("human-4") == 1, "the summary message bears the id of another"
    second = compressor.compress(first.messages)
    assert second.messages[-1] == messages[-1]


def test_a_pin_that_is_set_later_brings_a_sent_again_message_back() -> None:
    messages = exchanges(30)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900))
    first = compressor.compress(messages)
    assert messages[8] not in first.messages
    again = [pin(message) if message.id == "human-4" else message for message in messages]
    second = compressor.compress(again)
    assert voice_lost(second.messages, again) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", [150, 400, 900])
def test_a_message_that_was_shortened_is_whole_again_when_it_is_the_newest_question(strategy: str, limit: int) -> None:
    """Somebody removes what came after it, and sends the rest again."""
    messages = exchanges(12, words=40)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    compressor.compress(messages)
    for kept in range(22, 0, -2):
        again = messages[: kept + 1]
        assert again[-1].type == "human"
        assert voice_lost(compressor.compress(again).messages, again) == []
        answered = [*messages[:kept], messages[-1]]
        assert voice_lost(compressor.compress(answered).messages, answered) == []
