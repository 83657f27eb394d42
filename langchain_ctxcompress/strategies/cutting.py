"""Cutting one message head and tail, at token boundaries, around a marker that names the original."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import ASKED, MARK_KEY, apply_compressed_content, extract_text_content
from langchain_ctxcompress.strategies.tools import Tools

SMALLEST_CUT = 48
"""Tokens of a message that is cut to the least: some words of its head and tail around the marker."""

HEAD_SHARE = 0.6
"""Share of a cut text that is its head; the tail of a tool's output often holds the error."""

SMALLEST_VALUE = 8
"""Tokens of an argument that is cut to the least."""

LONG_ARGUMENT = 200
"""Characters from which on an argument of a tool call may be cut."""


def cut_message(message: BaseMessage, max_tokens: int, tools: Tools, *, asked: bool = False) -> BaseMessage:
    """A message cut head and tail to about `max_tokens`, with a marker that names the original; its id stays.

    Long text arguments of calls are cut as well, since a file written by a tool can be all of a message's size.

    Args:
        message: The message.
        max_tokens: What it may take.
        tools: Counting and cutting.
        asked: Whether it is the newest human message, cut because the user opted in.
    """
    text = extract_text_content(message)
    whole = tools.count([message])[0]
    mark = {"kind": "cut", ASKED: True} if asked else {"kind": "cut"}
    update: dict[str, Any] = {"additional_kwargs": {**message.additional_kwargs, MARK_KEY: mark}}
    room = max_tokens - (whole - tools.count_text(text))
    cut = message
    if text and room < tools.count_text(text):
        cut = apply_compressed_content(message, cut_text(text, max(room, 0), tools, message.id or ""))
    cut = cut.model_copy(update=update)
    if isinstance(cut, AIMessage) and cut.tool_calls and tools.count([cut])[0] > max_tokens:
        return _cut_arguments(cut, max_tokens, tools)
    return cut


def _cut_arguments(message: AIMessage, max_tokens: int, tools: Tools) -> AIMessage:
    """The message with its long arguments cut until it is at most `max_tokens`, or they are cut to the least."""
    update: dict[str, Any] = {}
    if isinstance(message.content, list):  # Anthropic's content says again what the calls say
        update["content"] = [b for b in message.content if not (isinstance(b, dict) and b.get("type") == "tool_use")]
    long = sum(1 for call in message.tool_calls for _ in _long_values(call["args"]))
    each = max(SMALLEST_VALUE, (max_tokens - SMALLEST_CUT) // max(1, long))
    while True:
        calls = [{**call, "args": _cut_value(call["args"], each, tools)} for call in message.tool_calls]
        cut = message.model_copy(update={**update, "tool_calls": calls})
        size = tools.count([cut])[0]
        if size <= max_tokens or each <= SMALLEST_VALUE:
            return cut
        each = max(SMALLEST_VALUE, each * max_tokens // size)  # JSON writes line ends and quotes as two characters


def cut_text(text: str, max_tokens: int, tools: Tools, message_id: str) -> str:
    """The head and the tail of a text around a marker, in about `max_tokens`; at least the marker."""
    marker = f"\n[… {tools.count_text(text)} tokens, cut; the original is message {message_id}]\n"
    room = max_tokens - tools.count_text(marker)
    if room < 8:
        return marker.strip()
    head = tools.truncate(text, int(room * HEAD_SHARE))
    return head + marker + _tail(text[len(head) :], room - int(room * HEAD_SHARE), tools)


def _tail(text: str, max_tokens: int, tools: Tools) -> str:
    """The last tokens of a text: what is left of it without as many tokens from the front as are too many."""
    tail = text
    while (over := tools.count_text(tail) - max_tokens) > 0:
        front = tools.truncate(tail, over)
        tail = tail[max(1, len(front)) :]
    return tail


def _long_values(value: Any) -> Iterator[str]:
    """The long texts in an argument, however deep."""
    if isinstance(value, str) and len(value) > LONG_ARGUMENT:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _long_values(inner)


def _cut_value(value: Any, max_tokens: int, tools: Tools) -> Any:
    if isinstance(value, dict):
        return {key: _cut_value(inner, max_tokens, tools) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cut_value(inner, max_tokens, tools) for inner in value]
    if isinstance(value, str) and len(value) > LONG_ARGUMENT and tools.count_text(value) > max_tokens:
        return tools.truncate(value, max_tokens) + " […]"
    return value
