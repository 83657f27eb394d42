"""A plan says what a compression costs and saves; what does not pay is refused, and what pays is done sooner."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine import CompressionPlan, CompressionResult
from tests.support.bills import replayed, same_front
from tests.support.conversations import agent_run, exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens


def limits(soft: int, **fields: Any) -> PrunerConfig:
    return PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=2 * soft, **fields)


def chats(seed: int, answers: int) -> list[BaseMessage]:
    """A session of questions, answers and calls, long and short, as a seed will have them."""
    rng = random.Random(seed)
    words = [f"{first}{second}" for first in ("ba", "do", "ki", "mu") for second in ("la", "ren", "sto", "vi")]

    def prose(most: int) -> str:
        return " ".join(rng.choices(words, k=rng.randint(3, most)))

    made: list[BaseMessage] = []
    for number in range(answers):
        made.append(HumanMessage(f"Question {number}: {prose(60)}?", id=f"h{number}"))
        if rng.random() < 0.4:
            call = {"name": "look", "args": {"at": prose(5)}, "id": f"c{number}"}
            made.append(AIMessage("", tool_calls=[call], id=f"l{number}"))
            made.append(ToolMessage(prose(200), tool_call_id=f"c{number}", name="look", id=f"t{number}"))
        made.append(AIMessage(f"Answer {number}: {prose(80)}.", id=f"a{number}"))
    return made


def measured(before: list[BaseMessage], result: CompressionResult) -> tuple[int, int, int]:
    """Freed, rewritten and remaining tokens of a compression, counted independently."""
    after = result.messages
    held = same_front(before, after)
    answers = [place for place, message in enumerate(after) if isinstance(message, AIMessage)]
    rewritten = after[held : max(held, answers[-1] + 1)]
    return (
        independent_tokens(before) - independent_tokens(after),
        independent_tokens(rewritten),
        independent_tokens(after),
    )


@pytest.mark.parametrize("kind", ["chat", "run"])
def test_what_a_plan_predicts_without_a_model_is_what_is_measured(kind: str) -> None:
    """Exactly by the package's own count; within a tenth by an independent one, which counts pieces of text alone."""
    messages = chats(1, 60) if kind == "chat" else agent_run(60, words=80)
    compressor = ContextCompressor(config=limits(4_000))
    plan = compressor.plan(messages)
    result = compressor.compress(messages)
    assert plan.tokens_after == result.tokens_after
    assert plan.costs == result.costs
    freed, rewritten, remaining = measured(messages, result)
    assert plan.costs is not None
    assert plan.costs.freed_tokens == pytest.approx(freed, rel=0.1)
    assert plan.costs.rewritten_tokens == pytest.approx(rewritten, rel=0.1)
    assert plan.tokens_after == pytest.approx(remaining, rel=0.1)
    assert (plan.costs.read_tokens, plan.costs.written_tokens) == (0, 0)
    assert plan.costs.cost == pytest.approx(0.9 * plan.costs.rewritten_tokens)


def test_with_a_model_a_plan_says_what_it_costs_at_most() -> None:
    messages = chats(2, 60)
    model = ScriptedChatModel("They spoke of many things. " * 20)
    compressor = ContextCompressor(model, config=limits(4_000, output_price=7.0))
    plan = compressor.plan(messages)
    assert model.calls == 0
    result = compressor.compress(messages)
    assert plan.costs is not None
    assert plan.costs.read_tokens == plan.model_tokens
    assert independent_tokens(model.prompts[0]) == pytest.approx(plan.costs.read_tokens, rel=0.05)
    answer = independent_tokens([AIMessage("They spoke of many things. " * 20)])
    assert answer <= plan.costs.written_tokens <= 0.05 * plan.candidate_tokens
    assert plan.tokens_after is not None
    assert result.tokens_after <= plan.tokens_after <= result.tokens_after + plan.costs.written_tokens
    assert plan.costs.cost >= 7.0 * plan.costs.written_tokens + plan.costs.read_tokens


def test_a_result_says_what_the_summariser_reported() -> None:
    usage = {"input_tokens": 900, "output_tokens": 50, "total_tokens": 950, "input_token_details": {"cache_read": 600}}
    model = ScriptedChatModel(AIMessage("They spoke of many things.", usage_metadata=usage))
    result = ContextCompressor(model, config=limits(4_000)).compress(chats(3, 60))
    assert result.costs is not None
    assert (result.costs.read_tokens, result.costs.cached_tokens, result.costs.written_tokens) == (300, 600, 50)


def test_what_pays_too_little_is_refused_between_the_limits_and_never_at_the_hard_one() -> None:
    model = ScriptedChatModel("a summary")
    messages = chats(4, 40)
    size = ContextCompressor().plan(messages).tokens
    dear: dict[str, Any] = {"min_gain": 10.0**9}
    soft = PrunerConfig(soft_limit_tokens=size - 10, hard_limit_tokens=2 * size, **dear)
    compressor = ContextCompressor(model, config=soft)
    for _ in range(2):
        result = compressor.compress(messages)
        assert (result.outcome, result.reason, model.calls) == ("noop", "not_worth_it", 0)
        assert result.messages == messages
    assert compressor.plan(messages).reason == "not_worth_it"
    assert compressor.compress(messages, force=True).outcome == "applied"
    hard = PrunerConfig(soft_limit_tokens=size // 2, hard_limit_tokens=size - 10, **dear)
    assert ContextCompressor(model, config=hard).compress(messages).outcome == "applied"
    cheap = PrunerConfig(soft_limit_tokens=size - 10, hard_limit_tokens=2 * size, min_gain=-(10.0**9))
    assert ContextCompressor(model, config=cheap).compress(messages).outcome == "applied"


def test_sooner_only_where_it_pays() -> None:
    messages = chats(5, 80)
    size = ContextCompressor().plan(messages).tokens
    roomy: dict[str, Any] = {"soft_limit_tokens": 10 * size, "hard_limit_tokens": 20 * size, "economic": True}
    compressor = ContextCompressor(config=PrunerConfig(**roomy))
    plan = compressor.plan(messages)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert plan.costs == result.costs
    assert plan.tokens_after == result.tokens_after < size / 2
    assert result.costs is not None
    assert result.costs.gain > 0
    assert sum(map(is_summary, result.messages)) == 1
    free = ContextCompressor(config=PrunerConfig(**roomy, cached_price=0.0))
    nothing: CompressionPlan = free.plan(messages)
    assert (nothing.reason, nothing.tokens_after, nothing.costs) == ("below_soft_limit", None, None)
    assert free.compress(messages).reason == "below_soft_limit"


def test_below_the_soft_limit_the_model_is_left_alone() -> None:
    model = ScriptedChatModel("a summary")
    messages = chats(6, 80)
    config = PrunerConfig(soft_limit_tokens=100_000, hard_limit_tokens=200_000, economic=True)
    result = ContextCompressor(model, config=config).compress(messages)
    assert (result.outcome, model.calls) == ("applied", 0)
    assert result.checkpoint is not None
    assert result.checkpoint.summariser == "extractive"


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.integers(20, 70), st.sampled_from([1_500, 3_000]))
def test_it_never_costs_more_than_waiting_for_the_soft_limit_by_a_tenth_and_never_goes_over_the_hard_one(
    seed: int, answers: int, soft: int
) -> None:
    session = chats(seed, answers)
    paid = {}
    for economic in (False, True):
        compressor = ContextCompressor(config=limits(soft, economic=economic))

        def shrink(messages: list[BaseMessage], compressor: ContextCompressor = compressor) -> list[BaseMessage]:
            found = compressor.compress(messages).messages
            assert violations(found, open_end=True) == []
            return found

        paid[economic] = replayed(session, shrink)
        assert max(paid[economic].sent) < 2 * soft
    assert paid[True].units <= 1.1 * paid[False].units


def test_a_long_session_costs_clearly_less() -> None:
    session = chats(7, 120)
    paid = {}
    for economic in (False, True):
        compressor = ContextCompressor(config=limits(10_000, economic=economic))
        paid[economic] = replayed(session, lambda messages, own=compressor: own.compress(messages).messages)
    assert paid[True].units < 0.85 * paid[False].units


def test_a_thread_may_be_economic_on_its_own() -> None:
    node = CompressionNode(config=limits(100_000))
    state = {"messages": chats(8, 80)}
    assert node.invoke(state) == {}
    own = {"configurable": {"thread_id": "1", "ctxcompress": {"economic": True}}}
    assert node.invoke(state, own)["messages"]


def test_a_short_list_is_left_alone() -> None:
    compressor = ContextCompressor(config=limits(100_000, economic=True))
    for messages in ([], exchanges(1), exchanges(6)):
        assert compressor.compress(messages).reason == "below_soft_limit"


def test_below_the_soft_limit_a_model_that_reads_from_the_cache_works_beside_the_conversation() -> None:
    model = ScriptedChatModel("They spoke of many things.")
    config = PrunerConfig(
        soft_limit_tokens=100_000, hard_limit_tokens=200_000, economic=True, summariser_input="prefix"
    )
    compressor = ContextCompressor(model, config=config, session_id="s")
    messages = chats(9, 90)
    first = compressor.compress(messages, background=True)
    assert (first.outcome, first.reason, first.messages) == ("noop", "in_background", messages)
    work = compressor.background.of("s")
    assert work is not None
    assert work.wait()
    grown = [*messages, HumanMessage("And now?", id="now")]
    second = compressor.compress(grown, background=True)
    assert (second.outcome, second.reason, model.calls) == ("applied", "compressed", 1)
    assert second.messages[-1].id == "now"
    assert second.costs is not None
    assert second.costs.gain > 0
    assert compressor.compress(second.messages, background=True).reason == "below_soft_limit"
