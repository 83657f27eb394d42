"""Messages to text and back, byte for byte.

A message is one ASCII JSON string made by `message_to_dict` and read by `messages_from_dict`: NUL, lone surrogates,
huge integers and the order of keys survive every backend, and reading it never imports or runs anything by name. What
JSON cannot hold goes through LangGraph's serialiser without pickle; what that cannot hold either is named as omitted.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict

from langchain_ctxcompress.errors import RecordError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

BINARY_KEY = "__ctxcompress_binary__"
OMITTED_KEY = "__ctxcompress_omitted__"
ESCAPED_KEY = "__ctxcompress_escaped__"
TUPLE_KEY = "__ctxcompress_tuple__"
_OWN_KEYS = (BINARY_KEY, OMITTED_KEY, ESCAPED_KEY, TUPLE_KEY)


def encode_message(message: BaseMessage) -> str:
    """One message as one ASCII JSON string."""
    data = message_to_dict(message)
    try:
        return json.dumps(data, allow_nan=False) if _is_plain(data) else json.dumps(_plain(data), allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_plain(data), allow_nan=False)


def decode_message(text: str, *, record: str = "message") -> BaseMessage:
    """The message that `encode_message` wrote.

    Raises:
        RecordError: The text is damaged, or holds a message type that is not known; the error names `record`.
    """
    try:
        message: BaseMessage = messages_from_dict([_restored(json.loads(text))])[0]
    except Exception as error:  # pydantic, JSON and LangChain each raise their own
        msg = f"{record} is damaged and cannot be read: {type(error).__name__}: {error}"
        raise RecordError(msg) from error
    return message


def record_hash(text: str) -> str:
    """A hash of an encoded message; two revisions of a message differ in it."""
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def _is_plain(value: Any) -> bool:
    """Whether JSON gives the value back as it is: no tuples, no keys but texts, none of the codec's own keys."""
    kind = type(value)
    if kind is str or value is None or kind is bool or kind is int:
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return all(map(_is_plain, value))
    if kind is dict:
        return all(type(key) is str and key not in _OWN_KEYS and _is_plain(inner) for key, inner in value.items())
    return False


def _plain(value: Any) -> Any:
    """The value with everything that JSON cannot hold put into an envelope."""
    if _is_plain(value):
        return value
    if type(value) is list:
        return [_plain(inner) for inner in value]
    if type(value) is tuple:
        return {TUPLE_KEY: [_plain(inner) for inner in value]}
    if type(value) is dict and all(type(key) is str for key in value):
        inner = {key: _plain(entry) for key, entry in value.items()}
        return {ESCAPED_KEY: inner} if any(key in value for key in _OWN_KEYS) else inner
    return _envelope(value)


def _envelope(value: Any) -> dict[str, Any]:
    serialiser = _serialiser()
    try:
        kind, data = serialiser.dumps_typed(value)
        back = serialiser.loads_typed((kind, data))
    except Exception as error:  # noqa: BLE001 - whatever an object's own serialisation raises
        return {OMITTED_KEY: f"{_name(value)}: {type(error).__name__}"}
    if type(back) is not type(value):
        return {OMITTED_KEY: f"{_name(value)}: it would not come back as what it was"}
    return {BINARY_KEY: [kind, base64.b64encode(data).decode("ascii")]}


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _serialiser() -> JsonPlusSerializer:
    """LangGraph's serialiser, without pickle and for its list of safe types only."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if ESCAPED_KEY in value:
        return {key: _restored(inner) for key, inner in value[ESCAPED_KEY].items()}
    if TUPLE_KEY in value:
        return tuple(_restored(inner) for inner in value[TUPLE_KEY])
    if BINARY_KEY in value:
        kind, data = value[BINARY_KEY]
        return _serialiser().loads_typed((kind, base64.b64decode(data)))
    return {key: _restored(inner) for key, inner in value.items()}
