"""Requirement D, by number."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.errors import ConfigError, TokenCountError
from langchain_ctxcompress.messages import Boundaries, repair_messages
from langchain_ctxcompress.strategies import TopDownTruncation
from langchain_ctxcompress.tokens import meter as counting
from tests.strategies.requests import TOOLS, outcome_of, request_for
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import violations

SYSTEM = SystemMessage("Be brief.", id="sys")


def test_d1_spans_go_from_the_front_and_system_messages_stay() -> None:
    messages = [SYSTEM, *exchanges(20), SystemMessage("From here in French.", id="sys2"), *exchanges(5, start=20)]
    draft = outcome_of(TopDownTruncation(), request_for(messages, 1_000))
    kept = [message.id for message in draft.messages]
    assert kept[0] == "sys"
    assert "sys2" in kept
    spoken = [message.id for message in messages if not isinstance(message, SystemMessage)]
    assert [i for i in kept if i not in ("sys", "sys2")] == spoken[-(len(kept) - 2) :]


@settings(max_examples=60)
@given(conversations(max_messages=120), st.integers(30, 3_000))
def test_d2_cuts_are_legal_boundaries(messages: list[BaseMessage], limit: int) -> None:
    messages = repair_messages(messages).messages
    request = request_for(messages, limit)
    draft = outcome_of(TopDownTruncation(), request)
    objects = {id(message) for message in draft.messages}
    for start, end in Boundaries(request.messages).spans:
        kept = [id(message) in objects for message in request.messages[start:end]]
        assert all(kept) or not any(kept), "a span is kept or dropped whole"
    assert violations(draft.messages, original=request.messages) == []


@settings(max_examples=60)
@given(conversations(max_messages=60, pins=False), st.integers(2, 3_000))
def test_d3_two_messages_stay_one_human_and_one_ai_from_the_end_and_none_is_invented(
    messages: list[BaseMessage], limit: int
) -> None:
    request = request_for(repair_messages(messages).messages, limit)
    draft = outcome_of(TopDownTruncation(), request)
    assert len(draft.messages) >= min(2, len(request.messages))
    assert {id(m) for m in draft.messages} <= {id(m) for m in request.messages}
    for kind in (HumanMessage, AIMessage):
        last = [message for message in request.messages if isinstance(message, kind)][-1:]
        assert [id(m) for m in draft.messages if isinstance(m, kind)][-1:] == [id(m) for m in last]


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [HumanMessage("word " * 500)],
        [AIMessage("word " * 500)],
        [SystemMessage("word " * 500), SystemMessage("word " * 500)],
        [ToolMessage("word " * 500, tool_call_id="c"), ToolMessage("word " * 500, tool_call_id="d")],
        exchanges(1, words=200),
    ],
    ids=["empty", "one-human", "one-ai", "systems", "results", "one-exchange"],
)
def test_d3_d6_where_nothing_may_go_the_list_is_unchanged(messages: list[BaseMessage]) -> None:
    request = request_for(messages, 50)
    draft = outcome_of(TopDownTruncation(), request)
    assert draft.messages == request.messages
    assert draft.checkpoints == ()


def test_d3_a_human_message_stays_in_front_of_the_last_answer() -> None:
    messages = [*exchanges(10), AIMessage("And one more thing.", id="last")]
    draft = outcome_of(TopDownTruncation(), request_for(messages, 20))
    assert [message.id for message in draft.messages] == ["human-9", "last"]


def test_d4_name_and_needs() -> None:
    assert TopDownTruncation.name == "top-down-truncation"
    assert TopDownTruncation.requires_llm is False


def test_d5_the_target_is_the_request_s_or_follows_from_an_own_limit() -> None:
    request = request_for(exchanges(40), config=PrunerConfig.for_limit(5_000, target_tokens=700))
    assert TopDownTruncation().target(request) == 700
    assert TopDownTruncation(1_000).target(request) == 510
    assert TopDownTruncation(1_000, compression_threshold=0.5).target(request) == 300


@pytest.mark.parametrize("strategy", [TopDownTruncation(), TopDownTruncation(2_000), TopDownTruncation(1_000, 0.5)])
def test_d5_it_stops_at_the_first_legal_list_under_the_target(strategy: TopDownTruncation) -> None:
    request = request_for(exchanges(40), 2_000)
    draft = outcome_of(strategy, request)
    target = strategy.target(request)
    assert draft.tokens <= target
    gone = len(request.messages) - len(draft.messages)
    one_exchange_less = request.messages[gone - 2 :]
    assert sum(TOOLS.count(one_exchange_less)) > target, "no more is dropped than is needed"


def test_d5_already_under_the_target_is_unchanged() -> None:
    request = request_for(exchanges(3), 100_000)
    draft = outcome_of(TopDownTruncation(), request)
    assert (draft.messages, draft.reason) == (request.messages, "below_soft_limit")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"context_limit_tokens": 0}, "context_limit_tokens is 0"),
        ({"context_limit_tokens": -5}, "context_limit_tokens is -5"),
        ({"compression_threshold": 0}, "compression_threshold is 0"),
        ({"compression_threshold": 1.5}, "compression_threshold is 1.5"),
    ],
)
def test_d5_wrong_settings_are_refused_by_name(arguments: dict[str, float], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        TopDownTruncation(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["top-down-truncation", "ladder", "middle-out", "emergency"])
def test_d6_each_message_is_counted_once(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    count = counting.count_messages

    def noting(messages: Sequence[BaseMessage], model: str | None) -> list[int]:
        counted.extend(map(id, messages))
        return count(messages, model)

    monkeypatch.setattr(counting, "count_messages", noting)
    messages = agent_run(60, words=30)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_000), strategy=strategy)
    assert compressor.compress(messages).changed
    compressor.compress(messages)
    assert [counted.count(id(message)) for message in messages] == [1] * len(messages)


def test_d6_an_error_of_the_counter_surfaces_with_the_id() -> None:
    broken = HumanMessage("x", id="broken")
    broken.content = [{"type": "text", "text": "ok"}, 7]  # type: ignore[list-item]
    with pytest.raises(TokenCountError) as caught:
        ContextCompressor(config=PrunerConfig.for_limit(100), strategy="top-down-truncation").compress(
            [*exchanges(10), broken]
        )
    assert caught.value.message_id == "broken"
