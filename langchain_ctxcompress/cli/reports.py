"""Commands that only look: `count` and `plan`, and how every report names a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_ctxcompress.cli.batch import Batch
from langchain_ctxcompress.cli.settings import CompressorSettings
from langchain_ctxcompress.cli.terminal import emit_json, emit_table
from langchain_ctxcompress.conversations import Conversation
from langchain_ctxcompress.errors import CtxCompressError

Row = dict[str, Any]


def identity(conversation: Conversation) -> Row:
    """Which conversation it is, for programs."""
    place = conversation.place
    own = conversation.record.get("id")
    return {"file": place.file, "line": place.line, "part": place.part, "id": own}


def names(conversation: Conversation) -> tuple[str, str]:
    """Where it stands, without the folder, and its own id: the first two cells of a row."""
    return str(conversation.place).replace("\\", "/").rsplit("/", 1)[-1], conversation.name


def count_conversations(paths: Sequence[str], model: str | None, *, as_json: bool) -> int:
    """Count messages and tokens of every conversation.

    Args:
        paths: The files.
        model: Whose tokens are counted.
        as_json: Give one JSON document instead of a table.

    Returns:
        The exit code.
    """
    from langchain_ctxcompress.tokens import MessageCounter
    from langchain_ctxcompress.tokens.encodings import encoding_for

    batch, rows, shown = Batch(paths), list[Row](), list[tuple[str | int, ...]]()
    counter = MessageCounter(model)
    for conversation in batch:
        try:
            tokens = sum(counter(conversation.messages))
        except CtxCompressError as error:
            batch.refuse(f"{conversation.place}: {error}")
            continue
        row = {**identity(conversation), "messages": len(conversation.messages), "tokens": tokens}
        rows.append(row)
        shown.append((*names(conversation), row["messages"], tokens))
    encoding = encoding_for(model)
    messages, tokens = (sum(row[key] for row in rows) for key in ("messages", "tokens"))
    if as_json:
        used = {"name": encoding.name, "margin_percent": encoding.margin_percent}
        totals = {"conversations": len(rows), "messages": messages, "tokens": tokens}
        emit_json({"results": rows, "totals": totals, "encoding": used, "errors": batch.errors})
    elif rows:
        margin = f" and a margin of {encoding.margin_percent} %" if encoding.margin_percent else ""
        footer = (f"{len(rows):,} conversations", "", f"{messages:,}", f"{tokens:,}")
        emit_table(f"Counted with {encoding.name}{margin}", ("conversation", "id", "messages", "tokens"), shown, footer)
    return batch.exit_code


def plan_conversations(paths: Sequence[str], settings: CompressorSettings, *, as_json: bool) -> int:
    """Show what a compression of every conversation would do; no model is called and nothing is written.

    Returns:
        The exit code.
    """
    batch, compressor = Batch(paths), settings.compressor()
    rows, shown = list[Row](), list[tuple[str | int, ...]]()
    for conversation in batch:
        try:
            plan = compressor.plan(conversation.messages, session_id=conversation.session_id(settings.label))
        except CtxCompressError as error:
            batch.refuse(f"{conversation.place}: {error}")
            continue
        numbers = {
            "messages": len(conversation.messages),
            "tokens": plan.tokens,
            "turns": plan.turns,
            "candidate_turns": plan.candidate_turns,
            "candidate_tokens": plan.candidate_tokens,
            "model_calls": plan.model_calls,
            "model_tokens": plan.model_tokens,
        }
        costs = plan.costs
        priced = {
            "tokens_after": plan.tokens_after,
            "cost": costs and round(costs.cost, 1),
            "saving": costs and round(costs.saving, 1),
        }
        rows.append(
            {**identity(conversation), **numbers, **priced, "urgency": plan.urgency.value, "reason": plan.reason.value}
        )
        shown.append((*names(conversation), *numbers.values(), plan.urgency.value, plan.reason.value))
    limits = {"soft": compressor.config.soft_limit_tokens, "hard": compressor.config.hard_limit_tokens}
    if as_json:
        emit_json({"results": rows, "limits": limits, "errors": batch.errors})
    elif rows:
        columns = (
            "conversation",
            "id",
            "messages",
            "tokens",
            "turns",
            "would go",
            "in tokens",
            "model calls",
            "would be read",
        )
        totals = [f"{sum(row[key] for row in rows):,}" for key in numbers]
        footer = (f"{len(rows):,} conversations", "", *totals, "", "")
        title = f"Soft limit {limits['soft']:,} tokens, hard limit {limits['hard']:,}"
        emit_table(
            title,
            (*columns, "urgency", "reason"),
            shown,
            footer,
            wide_only=("id", "messages", "model calls", "would be read"),
        )
    return batch.exit_code
