"""Law 3: never worse. A summary is taken only if it is whole, no refusal, and smaller than what it replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress import ChatModelSummariser, ContextCompressor, PrunerConfig
from tests.laws.judge import STRATEGIES, grown, illegal, lost, voice_lost
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel

LIMIT = 1_500
CONFIG = PrunerConfig.for_limit(LIMIT)


def reply(text: str | list[Any] = "A summary.", **metadata: Any) -> AIMessage:
    return AIMessage(text, response_metadata=metadata)


def refused(**extra: Any) -> AIMessage:
    return AIMessage("", additional_kwargs=extra, response_metadata={"finish_reason": "stop"})


UNUSABLE = {
    "empty": reply(""),
    "blank": reply(" \n\t "),
    "no-blocks": reply([]),
    "thinking-only": reply([{"type": "thinking", "thinking": "hm", "signature": "x"}]),
    "thinking-aloud-only": reply("<think>what now</think>"),
    "tool-call": AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c"}]),
    "cut-openai": reply(finish_reason="length"),
    "cut-openai-responses": reply(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    "cut-anthropic": reply(stop_reason="max_tokens"),
    "cut-anthropic-window": reply(stop_reason="model_context_window_exceeded"),
    "cut-gemini": reply(finish_reason="MAX_TOKENS"),
    "cut-bedrock": reply(stopReason="max_tokens"),
    "cut-bedrock-titan": reply(completionReason="LENGTH"),
    "cut-ollama": reply(done_reason="length"),
    "cut-huggingface": reply(finish_reason="max_new_tokens"),
    "refused-openai": refused(refusal="I cannot help with that."),
    "refused-block": reply([{"type": "refusal", "refusal": "No."}]),
    "refused-filter": reply(finish_reason="content_filter"),
    "refused-anthropic": reply(stop_reason="refusal"),
    "refused-gemini": reply(finish_reason="SAFETY"),
    "refused-bedrock": reply(stopReason="guardrail_intervened"),
    "refused-in-words": reply("I'm sorry, but I can't help with that request."),
}
USABLE = {
    "text": reply("order #W10003 was refunded"),
    "text-blocks": reply([{"type": "text", "text": "order #W10003"}, {"type": "text", "text": "was refunded"}]),
    "thinking-and-text": reply(
        [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "order #W10003 refunded"}]
    ),
    "thinking-aloud": reply("<think>now then</think>order #W10003 was refunded"),
    "no-headings": reply("just one line about order #W10003", finish_reason="stop"),
    "quoting-a-refusal": reply("I can't help with that, said the agent about order #W10003. " + "More was said. " * 40),
}


def fast(model: Any, **options: Any) -> ChatModelSummariser:
    return ChatModelSummariser(model, **{"retry_wait": 0, "attempts": 1, **options})


def judged(compressor: ContextCompressor, output: list[BaseMessage], messages: list[BaseMessage]) -> list[str]:
    found = illegal(compressor, output, messages) + voice_lost(output, messages)
    return found + lost(compressor, output, messages) + grown(output, messages)


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_answer_is_not_taken(name: str) -> None:
    messages = exchanges(40)
    model = ScriptedChatModel(UNUSABLE[name], finish_reason=None)
    compressor = ContextCompressor(fast(model), config=CONFIG)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert model.calls == result.model_calls == 1
    assert result.checkpoint is not None
    assert result.checkpoint.summariser == "extractive"
    assert judged(compressor, result.messages, messages) == []
    later = compressor.compress([*result.messages, *exchanges(40, start=40)])
    assert later.outcome == "degraded", "the next step works"


@pytest.mark.parametrize("name", UNUSABLE)
async def test_an_unusable_answer_is_not_taken_async(name: str) -> None:
    messages = exchanges(40)
    compressor = ContextCompressor(fast(ScriptedChatModel(UNUSABLE[name], finish_reason=None)), config=CONFIG)
    result = await compressor.acompress(messages)
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert judged(compressor, result.messages, messages) == []


@pytest.mark.parametrize("name", USABLE)
def test_a_usable_answer_is_taken_in_any_form(name: str) -> None:
    messages = exchanges(40)
    compressor = ContextCompressor(fast(ScriptedChatModel(USABLE[name], finish_reason=None)), config=CONFIG)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert result.checkpoint is not None
    assert result.checkpoint.summariser == "model"
    assert "order #W10003" in next(message.text for message in result.messages if is_summary(message))
    assert "think" not in result.checkpoint.text
    assert judged(compressor, result.messages, messages) == []


def test_an_answer_longer_than_its_source_is_not_taken() -> None:
    messages = exchanges(40)
    compressor = ContextCompressor(fast(ScriptedChatModel("far too long " * 3_000)), config=CONFIG)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("degraded", "not_smaller")
    assert judged(compressor, result.messages, messages) == []
    assert result.tokens_after < LIMIT


def test_an_answer_longer_than_asked_is_shortened_and_taken() -> None:
    messages = exchanges(60)
    text = "\n".join(f"- order #W{number} was refunded to card {number}" for number in range(10_000, 10_090))
    compressor = ContextCompressor(fast(ScriptedChatModel(text)), config=CONFIG)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert result.checkpoint is not None
    assert 0 < len(result.checkpoint.text) < len(text)
    assert set(result.checkpoint.text.splitlines()) <= set(text.splitlines())


REPLIES: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: UNUSABLE[name] for name in UNUSABLE},
    **{name: lambda name=name: USABLE[name] for name in USABLE},
    "raises": lambda: RuntimeError("down"),
    "overflows": lambda: ValueError("This model's maximum context length is 10 tokens"),
    "long": lambda: "much too long " * 2_000,
}


@settings(max_examples=60)
@given(
    conversations(max_messages=80),
    st.integers(60, 3_000),
    st.lists(st.sampled_from(sorted(REPLIES)), min_size=1, max_size=5),
    st.sampled_from(("ladder", "middle-out")),
)
def test_whatever_a_model_answers_nothing_is_worse(
    messages: list[BaseMessage], limit: int, names: list[str], strategy: str
) -> None:
    model = ScriptedChatModel([REPLIES[name]() for name in names], finish_reason=None)
    compressor = ContextCompressor(fast(model), config=PrunerConfig.for_limit(limit), strategy=strategy)
    result = compressor.compress(messages)
    assert judged(compressor, result.messages, messages) == []
    assert result.model_calls == model.calls


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=40)
@given(conversations(surrogates=True, nul=True, max_messages=120), st.integers(20, 3_000))
def test_tokens_never_grow(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    result = compressor.compress(messages)
    assert grown(result.messages, messages) == []


def test_what_would_not_get_smaller_is_left() -> None:
    """Three tiny turns cost less than the summary message that would stand for them."""
    messages = exchanges(9, words=1)
    result = ContextCompressor(config=PrunerConfig.for_limit(10**6)).compress(messages, force=True)
    assert (result.outcome, result.reason) == ("noop", "not_smaller")
    assert result.messages == messages


def test_the_tail_stays_where_the_middle_is_worth_it() -> None:
    messages = agent_run(30, words=60)
    result = ContextCompressor(config=PrunerConfig.for_limit(2_500)).compress(messages)
    assert result.outcome == "applied"
    assert result.messages[-9:] == messages[-9:], "the last five turns"
