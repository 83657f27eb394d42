"""Removing messages from a session for good, and writing the summaries anew that were taken back with them.

The storage room takes back what may repeat a removed message; what the other messages of those summaries said is still
in the archive, and is summarised here again, without a model.
"""

from __future__ import annotations

from collections.abc import Iterable

from langchain_ctxcompress.engine.sessions import Session
from langchain_ctxcompress.ledger import render, render_goals
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.storage import CheckpointChain, CheckpointSummary, StoreSteps
from langchain_ctxcompress.strategies import Tools
from langchain_ctxcompress.strategies.ageing import AgeRule, age
from langchain_ctxcompress.strategies.base import goals_of
from langchain_ctxcompress.strategies.quotes import newest_within
from langchain_ctxcompress.strategies.remembering import ledger_room, stored_ledger
from langchain_ctxcompress.strategies.rendering import quotes_of, render_summary
from langchain_ctxcompress.summarize import extract_summary, summary_budget

_NO_MERGE = AgeRule(merge=1_000_000)
"""P7's levels alone: which checkpoints a summary message shows was decided when it was made."""


def forget_messages(
    session: Session, message_ids: Iterable[str], tools: Tools, config: PrunerConfig
) -> StoreSteps[int]:
    """Remove messages from the archive of a session, and renew every summary that was taken back.

    Args:
        session: The session.
        message_ids: The messages.
        tools: Counting and cutting.
        config: How large quotes and ledger may be.

    Returns:
        How many of them were in the archive.
    """
    try:
        removed = yield from session.history.forget_messages_steps(message_ids)
        yield from _renew(session, tools, config)
    finally:
        session.forget()
    return removed


def _renew(session: Session, tools: Tools, config: PrunerConfig) -> StoreSteps[None]:
    """Write the text of every stale checkpoint anew, then what the summary messages show."""
    chain = CheckpointChain((yield from session.history.checkpoints_steps()))
    stale = [checkpoint for checkpoint in chain.records if checkpoint.stale]
    for checkpoint in stale:
        if checkpoint.level and not checkpoint.text:
            text = yield from _text(session, chain, checkpoint, tools)
            renewed = checkpoint.model_copy(update={"text": text, "summariser": "extractive"})
            chain = CheckpointChain([renewed if c is checkpoint else c for c in chain.records])
    for checkpoint in stale:
        current = chain.by_id[checkpoint.checkpoint_id]
        rendered = _rendered(chain, current, tools, config) if current.rendered else ""
        done = current.model_copy(update={"rendered": rendered, "stale": False})
        yield from session.history.put_checkpoint_steps(done, again=True)


def _text(session: Session, chain: CheckpointChain, checkpoint: CheckpointSummary, tools: Tools) -> StoreSteps[str]:
    """The summary of what is left of a checkpoint's messages; `""` where nothing is."""
    if not (checkpoint.covered or checkpoint.merged):
        return ""
    covered = chain.covered_by(checkpoint.checkpoint_id) or {}
    originals = yield from session.history.get_steps(covered, covered, on_damage="skip")
    most = summary_budget(checkpoint.level, sum(tools.count(originals))).most
    return extract_summary(originals, most, count=tools.count_text)


def _rendered(chain: CheckpointChain, head: CheckpointSummary, tools: Tools, config: PrunerConfig) -> str:
    """The text of the summary message of a checkpoint, as a compression writes it."""
    shown = chain.shown(head)
    texts = [(checkpoint.checkpoint_id, checkpoint.text) for checkpoint in age(shown, _NO_MERGE, tools)]
    quotes = newest_within(quotes_of(shown), config.keep_human_tokens, tools)
    ledger = stored_ledger(head)
    restated = render(ledger, max_tokens=ledger_room(config.target_tokens), count=tools.count_text) if ledger else ""
    goals = render_goals(goals_of(head).now)
    return render_summary(texts, quotes, count=head.count, ledger=restated, goals=goals)
