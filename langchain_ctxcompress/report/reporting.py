"""Making a session's report from its archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.report.session import SessionReport
from langchain_ctxcompress.storage import CheckpointChain, SessionHistory


def report_of(
    history: SessionHistory,
    *,
    count: Callable[[Sequence[BaseMessage]], list[int]] | None = None,
    count_text: Callable[[str], int] | None = None,
    soft_limit_tokens: int | None = None,
    hard_limit_tokens: int | None = None,
) -> SessionReport:
    """A session as its archive tells it.

    Args:
        history: The archive.
        count: Sizes of messages, in tokens; by default those of `o200k_base`.
        count_text: Size of a text, in tokens; by default that of `o200k_base`.
        soft_limit_tokens: The soft limit that a plot shows, in tokens.
        hard_limit_tokens: The hard limit that a plot shows, in tokens.

    Raises:
        StorageError: The store failed.
        RecordError: A record is damaged.
    """
    from langchain_ctxcompress.tokens import MessageCounter, count_tokens

    count = count or MessageCounter()
    messages, checkpoints = history.messages(), history.checkpoints()
    return SessionReport(
        history.session_id,
        messages,
        count(messages),
        checkpoints,
        CheckpointChain(checkpoints).apply(messages).messages,
        count,
        count_text or count_tokens,
        soft_limit_tokens,
        hard_limit_tokens,
    )
