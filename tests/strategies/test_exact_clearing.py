"""A cleared result and a cleared call, to the last token: a token is a letter here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    FunctionMessage,
    ToolMessage,
)

from langchain_ctxcompress.strategies.clearing import cleared_call, cleared_result, long_arguments, result_marker
from tests.strategies.requests import LETTERS


class TestClearing:
    def marker(self, message: BaseMessage, **fields: Any) -> str:
        return result_marker(message, fields.pop("tool", "look"), fields.pop("args", {}), 9, **fields)

    def test_what_a_marker_says(self) -> None:
        message = ToolMessage("x", tool_call_id="c", id="t1")
        assert self.marker(message) == "[cleared: look() gave 9 tokens; recall message t1]"
        assert self.marker(message, tool="  ") == "[cleared: a tool() gave 9 tokens; recall message t1]"
        assert self.marker(message, args="n: 1\n2") == "[cleared: look(n: 1 2) gave 9 tokens; recall message t1]"
        again = self.marker(message, again="t 2")
        assert again == '[cleared: look() gave 9 tokens, given again in message "t 2"; recall message t1]'
        bare = self.marker(ToolMessage("x", tool_call_id="c"))
        assert bare == '[cleared: look() gave 9 tokens; recall message ""]'

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ("x" * 40, f'"{"x" * 40}"'),
            ("x" * 41, f'"{"x" * 39}…"'),
            ("x " * 200, f'"{("x " * 20).rstrip()}…"'),
            (2**159, str(2**159)[:39] + "…"),
            (2**160, "…"),
            ([], "[]"),
            ((1,), "[…]"),
            ({}, "{}"),
            ({"a": 1}, "{…}"),
            (True, "true"),
            (None, "null"),
            (1.5, "1.5"),
        ],
    )
    def test_arguments_in_a_few_characters(self, value: Any, told: str) -> None:
        shown = self.marker(ToolMessage("x", tool_call_id="c", id="t"), args={"v": value})
        assert shown == f"[cleared: look(v={told}) gave 9 tokens; recall message t]"

    def test_eight_arguments_in_a_hundred_and_twenty_characters(self) -> None:
        message = ToolMessage("x", tool_call_id="c", id="t")
        args = {f"k{n}": n for n in range(9)}
        told = ", ".join(f"k{n}={n}" for n in range(8))
        assert self.marker(message, args=args) == f"[cleared: look({told}) gave 9 tokens; recall message t]"
        long = {f"key-{n}": "v" * 40 for n in range(8)}
        shown = self.marker(message, args=long).removeprefix("[cleared: look(").partition(")")[0]
        assert len(shown) == 120
        assert shown.endswith("…")

    def test_media_by_their_kind_and_number(self) -> None:
        blocks: list[Any] = [
            {"type": "image"},
            "text",
            {"type": "text", "text": "x"},
            {"type": "image"},
            {"type": "audio"},
        ]
        told = self.marker(ToolMessage(blocks, tool_call_id="c", id="t"))
        assert "gave 9 tokens and 2 x [image] and [audio];" in told

    def test_a_cleared_result_keeps_what_else_it_holds(self) -> None:
        message = ToolMessage(
            "x" * 500, tool_call_id="c", id="t", artifact=[1], additional_kwargs={"k": 1}, name="look"
        )
        left = cleared_result(message, "gone")
        assert isinstance(left, ToolMessage)
        assert (left.content, left.artifact, left.name, left.id) == ("gone", None, "look", "t")
        assert left.additional_kwargs == {"k": 1, "ctxcompress": {"kind": "cleared"}}
        old = cleared_result(FunctionMessage(name="f", content="x", id="t"), "gone")
        assert (old.content, old.additional_kwargs) == ("gone", {"ctxcompress": {"kind": "cleared"}})

    @pytest.mark.parametrize(
        ("args", "long"),
        [
            ("x" * 1_000, False),
            ("x" * 1_001, True),
            ({"a": "x" * 1_000}, False),
            ({"a": 1, "b": "x" * 1_001}, True),
            ({"a": ["x" * 996]}, False),
            ({"a": ["x" * 997]}, True),
            ({"a": ("ä" * 997,)}, True),
            ({"a": ("ä" * 996,)}, False),
            ({"a": {"k": "x" * 2_000}}, True),
            ({"a": 10**2_000}, False),
        ],
    )
    def test_from_where_on_an_argument_is_oversized(self, args: Any, long: bool) -> None:
        assert long_arguments(args) is long

    def test_a_call_with_all_that_says_it_again(self) -> None:
        long, gone = "ä" * 1_500, "[cleared: 1500 tokens; recall message m]"
        calls = [{"name": "write", "args": {"text": long, "n": 1}, "id": f"c{n}"} for n in range(3)]
        blocks: list[Any] = [
            "plain",
            {"type": "text", "text": "I write.", "id": "c1"},
            {"type": "tool_use", "id": "c1", "name": "write", "input": {}, "partial_json": "{"},
            {"type": "function_call", "id": "fc", "call_id": "c1", "arguments": "{}"},
            {"type": "tool_call", "id": "c1", "name": "write", "args": {}},
            {"type": "tool_use", "id": "other", "input": {"text": "x"}},
        ]
        message = AIMessage(blocks, tool_calls=calls, id="m", additional_kwargs={"tool_calls": [1], "k": 2})
        left = cleared_call(message, [1], LETTERS)
        now = {"text": gone, "n": 1}
        assert [call["args"] for call in left.tool_calls] == [calls[0]["args"], now, calls[2]["args"]]
        assert left.additional_kwargs == {"k": 2, "ctxcompress": {"kind": "cleared"}}
        assert left.content == [
            "plain",
            blocks[1],
            {"type": "tool_use", "id": "c1", "name": "write", "input": now},
            {"type": "function_call", "id": "fc", "call_id": "c1", "arguments": json.dumps(now, ensure_ascii=False)},
            {"type": "tool_call", "id": "c1", "name": "write", "args": now},
            blocks[5],
        ]

    def test_a_block_of_a_call_of_openai_keeps_its_signs_as_they_are(self) -> None:
        call = {"name": "write", "args": {"text": "x" * 1_500, "to": "Grüße"}, "id": "c"}
        block = {"type": "function_call", "call_id": "c", "arguments": "{}"}
        (left,) = cleared_call(AIMessage([block], tool_calls=[call], id="m"), [0], LETTERS).content
        assert isinstance(left, dict)
        assert "Grüße" in left["arguments"]

    def test_a_malformed_call_is_counted_behind_the_others(self) -> None:
        good = {"name": "a", "args": {"t": "x" * 1_500}, "id": "g"}
        bad = {"name": "b", "args": "y" * 1_500, "id": "b", "error": "cut"}
        message = AIMessage("", tool_calls=[good], invalid_tool_calls=[bad], id="m")
        first, second = (cleared_call(message, [n], LETTERS) for n in range(2))
        gone = "[cleared: 1500 tokens; recall message m]"
        assert (first.tool_calls[0]["args"], first.invalid_tool_calls[0]["args"]) == ({"t": gone}, "y" * 1_500)
        assert (second.tool_calls[0]["args"], second.invalid_tool_calls[0]["args"]) == (good["args"], gone)

    def test_a_call_without_an_id_has_no_number(self) -> None:
        calls = [
            {"name": "a", "args": {"t": "x" * 1_500}, "id": None},
            {"name": "b", "args": {"t": "y" * 1_500}, "id": "b"},
        ]
        left = cleared_call(AIMessage("", tool_calls=calls, id="m"), [0], LETTERS)
        assert left.tool_calls[0]["args"] == {"t": "x" * 1_500}
        assert left.tool_calls[1]["args"]["t"].startswith("[cleared: ")

    def test_pieces_of_a_streamed_call_go(self) -> None:
        chunk = AIMessageChunk(
            "", tool_call_chunks=[{"name": "a", "args": '{"t": "' + "x" * 1_500 + '"}', "id": "c", "index": 0}]
        )
        left = cleared_call(chunk.model_copy(update={"id": "m"}), [0], LETTERS)
        assert isinstance(left, AIMessageChunk)
        assert left.tool_call_chunks == []
        assert left.tool_calls[0]["args"]["t"].startswith("[cleared: ")
