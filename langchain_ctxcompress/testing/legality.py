"""`check_messages`: whether OpenAI, Anthropic and Gemini would take a list of messages.

    from langchain_ctxcompress.testing import check_messages

    assert check_messages(messages) == []

It is written from the providers' rules and their error messages, and uses nothing that a strategy uses: a strategy that
is wrong about a rule is not checked by the same mistake.

| rule | who demands it |
| --- | --- |
| `result-without-call` | all: a result directly follows the message that asked for it, other results between |
| `call-without-result` | all: each call is answered before anything else is said |
| `answered-twice` | Anthropic, Gemini: one result for each call |
| `call-id-twice` | OpenAI, Anthropic: the calls of one message have ids of their own |
| `open-call` | all, for a list that is sent: no model answers while a call is open |
| `reasoning-cut` | OpenAI: a reasoning item is followed by what it led to. Anthropic: thinking comes with its step |
| `call-after-words` | Gemini: a call directly follows a human message or results, not the model's words |
| `human-first` | Anthropic, Gemini: the conversation begins with the user |
| `system-apart` | Anthropic: all system messages stand together, before the conversation |
| `empty-message` | Anthropic: a message says something; an AI message may hold only calls |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, FunctionMessage, ToolMessage

from langchain_ctxcompress.errors import ConfigError

Provider = Literal["OpenAI", "Anthropic", "Gemini"]

PROVIDERS: tuple[Provider, ...] = ("OpenAI", "Anthropic", "Gemini")
"""Whose rules are known."""

_RULES: dict[str, tuple[Provider, ...]] = {
    "result-without-call": PROVIDERS,
    "call-without-result": PROVIDERS,
    "answered-twice": ("Anthropic", "Gemini"),
    "call-id-twice": ("OpenAI", "Anthropic"),
    "open-call": PROVIDERS,
    "reasoning-cut": ("OpenAI", "Anthropic"),
    "call-after-words": ("Gemini",),
    "human-first": ("Anthropic", "Gemini"),
    "system-apart": ("Anthropic",),
    "empty-message": ("Anthropic",),
}
_ROLES = {"assistant": "ai", "ai": "ai", "user": "human", "human": "human", "system": "system", "developer": "system"}
_REASONING = ("reasoning", "reasoning_content", "thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a list breaks.

    Attributes:
        rule: The rule's name.
        providers: Who demands it.
        index: The place of the message.
        message_id: Its id.
        kind: Its role.
        text: What is wrong with it.
    """

    rule: str
    providers: tuple[Provider, ...]
    index: int
    message_id: str | None
    kind: str
    text: str

    def __str__(self) -> str:
        place = f"message {self.index} ({self.kind}, id={self.message_id!r})"
        return f"{self.rule} ({', '.join(self.providers)}): {place} {self.text}"


def check_messages(
    messages: Sequence[BaseMessage], *, providers: Sequence[str] = PROVIDERS, sent: bool = False
) -> list[str]:
    """Every rule that a list breaks, in order of the messages.

    Args:
        messages: The list.
        providers: Whose rules are asked for; by default all that are known.
        sent: Whether the list is about to be sent. Then no call may be open at its end; in a list that is kept, an open
            call may be an interrupt that is still to be resumed, and reasoning may wait for what it leads to.

    Returns:
        One line for each violation: the rule, who demands it, the message's place, role and id, and what is wrong.
        Empty for a list that all of the providers take.

    Raises:
        ConfigError: A provider is not known.
    """
    if unknown := [name for name in providers if name not in PROVIDERS]:
        msg = f"providers names {', '.join(map(repr, unknown))}; known are: {', '.join(PROVIDERS)}"
        raise ConfigError(msg)
    return [str(found) for found in violations(messages, sent=sent) if not set(found.providers).isdisjoint(providers)]


def violations(messages: Sequence[BaseMessage], *, sent: bool = False) -> list[Violation]:
    """As `check_messages`, as records."""
    found = [
        Violation(rule, _RULES[rule], index, messages[index].id, _role(messages[index]), text)
        for rules in (
            _calls(messages, sent=sent),
            _reasoning(messages, sent=sent),
            _words(messages),
            _conversation(messages),
        )
        for rule, index, text in rules
    ]
    return sorted(found, key=lambda violation: violation.index)


_Found = Iterator[tuple[str, int, str]]


def _calls(messages: Sequence[BaseMessage], *, sent: bool) -> _Found:
    """Each message with calls, and the results right behind it."""
    index = 0
    while index < len(messages):
        asker = index if _result(messages[index]) is None else None
        calls = _call_ids(messages[index])
        for repeated in (call for call, number in Counter(calls).items() if number > 1):
            yield "call-id-twice", index, f"makes more than one call with the id {repeated!r}"
        asked, answered = set(calls), Counter[str]()
        end = index + (asker is not None)
        while end < len(messages) and (answer := _result(messages[end])) is not None:
            answered[answer] += 1
            if answer not in asked:
                yield (
                    "result-without-call",
                    end,
                    f"answers {answer!r}, which the message before the results did not ask",
                )
            elif answered[answer] > 1:
                yield "answered-twice", end, f"answers {answer!r} again"
            end += 1
        if missing := [call for call in dict.fromkeys(calls) if not answered[call]]:
            names = ", ".join(map(repr, missing))
            if end < len(messages):
                yield "call-without-result", index, f"calls {names}, and message {end} ({_role(messages[end])}) follows"
            elif sent:
                yield "open-call", index, f"calls {names}, and the list ends"
        index = end


def _reasoning(messages: Sequence[BaseMessage], *, sent: bool) -> _Found:
    for index, message in enumerate(messages):
        if not _is_only_reasoning(message):
            continue
        if index + 1 == len(messages):
            if sent:
                yield "reasoning-cut", index, "holds nothing but reasoning, and the list ends"
        elif _role(messages[index + 1]) != "ai":
            follows = f"message {index + 1} ({_role(messages[index + 1])}) follows"
            yield "reasoning-cut", index, f"holds nothing but reasoning, and {follows} instead of what it led to"


def _words(messages: Sequence[BaseMessage]) -> _Found:
    """The model's words with a call right behind them; system messages are sent apart from the conversation.

    Gemini: "Please ensure that function call turn comes immediately after a user turn or after a function response
    turn." LangChain's client sends each AI message as a turn of its own. A call that opens the list is `human-first`.
    """
    spoken = [index for index, message in enumerate(messages) if _role(message) != "system"]
    for index, after in pairwise(spoken):
        if _role(messages[index]) == "ai" and not _call_ids(messages[index]) and _call_ids(messages[after]):
            yield "call-after-words", index, f"says something, and message {after} (ai) calls a tool right behind it"


def _conversation(messages: Sequence[BaseMessage]) -> _Found:
    """Who begins, where the system speaks, and whether something is said."""
    first = next((index for index, message in enumerate(messages) if _role(message) != "system"), len(messages))
    if first < len(messages) and _role(messages[first]) in ("ai", "tool"):
        yield "human-first", first, "begins the conversation"
    for index, message in enumerate(messages):
        role = _role(message)
        if role == "system" and index > first:
            yield "system-apart", index, f"stands in the conversation, which began at message {first}"
        last = index == len(messages) - 1
        if role in ("human", "ai") and not (last and role == "ai") and not _says_something(message):
            yield "empty-message", index, "says nothing"


def _role(message: BaseMessage) -> str:
    if isinstance(message, ChatMessage):
        return _ROLES.get(message.role.lower(), message.role.lower())
    role = message.type.removesuffix("MessageChunk").lower()
    return "tool" if role == "function" else role


def _call_ids(message: BaseMessage) -> list[str]:
    """The ids of the calls that are sent: those of the message, else those that only its content holds."""
    if not isinstance(message, AIMessage):
        return []
    ids = [call["id"] for call in (*message.tool_calls, *message.invalid_tool_calls) if call["id"] is not None]
    for block in _blocks(message):
        kind = block.get("type")
        own = block.get("call_id") if kind == "function_call" else block.get("id") if kind == "tool_use" else None
        if own is not None and own not in ids:
            ids.append(own)
    legacy = message.additional_kwargs.get("function_call")
    if not ids and isinstance(legacy, dict):
        ids.append(f"function {legacy.get('name')}")
    return ids


def _result(message: BaseMessage) -> str | None:
    """The call that a message answers; `None` for one that is no result."""
    if isinstance(message, ToolMessage):
        return message.tool_call_id
    if isinstance(message, FunctionMessage):
        return f"function {message.name}"
    return "" if _role(message) == "tool" else None


def _blocks(message: BaseMessage) -> list[dict[str, Any]]:
    content = message.content
    return [] if isinstance(content, str) else [block for block in content if isinstance(block, dict)]


def _is_only_reasoning(message: BaseMessage) -> bool:
    if not isinstance(message, AIMessage) or isinstance(message.content, str) or _call_ids(message):
        return False
    reasoning = [isinstance(block, dict) and block.get("type") in _REASONING for block in message.content]
    said = [
        block
        for block, is_reasoning in zip(message.content, reasoning, strict=True)
        if not is_reasoning and (block if isinstance(block, str) else block.get("text", block) != "")
    ]
    return any(reasoning) and not said


def _says_something(message: BaseMessage) -> bool:
    if _call_ids(message):
        return True
    if isinstance(message.content, str):
        return bool(message.content.strip())
    for block in message.content:
        text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else "a medium"
        if isinstance(text, str) and text.strip():
            return True
    return False
