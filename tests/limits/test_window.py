"""`ContextWindow`: turns with their sizes, and what is sent besides them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress.limits import ContextWindow
from langchain_ctxcompress.messages import ConversationTurn, split_turns
from langchain_ctxcompress.tokens import MessageCounter, count_message
from tests.support.conversations import conversations


class TestTotals:
    @given(st.lists(st.integers(0, 10**6), max_size=20), st.integers(0, 10**6))
    def test_unless_given_the_turns_and_the_overhead(self, sizes: list[int], overhead: int) -> None:
        turns = [ConversationTurn((), place, token_count=size) for place, size in enumerate(sizes)]
        window = ContextWindow(iter(turns), overhead_tokens=overhead)
        assert window.turns == tuple(turns)
        assert window.total_token_estimate == sum(sizes) + overhead
        assert window.overhead_tokens == overhead

    def test_given(self) -> None:
        window = ContextWindow([ConversationTurn(token_count=7)], 500_000)
        assert window.total_token_estimate == 500_000
        assert ContextWindow([], 0, overhead_tokens=9).total_token_estimate == 0

    def test_empty(self) -> None:
        assert (ContextWindow().turns, ContextWindow().total_token_estimate) == ((), 0)

    def test_it_cannot_be_changed(self) -> None:
        with pytest.raises(FrozenInstanceError):
            ContextWindow().total_token_estimate = 1  # type: ignore[misc]


class TestOfAList:
    @settings(max_examples=60)
    @given(conversations(max_messages=60), st.integers(0, 10_000))
    def test_nothing_is_counted_twice_or_left_out(self, messages: list[BaseMessage], overhead: int) -> None:
        window = ContextWindow.of(messages, MessageCounter(), overhead_tokens=overhead)
        sizes = [count_message(message) for message in messages]
        assert window.total_token_estimate == sum(sizes) + overhead
        for turn in window.turns:
            assert turn.token_count == sum(sizes[index] for index in turn.indices)
        assert [turn.messages for turn in window.turns] == [turn.messages for turn in split_turns(messages)]

    def test_leading_system_messages_are_overhead(self) -> None:
        messages = [SystemMessage("s"), HumanMessage("q"), AIMessage("r"), SystemMessage("later")]
        window = ContextWindow.of(messages, lambda listed: [10 ** (place + 1) for place in range(len(listed))])
        assert window.overhead_tokens == 10
        assert [turn.token_count for turn in window.turns] == [11_100]
        assert window.total_token_estimate == 11_110

    def test_the_list_is_counted_in_one_call(self) -> None:
        calls: list[int] = []

        def count(messages: object) -> list[int]:
            calls.append(len(messages))  # type: ignore[arg-type]
            return [1] * len(messages)  # type: ignore[arg-type]

        ContextWindow.of([HumanMessage("q"), AIMessage("r"), HumanMessage("q")], count)
        assert calls == [3]

    def test_an_empty_list(self) -> None:
        assert ContextWindow.of([], MessageCounter(), overhead_tokens=5).total_token_estimate == 5
