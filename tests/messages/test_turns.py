"""Turns, as the definition has them, held against a second reading of the same definition."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_ctxcompress.messages import ConversationTurn, newest_human, pin, split_turns
from tests.messages.drawn import ai, message_lists, result, summary
from tests.support.conversations import agent_run, conversations, copied, exchanges
from tests.support.legality import call_ids, is_pin
from tests.support.legality import is_summary as is_a_summary

any_messages = st.one_of(conversations(max_messages=60), message_lists())


def speaker(message: BaseMessage) -> str:
    role = getattr(message, "role", None)
    by_role = {"user": "human", "assistant": "ai", "robot": "other"}
    return by_role[role] if role else message.type


def owners(messages: list[BaseMessage]) -> dict[int, int]:
    """For each result the place of the nearest call before it that still waits for it."""
    waiting: list[tuple[int, str]] = []
    found: dict[int, int] = {}
    for index, message in enumerate(messages):
        waiting += [(index, call_id) for call_id in call_ids(message)]
        if isinstance(message, ToolMessage):
            fitting = [entry for entry in waiting if entry[1] == message.tool_call_id]
            if fitting:
                found[index] = fitting[-1][0]
                waiting.remove(fitting[-1])
    return found


def expected_turns(messages: list[BaseMessage]) -> list[list[int]]:
    """The definition, read backwards: for each message, what before it decides whose turn it is."""
    home: dict[int, int | None] = {}
    owner = owners(messages)
    turns = 0
    for index, message in enumerate(messages):
        if index in owner:
            home[index] = home[owner[index]]
            continue
        before = [place for place in range(index) if place not in owner and home[place] is not None]
        open_turn = home[before[-1]] if before and not is_a_summary(messages[before[-1]]) else None
        heard = [place for place in range(index) if speaker(messages[place]) in {"human", "ai"}]
        kind = speaker(message)
        if is_a_summary(message):
            opens = True
        elif kind == "human":
            previous = messages[index - 1] if index else None
            opens = previous is None or speaker(previous) != "human" or is_a_summary(previous)
        elif kind == "ai":
            opens = bool(heard) and speaker(messages[heard[-1]]) == "ai"
        else:
            opens = False
        if kind == "system" and turns == 0:
            home[index] = None
        elif opens or open_turn is None:
            home[index] = turns
            turns += 1
        else:
            home[index] = open_turn
    return [[index for index, turn in home.items() if turn == number] for number in range(turns)]


def indices(messages: list[BaseMessage]) -> list[list[int]]:
    return [list(turn.indices) for turn in split_turns(messages)]


class TestProperties:
    @settings(max_examples=200)
    @given(any_messages)
    @example([])
    def test_the_turns_are_those_of_the_definition(self, messages: list[BaseMessage]) -> None:
        assert indices(messages) == expected_turns(messages)

    @given(any_messages)
    def test_each_message_is_in_one_turn_but_leading_system_messages_in_none(self, messages: list[BaseMessage]) -> None:
        turns = split_turns(messages)
        inside = sorted(index for turn in turns for index in turn.indices)
        leading = 0
        while leading < len(messages) and isinstance(messages[leading], SystemMessage):
            leading += 1
        assert inside == list(range(leading, len(messages)))
        for number, turn in enumerate(turns):
            assert turn.index == number
            assert [id(m) for m in turn.messages] == [id(messages[i]) for i in turn.indices], "other objects"

    @given(any_messages)
    def test_a_turn_is_pinned_if_any_of_its_messages_is(self, messages: list[BaseMessage]) -> None:
        for turn in split_turns(messages):
            assert turn.pinned is any(is_pin(message) for message in turn.messages)
            assert turn.is_summary is any(is_a_summary(message) for message in turn.messages)
            assert turn.token_count == 0

    @given(conversations(max_messages=40))
    def test_nothing_is_changed_and_the_answer_is_the_same_again(self, messages: list[BaseMessage]) -> None:
        before = copied(messages)
        assert split_turns(messages) == split_turns(messages)
        assert messages == before


class TestExamples:
    def test_human_ai_with_calls_result_ai_is_two_turns(self) -> None:
        assert indices([HumanMessage("q"), ai("a"), result("a"), AIMessage("done")]) == [[0, 1, 2], [3]]

    def test_five_exchanges_are_five_turns(self) -> None:
        assert indices(exchanges(5)) == [[i, i + 1] for i in range(0, 10, 2)]

    def test_five_steps_of_a_long_run_are_five_turns(self) -> None:
        turns = split_turns(agent_run(4))  # and the last answer
        assert [len(turn.messages) for turn in turns] == [3, 2, 2, 2, 1]

    def test_two_questions_in_a_row_are_one_turn(self) -> None:
        assert indices([HumanMessage("a"), HumanMessage("b"), AIMessage("c")]) == [[0, 1, 2]]

    def test_a_leading_ai_message_opens_turn_0(self) -> None:
        assert indices([SystemMessage("s"), AIMessage("welcome"), HumanMessage("q")]) == [[1], [2]]

    def test_leading_system_messages_belong_to_no_turn_and_later_ones_to_the_open_one(self) -> None:
        messages = [SystemMessage("a"), SystemMessage("b"), HumanMessage("q"), SystemMessage("c"), AIMessage("r")]
        assert indices(messages) == [[2, 3, 4]]

    def test_a_system_message_between_two_questions_parts_them(self) -> None:
        assert indices([HumanMessage("a"), SystemMessage("s"), HumanMessage("b")]) == [[0, 1], [2]]

    def test_the_summary_is_a_turn_of_its_own(self) -> None:
        messages = [HumanMessage("task"), summary(), HumanMessage("q"), AIMessage("r")]
        turns = split_turns(messages)
        assert [list(turn.indices) for turn in turns] == [[0], [1], [2, 3]]
        assert [turn.is_summary for turn in turns] == [False, True, False]

    def test_an_ai_message_behind_the_summary_does_not_join_it(self) -> None:
        assert indices([HumanMessage("task"), summary(), ai("a"), result("a")]) == [[0], [1], [2, 3]]

    def test_a_late_result_joins_the_turn_of_its_call(self) -> None:
        messages = [HumanMessage("q"), ai("a"), HumanMessage("hurry"), result("a"), AIMessage("r")]
        assert indices(messages) == [[0, 1, 3], [2, 4]]

    def test_an_id_that_repeats_belongs_to_the_nearest_call(self) -> None:
        messages = [HumanMessage("q"), ai("a"), result("a"), ai("a"), result("a")]
        assert indices(messages) == [[0, 1, 2], [3, 4]]

    def test_a_result_that_nobody_asked_for_joins_the_open_turn(self) -> None:
        assert indices([HumanMessage("q"), result("gone"), AIMessage("r")]) == [[0, 1, 2]]
        assert indices([result("gone"), HumanMessage("q")]) == [[0], [1]]

    def test_old_function_results_join_their_call(self) -> None:
        legacy = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}})
        messages = [HumanMessage("q"), legacy, HumanMessage("hurry"), FunctionMessage("1", name="f")]
        assert indices(messages) == [[0, 1, 3], [2]]

    def test_what_no_one_speaks_in_joins_too(self) -> None:
        assert indices([HumanMessage("q"), RemoveMessage(id="1"), AIMessage("r")]) == [[0, 1, 2]]


class TestConversationTurn:
    def test_a_turn_made_by_hand(self) -> None:
        turn = ConversationTurn([HumanMessage("q")], 3, token_count=7, pinned=True)
        assert (turn.index, turn.indices, turn.token_count, turn.pinned, turn.is_summary) == (3, (), 7, True, False)
        assert ConversationTurn() == ConversationTurn(())
        assert ConversationTurn([pin(HumanMessage("q"))], pinned=False).pinned is False
        assert ConversationTurn([HumanMessage("q")], is_summary=True).is_summary is True

    def test_its_size_is_put_into_a_copy(self) -> None:
        turn = split_turns([HumanMessage("q", id="1"), pin(HumanMessage("r"))])[0]
        sized = turn.with_tokens(12)
        assert (sized.token_count, turn.token_count) == (12, 0)
        assert (sized.messages, sized.indices, sized.pinned) == (turn.messages, turn.indices, True)


class TestNewestHuman:
    @given(any_messages)
    def test_all_after_the_last_ai_message_else_the_last(self, messages: list[BaseMessage]) -> None:
        human = [i for i, m in enumerate(messages) if speaker(m) == "human" and not is_a_summary(m)]
        last_ai = max((i for i, m in enumerate(messages) if speaker(m) == "ai"), default=-1)
        assert newest_human(messages) == ([i for i in human if i > last_ai] or human[-1:])

    def test_examples(self) -> None:
        q, r = HumanMessage("q"), AIMessage("r")
        assert newest_human([]) == []
        assert newest_human([r]) == []
        assert newest_human([q, r]) == [0]
        assert newest_human([q, r, q, SystemMessage("s"), q]) == [2, 4]
        assert newest_human([q, q]) == [0, 1]
        assert newest_human([q, ai("a"), result("a")]) == [0]

    def test_never_a_summary(self) -> None:
        assert newest_human([HumanMessage("q"), AIMessage("r"), summary()]) == [0]
        assert newest_human([summary(), AIMessage("r")]) == []
