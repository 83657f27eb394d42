"""What stands in the place of a cleared tool result or argument: one line that says what was there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from langchain_ctxcompress.messages import MARK_KEY, medium_of
from langchain_ctxcompress.strategies.tools import Tools

LONG_ARGUMENT = 1_000
"""Characters of an argument, as it is sent, from which on it is oversized: some 250 tokens, many times its marker."""

SHORT_VALUE = 40
"""Characters of an argument that a marker shows."""

SHORT_ARGUMENTS = 120
"""Characters of all arguments that a marker shows."""


def result_marker(
    message: BaseMessage, tool: str, args: Mapping[str, Any] | str, size: int, *, again: str | None = None
) -> str:
    """What stands for a tool result: `[cleared: tool(arguments) gave n tokens; recall message id]`.

    Args:
        message: The result.
        tool: The tool's name.
        args: What it was called with.
        size: Size of the result, in tokens.
        again: The later message that says the same.
    """
    gave = " and ".join((f"{size} tokens", *_media(message.content)))
    call = f"{_one_line(tool, SHORT_VALUE) or 'a tool'}({_arguments(args)})"
    same = f", given again in message {_identity(again)}" if again is not None else ""
    return f"[cleared: {call} gave {gave}{same}; recall message {_identity(message.id)}]"


def cleared_result(message: BaseMessage, marker: str) -> BaseMessage:
    """A tool result with a marker for its content.

    Args:
        message: The result.
        marker: What `result_marker` says of it.
    """
    update: dict[str, Any] = {"content": marker, "additional_kwargs": _marked(message)}
    if isinstance(message, ToolMessage):
        update["artifact"] = None  # it may be as large as what it made, and comes back with the original
    return message.model_copy(update=update)


def cleared_call(message: AIMessage, numbers: Collection[int], tools: Tools) -> AIMessage:
    """An AI message with a marker in place of each oversized argument.

    Args:
        message: The message; what it says stays.
        numbers: Which of its calls, from 0, as `calls_of` counts them.
        tools: Counting.
    """

    def marker(text: str) -> str:
        return f"[cleared: {tools.count_text(text)} tokens; recall message {_identity(message.id)}]"

    calls: list[Any] = []
    number = 0
    for call in (*message.tool_calls, *message.invalid_tool_calls):
        own = number if call["id"] else -1
        number += 1 if call["id"] else 0
        calls.append({**call, "args": _cleared_args(call["args"], marker)} if own in numbers else call)
    valid = calls[: len(message.tool_calls)]
    update: dict[str, Any] = {"tool_calls": valid, "invalid_tool_calls": calls[len(valid) :]}
    extra = _marked(message)
    extra.pop("tool_calls", None)  # the same calls as OpenAI wrote them
    legacy = extra.get("function_call")
    if not number and isinstance(legacy, dict) and _is_long(legacy.get("arguments")):
        said = json.dumps({"cleared": marker(legacy["arguments"])}, ensure_ascii=False)
        extra["function_call"] = {**legacy, "arguments": said}
    update["additional_kwargs"] = extra
    if isinstance(message.content, list):
        args = {call["id"]: call["args"] for call in valid if call["id"]}
        update["content"] = [_block(block, args) for block in message.content]
    if isinstance(message, AIMessageChunk):
        update["tool_call_chunks"] = []  # pieces of the same calls
    return message.model_copy(update=update)


def long_arguments(args: Mapping[str, Any] | str) -> bool:
    """Whether one of the arguments is oversized."""
    return _is_long(args) if isinstance(args, str) else any(map(_is_long, args.values()))


def _cleared_args(args: Any, marker: Any) -> Any:
    if isinstance(args, Mapping):
        return {key: marker(_as_text(value)) if _is_long(value) else value for key, value in args.items()}
    return marker(args) if _is_long(args) else args


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > LONG_ARGUMENT
    return isinstance(value, Mapping | list | tuple) and len(_as_text(value)) > LONG_ARGUMENT


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _block(block: Any, args: Mapping[str | None, Any]) -> Any:
    """A content block that says again what a call says, with the call's arguments as they are now."""
    if not isinstance(block, dict):
        return block
    kind = block.get("type")
    identity = block.get("call_id") if kind == "function_call" else block.get("id")
    if identity not in args:
        return block
    if kind == "tool_use":
        return {key: value for key, value in block.items() if key != "partial_json"} | {"input": args[identity]}
    if kind == "function_call":
        return {**block, "arguments": json.dumps(args[identity], ensure_ascii=False)}
    return {**block, "args": args[identity]} if kind == "tool_call" else block


def _media(content: str | list[Any]) -> list[str]:
    """The media in a content by their kind: `[image]`, `2 x [image]`."""
    if isinstance(content, str):
        return []
    blocks = [block for block in content if isinstance(block, dict)]
    kinds = Counter(medium for block in blocks if (medium := medium_of(block)))
    return [f"{number} x [{kind}]" if number > 1 else f"[{kind}]" for kind, number in kinds.items()]


def _arguments(args: Mapping[str, Any] | str) -> str:
    if isinstance(args, str):
        return _one_line(args, SHORT_VALUE)
    shown = ", ".join(f"{_one_line(str(key), SHORT_VALUE)}={_short(value)}" for key, value in [*args.items()][:8])
    return _one_line(shown, SHORT_ARGUMENTS)


def _short(value: Any) -> str:
    """An argument in a few characters; of a nested one only that it is there."""
    if isinstance(value, str):
        return f'"{_one_line(value, SHORT_VALUE)}"'
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    if isinstance(value, int) and value.bit_length() > 4 * SHORT_VALUE:
        return "…"  # Python refuses to write out an integer of some thousands of digits
    return _one_line(json.dumps(value, default=str), SHORT_VALUE)


def _one_line(text: str, most: int) -> str:
    """The front of a text without line breaks."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1].rstrip() + "…"


def _identity(message_id: str | None) -> str:
    """An id as it stands in a line: one with white space in it is quoted, so that it can be read back."""
    own = message_id or ""
    return own if len(own.split()) == 1 and own == own.strip() else json.dumps(own)


def _marked(message: BaseMessage) -> dict[str, Any]:
    return {**message.additional_kwargs, MARK_KEY: {"kind": "cleared"}}
