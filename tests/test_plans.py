"""`ContextCompressor.plan` and `leaves_alone`: what would become of a list, told beforehand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    ContextCompressor,
    Goal,
    PrunerConfig,
    PruneUrgency,
    Reason,
)
from tests.storage.stores import WatchedStore
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens

CONFIG = PrunerConfig.for_limit(1_500)


# plan


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("messages", [exchanges(2), exchanges(60), [], agent_run(30)], ids=["few", "many", "no", "run"])
def test_a_plan_calls_no_model_and_writes_nothing(messages: list[BaseMessage], force: bool) -> None:
    model, store = ScriptedChatModel("a summary"), WatchedStore()
    compressor = ContextCompressor(model, config=CONFIG, store=store)
    compressor.plan(messages, force=force)
    assert (model.calls, store.writes()) == (0, 0)
    assert compressor.history().checkpoints() == []


def test_a_plan_predicts_what_a_compression_does() -> None:
    model = ScriptedChatModel("a summary of it")
    compressor = ContextCompressor(model, config=CONFIG, strategy="middle-out")
    messages = exchanges(40)
    plan = compressor.plan(messages)
    result = compressor.compress(messages)
    assert plan.reason == result.reason == "compressed"
    assert plan.urgency is PruneUrgency.HARD
    assert plan.tokens == result.tokens_before
    assert plan.candidate_turns == result.turns_replaced == 34
    assert plan.turns == result.turns_kept + result.turns_replaced == 40
    assert plan.model_calls == model.calls == 1
    assert plan.candidate_tokens < plan.tokens
    assert plan.candidate_tokens < plan.model_tokens < plan.candidate_tokens + 1_500
    assert independent_tokens(model.prompts[0]) <= plan.model_tokens


@settings(max_examples=25)
@given(conversations(max_messages=60), st.integers(30, 3_000), st.booleans())
def test_a_plan_without_a_model_gives_the_reason_of_the_result(
    messages: list[BaseMessage], limit: int, force: bool
) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy="middle-out")
    plan = compressor.plan(messages, force=force)
    result = compressor.compress(messages, force=force)
    if result.reason not in (Reason.STILL_OVER_HARD_LIMIT, Reason.PROTECTED_SET_OVER_HARD_LIMIT, Reason.REPAIRED):
        assert plan.reason == result.reason
    assert plan.model_calls == 0


def test_a_plan_below_the_limit_and_one_that_is_switched_off() -> None:
    assert ContextCompressor(config=CONFIG).plan(exchanges(2)).reason == "below_soft_limit"
    off = ContextCompressor(config=PrunerConfig.for_limit(1_500, enabled=False)).plan(exchanges(60))
    assert (off.urgency, off.reason) == (PruneUrgency.NONE, "disabled")
    assert off.tokens > 1_500


# leaves_alone


def test_a_step_that_is_left_alone_is_one_that_compress_would_leave_as_it_is() -> None:
    talk = exchanges(40)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(3_000), session_id="a")
    grown: list[BaseMessage] = []
    left: list[bool] = []
    for message in talk:
        grown = [*grown, message]
        left.append(compressor.leaves_alone(grown))
        result = compressor.compress(grown)
        if left[-1]:
            assert (result.outcome, [m.id for m in result.messages]) == ("noop", [m.id for m in grown])
        grown = list(result.messages)
    assert not left[0], "nothing is known of it yet"
    assert left.count(True) > len(left) // 2
    assert not all(left[1:]), "some steps compress"
    assert not compressor.leaves_alone(grown, session_id="b")
    assert not compressor.leaves_alone(grown, store=InMemoryStore())
    assert not compressor.leaves_alone(grown, overhead_tokens=5_000)
    for background in (False, True):
        compressor.compress(grown)
        assert compressor.leaves_alone(grown, background=background)


def test_a_plan_is_made_for_what_compress_is_given() -> None:
    messages, model = exchanges(40), ScriptedChatModel("a summary of it")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(100_000), strategy="middle-out")
    assert compressor.plan(messages).reason == "below_soft_limit"
    plain = compressor.plan(messages, config=CONFIG)
    given = {"config": CONFIG, "goal": Goal(description="Ship it on Friday. " * 40), "instructions": "keep the SQL"}
    plan = compressor.plan(messages, **given)
    assert plan.reason == "compressed"
    assert plain.model_tokens < plan.model_tokens
    result = compressor.compress(messages, **given)
    assert (plan.tokens, plan.candidate_turns) == (result.tokens_before, result.turns_replaced)
    assert independent_tokens(model.prompts[0]) <= plan.model_tokens


async def test_a_plan_on_the_loop_reads_the_store_of_the_call() -> None:
    store, messages = InMemoryStore(), exchanges(40)
    result = ContextCompressor(config=CONFIG, store=store, session_id="s").compress(messages)
    fresh = ContextCompressor(config=CONFIG)
    plan = await fresh.aplan(messages, store=store, session_id="s")
    assert plan.tokens == result.tokens_after
    assert plan == fresh.plan(messages, session_id="s")
