"""Which message is which: ids for those that have none, and a hash that tells a revision from a repetition."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any
from uuid import UUID, uuid5

from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, ToolCall, ToolMessage

from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.messages.kinds import kind_of
from langchain_ctxcompress.messages.marks import DERIVED_KINDS, MARK_KEY, ORIGINAL

_NAMESPACE = UUID("3f1d0f6e-6c0a-5b1e-9a57-0d3c8f4f7c55")
"""Fixed for this package, so that the same message gets the same id in every process."""

_SMALL = 10**15
_CONSTANTS = {None: "null", True: "true", False: "false"}


def ensure_ids(messages: Sequence[BaseMessage], session_id: str) -> list[BaseMessage]:
    """The list with an id on every message; the input is not changed.

    A message without one gets a copy whose id is made of the session, its content, and its place: the number of
    messages since the last one that has an id (or since the start). So a list without ids that is loaded again gets the
    same ids, and a new message behind a compressed list cannot take the id of one that was replaced.

    Args:
        messages: The list.
        session_id: Whose conversation it is.

    Returns:
        A new list; messages that have an id are the same objects.
    """
    if all(message.id for message in messages):
        return list(messages)
    anchor, offset = "", 0
    result: list[BaseMessage] = []
    for message in messages:
        if message.id:
            anchor, offset = message.id, 0
            result.append(message)
            continue
        name = "\x1f".join((session_id, anchor, str(offset), content_hash(message)))
        result.append(message.model_copy(update={"id": str(uuid5(_NAMESPACE, _encodable(name)))}))
        offset += 1
    return result


def derived_id(*parts: str) -> str:
    """An id that depends on nothing but `parts`."""
    return str(uuid5(_NAMESPACE, _encodable("\x1f".join(parts))))


def content_hash(message: BaseMessage) -> str:
    """A hash of what a message says: kind, content, name, calls, and the call it answers.

    Metadata (usage, response ids, the pin) is left out: a client that sends a message again seldom sends it along.

    Raises:
        InvalidMessagesError: Its values are nested more deeply than JSON can be written.
    """
    text = _plainly(message)
    if text is not None:
        return _hashed(text)
    said: list[Any] = [kind_of(message), message.content, message.name]
    if isinstance(message, AIMessage):
        said.append([[call["name"], call["args"], call["id"]] for call in message.tool_calls])
        said.append([[call["name"], call["args"], call["id"]] for call in message.invalid_tool_calls])
        said.append(message.additional_kwargs.get("function_call"))
    elif isinstance(message, ToolMessage):
        said += [message.tool_call_id, message.status]
    elif isinstance(message, FunctionMessage):
        said.append(message.name)
    try:
        text = _encode(said)
    except (TypeError, ValueError):  # keys that are no texts, or an integer that is too long for Python to write out
        text = json.dumps(_spelt_out(said), default=_stable)
    except RecursionError as error:
        msg = f"message {message.id!r} cannot be told from others: its values are nested too deeply; flatten them"
        raise InvalidMessagesError(msg) from error
    return _hashed(text)


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def _plainly(message: BaseMessage) -> str | None:
    """What `_encode` makes of a message that is a text, and of plain calls; `None` for any other.

    Most messages are so, and an encoder that is made for each takes three times as long.
    """
    content, name = message.content, message.name
    if type(content) is not str or not (name is None or type(name) is str):
        return None
    front = f'["{kind_of(message)}", {_quoted(content)}, {"null" if name is None else _quoted(name)}'
    if isinstance(message, AIMessage):
        if message.invalid_tool_calls or (message.additional_kwargs and "function_call" in message.additional_kwargs):
            return None
        if not message.tool_calls:
            return f"{front}, [], [], null]"
        calls = list(map(_plain_call, message.tool_calls))
        return None if None in calls else f"{front}, [{', '.join(filter(None, calls))}], [], null]"
    if isinstance(message, ToolMessage):
        named = type(message.tool_call_id) is str and type(message.status) is str
        return f"{front}, {_quoted(message.tool_call_id)}, {_quoted(message.status)}]" if named else None
    return None if isinstance(message, FunctionMessage) else f"{front}]"


def _plain_call(call: ToolCall) -> str | None:
    """What `_encode` makes of a call whose arguments are texts, truth values and small integers; `None` for others."""
    name, args, call_id = call["name"], call["args"], call["id"]
    if type(name) is not str or type(call_id) is not str or type(args) is not dict:
        return None
    written: list[str] = []
    for key, value in args.items():
        if type(key) is not str:
            return None
        if type(value) is str:
            said = _quoted(value)
        elif value is None or type(value) is bool:
            said = _CONSTANTS[value]
        elif type(value) is int and -_SMALL < value < _SMALL:
            said = str(value)
        else:
            return None
        written.append(f"{_quoted(key)}: {said}")
    if len(written) > 1:
        written = [part for _, part in sorted(zip(args, written, strict=True))]
    return f"[{_quoted(name)}, {{{', '.join(written)}}}, {_quoted(call_id)}]"


def original_hash(message: BaseMessage) -> str:
    """The hash of what the original says: of a shortened message the one that its mark holds, else `content_hash`."""
    entry = message.additional_kwargs.get(MARK_KEY) if message.additional_kwargs else None
    if isinstance(entry, dict) and entry.get("kind") in DERIVED_KINDS and isinstance(entry.get(ORIGINAL), str):
        said: str = entry[ORIGINAL]
        return said
    return content_hash(message)


def naming_original(message: BaseMessage, original: BaseMessage) -> BaseMessage:
    """A shortened message whose mark holds what the original said; one without a mark, or with all of it, as it is.

    So what covers the message later covers the original, whichever list or process it is found in.

    Args:
        message: The shortened message.
        original: What it was made of; it may be a shortened message itself.
    """
    entry = message.additional_kwargs.get(MARK_KEY)
    if not isinstance(entry, dict) or entry.get(ORIGINAL):
        return message
    mark = {**entry, ORIGINAL: original_hash(original)}
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK_KEY: mark}})


def _stable(value: object) -> str:
    """What JSON cannot hold: bytes by their content, other things by their type (their repr may hold an address)."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    return type(value).__qualname__


_encode = json.JSONEncoder(sort_keys=True, default=_stable).encode
"""As `json.dumps`, which makes an encoder at each call with options."""


def _spelt_out(value: Any) -> Any:
    """The value with dicts as sorted pairs and integers in hexadecimal, which JSON takes whatever is in them."""
    if isinstance(value, dict):
        pairs = [[json.dumps(_spelt_out(key), default=_stable), _spelt_out(inner)] for key, inner in value.items()]
        return sorted(pairs, key=lambda pair: pair[0])
    if isinstance(value, list | tuple):
        return [_spelt_out(inner) for inner in value]
    return hex(value) if type(value) is int else value


def _encodable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot hold (`uuid5` encodes it)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
