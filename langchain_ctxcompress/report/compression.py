"""`CompressionReport`: one compression to look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from langchain_ctxcompress.limits import ContextTier
from langchain_ctxcompress.report.composition import window_tiers

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from langchain_ctxcompress.engine import CompressionResult


@dataclass(frozen=True)
class CompressionReport:
    """What a compression did: `print` it with rich, show it in a notebook, or plot it.

    Attributes:
        result: The result of the compression.
    """

    result: CompressionResult

    @cached_property
    def tiers(self) -> list[ContextTier]:
        """What the list is made of now."""
        from langchain_ctxcompress.tokens import MessageCounter, count_tokens

        return window_tiers(self.result.messages, count=MessageCounter(), count_text=count_tokens)

    def rows(self) -> list[tuple[str, str]]:
        """What is said first, as label and value."""
        result = self.result
        share = f"{result.tokens_freed / result.tokens_before:.0%}" if result.tokens_before else "–"
        rows = [
            ("outcome", f"{result.outcome} ({result.reason})"),
            ("tokens before", f"{result.tokens_before:,}"),
            ("tokens after", f"{result.tokens_after:,}"),
            ("freed", f"{result.tokens_freed:,} ({share})"),
            ("turns kept word for word", f"{result.turns_kept:,}"),
            ("turns replaced", f"{result.turns_replaced:,}"),
            ("model calls", f"{result.model_calls:,}"),
            ("time", f"{result.seconds:.3f} s"),
        ]
        return [*rows, ("detail", result.detail)] if result.detail else rows

    def __repr__(self) -> str:
        result = self.result
        return f"CompressionReport({result.outcome}, {result.tokens_before:,} -> {result.tokens_after:,} tokens)"

    def __rich__(self) -> Table:
        from langchain_ctxcompress.report.tables import compression_table

        return compression_table(self)

    def __str__(self) -> str:
        return "\n".join(f"{label}: {value}" for label, value in self.rows())

    def _repr_html_(self) -> str:
        from langchain_ctxcompress.report.snippets import compression_snippet

        return compression_snippet(self)

    def plot_window(self) -> Figure:
        """What the list is made of, as a coloured stack. Needs matplotlib (extra `report`)."""
        from langchain_ctxcompress.report.plots import plot_tiers

        return plot_tiers({"window": self.tiers})

    def plot_rungs(self) -> Figure:
        """What each rung freed. Needs matplotlib (extra `report`)."""
        from langchain_ctxcompress.report.plots import plot_rungs

        return plot_rungs(self.result.rungs)
