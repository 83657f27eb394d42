"""`clear-tools`: what stands in the place of a result, and of a call's arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, count_tokens
from langchain_ctxcompress.strategies import ClearTools
from tests.strategies.tool_runs import OUTPUT, cleared, request_of, run, said, step, steps
from tests.support.conversations import exchanges
from tests.support.scenes import PIXEL

# What the marker says.


def test_the_marker_says_tool_arguments_size_and_id() -> None:
    messages = steps(20)
    request = request_of(messages, 3_000)
    draft = run(ClearTools(), request)
    size = request.sizes[request.messages.index(said(messages, "t1"))]
    assert said(draft.messages, "t1").text == (
        f'[cleared: look(path="file1.py") gave {size} tokens; recall message t1]'
    )


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"query": "a\nb\tc\u2028d"}, 'look(query="a b c d")'),
        ({"n": 3, "flag": True, "none": None, "x": 1.5}, "look(n=3, flag=true, none=null, x=1.5)"),
        ({"deep": {"a": [1]}, "list": [1, 2], "empty": {}}, "look(deep={…}, list=[…], empty={})"),
        ({"long": "word " * 100}, 'look(long="word word word word word word word word…")'),
        ({"big": 10**6_000}, "look(big=…)"),
        ({f"key{n}": "value " * 10 for n in range(50)}, "…)"),
    ],
)
def test_arguments_are_told_in_short(args: dict[str, Any], told: str) -> None:
    from langchain_ctxcompress.strategies.clearing import result_marker

    marker = result_marker(ToolMessage("x", tool_call_id="c", id="t"), "look", args, 9)
    assert told in marker
    assert len(marker.splitlines()) == 1
    assert len(marker) < 300


def test_an_id_that_is_no_word_can_be_read_back() -> None:
    from langchain_ctxcompress.strategies.clearing import result_marker

    odd = "an id\nwith a line"
    marker = result_marker(ToolMessage("x", tool_call_id="c", id=odd), "look", {}, 9)
    assert json.loads(marker.split("recall message ")[1].rstrip("]")) == odd


def test_media_are_told_by_their_kind() -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    file = {"type": "file", "base64": PIXEL, "mime_type": "application/pdf"}
    shown: list[Any] = [{"type": "text", "text": "see"}, picture, picture, file]
    messages = steps(12, lambda n: step(n, shown))
    draft = run(ClearTools(), request_of(messages, 40_000))
    left = said(draft.messages, "t0")
    assert "tokens and 2 x [image] and [file]; recall message t0" in left.text
    assert PIXEL not in json.dumps(left.model_dump())


def test_a_cleared_result_leaves_its_artifact_to_the_archive() -> None:
    messages = steps(20)
    messages[3] = messages[3].model_copy(update={"artifact": {"rows": [1] * 100}, "status": "error"})
    compressor = ContextCompressor(config=PrunerConfig.for_limit(3_000), strategy="clear-tools")
    result = compressor.compress(messages)
    left = result.messages[3]
    assert isinstance(left, ToolMessage)
    assert (left.artifact, left.status) == (None, "error")
    assert compressor.expand_message("t0") == messages[3]


def test_a_function_result_is_cleared_with_its_name() -> None:
    """OpenAI's function calls from before there were tools."""

    def old_step(number: int) -> list[BaseMessage]:
        call = {"name": "look", "arguments": json.dumps({"text": "x " * 2_000})}
        return [
            AIMessage("", additional_kwargs={"function_call": call}, id=f"a{number}"),
            FunctionMessage(name="look", content=f"{number} {OUTPUT}", id=f"t{number}"),
        ]

    draft = run(ClearTools(keep=0), request_of(steps(12, old_step), 1_000))
    left = said(draft.messages, "t0")
    assert (left.type, left.name) == ("function", "look")
    assert left.text.startswith("[cleared: look(")
    call = said(draft.messages, "a0").additional_kwargs["function_call"]
    assert call["name"] == "look"
    assert "recall message a0" in json.loads(call["arguments"])["cleared"]


def test_oversized_arguments_give_way_in_the_call_and_in_the_content_that_repeats_it() -> None:
    def write(number: int) -> list[BaseMessage]:
        args = {"path": f"f{number}.py", "text": f"{number} {OUTPUT}", "rows": list(range(900)), "mode": "w"}
        call = {"name": "write", "args": args, "id": f"c{number}"}
        content: list[Any] = [
            {"type": "text", "text": f"I write {number}."},
            {"type": "tool_use", "id": f"c{number}", "name": "write", "input": args},
        ]
        return [
            AIMessage(content, tool_calls=[call], id=f"a{number}"),
            ToolMessage("written", tool_call_id=f"c{number}", id=f"t{number}"),
        ]

    messages = steps(14, write)
    draft = run(ClearTools(), request_of(messages, 3_000))
    assert cleared(draft.messages)[0] == "a0"
    message = said(draft.messages, "a0")
    assert isinstance(message, AIMessage)
    args = message.tool_calls[0]["args"]
    assert (args["path"], args["mode"]) == ("f0.py", "w")
    size = count_tokens(f"0 {OUTPUT}")
    assert args["text"] == f"[cleared: {size} tokens; recall message a0]"
    assert args["rows"].startswith("[cleared: ")
    assert isinstance(message.content, list)
    assert message.content[1]["input"] == args  # type: ignore[index]
    assert message.text == "I write 0."
    assert cleared(draft.messages) == [f"a{number}" for number in range(9)]


def test_the_calls_of_the_newest_results_stay_with_them() -> None:
    """Though they lie further back than the recent turns."""
    long = {"text": OUTPUT * 2}
    messages = [*steps(8, lambda n: step(n, "written", **long)), *exchanges(10)]
    draft = run(ClearTools(), request_of(messages, 1_000))
    assert cleared(draft.messages) == ["a0", "a1", "a2"]


def test_a_malformed_call_is_cleared_too() -> None:
    def broken(number: int) -> list[BaseMessage]:
        call = {"name": "write", "args": '{"text": "' + OUTPUT, "id": f"c{number}", "error": "cut off"}
        return [
            AIMessage("", invalid_tool_calls=[call], id=f"a{number}"),
            ToolMessage("no JSON", tool_call_id=f"c{number}", id=f"t{number}"),
        ]

    message = run(ClearTools(), request_of(steps(14, broken), 1_000)).messages[2]
    assert isinstance(message, AIMessage)
    assert "recall message a0" in str(message.invalid_tool_calls[0]["args"])
