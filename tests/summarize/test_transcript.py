"""P6: everything is shown to the summariser, whole or in parts that fit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress.messages import Boundaries, extract_text_content, repair_messages
from langchain_ctxcompress.summarize import split_transcript, transcript
from langchain_ctxcompress.tokens import count_tokens
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.sizes import text_tokens


def unseen(messages: list[BaseMessage], shown: str) -> list[str]:
    """What of the messages the text does not hold."""
    wanted: list[str] = []
    for message in messages:
        wanted.append(extract_text_content(message).strip())
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                wanted += [call["name"], json.dumps(call["args"], ensure_ascii=False)]
            for broken in message.invalid_tool_calls:
                wanted += [broken["name"] or "", broken["args"] or ""]
        if isinstance(message, ToolMessage) and (message.name or extract_text_content(message).strip()):
            wanted.append(message.name or "" if extract_text_content(message).strip() else "")
    return [text for text in wanted if text not in shown]


@given(conversations(surrogates=True, nul=True))
def test_every_text_every_argument_and_every_tool_s_name_is_shown(messages: list[BaseMessage]) -> None:
    assert unseen(messages, transcript(messages)) == []


def test_who_speaks_is_shown() -> None:
    messages = [
        SystemMessage("be brief"),
        HumanMessage("find it"),
        AIMessage("I look", tool_calls=[{"name": "grep", "args": {"q": "ä"}, "id": "c"}]),
        ToolMessage("found", tool_call_id="c", name="grep"),
        ToolMessage("found too", tool_call_id="d"),
        ChatMessage("aside", role="critic"),
        HumanMessage([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]),
        AIMessage(""),
    ]
    assert transcript(messages).split("\n\n") == [
        "[system] be brief",
        "[user] find it",
        '[assistant] I look\n[assistant calls grep] {"q": "ä"}',
        "[tool grep] found",
        "[tool] found too",
        "[note] aside",
        "[user] see\n[user shows an image]",
    ]


def test_malformed_calls_are_shown() -> None:
    broken = {"name": "grep", "args": '{"q": ', "id": "c", "error": "cut off", "type": "invalid_tool_call"}
    assert transcript([AIMessage("", invalid_tool_calls=[broken])]) == '[assistant calls grep, malformed] {"q": '


@settings(max_examples=50)
@given(conversations(surrogates=True, max_messages=60), st.integers(30, 2_000))
def test_parts_are_within_the_size_and_together_hold_everything(messages: list[BaseMessage], size: int) -> None:
    messages = repair_messages(messages).messages
    parts = split_transcript(messages, size, count_tokens)
    assert all(parts)
    assert [part for part in parts if text_tokens(part) > size] == []
    spans = (transcript(messages[start:end]) for start, end in Boundaries(messages).spans)
    assert "".join(parts).replace("\n\n", "") == "".join(spans).replace("\n\n", ""), "in order, nothing left out"


def test_parts_are_cut_at_legal_boundaries() -> None:
    run = agent_run(30, words=30, parallel=2)
    parts = split_transcript(run, 600, count_tokens)
    assert len(parts) > 3
    assert not any(part.startswith("[tool") for part in parts), "no result without its call"


def test_without_a_size_it_is_one_part() -> None:
    messages = exchanges(50)
    assert split_transcript(messages, None, count_tokens) == [transcript(messages)]
    assert split_transcript([], None, count_tokens) == split_transcript([AIMessage("")], 100, count_tokens) == []


@pytest.mark.parametrize(
    "text",
    ["word " * 20_000, "漢字" * 5_000, "a" * 40_000, "x" + " " * 90_000 + "x", "👩‍👩‍👧" * 2_000, "\ud800" * 5_000],
)
def test_one_giant_message_is_cut_in_pieces_and_all_pieces_are_there(text: str) -> None:
    messages = [HumanMessage("before"), HumanMessage(text), HumanMessage("after")]
    parts = split_transcript(messages, 300, count_tokens)
    assert "".join(parts[1:-1]) == transcript(messages[1:2])
    assert [part for part in parts if text_tokens(part) > 300] == []
    assert "before" in parts[0]
    assert "after" in parts[-1]


@pytest.mark.timeout(60)
def test_a_result_of_megabytes_is_cut_in_linear_time() -> None:
    lines = "\n".join(f"{number}: row of data" for number in range(300_000))
    parts = split_transcript([HumanMessage(lines)], 1_000, count_tokens)
    assert "".join(parts) == f"[user] {lines}"
