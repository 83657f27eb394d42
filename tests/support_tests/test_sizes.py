"""The independent counter counts every piece that is sent, whatever the size of what is not."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.support.conversations import conversations
from tests.support.scenes import PIXEL
from tests.support.sizes import (
    IMAGE_TOKENS,
    MESSAGE_OVERHEAD,
    counter,
    independent_message_tokens,
    independent_tokens,
    ranks_folder,
    text_tokens,
)


def test_known_texts() -> None:
    assert text_tokens("") == 0
    assert text_tokens("hello world") == 2
    assert text_tokens("hello " * 10_000) == 10_001
    assert text_tokens("<|endoftext|>") > 1  # text of a user is text, not a special token


@pytest.mark.skipif(ranks_folder() is None, reason="tiktoken's ranks are not at hand")
@given(st.text(max_size=300))
def test_the_two_counters_agree(text: str) -> None:
    import toktok

    assert counter()[0] == "tiktoken"
    assert text_tokens(text) == toktok.batch_count([text], "o200k_base")[0]


def test_counting_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    counter.cache_clear()
    text_tokens("a text that was not counted before")
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


ARGUMENTS = {"query": "seven red bicycles", "limit": 10}
PARTS: dict[str, tuple[BaseMessage, int]] = {
    "text": (HumanMessage("hello world"), 2),
    "nothing": (HumanMessage(""), 0),
    "blocks": (HumanMessage([{"type": "text", "text": "hello world"}, "hello world"]), 4),
    "name": (HumanMessage("hello world", name="alice"), 2 + text_tokens("alice")),
    "result": (ToolMessage("hello world", tool_call_id="c1"), 2),
    "call": (
        AIMessage("", tool_calls=[{"name": "search", "args": ARGUMENTS, "id": "c1"}]),
        text_tokens("search") + text_tokens('{"query":"seven red bicycles","limit":10}') + text_tokens("c1"),
    ),
    "broken call": (
        AIMessage("", invalid_tool_calls=[{"name": "search", "args": '{"query": ', "id": "c1", "error": None}]),
        text_tokens("search") + text_tokens('{"query": ') + text_tokens("c1"),
    ),
    "reasoning": (AIMessage([{"type": "reasoning", "reasoning": "hello world"}]), 2),
    "reasoning summary": (
        AIMessage([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hello world"}]}]),
        2,
    ),
    "thinking": (AIMessage([{"type": "thinking", "thinking": "hello world", "signature": "x" * 500}]), 2),
    "picture": (HumanMessage([{"type": "image", "base64": PIXEL * 1_000, "mime_type": "image/png"}]), IMAGE_TOKENS),
    "picture by address": (
        HumanMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL * 1_000}}]),
        IMAGE_TOKENS,
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_each_part_counts(name: str) -> None:
    message, expected = PARTS[name]
    assert independent_message_tokens(message) == MESSAGE_OVERHEAD + expected


def test_a_call_that_is_a_block_too_counts_once() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "search", "input": ARGUMENTS}
    both = AIMessage([block], tool_calls=[{"name": "search", "args": ARGUMENTS, "id": "c1"}])
    assert independent_message_tokens(both) == MESSAGE_OVERHEAD + PARTS["call"][1]


@given(conversations(surrogates=True, nul=True, max_messages=60))
def test_any_conversation_can_be_counted(messages: list[BaseMessage]) -> None:
    assert independent_tokens(messages) == sum(independent_tokens([message]) for message in messages)
    assert independent_tokens(messages) >= MESSAGE_OVERHEAD * len(messages)
