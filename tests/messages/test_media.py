"""Media are known by the MIME type they say, else by the type of their block, whoever's shape it is."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from langchain_ctxcompress.messages import medium_of
from langchain_ctxcompress.summarize.transcript import transcript
from langchain_ctxcompress.tokens.messages import MEDIA_TOKENS, count_message

BASE64 = "QUJD" * 5_000
BLOCKS: list[tuple[dict[str, Any], str]] = [
    ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}}, "image"),  # OpenAI, chat
    ({"type": "input_image", "image_url": f"data:image/png;base64,{BASE64}"}, "image"),  # OpenAI, responses
    ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}}, "image"),  # Anthropic
    ({"type": "image", "base64": BASE64, "mime_type": "image/png"}, "image"),  # LangChain
    ({"type": "input_audio", "input_audio": {"data": BASE64, "format": "wav"}}, "audio"),
    ({"type": "media", "mime_type": "video/mp4", "data": BASE64}, "video"),  # Gemini
    ({"type": "media", "mime_type": "application/pdf", "data": BASE64}, "file"),
    ({"type": "file", "base64": BASE64, "mime_type": "audio/wav"}, "audio"),
    ({"type": "input_file", "file_data": BASE64}, "file"),
    ({"type": "document", "source": {"type": "base64", "data": BASE64}}, "file"),
]


@pytest.mark.parametrize(("block", "medium"), BLOCKS)
def test_a_medium_is_one_thing_to_whoever_counts_or_shows_it(block: dict[str, Any], medium: str) -> None:
    assert medium_of(block) == medium
    message = HumanMessage([{"type": "text", "text": "See."}, block])
    tokens = {str(kind): size for kind, size in MEDIA_TOKENS.items()}
    assert tokens[medium] <= count_message(message) < tokens[medium] + 20
    shown = transcript([message])
    assert medium in shown.splitlines()[1]
    assert BASE64[:40] not in shown


@pytest.mark.parametrize("block", [{"type": "text", "text": "an image"}, {"type": "tool_use"}, {}, {"type": None}])
def test_anything_else_is_none(block: dict[str, Any]) -> None:
    assert medium_of(block) is None
