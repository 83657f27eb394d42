"""What a session amounts to: messages, tokens, times. Noted at each append, so that it costs no reading.

This room cannot count tokens: whoever opens a session may bring what does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import RecordError, TokenCountError, describe
from langchain_ctxcompress.storage.records import CheckpointSummary, SessionInfo

logger = logging.getLogger(__name__)

CountMessages = Callable[[Sequence[BaseMessage]], Sequence[int]]
"""Sizes of messages in tokens: a `MessageCounter`, or `compressor.count`."""


def size_of(messages: Sequence[BaseMessage], count: CountMessages | None) -> int:
    """Their size in tokens; 0 where nobody can count them: what cannot be counted is archived all the same."""
    if count is None:
        return 0
    try:
        return sum(count(messages))
    except TokenCountError as error:
        logger.warning("%s; its size is not noted", error)
        return 0


def session_info(session_id: str, heads: Iterable[Any], checkpoints: Sequence[CheckpointSummary]) -> SessionInfo:
    """The metadata of a session.

    Args:
        session_id: The session.
        heads: The heads of its writers, as items of the store.
        checkpoints: Its summary checkpoints.

    Raises:
        RecordError: A head is damaged.
    """
    try:
        values = [head.value for head in heads]
        started = [datetime.fromisoformat(value["started_at"]) for value in values]
        updated = [datetime.fromisoformat(value["updated_at"]) for value in values]
        messages = sum(int(value["messages"]) for value in values)
        tokens = sum(int(value.get("tokens", 0)) for value in values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"the head of a writer of session {session_id!r} is damaged: {describe(error)}"
        raise RecordError(msg) from error
    made = [checkpoint.created_at for checkpoint in checkpoints]
    return SessionInfo(
        session_id=session_id,
        started_at=min(map(_aware, started), default=None),
        updated_at=max(map(_aware, (*updated, *made)), default=None),
        messages=messages,
        tokens=tokens,
        compressions=sum(1 for checkpoint in checkpoints if checkpoint.level),
    )


def _aware(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)
