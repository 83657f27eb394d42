"""What speaks in a message: one of five kinds, whatever class LangChain gives it."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

MessageKind = Literal["system", "human", "ai", "tool", "other"]

_KIND_OF_CLASS: dict[type, MessageKind] = {}
_BASES: tuple[tuple[type[BaseMessage], MessageKind], ...] = (
    (HumanMessage, "human"),
    (AIMessage, "ai"),
    (ToolMessage, "tool"),
    (FunctionMessage, "tool"),
    (SystemMessage, "system"),
)
_KIND_OF_ROLE: dict[str, MessageKind] = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}


def kind_of(message: BaseMessage) -> MessageKind:
    """The kind of a message: `system`, `human`, `ai`, `tool` (function results too) or `other`.

    A `ChatMessage` is judged by its role. The answer for a class is remembered: the question is asked for each message.
    """
    cls = type(message)
    known = _KIND_OF_CLASS.get(cls)
    if known is not None:
        return known
    if isinstance(message, ChatMessage):
        return _KIND_OF_ROLE.get(message.role.lower(), "other")
    kind: MessageKind = next((kind for base, kind in _BASES if isinstance(message, base)), "other")
    _KIND_OF_CLASS[cls] = kind
    return kind
