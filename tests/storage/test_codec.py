"""Messages to text and back, byte for byte (law 2)."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)

from langchain_ctxcompress.messages import content_hash, pin
from langchain_ctxcompress.storage import codec, decode_message, encode_message
from langchain_ctxcompress.storage.codec import record_hash
from tests.messages.drawn import call
from tests.support.conversations import conversations

CALL = {**call("a", q=1), "type": "tool_call"}
BLOCKS: list[Any] = [
    "a plain string",
    {"type": "text", "text": "hello", "annotations": [{"type": "citation", "url": "https://e.org", "start_index": 0}]},
    {"type": "text-plain", "text": "notes", "mime_type": "text/plain"},
    {"type": "image", "url": "https://example.org/a.png", "mime_type": "image/png"},
    {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
    {"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"},
    {"type": "video", "file_id": "f1"},
    {"type": "file", "base64": "AAAA", "mime_type": "application/pdf"},
    {"type": "reasoning", "reasoning": "hm", "id": "rs_1"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "tool_use", "id": "a", "name": "look", "input": {"q": 1}},
    {"type": "tool_call", "id": "a", "name": "look", "args": {"q": 1}},
    {"type": "invalid_tool_call", "id": "a", "name": "look", "args": "{", "error": "cut off"},
    {"type": "tool_call_chunk", "id": "a", "name": "look", "args": "{", "index": 0},
    {"type": "server_tool_call", "id": "a", "name": "web_search", "args": {}},
    {"type": "server_tool_result", "tool_call_id": "a", "status": "success", "output": [1, None, True, 0.1]},
    {"type": "non_standard", "value": {"anything": [1, {"at": "all"}]}},
    {"type": "document", "source": {"type": "base64", "data": "AAAA"}, "cache_control": {"type": "ephemeral"}},
]
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "input_token_details": {"cache_read": 1}}
EVERY_TYPE: list[BaseMessage] = [
    HumanMessage("hi", id="1", name="ann", response_metadata={"x": 1}),
    HumanMessageChunk("hi", id="1"),
    SystemMessage("be kind", id="1"),
    SystemMessageChunk("be kind"),
    AIMessage("hello", id="1", tool_calls=[CALL], usage_metadata=USAGE, response_metadata={"model_name": "x"}),
    AIMessage("", invalid_tool_calls=[{"name": "look", "args": "{", "id": "b", "error": "cut off"}]),
    AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
    AIMessageChunk("hel", tool_call_chunks=[{"name": "look", "args": '{"q": 1}', "id": "a", "index": 0}]),
    AIMessageChunk("", chunk_position="last", usage_metadata=USAGE),
    ToolMessage("found", tool_call_id="a", id="1", status="error", name="look", artifact={"raw": [1, 2]}),
    ToolMessageChunk("found", tool_call_id="a"),
    FunctionMessage("found", name="look"),
    FunctionMessageChunk("found", name="look"),
    ChatMessage("beep", role="robot"),
    ChatMessageChunk("beep", role="robot"),
    RemoveMessage(id="1"),
    HumanMessage(BLOCKS),
    AIMessage(BLOCKS),
    HumanMessage([]),
    HumanMessage(""),
    pin(HumanMessage("never", id="1")),
]
OWN_KEYS = [value for name, value in vars(codec).items() if name.endswith("_KEY")]


def through(message: BaseMessage) -> BaseMessage:
    text = encode_message(message)
    assert text.isascii()
    assert "\x00" not in text
    json.loads(text, parse_constant=pytest.fail)
    return decode_message(text)


def carried(value: Any) -> Any:
    """A value after a journey in the artifact of a result."""
    back = through(ToolMessage("x", tool_call_id="a", artifact=value))
    assert isinstance(back, ToolMessage)
    return back.artifact


def same(left: Any, right: Any) -> bool:
    """Equal, of the same types all the way down, keys in the same order; NaN equals NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            same(a, b) and same(left[a], right[b]) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or (
            left == right and math.copysign(1, left) == math.copysign(1, right)
        )
    return bool(left == right)


any_text = st.text(st.characters(exclude_categories=()), max_size=20)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**50, 10**60),
    st.floats(),
    any_text,
    st.sampled_from([*OWN_KEYS, "\x00", "\ud800", "\udfff\ud800"]),
    st.binary(max_size=20),
)
keys = st.one_of(any_text, st.sampled_from(OWN_KEYS))
odd_keys = st.one_of(keys, st.integers(), st.booleans(), st.tuples(st.integers(), any_text), st.binary(max_size=3))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.dictionaries(odd_keys, inner, max_size=4),
    ),
    max_leaves=12,
)


class TestRoundTrip:
    @pytest.mark.parametrize("message", EVERY_TYPE, ids=lambda message: type(message).__name__)
    def test_every_message_type(self, message: BaseMessage) -> None:
        back = through(message)
        assert type(back) is type(message)
        assert back == message
        assert same(back.model_dump(), message.model_dump())
        assert encode_message(back) == encode_message(message)
        assert content_hash(back) == content_hash(message)

    @pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block if isinstance(block, str) else block["type"])
    def test_every_content_block(self, block: Any) -> None:
        for cls in (HumanMessage, AIMessage, SystemMessage):
            assert same(through(cls([block])).content, [block])
        assert same(through(ToolMessage([block], tool_call_id="a")).content, [block])

    @settings(max_examples=100)
    @given(conversations(max_messages=30, surrogates=True, nul=True))
    def test_conversations(self, messages: list[BaseMessage]) -> None:
        for message in messages:
            back = through(message)
            assert back == message
            assert encode_message(back) == encode_message(message)
            assert content_hash(back) == content_hash(message)

    @settings(max_examples=150)
    @given(values)
    def test_any_value_that_data_is_made_of(self, value: Any) -> None:
        assert same(carried(value), value)

    @settings(max_examples=60)
    @given(st.dictionaries(any_text, values, max_size=3))
    def test_in_arguments_metadata_and_blocks(self, value: dict[str, Any]) -> None:
        message = AIMessage(
            [{"type": "odd", "value": value}],
            tool_calls=[call("a", value=value)],
            response_metadata={"deep": value},
            additional_kwargs={"deep": value},
        )
        back = through(message)
        assert same(back.model_dump(), message.model_dump())
        assert content_hash(back) == content_hash(message)

    @pytest.mark.parametrize(
        "value",
        [
            10**5_000,
            -(10**5_000),
            2**64,
            math.nan,
            math.inf,
            -math.inf,
            -0.0,
            5e-324,
            b"\x00\xff",
            bytearray(b"ab"),
            (1, (2, [3])),
            (),
            {1: {2: "x"}},
            {(1, "a"): 1},
            {"b": 1, "a": 2},
            {3, 1, 2},
            datetime(2024, 5, 15, 10, 22, tzinfo=UTC),
            UUID(int=7),
            PurePosixPath("/a/b"),
            {"deep": [{"nan": math.nan, "bytes": b"x", "when": datetime(2024, 1, 1)}]},
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_values_that_json_cannot_hold(self, value: Any) -> None:
        if isinstance(value, PurePosixPath):
            assert codec.OMITTED_KEY in carried(value)  # only `Path` itself is on LangGraph's list of safe types
            return
        assert same(carried(value), value)

    @pytest.mark.parametrize("key", OWN_KEYS)
    @pytest.mark.parametrize("value", [None, 1, "x", [], ["msgpack", "AA=="], {"a": (1,)}, b"x"])
    def test_the_codecs_own_keys_in_the_data_of_a_user(self, key: str, value: Any) -> None:
        data = {"before": 1, key: value, "after": {key: {key: value}}}
        assert same(carried(data), data)
        assert same(carried({key: value}), {key: value})

    def test_a_deep_value(self) -> None:
        value: Any = "bottom"
        for _ in range(100):
            value = {"down": [value]}
        assert same(carried(value), value)

    def test_equal_messages_are_equal_text_and_other_revisions_are_not(self) -> None:
        one, other = HumanMessage("x", id="1"), HumanMessage("x", id="1", response_metadata={"seen": True})
        assert encode_message(one) == encode_message(one.model_copy(deep=True))
        assert record_hash(encode_message(one)) != record_hash(encode_message(other))

    def test_encoding_does_not_change_the_message(self) -> None:
        message = ToolMessage("x", tool_call_id="a", artifact={"a": (1, b"x"), codec.TUPLE_KEY: 2})
        before = message.model_copy(deep=True)
        encode_message(message)
        assert message == before


def test_a_text_of_a_kind_of_its_own_keeps_what_it_says() -> None:
    """`message.text` is such a text, and is put into arguments and content blocks of other messages."""
    text = HumanMessage("what was said").text
    call = {"name": "send", "args": {"body": text}, "id": "c"}
    for message in (AIMessage("", tool_calls=[call]), HumanMessage([{"type": "text", "text": text}])):
        back = decode_message(encode_message(message))
        assert back == message
        assert content_hash(back) == content_hash(message)
