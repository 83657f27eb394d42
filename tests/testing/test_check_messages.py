"""`check_messages`: each rule by itself, and agreement with the tests' own checker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_ctxcompress import ConfigError
from langchain_ctxcompress.messages import repair_messages
from langchain_ctxcompress.testing import check_messages
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import violations

Q = HumanMessage("Find it.", id="q")
SAID = AIMessage("Here.", id="said")


def calls(*ids: str, content: Any = "", name: str = "m") -> AIMessage:
    return AIMessage(content, tool_calls=[{"name": "look", "args": {}, "id": call} for call in ids], id=name)


def result(call: str, name: str = "r") -> ToolMessage:
    return ToolMessage("found", tool_call_id=call, id=name)


def rules(messages: Sequence[BaseMessage], **options: Any) -> list[str]:
    return [line.split(" ")[0] for line in check_messages(messages, **options)]


LEGAL: dict[str, list[BaseMessage]] = {
    "nothing": [],
    "a chat": exchanges(3),
    "a run": agent_run(5, parallel=3),
    "results in another order": [Q, calls("a", "b"), result("b"), result("a"), SAID],
    "an open end": [Q, calls("a", "b"), result("a")],
    "ids used again": [Q, calls("a"), result("a"), calls("a"), result("a"), SAID],
    "systems in front": [SystemMessage("a"), SystemMessage("b"), Q, SAID],
    "humans in a row": [Q, Q, SAID],
    "an empty answer at the end": [Q, AIMessage("")],
    "a picture alone": [HumanMessage([{"type": "image", "base64": "xx", "mime_type": "image/png"}]), SAID],
    "words with their call": [Q, calls("a", content="I look."), result("a"), calls("b"), result("b"), SAID],
    "a call behind a system message": [SystemMessage("s"), Q, calls("a"), result("a")],
    "an old function call": [
        Q,
        AIMessage("", additional_kwargs={"function_call": {"name": "look", "arguments": "{}"}}),
        FunctionMessage(name="look", content="found"),
        SAID,
    ],
    "a malformed call with its result": [
        Q,
        AIMessage("", invalid_tool_calls=[{"name": "look", "args": "{", "id": "a", "error": ""}]),
        result("a"),
    ],
    "roles by name": [ChatMessage("developer", role="developer"), ChatMessage("hello", role="user"), SAID],
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_all_providers_take_has_no_violation(name: str) -> None:
    assert check_messages(LEGAL[name]) == []


THINKING = [{"type": "thinking", "thinking": "hm", "signature": "x"}]
BROKEN: dict[str, tuple[list[BaseMessage], str, int, str]] = {
    "an orphan": ([Q, SAID, result("a"), Q], "result-without-call", 2, "r"),
    "a result first": ([result("a"), Q], "result-without-call", 0, "r"),
    "the result of another step": ([Q, calls("a"), result("a"), SAID, result("a")], "result-without-call", 4, "r"),
    "a result of nobody": ([Q, SAID, ChatMessage("x", role="tool", id="r")], "result-without-call", 2, "r"),
    "half a batch": ([Q, calls("a", "b"), result("a"), SAID], "call-without-result", 1, "m"),
    "a message between": ([Q, calls("a"), Q, result("a")], "call-without-result", 1, "m"),
    "a call only in the content": (
        [Q, AIMessage([{"type": "tool_use", "id": "a", "name": "look", "input": {}}], id="m"), Q],
        "call-without-result",
        1,
        "m",
    ),
    "an item only in the content": (
        [Q, AIMessage([{"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}], id="m"), Q],
        "call-without-result",
        1,
        "m",
    ),
    "a malformed call": (
        [Q, AIMessage("", invalid_tool_calls=[{"name": "l", "args": "{", "id": "a", "error": ""}], id="m"), Q],
        "call-without-result",
        1,
        "m",
    ),
    "another function": (
        [
            Q,
            AIMessage("", additional_kwargs={"function_call": {"name": "look", "arguments": "{}"}}, id="m"),
            FunctionMessage(name="other", content="x", id="r"),
            SAID,
        ],
        "result-without-call",
        2,
        "r",
    ),
    "answered again": ([Q, calls("a"), result("a"), result("a", "r2"), SAID], "answered-twice", 3, "r2"),
    "one id for two calls": ([Q, calls("a", "a"), result("a"), SAID], "call-id-twice", 1, "m"),
    "reasoning alone": ([Q, AIMessage(THINKING, id="m"), Q], "reasoning-cut", 1, "m"),
    "a call behind words": ([Q, SAID, calls("a"), result("a")], "call-after-words", 1, "said"),
    "a call behind words and a rule": (
        [Q, SAID, SystemMessage("s"), calls("a"), result("a")],
        "call-after-words",
        1,
        "said",
    ),
    "a call behind reasoning of its own": (
        [Q, AIMessage([{"type": "reasoning", "id": "rs"}], id="x"), calls("a"), result("a")],
        "call-after-words",
        1,
        "x",
    ),
    "the model first": ([SystemMessage("s"), SAID, Q], "human-first", 1, "said"),
    "a system in the middle": ([Q, SAID, SystemMessage("s", id="sys"), Q], "system-apart", 2, "sys"),
    "an empty question": ([HumanMessage(" \n", id="m"), SAID], "empty-message", 0, "m"),
    "empty blocks": ([Q, AIMessage([{"type": "text", "text": ""}], id="m"), Q], "empty-message", 1, "m"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_named_with_place_and_id(name: str) -> None:
    messages, rule, index, message_id = BROKEN[name]
    found = [line for line in check_messages(messages) if line.startswith(f"{rule} (")]
    assert len(found) == 1
    assert f"message {index} (" in found[0]
    assert f"id={message_id!r})" in found[0]


@pytest.mark.parametrize(
    ("messages", "rule"),
    [([Q, calls("a")], "open-call"), ([Q, AIMessage(THINKING, id="m")], "reasoning-cut")],
)
def test_what_may_be_open_in_a_kept_list_may_not_in_one_that_is_sent(messages: list[BaseMessage], rule: str) -> None:
    assert check_messages(messages) == []
    assert rules(messages, sent=True) == [rule]


def test_a_line_says_who_demands_it() -> None:
    assert check_messages([Q, calls("a"), Q]) == [
        "call-without-result (OpenAI, Anthropic, Gemini): message 1 (ai, id='m')"
        " calls 'a', and message 2 (human) follows"
    ]
    assert check_messages([SAID, Q]) == [
        "human-first (Anthropic, Gemini): message 0 (ai, id='said') begins the conversation"
    ]


def test_one_provider_can_be_asked_for() -> None:
    messages = [SAID, Q, SystemMessage("s"), calls("a"), Q]
    assert rules(messages, providers=["OpenAI"]) == ["call-without-result"]
    assert rules(messages, providers=["Gemini"]) == ["human-first", "call-without-result"]
    assert rules(messages, providers=["Anthropic"]) == ["human-first", "system-apart", "call-without-result"]


@pytest.mark.parametrize("provider", ["OpenAI", "Anthropic"])
def test_only_gemini_minds_a_call_behind_words(provider: str) -> None:
    """OpenAI's own lists hold a reasoning item in front of its call."""
    messages = [Q, AIMessage([{"type": "reasoning", "id": "rs"}], id="x"), calls("a"), result("a"), SAID, calls("b")]
    assert rules(messages, providers=[provider]) == []
    assert rules(messages, providers=["Gemini"]) == ["call-after-words", "call-after-words"]


def test_an_unknown_provider_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="'openai'; known are: OpenAI, Anthropic, Gemini"):
        check_messages([Q], providers=["openai"])


CALL_RULES = ("result-without-call", "call-without-result", "answered-twice", "open-call")


@given(conversations(max_messages=120))
def test_it_agrees_with_the_tests_own_checker_about_calls(messages: list[BaseMessage]) -> None:
    theirs = {line.split(":")[0] for line in violations(messages, open_end=False)} - {"tool-first"}
    mine = {rule for rule in rules(messages, sent=True) if rule in CALL_RULES}
    assert ("orphan-result" in theirs) == ("result-without-call" in mine)
    assert ("answered-twice" in theirs) == ("answered-twice" in mine)
    assert ("unanswered-call" in theirs, "open-call" in theirs) == ("call-without-result" in mine, "open-call" in mine)


@given(conversations(max_messages=120))
def test_what_is_repaired_breaks_no_rule_of_calls(messages: list[BaseMessage]) -> None:
    repaired = repair_messages(messages).messages
    assert not {rule for rule in rules(repaired) if rule in CALL_RULES}
