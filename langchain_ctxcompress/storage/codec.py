"""Messages to text and back, byte for byte.

A message is one ASCII JSON string in the form of `message_to_dict`, read by `messages_from_dict`: NUL, lone surrogates,
huge integers and the order of keys survive every backend, and reading it never imports or runs anything by name. What
JSON cannot hold goes through LangGraph's serialiser without pickle; what that cannot hold either is named as omitted.
A model or dataclass of the user's own is named too, beside its fields: to make it again would be to import it.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, messages_from_dict
from langchain_core.messages.base import TextAccessor
from pydantic import BaseModel

from langchain_ctxcompress.errors import RecordError, describe

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

BINARY_KEY = "__ctxcompress_binary__"
OMITTED_KEY = "__ctxcompress_omitted__"
ESCAPED_KEY = "__ctxcompress_escaped__"
TUPLE_KEY = "__ctxcompress_tuple__"
PAIRS_KEY = "__ctxcompress_pairs__"
INTEGER_KEY = "__ctxcompress_integer__"
_OWN_KEYS = (BINARY_KEY, OMITTED_KEY, ESCAPED_KEY, TUPLE_KEY, PAIRS_KEY, INTEGER_KEY)

_BINARY_KINDS = frozenset({"bytes", "bytearray", "msgpack"})
"""What `_envelope` writes. The serialiser would read `json` too, and import what a text of it names."""

FIELDS_KEY = "fields"
"""What stands beside the name of an omitted object: the values of its fields."""

DEEPEST = 220
"""Levels of lists and dicts within each other; what lies deeper is named as omitted. JSON is read recursively."""

_LONGEST_INTEGER = 2_000
"""Bits; Python can be told to write and read no integer of more than 640 decimal digits."""


def encode_message(message: BaseMessage) -> str:
    """One message as one ASCII JSON string."""
    fields = {name: getattr(message, name) for name in type(message).model_fields}
    data = {**fields, **(message.__pydantic_extra__ or {})}  # not dumped: a dump makes dicts of objects in silence
    return json.dumps({"type": message.type, "data": {name: _plain(value) for name, value in data.items()}})


def decode_message(text: str, *, record: str = "message") -> BaseMessage:
    """The message that `encode_message` wrote.

    Raises:
        RecordError: The text is damaged, or holds a message type that is not known; the error names `record`.
    """
    try:
        message: BaseMessage = messages_from_dict([_restored(json.loads(text))])[0]
    except Exception as error:  # pydantic, JSON and LangChain each raise their own
        msg = f"{record} is damaged and cannot be read: {describe(error)}"
        raise RecordError(msg) from error
    return message


def record_hash(text: str) -> str:
    """A hash of an encoded message; two revisions of a message differ in it."""
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether JSON gives the value back as it is: no tuples, no keys but texts, none of the codec's own keys."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return bool(value.bit_length() <= _LONGEST_INTEGER)
    if kind is float:
        return math.isfinite(value)
    if depth >= DEEPEST:
        return False
    if kind is list:
        return all(_is_plain(inner, depth + 1) for inner in value)
    if kind is dict:
        return all(
            type(key) is str and key not in _OWN_KEYS and _is_plain(inner, depth + 1) for key, inner in value.items()
        )
    return False


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with everything that JSON cannot hold put into an envelope."""
    if _is_plain(value, depth):
        return value
    kind = type(value)
    if kind is int:
        return {INTEGER_KEY: hex(value)}
    if depth >= DEEPEST:
        return {OMITTED_KEY: f"{_name(value)}: it lies more than {DEEPEST} levels deep"}
    if kind is list:
        return [_plain(inner, depth + 1) for inner in value]
    if kind is tuple:
        return {TUPLE_KEY: [_plain(inner, depth + 1) for inner in value]}
    if kind is TextAccessor:  # `message.text`, which people put into arguments and blocks: what it says is all of it
        return str.__str__(value)
    if kind is dict:
        return _plain_dict(value, depth)
    own = _own_fields(value)
    return _envelope(value) if own is None else _named(value, own, depth)


def _plain_dict(value: dict[Any, Any], depth: int) -> Any:
    if all(type(key) is str for key in value):
        inner = {key: _plain(entry, depth + 1) for key, entry in value.items()}
        return {ESCAPED_KEY: inner} if any(key in value for key in _OWN_KEYS) else inner
    if all(map(_is_key, value)):
        return {PAIRS_KEY: [[_plain(key), _plain(entry, depth + 1)] for key, entry in value.items()]}
    return _envelope(value)


def _own_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a model or dataclass that is not LangChain's own; `None` for anything else."""
    if type(value).__module__.startswith("langchain_core."):
        return None  # LangGraph's serialiser holds these
    if isinstance(value, BaseModel):
        return {**{name: getattr(value, name) for name in type(value).model_fields}, **(value.__pydantic_extra__ or {})}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return None


def _named(value: Any, fields: dict[str, Any], depth: int) -> dict[str, Any]:
    """An object that cannot be made again without an import: its name, and what its fields hold."""
    return {OMITTED_KEY: f"{_name(value)}: kept as its fields", FIELDS_KEY: _plain_dict(fields, depth + 1)}


def _is_key(value: Any) -> bool:
    """Whether a key comes back as what it was, whatever it holds."""
    kind = type(value)
    return value is None or kind in (str, int, float, bool, bytes) or (kind is tuple and all(map(_is_key, value)))


def _envelope(value: Any) -> dict[str, Any]:
    serialiser = _serialiser()
    try:
        kind, data = serialiser.dumps_typed(value)
        back = serialiser.loads_typed((kind, data))
    except Exception as error:  # noqa: BLE001 - whatever an object's own serialisation raises
        return {OMITTED_KEY: f"{_name(value)}: {type(error).__name__}"}
    if type(back) is not type(value) or (value == value and (back == value) is False):  # noqa: PLR0124 - NaN
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
    for key, read in _READERS.items():
        if key in value:
            return read(value[key])
    return {key: _restored(inner) for key, inner in value.items()}


def _opened(envelope: list[str]) -> Any:
    kind, data = envelope
    if kind not in _BINARY_KINDS:
        msg = f"{str(kind)[:20]!r} is no kind of binary data that is written here"
        raise RecordError(msg)
    return _serialiser().loads_typed((kind, base64.b64decode(data)))


_READERS: dict[str, Callable[[Any], Any]] = {
    TUPLE_KEY: lambda inner: tuple(map(_restored, inner)),
    PAIRS_KEY: lambda pairs: {_restored(key): _restored(inner) for key, inner in pairs},
    INTEGER_KEY: lambda digits: int(digits, 16),
    BINARY_KEY: _opened,
}
"""What stands in an envelope, by its key. An omitted value is left as it is: its envelope names it."""
