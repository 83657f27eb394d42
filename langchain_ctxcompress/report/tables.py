"""Reports in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from langchain_ctxcompress.limits import ContextTier

if TYPE_CHECKING:
    from langchain_ctxcompress.report.compression import CompressionReport
    from langchain_ctxcompress.report.session import SessionReport

BAR = 30
"""Length of the longest bar, in characters."""


def compression_table(report: CompressionReport) -> Table:
    """One compression: its figures, what each rung freed, what the list is made of."""
    parts: list[RenderableType] = [_pairs(report.rows())]
    if report.result.rungs:
        rungs = Table("rung", "freed", "why", title="What each rung freed", title_justify="left")
        for rung in report.result.rungs:
            rungs.add_row(rung.name, f"{rung.freed:,}", Text(rung.detail or rung.reason))
        parts.append(rungs)
    return _stacked("Compression", [*parts, tier_table(report.tiers)])


def session_table(report: SessionReport) -> Table:
    """A session: its figures, its compressions, what the window is made of."""
    parts: list[RenderableType] = [_pairs(report.totals())]
    if report.compressions:
        made = Table("no.", "tokens", "messages", "level", "by", title="Compressions", title_justify="left")
        for checkpoint in report.compressions:
            made.add_row(
                str(checkpoint.number),
                f"{checkpoint.tokens_before:,} → {checkpoint.tokens_after:,}",
                f"{len(checkpoint.covered):,}",
                str(checkpoint.level) if checkpoint.level else "–",
                Text(" / ".join(part for part in (checkpoint.strategy, checkpoint.summariser) if part)),
            )
        parts.append(made)
    return _stacked(f"Session {report.session_id}", [*parts, tier_table(report.tiers)])


def tier_table(tiers: list[ContextTier]) -> Table:
    """The parts of a window, each with a bar."""
    table = Table("part", "tokens", "", title="What the window is made of", title_justify="left")
    most = max((tier.token_count for tier in tiers), default=0)
    for tier in tiers:
        length = max(1, round(BAR * tier.token_count / most))
        table.add_row(tier.label, f"{tier.token_count:,}", Text("█" * length, style=tier.color))
    return table


def _pairs(rows: list[tuple[str, str]]) -> Table:
    table = Table(show_header=False)
    for label, value in rows:
        table.add_row(label, Text(value))
    return table


def _stacked(title: str, parts: list[RenderableType]) -> Table:
    outer = Table.grid()
    outer.add_row(Text(title, style="bold"))
    outer.add_row(Group(*parts))
    return outer
