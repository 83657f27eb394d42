"""`emergency`: the last resort over the hard limit (P8). Says less of the past, cuts what is largest, drops the rest.

It runs where nothing gentler helped, and takes its actions in a fixed order until the list fits. Each that frees
something is announced in the draft with the list as it was before it; the engine saves that as a snapshot before the
draft is applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import render_goals
from langchain_ctxcompress.messages import extract_text_content, is_pinned, is_summary, kind_of, newest_human
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies.ageing import merge_checkpoints
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    EmergencyAction,
    RungReport,
    Steps,
)
from langchain_ctxcompress.strategies.cutting import SMALLEST_CUT, cut_message
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.remembering import ledger_of, ledger_room, remember, restated
from langchain_ctxcompress.strategies.rendering import exchange_summaries, read_summaries, render_summary
from langchain_ctxcompress.strategies.replacing import altered, dropped, reworded, summarised
from langchain_ctxcompress.strategies.top_down import droppable, opening, places_to_drop
from langchain_ctxcompress.summarize import extract_summary, summary_budget

SMALLEST_SUMMARY = 100
"""Tokens: a level-1 summary (P2)."""

Action = Callable[[CompressionRequest, int], CompressionDraft | None]
"""Is given the list and how many tokens are too many; returns what it makes of it, `None` where it can do nothing."""


class Emergency(CompressionStrategy):
    """Makes the list fit the hard limit by whatever may still go."""

    name = "emergency"

    def run(self, request: CompressionRequest) -> Steps:
        """Take one action after the other, until the list is under its hard limit."""
        yield from ()
        limit = request.config.hard_limit_tokens - 1
        draft = CompressionDraft(request.messages, request.sizes, reason=Reason.EMERGENCY)
        done: list[str] = []
        # Results and nothing else are no list that any provider takes, however small it is (D6).
        mended = any(kind_of(message) != "tool" for message in request.messages)
        for name, action in ACTIONS if mended else ():
            step = request.after(draft)
            if step.tokens <= limit:
                break
            taken = action(step, step.tokens - limit)
            if taken is None or (freed := sum(step.sizes) - taken.tokens) <= 0:
                continue
            draft = draft.then(
                replace(taken, actions=(EmergencyAction(name, step.messages, _stands_on(step), step.goals.now),))
            )
            done.append(f"{name} ({freed} tokens)")
        if not done:
            over = request.tokens > limit
            reason = Reason.PROTECTED_SET_OVER_HARD_LIMIT if over else Reason.BELOW_HARD_LIMIT
            return request.unchanged(reason, self.name)
        over = request.after(draft).tokens > limit
        reason = Reason.PROTECTED_SET_OVER_HARD_LIMIT if over else Reason.EMERGENCY
        report = RungReport(self.name, sum(request.sizes) - draft.tokens, reason, ", ".join(done))
        return replace(draft, reason=reason, rungs=(report,))


def _stands_on(request: CompressionRequest) -> tuple[CheckpointSummary, ...]:
    """The checkpoints that the list shows, and its head."""
    records = (*request.shown, *((request.head,) if request.head else ()))
    return tuple({record.checkpoint_id: record for record in records}.values())


def _compact_largest(request: CompressionRequest, needed: int) -> CompressionDraft | None:
    """The largest checkpoints say what a level-1 summary says, one after the other until enough is freed."""
    count = request.tools.count_text
    exchanged: dict[str, CheckpointSummary] = {}
    standing = _standing(request)
    for checkpoint in sorted(standing, key=lambda one: -count(one.text)):
        compact = merge_checkpoints([checkpoint], request.tools)
        if needed > 0 and (freed := count(checkpoint.text) - count(compact.text)) > 0:
            exchanged[checkpoint.checkpoint_id] = compact
            needed -= freed
    if not exchanged or request.summary_place is None:
        return None
    text = extract_text_content(request.messages[request.summary_place])
    rendered = exchange_summaries(text, {i: (c.checkpoint_id, c.text) for i, c in exchanged.items()})
    shown = [exchanged.get(one.checkpoint_id, one) for one in standing]
    return reworded(request, rendered, shown, list(exchanged.values()), strategy=Emergency.name)


def _merge(request: CompressionRequest, needed: int) -> CompressionDraft | None:
    """One level-1 checkpoint in place of all that are shown; of quotes and ledger what has room beside it."""
    standing, place, head = _standing(request), request.summary_place, request.head
    if not standing or place is None or head is None:
        return None
    tools = request.tools
    room = max(SMALLEST_SUMMARY, request.sizes[place] - needed - SMALLEST_SUMMARY)
    _, ledger = restated(request, ledger_of(request), place, room - SMALLEST_SUMMARY)
    left = max(SMALLEST_SUMMARY, room - tools.count_text(ledger))
    merged = merge_checkpoints(standing, tools, most=left)
    goals = render_goals(request.goals.now)
    rendered = render_summary([(merged.checkpoint_id, merged.text)], (), count=head.count, ledger=ledger, goals=goals)
    return reworded(request, rendered, [merged], [merged], strategy=Emergency.name)


def _standing(request: CompressionRequest) -> list[CheckpointSummary]:
    """The checkpoints that are shown, each with the text that stands in the summary message: it may have aged."""
    if request.summary_place is None:
        return []
    texts = dict(read_summaries(extract_text_content(request.messages[request.summary_place])))
    shown = (checkpoint for checkpoint in request.shown if checkpoint.checkpoint_id in texts)
    return [checkpoint.model_copy(update={"text": texts[checkpoint.checkpoint_id]}) for checkpoint in shown]


def _roll_over(request: CompressionRequest, needed: int) -> CompressionDraft | None:
    """A level-1 summary in place of everything but what is protected and the last turns."""
    keep = set(request.recent)
    if request.summary_place is not None:
        keep.add(request.summary_place)
    keep |= opening(request, keep)
    places = [place for span in droppable(request, keep) for place in range(*span)]
    if not places:
        return None
    size = sum(request.sizes[place] for place in places)
    budget = summary_budget(1, size)
    room = min(ledger_room(request.config.target_tokens), size - needed - budget.most)
    remembered = remember(request, places, max(room, 0))
    said = "\n".join((*(checkpoint.text for checkpoint in request.shown), remembered.text))
    source = [request.messages[place] for place in places]
    text = extract_summary(source, budget.most, count=request.tools.count_text, earlier=said)
    return summarised(
        request, places, text, (), strategy=Emergency.name, summariser="extractive", remembered=remembered, level=1
    )


def _cut_largest(request: CompressionRequest, needed: int) -> CompressionDraft | None:
    """Unprotected messages cut head and tail, the largest first, until enough is freed."""
    own = {p for p, m in enumerate(request.messages) if kind_of(m) == "system" or is_pinned(m) or is_summary(m)}
    # Their spans may be cut, since no call is lost.
    return _cut(request, set(range(len(request.messages))) - own - set(newest_human(request.messages)), needed)


def _drop_unprotected(request: CompressionRequest, needed: int) -> CompressionDraft | None:
    """What is not protected dropped from the front, the summary message last of all."""
    spans = sorted(droppable(request, opening(request, set())), key=lambda span: is_summary(request.messages[span[0]]))
    gone = places_to_drop(request, request.tokens - needed, spans)
    return dropped(request, gone, strategy=Emergency.name, reason=Reason.EMERGENCY) if gone else None


def _cut_newest_human(request: CompressionRequest, needed: int) -> CompressionDraft | None:
    """The newest human messages cut, where the user opted in; never a pinned one."""
    if not request.config.cut_newest_human:
        return None
    newest = {place for place in newest_human(request.messages) if not is_pinned(request.messages[place])}
    return _cut(request, newest, needed, asked=True)


def _cut(request: CompressionRequest, free: set[int], needed: int, *, asked: bool = False) -> CompressionDraft | None:
    changes: dict[int, BaseMessage] = {}
    for place in sorted(free, key=lambda place: (-request.sizes[place], place)):
        size = request.sizes[place]
        if needed <= 0 or size <= SMALLEST_CUT:
            break
        message = cut_message(request.messages[place], max(SMALLEST_CUT, size - needed), request.tools, asked=asked)
        freed = size - request.tools.count([message])[0]
        if freed > 0:
            changes[place] = message
            needed -= freed
    return altered(request, changes, strategy=Emergency.name, reason=Reason.EMERGENCY) if changes else None


ACTIONS: tuple[tuple[str, Action], ...] = (
    ("the largest checkpoint to level 1", _compact_largest),
    ("checkpoints merged", _merge),
    ("rolled over to the last turns", _roll_over),
    ("the largest messages cut", _cut_largest),
    ("what is not protected dropped", _drop_unprotected),
    ("the newest human message cut", _cut_newest_human),
)
"""What is done, in this order. The first four are P8's; the others make sure that the list fits if it can."""
