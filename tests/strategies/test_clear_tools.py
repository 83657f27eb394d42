"""`clear-tools`: what is cleared and what stays, within the laws."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress import ConfigError, ContextCompressor, PrunerConfig, count_tokens, pin, truncate_to_tokens
from langchain_ctxcompress.messages import ensure_ids
from langchain_ctxcompress.strategies import ClearTools, Tools
from langchain_ctxcompress.tokens import MessageCounter
from tests.laws.judge import grown, illegal, lost, voice_lost
from tests.strategies.tool_runs import OUTPUT, CountingTools, cleared, limit_for, request_of, run, said, step, steps
from tests.support.conversations import agent_run, conversations, copied, exchanges
from tests.support.legality import mark_kind

# Properties.


@settings(max_examples=60)
@given(conversations(surrogates=True, nul=True), st.integers(20, 4_000), st.integers(0, 6))
def test_what_is_cleared_keeps_its_place_and_all_that_makes_it_legal(
    messages: list[BaseMessage], limit: int, keep: int
) -> None:
    before = copied(messages)
    request = request_of(messages, limit)
    draft = run(ClearTools(keep=keep), request)
    assert messages == before, "the input is not changed"
    assert len(draft.messages) == len(request.messages)
    assert list(draft.sizes) == MessageCounter()(draft.messages)
    assert draft.tokens <= sum(request.sizes)
    results = [place for place, message in enumerate(request.messages) if isinstance(message, ToolMessage)]
    newest = set(results[len(results) - min(keep, len(results)) :])
    for place, (old, new) in enumerate(zip(request.messages, draft.messages, strict=True)):
        if new is old:
            continue
        assert place in request.candidates
        assert mark_kind(new) == "cleared"
        assert (new.type, new.id, new.name) == (old.type, old.id, old.name)
        if isinstance(old, ToolMessage) and isinstance(new, ToolMessage):
            assert (new.tool_call_id, new.status) == (old.tool_call_id, old.status)
            assert isinstance(new.content, str)
            assert len(new.content.splitlines()) == 1
            assert old.id in new.content
            assert "base64" not in new.content
            assert place not in newest or "given again in message" in new.content
            assert 2 * draft.sizes[place] <= request.sizes[place]
        else:
            assert isinstance(old, AIMessage)
            assert isinstance(new, AIMessage)
            assert [(c["name"], c["id"]) for c in new.tool_calls] == [(c["name"], c["id"]) for c in old.tool_calls]
            assert new.text == old.text


@settings(max_examples=60)
@given(conversations(surrogates=True, nul=True), st.integers(20, 4_000))
def test_the_laws_hold(messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=ClearTools(keep=1))
    first = compressor.compress(messages)
    assert illegal(compressor, first.messages, messages) == []
    assert voice_lost(first.messages, messages) == []
    assert lost(compressor, first.messages, messages) == []
    assert grown(first.messages, messages) == []
    second = compressor.compress(first.messages)
    assert second.messages == first.messages, "a second run changes nothing"
    assert second.checkpoints == ()


@settings(max_examples=40)
@given(conversations(max_messages=120, duplicate_ids=False, pins=False), st.integers(20, 2_000))
def test_a_client_that_sends_the_whole_list_again_gets_the_same_view(messages: list[BaseMessage], limit: int) -> None:
    """Law 8, in this process and in one that has only the store."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=ClearTools(keep=0))
    first = compressor.compress(messages)
    for reader in (
        compressor,
        ContextCompressor(config=compressor.config, store=compressor.store, session_id=compressor.session_id),
    ):
        again = reader.view(ensure_ids(messages, compressor.session_id))
        there = {m.id: m.content for m in again}
        assert {m.id for m in again if mark_kind(m) == "cleared"} == set(cleared(first.messages))
        assert all(there.get(m.id, m.content) == m.content for m in first.messages)


@settings(max_examples=60)
@given(conversations(max_messages=120, surrogates=True, nul=True), st.integers(20, 4_000), st.booleans())
def test_what_is_weighed_is_what_is_freed(messages: list[BaseMessage], limit: int, all_at_once: bool) -> None:
    request = request_of(messages, limit)
    clearing = ClearTools(keep=1, all_at_once=all_at_once)
    weighed = clearing.weigh(request)
    draft = clearing.draft(request, weighed)
    if weighed.reason is None:
        assert sum(request.sizes) - draft.tokens == weighed.freed > 0
    else:
        assert draft.messages == request.messages
        assert draft.reason is weighed.reason
    counter = request.tools.count
    bare = dataclasses.replace(request, tools=Tools(counter, count_tokens, truncate_to_tokens))
    assert clearing.weigh(bare) == weighed, "copies are counted where nobody says what they would take"


@given(conversations(max_messages=200), st.integers(20, 4_000), st.integers(0, 6))
def test_each_message_is_counted_once(messages: list[BaseMessage], limit: int, keep: int) -> None:
    counting = CountingTools()
    request = request_of(messages, limit, tools=counting.tools)
    run(ClearTools(keep=keep), request)
    assert set(counting.counts.values()) <= {1}


def test_ten_thousand_messages() -> None:
    messages = agent_run(5_000, words=60)
    counting = CountingTools()
    request = request_of(messages, 100_000, tools=counting.tools)
    draft = run(ClearTools(), request)
    assert set(counting.counts.values()) == {1}
    assert len(cleared(draft.messages)) > 4_000
    assert draft.sizes[-1] == request.sizes[-1]


# What is cleared, and in which order.


def test_the_oldest_go_first_and_no_more_than_the_target_needs() -> None:
    messages = steps(40)
    request = request_of(messages, limit_for(messages))
    draft = run(ClearTools(), request)
    gone = cleared(draft.messages)
    assert gone == [f"t{number}" for number in range(len(gone))]
    assert draft.tokens <= request.config.target_tokens
    assert draft.tokens + max(request.sizes) > request.config.target_tokens


def test_what_was_given_again_goes_first_even_among_the_newest() -> None:
    """The newest of equal results stays, so nothing is lost."""
    same = [n for n in range(30) if n % 2]
    messages = steps(30, lambda n: step(n, OUTPUT, path="same.py") if n % 2 else step(n, f"{n} {OUTPUT}"))
    request = request_of(messages, limit_for(messages), target_tokens=int(0.75 * sum(MessageCounter()(messages))))
    draft = run(ClearTools(keep=30), request)
    assert cleared(draft.messages) == [f"t{n}" for n in same if n < 25][: len(cleared(draft.messages))]
    assert "given again in message t29" in said(draft.messages, "t1").text


def test_the_same_output_of_another_call_is_not_given_again() -> None:
    messages = steps(30)
    draft = run(ClearTools(keep=0), request_of(messages, limit_for(messages)))
    assert all("again" not in message.text for message in draft.messages)


def test_the_newest_stay_wherever_they_stand() -> None:
    """Where calls are rare, the last of them lie further back than the recent turns."""
    messages = [*steps(8), *exchanges(10)]
    draft = run(ClearTools(), request_of(messages, 1_000))
    assert cleared(draft.messages) == ["t0", "t1", "t2"]
    assert cleared(run(ClearTools(keep=0), request_of(messages, 1_000)).messages) == [f"t{n}" for n in range(8)]


def test_prefix_recent_turns_and_pins_stay() -> None:
    messages = steps(20)
    messages[7] = pin(messages[7])
    draft = run(ClearTools(keep=0), request_of(messages, 1_000, pinned_prefix_turns=2))
    gone = cleared(draft.messages)
    assert gone == ["t1", *(f"t{number}" for number in range(3, 15))]


def test_exempt_tools_are_left_alone() -> None:
    messages = steps(20)
    assert run(ClearTools(exempt=["look"]), request_of(messages, 1_000)).messages == tuple(messages)
    assert cleared(run(ClearTools(exempt=["other"]), request_of(messages, 1_000)).messages)


def test_a_result_that_is_hardly_longer_than_its_marker_stays() -> None:
    messages = steps(200, lambda n: step(n, f"ok, {n} rows were changed in the table of orders"))
    assert run(ClearTools(), request_of(messages, 1_000)).reason == "too_few_candidates"


def test_two_messages_of_one_id_are_left_alone() -> None:
    """One id can bring back only one of them."""
    messages = steps(20)
    messages[5] = messages[5].model_copy(update={"id": "t0"})
    gone = cleared(run(ClearTools(), request_of(messages, 1_000)).messages)
    assert "t0" not in gone
    assert "t2" in gone


def test_reused_call_ids_are_told_apart() -> None:
    messages = agent_run(30, words=200, reuse_calls=True, parallel=2)
    draft = run(ClearTools(), request_of(messages, 2_000))
    for place in (5, 6):
        own = messages[place]
        assert isinstance(own, ToolMessage)
        assert f"pattern1 src/file_{own.tool_call_id[-1]}.py" in draft.messages[place].text


# When it acts.


def test_it_acts_only_where_it_frees_enough_for_a_soft_limit() -> None:
    few = [*steps(3), *exchanges(40)]
    soft = sum(MessageCounter()(few))
    config = {"soft_limit_tokens": soft, "target_tokens": soft - 10}
    request = request_of(few, 2 * soft, **config)
    assert request.urgency == "soft"
    draft = run(ClearTools(keep=0, at_least=soft), request)
    assert (draft.messages, draft.reason) == (request.messages, "not_enough")
    assert cleared(run(ClearTools(keep=0, at_least=10), request).messages) == ["t0"]
    hard = request_of(few, soft, soft_limit_tokens=soft - 20, target_tokens=soft - 30)
    assert hard.urgency == "hard"
    assert cleared(run(ClearTools(keep=0, at_least=soft), hard).messages) == ["t0"]


@pytest.mark.parametrize(("results", "acts"), [(1, False), (2, True)])
def test_a_tenth_of_the_soft_limit_is_enough_and_less_is_not(results: int, acts: bool) -> None:
    messages = [*steps(results), *exchanges(75)]
    sizes = MessageCounter()(messages)
    soft = sum(sizes)
    assert 0.06 * soft < sizes[3] - 40 < 0.1 * soft < 2 * (sizes[3] - 40)
    request = request_of(messages, 3 * soft, soft_limit_tokens=soft, target_tokens=soft - 1)
    assert bool(cleared(run(ClearTools(keep=0), request).messages)) == acts


def test_below_the_soft_limit_nothing_is_done_unless_asked() -> None:
    messages = steps(20)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(100_000), strategy="clear-tools")
    assert compressor.compress(messages).reason == "below_soft_limit"
    forced = compressor.compress(messages, force=True)
    assert cleared(forced.messages) == [f"t{number}" for number in range(15)]


def test_a_list_without_tools_is_a_noop_with_a_reason() -> None:
    messages = exchanges(30)
    config = PrunerConfig(soft_limit_tokens=500, hard_limit_tokens=10**6)
    result = ContextCompressor(config=config, strategy="clear-tools").compress(messages)
    assert (result.outcome, result.reason, result.messages) == ("noop", "too_few_candidates", messages)


@pytest.mark.parametrize(
    ("fields", "named"), [({"keep": -1}, "keep"), ({"at_least": -1}, "at_least"), ({"exempt": "look"}, "exempt")]
)
def test_wrong_settings_are_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        ClearTools(**fields)
