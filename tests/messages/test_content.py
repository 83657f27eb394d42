"""Text in and out of content blocks (requirements B4, B5)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.messages import apply_compressed_content, block_text, extract_text_content, pin
from tests.messages.drawn import REASONING, call

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
OTHERS: list[dict[str, Any]] = [
    IMAGE,
    REASONING,
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "tool_use", "id": "a", "name": "look", "input": {"text": "not a text block"}},
    {"type": "text"},
    {"type": "text", "text": None},
    {"text": "without a type"},
]
texts = st.text(max_size=20)
text_blocks = st.one_of(
    texts,
    texts.map(lambda text: {"type": "text", "text": text}),
    texts.map(lambda text: {"type": "text", "text": text, "id": "t1", "annotations": [{"start": 0, "end": 3}]}),
)
blocks = st.lists(st.one_of(text_blocks, st.sampled_from(OTHERS).map(copy.deepcopy)), max_size=8)
contents = st.one_of(texts, blocks)


def is_text(block: Any) -> bool:
    """Whether a block is one of text, said without the package."""
    return isinstance(block, str) or (block.get("type") == "text" and isinstance(block.get("text"), str))


def text_in(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [block if isinstance(block, str) else block["text"] for block in content if is_text(block)]


class TestB4:
    def test_a_string_as_it_is(self) -> None:
        assert extract_text_content(HumanMessage("  as\nit is ")) == "  as\nit is "

    def test_text_blocks_are_joined_with_newlines(self) -> None:
        content = [{"type": "text", "text": "one"}, IMAGE, "two", {"type": "text", "text": ""}, REASONING]
        assert extract_text_content(HumanMessage(content)) == "one\ntwo\n"

    @pytest.mark.parametrize("content", ["", [], [IMAGE], [REASONING], [{"type": "text", "text": None}]])
    def test_no_text_is_an_empty_string(self, content: Any) -> None:
        assert extract_text_content(HumanMessage(content)) == ""

    @given(contents)
    def test_nothing_but_text_and_all_of_it(self, content: Any) -> None:
        assert extract_text_content(HumanMessage(content)) == "\n".join(text_in(content))


class TestB5:
    @given(contents, texts)
    def test_the_text_is_said_and_no_other(self, content: Any, text: str) -> None:
        assert extract_text_content(apply_compressed_content(HumanMessage(content), text)) == text

    @given(blocks, texts)
    def test_all_other_blocks_are_the_same_in_the_same_order(self, content: list[Any], text: str) -> None:
        changed = apply_compressed_content(AIMessage(content), text).content
        assert isinstance(changed, list)
        before = [block for block in content if not is_text(block)]
        after = [block for block in changed if not is_text(block)]
        assert after == before

    @given(blocks, texts)
    def test_the_new_block_stands_where_the_first_one_stood(self, content: list[Any], text: str) -> None:
        changed = apply_compressed_content(AIMessage(content), text).content
        place = next((i for i, block in enumerate(content) if is_text(block)), 0)
        assert block_text(changed[place]) == text
        assert sum(is_text(block) for block in changed) == 1

    @given(contents, texts)
    def test_the_input_is_not_changed(self, content: Any, text: str) -> None:
        message = HumanMessage(copy.deepcopy(content))
        apply_compressed_content(message, text)
        assert message.content == content

    @given(contents, texts)
    def test_twice_is_as_once(self, content: Any, text: str) -> None:
        once = apply_compressed_content(HumanMessage(content), text)
        assert apply_compressed_content(once, text) == once

    def test_two_text_blocks_around_a_picture(self) -> None:
        content = [{"type": "text", "text": "before"}, IMAGE, {"type": "text", "text": "after"}]
        changed = apply_compressed_content(HumanMessage(content), "short")
        assert changed.content == [{"type": "text", "text": "short"}, IMAGE]

    def test_annotations_go_with_the_text_they_point_into(self) -> None:
        block = {"type": "text", "text": "as [1] says", "id": "t1", "annotations": [{"start_index": 3}]}
        changed = apply_compressed_content(AIMessage([block]), "short")
        assert changed.content == [{"type": "text", "text": "short", "id": "t1"}]

    @pytest.mark.parametrize(
        "message",
        [
            AIMessage("long", id="m1", name="bot", tool_calls=[call("a", q=1)], response_metadata={"model": "x"}),
            ToolMessage("long", id="m2", tool_call_id="a", status="error", artifact={"raw": 1}),
            pin(HumanMessage("long", id="m3", additional_kwargs={"x": 1})),
        ],
    )
    def test_id_calls_name_and_metadata_stay(self, message: BaseMessage) -> None:
        changed = apply_compressed_content(message, "short")
        assert type(changed) is type(message)
        assert changed.model_dump() | {"content": "long"} == message.model_dump()
