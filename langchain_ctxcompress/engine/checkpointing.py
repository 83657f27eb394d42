"""Stage four: the checkpoints of a draft as they are stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langchain_ctxcompress.engine.job import Prepared
from langchain_ctxcompress.ledger import goal_values
from langchain_ctxcompress.messages import is_summary, original_hash
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.storage.records import REPAIR
from langchain_ctxcompress.strategies import CompressionDraft
from langchain_ctxcompress.strategies.ageing import checkpoint_name

MOST_BEHIND = 32
"""Ids of what was kept that a checkpoint remembers: any one of them tells that a list is from after it."""


def with_orphans(prepared: Prepared, draft: CompressionDraft) -> CompressionDraft:
    """The draft with a checkpoint of level 0 in front that lists the orphan results that were dropped."""
    request = prepared.request
    covered = {message.id or "": original_hash(message) for message in prepared.orphans}
    record = CheckpointSummary(
        checkpoint_id=checkpoint_name(request.session_id, "orphans", *covered, *covered.values()),
        session_id=request.session_id,
        number=request.next_number,
        level=0,
        covered=covered,
        strategy=REPAIR,
    )
    return replace(draft, checkpoints=(record, *draft.checkpoints))


def finished(draft: CompressionDraft, prepared: Prepared) -> tuple[CheckpointSummary, ...]:
    """Stage four: the checkpoints as they are stored; the last knows the final size, and when it was reached."""
    if not draft.checkpoints:
        return ()
    after = prepared.request.overhead_tokens + draft.tokens
    newest = prepared.originals[-1].id if prepared.originals else ""
    *earlier, last = draft.checkpoints
    update: dict[str, Any] = {"tokens_after": after, "newest_id": newest, "behind": _behind(draft, prepared)}
    goals = prepared.request.goals
    given = tuple(goal_values(goals.given))
    if last.goals_given != given:  # of a strategy that knows no goals, or of a job that began under others
        update |= {"goals": tuple(goal_values(goals.now)), "goals_given": given}
    return (*earlier, last.model_copy(update=update))


def _behind(draft: CompressionDraft, prepared: Prepared) -> tuple[str, ...]:
    """What the last checkpoint of a draft remembers to have been kept behind all that was replaced."""
    gone = {message_id for record in draft.checkpoints if record.strategy != REPAIR for message_id in record.covered}
    head, messages = prepared.request.head, prepared.request.messages
    if not gone:
        return head.behind if head else ()
    last = max((place for place, m in enumerate(messages) if m.id in gone or is_summary(m)), default=len(messages))
    return tuple(message.id or "" for message in messages[last + 1 :][-MOST_BEHIND:])
