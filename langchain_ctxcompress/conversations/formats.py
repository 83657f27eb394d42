"""Messages in files: what OpenAI's chat format and LangChain's `messages_to_dict` hold, read and written back.

Reading is strict where a mistake would change the conversation (an unknown role, a result without its call), and
lenient where real recordings are loose (no content, arguments that are no JSON).
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages, message_to_dict
from langchain_core.messages.utils import convert_to_messages, messages_from_dict
from pydantic import ValidationError

from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.messages import answer_of, calls_of, content_hash, is_derived, is_summary, repair_messages

MessageFormat = Literal["openai", "langchain"]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
"""OpenAI's roles."""

LANGCHAIN_ROLES = ("human", "ai")
"""What LangChain takes for a role besides."""

TYPES = ("human", "ai", "system", "tool", "function", "chat")
"""What LangChain's format calls them; a streamed message ends in `MessageChunk`."""

_CHUNKS = frozenset(f"{kind}MessageChunk" for kind in ("AI", "Human", "Function", "Tool", "System", "Chat"))


def format_of(raw: Any) -> MessageFormat | None:
    """The format of one message; `None` for what is no message."""
    if not isinstance(raw, dict):
        return None
    if "role" in raw:
        return "openai"
    return "langchain" if "type" in raw and "data" in raw else None


def read_messages(raw: Sequence[Any]) -> tuple[MessageFormat, list[BaseMessage]]:
    """The messages of one conversation, and their format.

    Args:
        raw: The messages as they stand in the file; an empty list counts as OpenAI's format.

    Returns:
        The format of all of them, and one LangChain message for each.

    Raises:
        InvalidMessagesError: A message cannot be read, or answers a call that is not made; the error names the first
            such message, counted from 1.
    """
    found = format_of(raw[0]) if raw else "openai"
    messages: list[BaseMessage] = []
    for number, one in enumerate(raw, 1):
        try:
            messages.append(_read_one(one, found))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in problem["loc"])
            msg = f"message {number} cannot be read: {where}: {problem['msg']}"
            raise InvalidMessagesError(msg) from error
        except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
            detail = str(error) if isinstance(error, InvalidMessagesError) else f"cannot be read: {_said(error)}"
            msg = f"message {number} {detail}"
            raise InvalidMessagesError(msg) from error
    _refuse_orphans(messages)
    return found or "openai", messages


def written_message(message: BaseMessage, source: Mapping[str, Any] | None, to: MessageFormat) -> dict[str, Any]:
    """A message that a compression changed or made, in a format of files.

    Args:
        message: The message.
        source: What stood in the file in its place, whose other fields stay; `None` for a new message.
        to: The format.
    """
    if to == "langchain":
        return {**(source or {}), **message_to_dict(message)}
    plain: dict[str, Any] = dict(convert_to_openai_messages(message))
    if source is None:
        return plain
    changed = {**source, "content": plain["content"]}
    if isinstance(message, AIMessage) and source.get("tool_calls"):
        changed["tool_calls"] = _calls_with(message, source["tool_calls"])
        if source.get("content") is None and not plain["content"]:
            changed["content"] = None  # a step that says nothing but its calls says so as it did
    return changed


def unchanged(message: BaseMessage, before: BaseMessage) -> bool:
    """Whether a message says what it said; an object that was not touched says so at once."""
    if message is before:
        return True
    return not is_derived(message) and not is_summary(message) and content_hash(message) == content_hash(before)


def _read_one(raw: Any, expected: MessageFormat | None) -> BaseMessage:
    """One message.

    Raises:
        InvalidMessagesError: It is none, or not of the expected format; the text goes behind "message 5".
    """
    own = format_of(raw)
    if own is None:
        said = "has neither `role` and `content` (OpenAI) nor `type` and `data` (LangChain)"
        raise InvalidMessagesError(said if isinstance(raw, dict) else f"is {_kind(raw)}, not an object")
    if own != expected:
        names = {"openai": "OpenAI's", "langchain": "LangChain's"}
        msg = f"is in {names[own]} format, the messages before it are in {names[expected or 'openai']}"
        raise InvalidMessagesError(msg)
    return _from_langchain(raw) if own == "langchain" else _from_openai(raw)


def _from_langchain(raw: dict[str, Any]) -> BaseMessage:
    kind = raw["type"]
    if kind not in TYPES and kind not in _CHUNKS:
        msg = f"has the unknown type {reprlib.repr(kind)}: there are {', '.join(TYPES)}"
        raise InvalidMessagesError(msg)
    if not isinstance(raw["data"], dict):
        msg = f"has {_kind(raw['data'])} as its `data`, not an object"
        raise InvalidMessagesError(msg)
    return messages_from_dict([raw])[0]


def _from_openai(raw: dict[str, Any]) -> BaseMessage:
    role, content = raw["role"], raw.get("content")
    if role not in ROLES and role not in LANGCHAIN_ROLES:
        msg = f"has the unknown role {reprlib.repr(role)}: there are {', '.join(ROLES)}"
        raise InvalidMessagesError(msg)
    if not isinstance(content, str | list | None):
        msg = f"has {_kind(content)} as its content, not a text or a list of blocks"
        raise InvalidMessagesError(msg)
    if role == "tool" and not isinstance(raw.get("tool_call_id"), str):
        msg = "is a tool message without a `tool_call_id`: it does not say which call it answers"
        raise InvalidMessagesError(msg)
    fields = {**raw, "content": content}
    if not raw.get("tool_calls"):
        fields.pop("tool_calls", None)
        return convert_to_messages([fields])[0]
    good, broken = _read_calls(raw["tool_calls"])
    message = convert_to_messages([{**fields, "tool_calls": good}])[0]
    return message.model_copy(update={"invalid_tool_calls": broken}) if broken else message


def _read_calls(raw: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The calls of a message as LangChain has them: those with readable arguments, and those without."""
    good: list[dict[str, Any]] = []
    broken: list[dict[str, Any]] = []
    for number, call in enumerate(raw if isinstance(raw, list) else [raw], 1):
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            msg = f"makes a call, number {number}, without the name of a function"
            raise InvalidMessagesError(msg)
        own = {"name": function["name"], "id": call.get("id")}
        arguments = function.get("arguments", function.get("args", {}))
        args = _parsed(arguments)
        if args is not None:
            good.append({**own, "args": args, "type": "tool_call"})
        else:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            error = "the arguments are no JSON object"
            broken.append({**own, "args": text, "error": error, "type": "invalid_tool_call"})
    return good, broken


def _parsed(arguments: Any) -> dict[str, Any] | None:
    """The arguments of a call; `None` where they are no object."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False)
        except ValueError:  # a model wrote them: they need not be JSON
            return None
    return arguments if isinstance(arguments, dict) else None


def _calls_with(message: AIMessage, source: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls as they stood in the file, with the arguments that the message has now where they differ."""
    rest = iter(message.tool_calls)
    calls: list[dict[str, Any]] = []
    for call in source:
        function = call.get("function", call)
        key = "arguments" if "arguments" in function else "args"
        before = _parsed(function.get(key, {}))
        now = next(rest)["args"] if before is not None else None
        if now == before:
            calls.append(call)
            continue
        value = json.dumps(now, ensure_ascii=False) if isinstance(function.get(key), str) else now
        changed = {**function, key: value}
        calls.append({**call, "function": changed} if "function" in call else changed)
    return calls


def _refuse_orphans(messages: Sequence[BaseMessage]) -> None:
    """Name the first result that answers nothing. The engine would repair it; whoever gives a file wants to know."""
    dropped = repair_messages(messages).dropped
    if not dropped:
        return
    place = next(place for place, message in enumerate(messages) if message is dropped[0])
    key = answer_of(messages[place])
    made = any(key in calls_of(message) for message in messages[:place])
    why = "a second time, or not right behind it" if made else "that no message makes"
    more = f" (and {len(dropped) - 1} more like it)" if len(dropped) > 1 else ""
    msg = f"message {place + 1} answers call {reprlib.repr(key[1] if key else '')} {why}{more}"
    raise InvalidMessagesError(msg)


_KINDS = {list: "a list", dict: "an object", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def _kind(value: Any) -> str:
    """What a JSON value is called."""
    return _KINDS.get(type(value), "null")


def _said(error: Exception) -> str:
    """The first line of what an error says, with its name."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"
