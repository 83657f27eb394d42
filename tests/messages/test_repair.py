"""Repair of what is broken in the input (law 1), judged by the checker that knows nothing of the package."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, FunctionMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.messages import is_derived, pin, repair_messages
from tests.messages.drawn import ai, message_lists, result
from tests.support.conversations import conversations, copied
from tests.support.legality import call_ids, violations

SUMMARIES = ("summary",)  # two of them are illegal for another reason
any_messages = st.one_of(conversations(max_messages=80), message_lists(without=SUMMARIES))


def same_objects(left: list[BaseMessage], right: list[BaseMessage]) -> bool:
    return [id(message) for message in left] == [id(message) for message in right]


class TestProperties:
    @settings(max_examples=150)
    @given(any_messages)
    def test_the_output_is_legal(self, messages: list[BaseMessage]) -> None:
        assert violations(repair_messages(messages).messages) == []

    @settings(max_examples=150)
    @given(any_messages)
    def test_a_legal_list_comes_back_with_the_same_objects_and_no_other_does(self, messages: list[BaseMessage]) -> None:
        repair = repair_messages(messages)
        legal = not violations(messages)
        assert repair.changed is not legal
        assert same_objects(repair.messages, messages) is legal

    @given(any_messages)
    def test_repaired_twice_is_repaired_once(self, messages: list[BaseMessage]) -> None:
        once = repair_messages(messages).messages
        again = repair_messages(once)
        assert same_objects(again.messages, once)
        assert not again.changed

    @settings(max_examples=150)
    @given(any_messages)
    def test_only_orphans_go_only_errors_come_and_the_order_is_kept(self, messages: list[BaseMessage]) -> None:
        repair = repair_messages(messages)
        gone, new = {id(m) for m in repair.dropped}, {id(m) for m in repair.added}
        assert same_objects(
            [m for m in repair.messages if id(m) not in new], [m for m in messages if id(m) not in gone]
        )
        assert all(isinstance(message, ToolMessage) for message in repair.dropped)
        for message in repair.added:
            assert isinstance(message, ToolMessage)
            assert message.status == "error"
            assert is_derived(message), "an added result would be archived as an original"
            assert message.id is None

    @given(any_messages)
    def test_a_dropped_result_had_no_open_call_before_it(self, messages: list[BaseMessage]) -> None:
        waiting: Counter[str] = Counter()
        orphans = []
        for message in messages:
            if not isinstance(message, ToolMessage):
                waiting = Counter(call_ids(message))
            elif waiting[message.tool_call_id]:
                waiting[message.tool_call_id] -= 1
            else:
                orphans.append(message)
        assert same_objects(list(repair_messages(messages).dropped), orphans)

    @given(conversations(max_messages=60))
    def test_the_input_is_not_changed(self, messages: list[BaseMessage]) -> None:
        before = copied(messages)
        repair_messages(messages)
        assert messages == before


class TestExamples:
    def test_an_orphan_result_is_dropped(self) -> None:
        messages = [HumanMessage("q"), result("gone"), AIMessage("r")]
        repair = repair_messages(messages)
        assert repair.messages == [messages[0], messages[2]]
        assert repair.dropped == (messages[1],)
        assert repair.added == ()

    def test_even_a_pinned_orphan_is_dropped(self) -> None:
        assert repair_messages([pin(result("gone"))]).messages == []

    def test_an_unanswered_call_in_the_middle_gets_an_error(self) -> None:
        messages = [HumanMessage("q"), ai("a", "b"), result("b"), HumanMessage("well?")]
        repair = repair_messages(messages)
        added = repair.messages[3]
        assert repair.messages == [*messages[:3], added, messages[3]]
        assert repair.added == (added,)
        assert isinstance(added, ToolMessage)
        assert (added.tool_call_id, added.name, added.status) == ("a", "look", "error")

    def test_errors_come_in_the_order_of_the_calls(self) -> None:
        repair = repair_messages([ai("b", "a", "b"), HumanMessage("well?")])
        assert [m.tool_call_id for m in repair.added if isinstance(m, ToolMessage)] == ["b", "a", "b"]

    def test_an_open_call_at_the_end_stays_it_may_be_an_interrupt(self) -> None:
        messages = [HumanMessage("q"), ai("a", "b"), result("b")]
        repair = repair_messages(messages)
        assert same_objects(repair.messages, messages)
        assert not repair.changed

    def test_a_result_given_twice_is_dropped_once(self) -> None:
        messages = [ai("a"), result("a", "first"), result("a", "again")]
        assert repair_messages(messages).dropped == (messages[2],)

    def test_one_id_called_twice_takes_two_results(self) -> None:
        assert not repair_messages([ai("a", "a"), result("a"), result("a")]).changed

    def test_a_result_behind_another_message_is_an_orphan(self) -> None:
        messages = [ai("a"), HumanMessage("hurry"), result("a")]
        repair = repair_messages(messages)
        assert [type(m) for m in repair.messages] == [AIMessage, ToolMessage, HumanMessage]
        assert repair.dropped == (messages[2],)

    def test_old_function_calls_are_paired_by_name(self) -> None:
        legacy = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}})
        assert not repair_messages([legacy, FunctionMessage("1", name="f"), HumanMessage("q")]).changed
        repair = repair_messages([legacy, HumanMessage("q"), FunctionMessage("1", name="f")])
        assert [type(m) for m in repair.added] == [FunctionMessage]
        assert repair.added[0].name == "f"
        assert len(repair.dropped) == 1

    def test_a_chat_message_in_the_role_of_a_tool_is_an_orphan(self) -> None:
        messages = [ai("a"), result("a"), ChatMessage("x", role="tool")]
        assert repair_messages(messages).dropped == (messages[2],)

    def test_an_empty_list(self) -> None:
        assert repair_messages([]).messages == []
