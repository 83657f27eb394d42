"""The legal cuts: one test for each rule, and every cut judged by the independent checker."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress.messages import Boundaries, dividers, is_only_reasoning, repair_messages
from langchain_ctxcompress.messages.boundaries import (
    call_and_results_together,
    reasoning_with_its_step,
    tool_result_never_first,
)
from tests.messages.drawn import REASONING, ai, call, message_lists, result, summary, thought
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import divided, is_reasoning_only, violations

repaired = st.one_of(conversations(max_messages=60), message_lists(without=("summary",))).map(
    lambda messages: repair_messages(messages).messages
)


def cuts(messages: list[BaseMessage]) -> set[int]:
    return set(Boundaries(messages).legal_cuts)


def without_empty_text(message: BaseMessage) -> BaseMessage:
    """The message as a provider reads it: an empty text block says nothing."""
    if isinstance(message.content, str):
        return message
    said = [block for block in message.content if block not in ("", {"type": "text", "text": ""})]
    return message.model_copy(update={"content": said})


class TestLegalCuts:
    @settings(max_examples=120)
    @given(repaired)
    def test_cut_at_a_legal_place_both_halves_are_legal(self, messages: list[BaseMessage]) -> None:
        for cut in Boundaries(messages).legal_cuts:
            front, back = messages[:cut], messages[cut:]
            # A call may be open at the very end of the list, and at no cut inside it.
            assert violations(front, open_end=cut == len(messages)) == []
            assert violations(back) == []
            if front and back and isinstance(back[0], AIMessage):
                assert not is_reasoning_only(front[-1]), f"cut {cut} parts reasoning from its step"

    @settings(max_examples=120)
    @given(repaired)
    def test_no_cut_is_forbidden_without_need(self, messages: list[BaseMessage]) -> None:
        for cut in set(range(len(messages) + 1)) - Boundaries(messages).legal_cuts:
            after = messages[cut]
            before = without_empty_text(messages[cut - 1])
            assert isinstance(after, ToolMessage) or (isinstance(after, AIMessage) and is_reasoning_only(before))

    @given(repaired, st.data())
    def test_whatever_whole_spans_are_left_the_list_is_legal(
        self, messages: list[BaseMessage], data: st.DataObject
    ) -> None:
        boundaries = Boundaries(messages)
        kept = [span for span in boundaries.spans if data.draw(st.booleans())]
        # An open call at the end of the list stays at the end: nothing follows the last span.
        assert violations([messages[i] for start, end in kept for i in range(start, end)]) == []

    @given(repaired)
    def test_the_ends_are_always_legal(self, messages: list[BaseMessage]) -> None:
        boundaries = Boundaries(messages)
        assert boundaries.is_legal(0)
        assert boundaries.is_legal(len(messages))
        assert not boundaries.is_legal(-1)
        assert not boundaries.is_legal(len(messages) + 1)

    def test_even_in_a_broken_list_the_ends_are_legal(self) -> None:
        assert cuts([result("gone"), result("gone")]) == {0, 2}

    def test_no_messages(self) -> None:
        boundaries = Boundaries([])
        assert boundaries.legal_cuts == {0}
        assert boundaries.spans == ()
        assert boundaries.span_of == ()

    def test_a_chat_may_be_cut_anywhere(self) -> None:
        assert cuts(exchanges(3)) == set(range(7))

    def test_a_run_may_be_cut_before_each_step(self) -> None:
        assert cuts(agent_run(3, parallel=2, reuse_calls=True)) == {0, 1, 4, 7, 10, 11}

    def test_rules_can_be_chosen(self) -> None:
        messages = [HumanMessage("q"), thought(), AIMessage("r")]
        assert cuts(messages) == {0, 1, 3}
        assert Boundaries(messages, rules=()).legal_cuts == {0, 1, 2, 3}


class TestCallAndResultsTogether:
    def forbidden(self, *messages: BaseMessage) -> list[int]:
        return list(call_and_results_together(messages))

    def test_a_call_and_its_result(self) -> None:
        assert self.forbidden(HumanMessage("q"), ai("a"), result("a"), AIMessage("r")) == [2]

    def test_a_batch_whose_results_come_out_of_order(self) -> None:
        assert self.forbidden(ai("a", "b", "c"), result("c"), result("a"), result("b"), HumanMessage("q")) == [1, 2, 3]

    def test_ids_that_repeat_in_later_turns(self) -> None:
        assert self.forbidden(ai("a"), result("a"), ai("a"), result("a")) == [1, 3]

    def test_one_id_twice_in_one_batch(self) -> None:
        assert self.forbidden(ai("a", "a"), result("a"), result("a")) == [1, 2]

    def test_no_cut_in_an_open_call(self) -> None:
        assert self.forbidden(ai("a", "b"), result("b")) == [1]

    def test_a_result_that_answers_no_call_ties_nothing(self) -> None:
        assert self.forbidden(ai("a"), HumanMessage("q"), result("a"), result("b")) == []

    def test_a_result_given_again_ties_nothing(self) -> None:
        assert self.forbidden(ai("a"), result("a"), result("a")) == [1]

    def test_old_function_calls(self) -> None:
        legacy = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}})
        assert self.forbidden(legacy, FunctionMessage("1", name="f")) == [1]

    def test_a_malformed_call_is_sent_and_answered_too(self) -> None:
        broken = {"name": "look", "args": "{", "id": "a", "error": None}
        assert self.forbidden(AIMessage("", invalid_tool_calls=[broken]), result("a")) == [1]


class TestToolResultNeverFirst:
    def test_no_cut_stands_before_a_result(self) -> None:
        messages = [result("gone"), HumanMessage("q"), result("gone"), FunctionMessage("1", name="f")]
        assert list(tool_result_never_first(messages)) == [0, 2, 3]


class TestReasoningWithItsStep:
    def forbidden(self, *messages: BaseMessage) -> list[int]:
        return list(reasoning_with_its_step(messages))

    def test_reasoning_stays_with_the_ai_message_after_it(self) -> None:
        assert self.forbidden(HumanMessage("q"), thought(), AIMessage("r")) == [2]

    def test_a_chain_of_reasoning_stays_whole(self) -> None:
        assert self.forbidden(thought(), thought(), ai("a"), result("a")) == [1, 2]

    def test_reasoning_that_led_to_nothing_ties_nothing(self) -> None:
        assert self.forbidden(thought(), HumanMessage("q"), thought(), SystemMessage("s"), thought()) == []

    def test_a_summary_is_no_step(self) -> None:
        assert self.forbidden(thought(), summary(), AIMessage("r")) == []

    def test_what_is_only_reasoning(self) -> None:
        assert is_only_reasoning(thought())
        assert is_only_reasoning(AIMessage([REASONING, {"type": "text", "text": ""}]))
        assert is_only_reasoning(AIMessage([{"type": "redacted_thinking", "data": "x"}]))
        assert is_only_reasoning(AIMessage([{"type": "reasoning_content", "reasoning_content": {"text": "hm"}}]))

    def test_what_is_more_than_reasoning(self) -> None:
        assert not is_only_reasoning(AIMessage([REASONING, {"type": "text", "text": "so"}]))
        assert not is_only_reasoning(AIMessage([REASONING, "so"]))
        assert not is_only_reasoning(AIMessage([REASONING], tool_calls=[call("a")]))
        assert not is_only_reasoning(AIMessage([REASONING, {"type": "image", "url": "x"}]))

    def test_what_is_no_reasoning(self) -> None:
        assert not is_only_reasoning(AIMessage(""))
        assert not is_only_reasoning(AIMessage([]))
        assert not is_only_reasoning(AIMessage([{"type": "text", "text": ""}]))


class TestSpans:
    @given(repaired)
    def test_spans_lie_end_to_end_between_the_cuts(self, messages: list[BaseMessage]) -> None:
        boundaries = Boundaries(messages)
        assert {0, *(end for _, end in boundaries.spans)} == boundaries.legal_cuts
        assert [start for start, _ in boundaries.spans] == [0, *(end for _, end in boundaries.spans)][:-1]
        for index, number in enumerate(boundaries.span_of):
            start, end = boundaries.spans[number]
            assert start <= index < end
        assert len(boundaries.span_of) == len(messages)

    @given(repaired, st.sets(st.integers(0, 59)))
    def test_close_is_the_smallest_and_within_the_largest(self, messages: list[BaseMessage], drawn: set[int]) -> None:
        wanted = {index for index in drawn if index < len(messages)}
        boundaries = Boundaries(messages)
        spans = [set(range(start, end)) for start, end in boundaries.spans]
        assert boundaries.close(wanted) == set().union(*(span for span in spans if span & wanted))
        assert boundaries.within(wanted) == set().union(*(span for span in spans if span <= wanted))

    def test_example(self) -> None:
        boundaries = Boundaries([HumanMessage("q"), ai("a"), result("a"), AIMessage("r")])
        assert boundaries.spans == ((0, 1), (1, 3), (3, 4))
        assert boundaries.close({2}) == {1, 2}
        assert boundaries.within({0, 2, 3}) == {0, 3}
        assert boundaries.close(set()) == boundaries.within(set()) == set()


class TestDividers:
    """Gemini: a call directly follows a human message or results."""

    @settings(max_examples=150)
    @given(conversations(max_messages=60, ids="all", duplicate_ids=False, broken=False), st.data())
    def test_with_them_no_call_follows_words_that_a_human_message_parted(
        self, messages: list[BaseMessage], data: st.DataObject
    ) -> None:
        spans = Boundaries(messages).spans
        numbers = data.draw(st.sets(st.integers(0, len(spans) - 1)))
        kept = {place for number in numbers for place in range(*spans[number])}
        needed = dividers(messages, kept)
        left = [messages[place] for place in sorted(kept | needed)]
        assert all(isinstance(messages[place], HumanMessage) for place in needed)
        assert needed.isdisjoint(kept)
        rule = "call-after-words"
        assert not [line for line in violations(left, original=messages) if line.startswith(rule)]
        for place in needed:
            fewer = [message for message in left if message is not messages[place]]
            assert [line for line in violations(fewer, original=messages) if line.startswith(rule)], (
                "no more than needed"
            )

    def test_what_will_stand_in_a_gap_parts_as_well(self) -> None:
        messages = [*exchanges(3), *agent_run(2)]
        kept = {0, 1, *range(9, len(messages))}
        assert divided([messages[place] for place in sorted(kept)]) == [(1, [], 2)]
        assert dividers(messages, kept) == {6}, "the newest question in front of the call"
        assert dividers(messages, kept, 2) == set()
        assert dividers(messages, {*kept, 5}, 2) == {6}
