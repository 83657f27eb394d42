"""The pruning triggers and the choice of candidates (requirements T1 to T6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress.limits import (
    ContextWindow,
    PrunerConfig,
    PruneUrgency,
    classify_prune_urgency,
    select_turns_for_summarization,
    should_trigger_hard_prune,
    should_trigger_soft_prune,
)
from langchain_ctxcompress.messages import ConversationTurn, pin
from langchain_ctxcompress.tokens import MessageCounter
from tests.messages.drawn import message_lists, summary
from tests.support.conversations import agent_run, conversations, copied, exchanges
from tests.support.legality import is_pin
from tests.support.legality import is_summary as is_a_summary

DEFAULTS = PrunerConfig()
COUNT = MessageCounter()


def window_of(messages: list[BaseMessage]) -> ContextWindow:
    return ContextWindow.of(messages, COUNT)


def selected(messages: list[BaseMessage], config: PrunerConfig = DEFAULTS) -> list[tuple[int, ...]]:
    return [turn.indices for turn in select_turns_for_summarization(window_of(messages), config)]


@pytest.mark.parametrize(
    ("tokens", "soft", "hard", "urgency"),
    [
        (0, False, False, "none"),
        (499_999, False, False, "none"),
        (500_000, True, False, "soft"),
        (799_999, True, False, "soft"),
        (800_000, True, True, "hard"),
        (1_000_000, True, True, "hard"),
    ],
)
class TestT4:
    def test_t1_soft(self, tokens: int, soft: bool, hard: bool, urgency: str) -> None:
        assert should_trigger_soft_prune(ContextWindow((), tokens), DEFAULTS) is soft

    def test_t2_hard(self, tokens: int, soft: bool, hard: bool, urgency: str) -> None:
        assert should_trigger_hard_prune(ContextWindow((), tokens), DEFAULTS) is hard

    def test_t3_urgency(self, tokens: int, soft: bool, hard: bool, urgency: str) -> None:
        found = classify_prune_urgency(ContextWindow((), tokens), DEFAULTS)
        assert found is PruneUrgency(urgency)
        assert found == urgency


@given(st.integers(0, 10**7), st.integers(1, 10**6), st.integers(1, 10**6))
def test_t1_to_t3_at_any_limits(tokens: int, soft: int, above: int) -> None:
    config = PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=soft + above)
    window = ContextWindow((), tokens)
    assert should_trigger_soft_prune(window, config) is (tokens >= soft)
    assert should_trigger_hard_prune(window, config) is (tokens >= soft + above)
    expected = "hard" if tokens >= soft + above else "soft" if tokens >= soft else "none"
    assert classify_prune_urgency(window, config) == expected


def newest_human_indices(messages: list[BaseMessage]) -> set[int]:
    """The newest human messages, found from the front."""
    found: set[int] = set()
    answered = False
    for index, message in enumerate(messages):
        human = message.type == "human" or getattr(message, "role", "") == "user"
        if message.type == "ai":
            found = {max(found)} if found else found
            answered = True
        elif human and not is_a_summary(message):
            found = {index} if answered else found | {index}
            answered = False
    return found


class TestT5:
    @settings(max_examples=150)
    @given(
        st.one_of(conversations(max_messages=60), message_lists(max_size=40)),
        st.integers(0, 3),
        st.integers(0, 6),
        st.integers(1, 4),
    )
    def test_the_middle_turns_and_no_others(
        self, messages: list[BaseMessage], prefix: int, recent: int, least: int
    ) -> None:
        config = PrunerConfig(pinned_prefix_turns=prefix, recent_turns=recent, min_candidate_turns=least)
        window = window_of(messages)
        newest = newest_human_indices(messages)
        turns = [turn for turn in window.turns if not any(is_a_summary(m) for m in turn.messages)]
        left_out = {turn.index for turn in [*turns[:prefix], *(turns[-recent:] if recent else [])]}
        expected = [
            turn
            for turn in turns
            if turn.index not in left_out
            and not any(is_pin(message) for message in turn.messages)
            and not newest & set(turn.indices)
        ]
        got = select_turns_for_summarization(window, config)
        assert got == (expected if len(expected) >= least else [])

    def test_of_ten_exchanges_the_first_and_the_last_five_stay(self) -> None:
        assert selected(exchanges(10)) == [(2, 3), (4, 5), (6, 7), (8, 9)]

    def test_fewer_than_three_candidates_are_none(self) -> None:
        assert selected(exchanges(9)) == [(2, 3), (4, 5), (6, 7)]
        assert selected(exchanges(8)) == []
        assert selected([]) == []

    def test_pinned_turns_stay(self) -> None:
        messages = exchanges(11)
        messages[5] = pin(messages[5])
        assert selected(messages) == [(2, 3), (6, 7), (8, 9), (10, 11)]

    def test_the_turn_of_the_newest_human_message_stays_however_far_back(self) -> None:
        messages = [*exchanges(3), *agent_run(20, start=1)]
        candidates = selected(messages)
        assert candidates[:2] == [(2, 3), (4, 5)]
        assert candidates[2] == (9, 10), "the turn of the task that is worked on was chosen"

    def test_the_summary_counts_neither_as_prefix_nor_as_recent_and_is_no_candidate(self) -> None:
        turns = exchanges(10)
        messages = [*turns[:2], summary(), *turns[2:]]
        assert selected(messages) == [(3, 4), (5, 6), (7, 8), (9, 10)]
        assert selected([summary(), *turns]) == [(3, 4), (5, 6), (7, 8), (9, 10)]

    def test_turns_made_by_hand(self) -> None:
        turns = [ConversationTurn([HumanMessage("q"), AIMessage("r")], n, pinned=n == 4) for n in range(10)]
        chosen = select_turns_for_summarization(ContextWindow(turns, 10**6), DEFAULTS)
        assert [turn.index for turn in chosen] == [1, 2, 3]

    def test_nothing_protected(self) -> None:
        config = PrunerConfig(pinned_prefix_turns=0, recent_turns=0, min_candidate_turns=1)
        assert selected(exchanges(3), config) == [(0, 1), (2, 3)]  # the third holds the newest human message


class TestT6:
    @settings(max_examples=60)
    @given(conversations(max_messages=60))
    def test_nothing_is_changed_and_the_same_input_gives_the_same_output(self, messages: list[BaseMessage]) -> None:
        window, config = window_of(messages), PrunerConfig(pinned_prefix_turns=0, recent_turns=1)
        before, dumped, turns = copied(messages), config.model_dump(), list(window.turns)
        first = select_turns_for_summarization(window, config)
        urgency = classify_prune_urgency(window, config)
        assert select_turns_for_summarization(window, config) == first
        assert classify_prune_urgency(window, config) is urgency
        assert messages == before
        assert config.model_dump() == dumped
        assert list(window.turns) == turns
        first.clear()
        assert list(window.turns) == turns, "the answer is the window's own list"
