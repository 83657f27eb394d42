"""Stage six: a draft is checked before it is applied. The package's own are sound by construction; others may lie."""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import replace

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import is_pinned, is_summary, kind_of, newest_human, repair_messages
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest, Reason

logger = logging.getLogger(__name__)


def validated(request: CompressionRequest, draft: CompressionDraft) -> CompressionDraft:
    """The draft, counted again; a list left as it is where the draft is larger, illegal, or lost or changed something.

    Args:
        request: What the strategy was given.
        draft: What it made of it.
    """
    if draft.messages == request.messages:
        return draft
    draft = replace(draft, sizes=tuple(request.tools.count(draft.messages)))
    problem = _problem(request, draft)
    if not problem:
        return draft
    logger.error("the draft is refused: %s", problem)
    refused = request.unchanged(Reason.INVALID_RESULT, "validation", problem)
    return replace(refused, rungs=(*draft.rungs, *refused.rungs), model_calls=draft.model_calls)


def _problem(request: CompressionRequest, draft: CompressionDraft) -> str:
    """What is wrong with a draft; `""` where nothing is."""
    ids = {message.id for message in draft.messages}
    problem = ""
    if draft.tokens > sum(request.sizes):
        problem = "the result is larger"
    elif repair_messages(draft.messages).changed:
        problem = "the result is not legal"
    elif stray := _stray(request, draft):
        problem = f"message {stray!r} is new, or stands where it did not stand"
    elif any(request.messages[place].id not in ids for place in request.protected):
        problem = "a protected message is missing"
    elif touched := _touched(request, draft):
        problem = f"protected message {touched!r} is not what it was"
    elif lost := _uncovered(request, draft, ids):
        problem = f"message {lost!r} left without being covered by a checkpoint"
    return problem


def _stray(request: CompressionRequest, draft: CompressionDraft) -> str | None:
    """The first message that is not in its order; a summary stands in the place of the message whose id it bears."""
    given = iter(request.messages)
    return next((str(m.id) for m in draft.messages if all(other.id != m.id for other in given)), None)


def _touched(request: CompressionRequest, draft: CompressionDraft) -> str | None:
    """The first system, pinned or newest human message (unless it may be cut) that is not as it was (law 6)."""
    own = set(request.verbatim)
    if request.config.cut_newest_human:
        own -= {p for p in newest_human(request.messages) if not _stays(request.messages[p])}
    there: dict[str | None, list[BaseMessage]] = defaultdict(list)
    for message in draft.messages:
        there[message.id].append(message)
    protected = (request.messages[place] for place in sorted(own))
    return next((str(m.id) for m in protected if m not in there[m.id]), None)


def _uncovered(request: CompressionRequest, draft: CompressionDraft, ids: set[str | None]) -> str | None:
    """The first message that left although no checkpoint covers it (law 2)."""
    there = ids.union(*(record.covered for record in draft.checkpoints))
    return next((m.id for m in request.messages if m.id not in there and not is_summary(m)), None)


def _stays(message: BaseMessage) -> bool:
    """Whether it stays as it is whether or not it is the newest human message."""
    return kind_of(message) == "system" or is_pinned(message)
