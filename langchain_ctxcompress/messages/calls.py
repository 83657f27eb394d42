"""Which calls a message makes, and which call a result answers.

Pairing is by adjacency: a result belongs to the AI message it directly follows (only other results may stand between).
The same call id serves different calls in one conversation, so a map of ids over the whole list would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, ToolMessage

from langchain_ctxcompress.messages.kinds import kind_of

CallKey = tuple[str, str]
"""`("tool", call id)`, or `("function", name)` for OpenAI's old function calls."""


def calls_of(message: BaseMessage) -> list[CallKey]:
    """The calls an AI message makes, in order; malformed ones too, because they are sent and must be answered."""
    if kind_of(message) != "ai" or not isinstance(message, AIMessage):
        return []
    made = [*message.tool_calls, *message.invalid_tool_calls] if message.invalid_tool_calls else message.tool_calls
    calls: list[CallKey] = []
    for call in made:  # a comprehension takes twice as long for one call, and most messages make one or none
        if call_id := call["id"]:
            calls.append(("tool", call_id))  # noqa: PERF401
    if not calls and message.additional_kwargs:
        legacy = message.additional_kwargs.get("function_call")
        if isinstance(legacy, dict) and legacy.get("name"):
            calls.append(("function", str(legacy["name"])))
    return calls


def open_calls(calls: Iterable[CallKey]) -> dict[CallKey, int]:
    """How often each call still waits for a result; those that `take` found are gone from it."""
    waiting: dict[CallKey, int] = {}
    for key in calls:
        waiting[key] = waiting.get(key, 0) + 1
    return waiting


def take(waiting: dict[CallKey, int], answer: CallKey) -> bool:
    """Whether a result answers one of the calls that wait; that one waits no more."""
    often = waiting.get(answer, 0)
    if often > 1:
        waiting[answer] = often - 1
    elif often:
        del waiting[answer]
    return often > 0


def answer_of(message: BaseMessage) -> CallKey | None:
    """The call that a result answers; `None` for a message that is no result."""
    if kind_of(message) != "tool":
        return None
    if isinstance(message, ToolMessage):
        return ("tool", message.tool_call_id)
    if isinstance(message, FunctionMessage):
        return ("function", message.name)
    return ("tool", "")  # a ChatMessage with the role of a tool: it names no call, so it can answer none


def call_name(message: BaseMessage, key: CallKey) -> str | None:
    """The name of the tool that was called, or `None` where the call does not say."""
    if key[0] == "function":
        return key[1]
    if isinstance(message, AIMessage):
        for call in (*message.tool_calls, *message.invalid_tool_calls):
            if call.get("id") == key[1]:
                return call.get("name")
    return None
