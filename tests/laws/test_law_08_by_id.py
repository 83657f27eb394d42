"""Law 8: by id, never by index. Edits, deletions, forks and clients that send everything again are survived."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.laws.judge import STRATEGIES, illegal, lost, over
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel

LIMIT = 1_200


def compressed(messages: list[BaseMessage]) -> tuple[ContextCompressor, list[BaseMessage]]:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    result = compressor.compress(messages)
    assert result.changed
    return compressor, result.messages


def test_a_client_that_sends_the_whole_list_again_each_step_gets_the_same_view() -> None:
    model = ScriptedChatModel("the talk goes well")
    resending, appending = (
        ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT), session_id="s")
        for summariser in (model, ScriptedChatModel("the talk goes well"))
    )
    view: list[BaseMessage] = []
    for number in range(1, 80):
        whole = exchanges(number)
        view = appending.compress([*view, *whole[-2:]]).messages
        again = resending.compress(whole)
        assert [m.id for m in again.messages] == [m.id for m in view], f"step {number}"
        assert [m.text for m in again.messages if not is_summary(m)] == [m.text for m in view if not is_summary(m)]
    assert 0 < model.calls < 25, "what was compressed is not compressed again"


def test_the_same_for_messages_without_ids() -> None:
    model = ScriptedChatModel("the talk goes well")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(LIMIT))
    calls = []
    for number in range(1, 60):
        whole = exchanges(number, ids=False)
        result = compressor.compress(whole)
        assert result.tokens_after < LIMIT
        assert result.messages[-1].text == whole[-1].text
        calls.append(model.calls)
    assert 0 < calls[-1] < 20


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=25)
@given(conversations(max_messages=80, duplicate_ids=False, pins=False), st.integers(60, 2_000))
def test_the_whole_list_again_gives_the_same_view(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy)
    first = compressor.compress(messages)
    again = compressor.compress(messages)
    settled = compressor.compress(first.messages)
    assert [m.id for m in again.messages] == [m.id for m in settled.messages]
    assert [m.content for m in again.messages] == [m.content for m in settled.messages]
    assert illegal(compressor, again.messages, messages) == []
    assert lost(compressor, again.messages, messages) == []


def test_an_edit_of_a_kept_message_is_kept() -> None:
    compressor, view = compressed(exchanges(30))
    edited = AIMessage("I take that back.", id=view[-1].id)
    result = compressor.compress([*view[:-1], edited])
    assert result.messages[-1] == edited


def test_an_edited_message_that_was_replaced_is_a_new_revision_and_stays() -> None:
    messages = exchanges(30)
    compressor, view = compressed(messages)
    edited = HumanMessage("Something else entirely?", id="human-4")
    again = [edited if message.id == "human-4" else message for message in messages]
    result = compressor.compress(again)
    assert edited in result.messages
    assert [m.id for m in result.messages if m.id != "human-4"] == [m.id for m in view]


def test_messages_that_somebody_deletes_do_not_come_back() -> None:
    compressor, view = compressed(exchanges(30))
    fewer = [message for place, message in enumerate(view) if place not in (0, len(view) - 3, len(view) - 4)]
    result = compressor.compress(fewer)
    assert result.messages == fewer
    assert result.outcome == "noop"


def test_a_summary_that_somebody_deletes_stays_deleted() -> None:
    compressor, view = compressed(exchanges(30))
    without = [message for message in view if not is_summary(message)]
    result = compressor.compress(without)
    assert result.messages == without
    grown = compressor.compress([*without, *exchanges(30, start=30)])
    assert sum(map(is_summary, grown.messages)) == 1


def test_a_summary_overwritten_by_the_original_is_restored_in_order() -> None:
    """The summary bears the id of the first message it replaces: a client that sends that one again overwrites it."""
    messages = exchanges(30)
    compressor, view = compressed(messages)
    place = next(index for index, message in enumerate(view) if is_summary(message))
    original = next(message for message in messages if message.id == view[place].id)
    overwritten = [*view[:place], original, *view[place + 1 :]]
    result = compressor.compress(overwritten)
    assert (result.outcome, result.reason) == ("applied", "restored")
    assert [m.id for m in result.messages] == [m.id for m in view]
    assert [m.content for m in result.messages] == [m.content for m in view]
    assert result.checkpoint is None


def test_a_fork_from_before_the_compression_stays_as_it_is() -> None:
    messages = exchanges(30)
    compressor, _ = compressed(messages)
    fork = [*messages[:6], HumanMessage("another way?", id="fork")]
    result = compressor.compress(fork)
    assert (result.outcome, result.messages) == ("noop", fork)


def test_a_fork_that_is_compressed_does_not_disturb_the_other_branch() -> None:
    messages = exchanges(30)
    compressor, view = compressed(messages)
    fork = [*messages[:6], *exchanges(30, start=100)]
    branched = compressor.compress(fork)
    assert branched.changed
    assert lost(compressor, branched.messages, fork) == []
    assert compressor.compress(view).messages == view
    summary = next(message for message in branched.messages if is_summary(message))
    assert "#W10010" not in summary.text, "the fork's summary says nothing of the other branch"


def test_an_orphan_result_at_a_later_step_does_not_make_the_view_forget_what_was_compressed() -> None:
    """An orphan's checkpoint covers the orphan alone; a whole list sent again still stands on the summary."""
    messages = exchanges(30)
    model = ScriptedChatModel("the talk goes well")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(LIMIT))
    first = compressor.compress(messages)
    assert first.changed
    with_orphan = [*messages, ToolMessage("nobody asked", tool_call_id="gone", id="orphan")]
    second = compressor.compress(with_orphan)
    third = compressor.compress(with_orphan)
    assert [m.id for m in third.messages] == [m.id for m in second.messages] == [m.id for m in first.messages]
    assert model.calls == 1


def test_a_summary_is_restored_where_it_stood_though_what_stood_before_it_is_gone_too() -> None:
    """The prefix was dropped after the summary was made: not the first gone, but the first summarised is its place."""
    rule = SystemMessage("From here on in French.", id="rule")
    messages = [*exchanges(1, words=300), rule, *exchanges(40, start=1)]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900))
    view = compressor.compress(messages).messages
    assert "human-0" not in [message.id for message in view]
    assert view[0] == rule
    assert is_summary(view[1])
    again = compressor.compress(messages)
    assert [message.id for message in again.messages] == [message.id for message in view]


def test_what_stands_twice_and_stays_once_has_not_left() -> None:
    messages = exchanges(30)
    messages.insert(-4, messages[9].model_copy(deep=True))
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT + 300))
    first = compressor.compress(messages)
    assert first.changed
    assert [message.id for message in first.messages].count("ai-4") == 1
    second = compressor.compress(first.messages)
    assert second.messages == first.messages


def test_messages_that_were_cut_and_then_dropped_are_dropped_again() -> None:
    """What the emergency cut and then had to drop as well is known by its original."""
    messages = agent_run(6, words=900)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(300), strategy="emergency")
    first = compressor.compress(messages)
    again = compressor.compress(messages)
    assert [m.id for m in again.messages] == [m.id for m in first.messages]
    assert [m.content for m in again.messages] == [m.content for m in first.messages]
    assert over(again.messages, messages, 300) == []


def test_ids_of_messages_without_one_are_the_same_after_a_reload() -> None:
    messages = exchanges(30, ids=False)
    one = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), session_id="s").compress(messages)
    two = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), session_id="s").compress(exchanges(30, ids=False))
    assert [m.id for m in one.messages] == [m.id for m in two.messages]
    assert all(message.id for message in one.messages)
    assert [message.id for message in messages] == [None] * 60, "the input is not changed"
