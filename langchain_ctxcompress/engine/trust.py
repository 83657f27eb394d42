"""How far a session's summaries can be trusted, and whether what came out fits (requirements M2, P1 and P9)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.engine.job import Job
from langchain_ctxcompress.limits import ContextWindow, calculate_reliability
from langchain_ctxcompress.limits.reliability import should_warn
from langchain_ctxcompress.limits.validation import Reducible, ValidationResult, validate_size
from langchain_ctxcompress.messages import is_pinned, is_summary, kind_of, newest_human
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies import CompressionDraft

logger = logging.getLogger("langchain_ctxcompress.compressor")

BY_MODEL = "model"
"""What a checkpoint says whose text a chat model wrote."""


def reliability_of(job: Job, draft: CompressionDraft) -> tuple[float | None, tuple[str, ...]]:
    """The reliability of the session's summaries, and what there is to warn of (M2).

    Only summaries by the chat model count: the extractive summariser quotes. `None` without a model, and where its size
    is not known. The warning is logged once, at the compression that reaches the count; results say it from then on.

    Args:
        job: The compression.
        draft: What it came to.
    """
    if job.model is None:
        return None, ()
    made = {c.checkpoint_id for c in draft.checkpoints if c.summariser == BY_MODEL}
    before = {c.checkpoint_id for c in job.session.chain.records if c.summariser == BY_MODEL} - made
    number = len(before) + len(made)
    reliability = calculate_reliability(job.model, number)
    if reliability is None or not should_warn(job.model, number):
        return reliability, ()
    warning = (
        f"after {number} compressions by a model of this size summaries are {reliability:.0%} reliable:"
        " look things up in the archive, take a larger summariser, or start a new session"
    )
    if made and not should_warn(job.model, len(before)):
        logger.warning("session %s: %s", job.session_id, warning)
    return reliability, (warning,)


def validation_of(job: Job, draft: CompressionDraft, shown: Sequence[CheckpointSummary]) -> ValidationResult:
    """Whether the list fits its hard limit, and what to do next where it does not (P9).

    Args:
        job: The compression.
        draft: What it came to.
        shown: The checkpoints whose texts stand in the summary message.
    """
    tokens = job.overhead_tokens + draft.tokens
    limit = job.config.hard_limit_tokens - 1
    if tokens <= limit:
        return validate_size(tokens, limit)
    window = ContextWindow.of(draft.messages, lambda _: list(draft.sizes), overhead_tokens=job.overhead_tokens)
    newest = set(newest_human(draft.messages))
    free = [
        size
        for place, (message, size) in enumerate(zip(draft.messages, draft.sizes, strict=True))
        if place not in newest and not _fixed(message)
    ]
    texts = [job.tools.count_text(checkpoint.text) for checkpoint in shown]
    reducible = Reducible.of(window, job.config, checkpoints=texts, largest_message=max(free, default=0))
    return validate_size(tokens, limit, reducible)


def _fixed(message: BaseMessage) -> bool:
    return kind_of(message) == "system" or is_pinned(message) or is_summary(message)
