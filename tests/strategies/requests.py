"""Requests for strategies without an engine around them."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress import PrunerConfig, PruneUrgency
from langchain_ctxcompress.messages import ensure_ids
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest, CompressionStrategy, Tools
from langchain_ctxcompress.tokens import MessageCounter, count_tokens, truncate_to_tokens

TOOLS = Tools(MessageCounter(), count_tokens, functools.partial(truncate_to_tokens))


def request_for(messages: Sequence[BaseMessage], limit: int = 1_000, **fields: Any) -> CompressionRequest:
    """A request as the engine makes it, for messages that are in order."""
    messages = ensure_ids(messages, "s")
    config = fields.pop("config", None) or PrunerConfig.for_limit(limit)
    tools = fields.pop("tools", TOOLS)
    return CompressionRequest(
        tuple(messages), tuple(tools.count(messages)), config, PruneUrgency.SOFT, tools, session_id="s", **fields
    )


def outcome_of(strategy: CompressionStrategy, request: CompressionRequest) -> CompressionDraft:
    """What a strategy returns that asks for no model."""
    steps = strategy.run(request)
    try:
        next(steps)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it asked for a model")


def _letters(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return len(message.text) + sum(len(json.dumps(call["args"], ensure_ascii=False)) for call in calls)


LETTERS = Tools(
    lambda messages: [_letters(message) for message in messages], len, lambda text, most: text[: max(0, most)]
)
"""A token is a letter, and a message is what it says: sizes that a test can work out by hand, to the last token."""
