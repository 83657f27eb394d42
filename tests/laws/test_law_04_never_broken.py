"""Law 4: never broken. A summariser that fails ends in a mechanical rung and an outcome, and is then left alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import BaseMessage

from langchain_ctxcompress import ChatModelSummariser, ContextCompressor, ContextLimitError, PrunerConfig
from langchain_ctxcompress.engine import CoolDown
from tests.laws.judge import illegal, lost, over, refused, voice_lost
from tests.support.conversations import conversations, exchanges, pinned
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens

CONFIG = PrunerConfig.for_limit(1_500)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def compressor_with(model: Any, *, clock: Clock | None = None, **options: Any) -> ContextCompressor:
    summariser = ChatModelSummariser(model, **{"retry_wait": 0, "attempts": 1, **options})
    return ContextCompressor(summariser, config=CONFIG, cooldown=CoolDown(clock=clock or Clock()))


def sound(compressor: ContextCompressor, output: list[BaseMessage], messages: list[BaseMessage]) -> list[str]:
    return illegal(compressor, output, messages) + voice_lost(output, messages) + lost(compressor, output, messages)


@pytest.mark.parametrize("error", [RuntimeError("down"), OSError("reset"), KeyError("choices"), TimeoutError("slow")])
def test_a_summariser_that_raises_costs_quality_and_nothing_else(error: Exception) -> None:
    messages = exchanges(40)
    compressor = compressor_with(ScriptedChatModel([error, "order #W10003 was refunded"]))
    first = compressor.compress(messages)
    assert (first.outcome, first.reason) == ("degraded", "summariser_failed")
    assert type(error).__name__ in first.detail
    assert sound(compressor, first.messages, messages) == []
    grown_again = [*first.messages, *exchanges(40, start=40)]
    second = compressor.compress(grown_again)
    assert (second.outcome, second.reason) == ("applied", "compressed")
    assert sound(compressor, second.messages, grown_again) == []


async def test_a_summariser_that_raises_async() -> None:
    messages = exchanges(40)
    compressor = compressor_with(ScriptedChatModel(RuntimeError("down")))
    result = await compressor.acompress(messages)
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert sound(compressor, result.messages, messages) == []


def test_a_summariser_that_hangs_past_its_timeout() -> None:
    model = ScriptedChatModel("too late", delay=60)
    messages = exchanges(40)
    compressor = compressor_with(model, timeout=0.05)
    try:
        result = compressor.compress(messages)
    finally:
        model.release()
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert "TimeoutError" in result.detail
    assert sound(compressor, result.messages, messages) == []


async def test_a_summariser_that_hangs_past_its_timeout_async() -> None:
    model = ScriptedChatModel("too late", delay=60)
    messages = exchanges(40)
    result = await compressor_with(model, timeout=0.05).acompress(messages)
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert model.cancelled == 1


async def test_a_cancelled_step_is_cancelled_and_the_next_one_works() -> None:
    model = ScriptedChatModel("a summary of it", delay=60)
    messages = exchanges(40)
    compressor = compressor_with(model)
    step = asyncio.create_task(compressor.acompress(messages))
    while not model.calls:
        await asyncio.sleep(0.01)
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert compressor.history().checkpoints() == []
    model.release()
    assert (await compressor.acompress(messages)).outcome == "applied"


class SmallWindow(ScriptedChatModel):
    """A model whose window is smaller than anybody knows."""

    most: int = 900
    error: Any = ContextOverflowError("prompt is too long: 1000 tokens > 900 maximum")

    def check(self, prompt: list[BaseMessage]) -> None:
        if independent_tokens(prompt) > self.most:
            raise self.error


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflowError("overflow"),
        ValueError("Error code: 400 - This model's maximum context length is 900 tokens. However, your messages ..."),
    ],
)
def test_an_overflow_is_followed_by_smaller_parts(error: Exception) -> None:
    """P6: the window is found by trying; what was too long is asked again in smaller parts."""
    messages = exchanges(60)
    model = SmallWindow("order #W10003 was refunded", most=2_000, error=error)
    compressor = compressor_with(model)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert model.calls == result.model_calls > 2
    read = "\n".join(prompt[-1].text for prompt in model.prompts if independent_tokens(prompt) <= 2_000)
    replaced = compressor.expand(result.checkpoint.checkpoint_id) if result.checkpoint else None
    assert replaced
    assert [message.id for message in replaced if message.text not in read] == [], "nothing is left unread"
    assert sound(compressor, result.messages, messages) == []


async def test_an_overflow_is_followed_by_smaller_parts_async() -> None:
    compressor = compressor_with(SmallWindow("order #W10003 was refunded", most=2_000))
    result = await compressor.acompress(exchanges(60))
    assert (result.outcome, result.reason) == ("applied", "compressed")


def test_a_window_that_nothing_fits_into_ends() -> None:
    model = SmallWindow("never said", most=10)
    messages = exchanges(40)
    compressor = compressor_with(model)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert model.calls < 40
    assert sound(compressor, result.messages, messages) == []


def test_after_three_failures_the_summariser_is_left_alone_for_a_minute() -> None:
    model, clock = ScriptedChatModel(RuntimeError("down")), Clock()
    compressor = compressor_with(model, clock=clock)
    messages: list[BaseMessage] = []
    reasons = []
    for step in range(5):
        messages = compressor.compress([*messages, *exchanges(40, start=40 * step)]).messages
        reasons.append(compressor.compress(exchanges(40), session_id=f"other-{step}").reason)
    assert model.calls == 3
    assert reasons[-1] == "cooling_down"
    clock.now += 59.9
    assert compressor.compress(exchanges(40), session_id="later").reason == "cooling_down"
    clock.now += 0.2
    assert compressor.compress(exchanges(40), session_id="still later").reason == "summariser_failed"
    assert model.calls == 4


async def test_a_cooling_summariser_is_not_asked_async() -> None:
    model = ScriptedChatModel(RuntimeError("down"))
    compressor = compressor_with(model)
    for step in range(5):
        result = await compressor.acompress(exchanges(40), session_id=str(step))
        assert result.outcome == "degraded"
    assert model.calls == 3
    assert result.reason == "cooling_down"
    assert result.model_calls == 0


@settings(max_examples=60)
@given(conversations(max_messages=120), st.integers(20, 3_000), st.booleans())
def test_the_ladder_ends_under_the_hard_limit_or_at_what_must_stay(
    messages: list[BaseMessage], limit: int, failing: bool
) -> None:
    model = ScriptedChatModel(RuntimeError("down") if failing else "all went well")
    summariser = ChatModelSummariser(model, retry_wait=0, attempts=1)
    compressor = ContextCompressor(summariser, config=PrunerConfig.for_limit(limit))
    result = compressor.compress(messages)
    assert over(result.messages, messages, limit) + refused(result) == []
    if result.tokens_after < limit:
        assert result.outcome != "failed"
    else:
        assert (result.outcome, result.reason) == ("failed", "protected_set_over_hard_limit")


@pytest.mark.slow
@settings(max_examples=1_000)
@given(conversations(surrogates=True, nul=True), st.integers(20, 3_000))
def test_the_ladder_ends_under_the_hard_limit_deeper(messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit))
    result = compressor.compress(messages)
    assert over(result.messages, messages, limit) + refused(result) == []


def test_a_summary_that_quotes_what_is_no_character_is_shortened_like_any_other() -> None:
    """A lone surrogate in the user's words: LangChain's own `text` of such a message cannot be put into another."""
    messages = [m.model_copy(update={"content": f"\udc80\ud83d {m.content}"}) for m in exchanges(40)]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(2_000, keep_human_tokens=400))
    first = compressor.compress(messages)
    tight = ContextCompressor(
        config=PrunerConfig.for_limit(first.tokens_after - 300),
        strategy="emergency",
        store=compressor.store,
        session_id=compressor.session_id,
    )
    second = tight.compress(first.messages)
    assert refused(first) + refused(second) == []
    assert second.tokens_after < first.tokens_after


def test_what_must_stay_over_the_hard_limit_is_sent_with_the_breakdown_and_the_remedy() -> None:
    messages = [pinned(message) for message in exchanges(10)]
    result = ContextCompressor(config=PrunerConfig.for_limit(100)).compress(messages)
    assert (result.outcome, result.reason) == ("failed", "protected_set_over_hard_limit")
    assert result.messages == messages
    for part in (str(result.tokens_after), "100", "human", "ai", "unpin", "hard_limit_tokens"):
        assert part in result.detail


@pytest.mark.parametrize("strategy", ["ladder", "middle-out", "top-down-truncation", "emergency"])
def test_on_overflow_raise_raises_instead(strategy: str) -> None:
    messages = [pinned(message) for message in exchanges(10)]
    config = PrunerConfig.for_limit(100, on_overflow="raise")
    with pytest.raises(ContextLimitError, match="raise hard_limit_tokens") as caught:
        ContextCompressor(config=config, strategy=strategy).compress(messages)
    assert caught.value.limit == 100
    assert caught.value.tokens > 100
    small = ContextCompressor(config=PrunerConfig.for_limit(3_000, on_overflow="raise")).compress(exchanges(60))
    assert small.outcome == "applied", "an overflow that can be cured is cured"
