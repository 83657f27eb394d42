"""Which calls a message makes, and which call a result answers."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, ChatMessage, FunctionMessage, HumanMessage

from langchain_ctxcompress.messages import answer_of, call_name, calls_of
from tests.messages.drawn import ai, call, result

BROKEN = {"name": "look", "args": '{"q": ', "id": "bad", "error": "cut off"}
LEGACY = AIMessage("", additional_kwargs={"function_call": {"name": "lookup", "arguments": "{}"}})


def test_calls_in_order_malformed_ones_too() -> None:
    message = AIMessage("", tool_calls=[call("b"), call("a")], invalid_tool_calls=[BROKEN])
    assert calls_of(message) == [("tool", "b"), ("tool", "a"), ("tool", "bad")]


def test_one_id_called_twice_is_two_calls() -> None:
    assert calls_of(ai("a", "a")) == [("tool", "a"), ("tool", "a")]


@pytest.mark.parametrize("message", [HumanMessage("x"), AIMessage("x"), result("a"), ChatMessage("x", role="ai")])
def test_what_makes_no_call(message: object) -> None:
    assert calls_of(message) == []  # type: ignore[arg-type]


def test_a_call_without_an_id_cannot_be_answered() -> None:
    assert calls_of(AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": None}])) == []


def test_old_function_calls() -> None:
    assert calls_of(LEGACY) == [("function", "lookup")]
    assert answer_of(FunctionMessage("42", name="lookup")) == ("function", "lookup")


@pytest.mark.parametrize("legacy", ["lookup", {}, {"name": ""}, None])
def test_a_function_call_that_names_nothing_is_none(legacy: object) -> None:
    assert calls_of(AIMessage("", additional_kwargs={"function_call": legacy})) == []


def test_tool_calls_go_before_the_old_field() -> None:
    both = AIMessage("", tool_calls=[call("a")], additional_kwargs={"function_call": {"name": "lookup"}})
    assert calls_of(both) == [("tool", "a")]


def test_answers() -> None:
    assert answer_of(result("a")) == ("tool", "a")
    assert answer_of(HumanMessage("x")) is None
    assert answer_of(AIMessage("x")) is None


def test_a_chat_message_in_the_role_of_a_tool_answers_no_call() -> None:
    answer = answer_of(ChatMessage("x", role="tool"))
    assert answer is not None
    assert answer not in calls_of(ai("a", ""))


def test_names_of_calls() -> None:
    message = AIMessage("", tool_calls=[call("a", "first")], invalid_tool_calls=[{**BROKEN, "name": "second"}])
    assert call_name(message, ("tool", "a")) == "first"
    assert call_name(message, ("tool", "bad")) == "second"
    assert call_name(message, ("tool", "unknown")) is None
    assert call_name(HumanMessage("x"), ("tool", "a")) is None
    assert call_name(LEGACY, ("function", "lookup")) == "lookup"
