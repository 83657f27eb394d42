"""The two doors of bands, sync and async, and what is tried at both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressionBand,
    acompress_messages,
    compress_messages,
)
from langchain_ctxcompress.strategies import BandResult
from tests.strategies.test_band_tasks import text_of, without_text
from tests.support.models import ScriptedChatModel
from tests.support.sizes import text_tokens

ALL = [CompressionBand(0, 100, "compress")]
HEAVY = [CompressionBand(0, 100, "heavy-compress")]
BOTH = [CompressionBand(0, 30, "heavy-compress"), CompressionBand(50, 80, "compress")]


def in_turn(*args: Any, **options: Any) -> BandResult:
    return compress_messages(*args, **options)


def in_a_loop(*args: Any, **options: Any) -> BandResult:
    return asyncio.run(acompress_messages(*args, **options))


Door = Callable[..., BandResult]
doors = pytest.mark.parametrize("door", [in_turn, in_a_loop], ids=["sync", "async"])


def quick(replies: Any, **fields: Any) -> ChatModelSummariser:
    """A summariser that does not wait between attempts."""
    return ChatModelSummariser(ScriptedChatModel(replies, **fields), retry_wait=0)


def said(prompt: Sequence[BaseMessage]) -> str:
    """The message that a prompt is about."""
    return prompt[-1].text.split("\n", 1)[1].rsplit("\n</message-", 1)[0]


def only_text_differs(after: BandResult, before: Sequence[BaseMessage]) -> list[str]:
    """Names every message that differs in more than the text, or though its task did not succeed."""
    done = {task.message_index for task in after.tasks if task.status == "succeeded"}
    found = [] if len(after.messages) == len(before) else ["another number of messages"]
    for place, (now, was) in enumerate(zip(after.messages, before, strict=False)):
        if place not in done and now is not was:
            found.append(f"message {place} changed without a task")
        if place in done and without_text(now) != without_text(was):
            found.append(f"message {place} changed in more than its text")
        if place in done and not 0 < text_tokens(text_of(now)) < text_tokens(text_of(was)):
            found.append(f"message {place} is not smaller")
    return found
