"""How long a summary is: three levels, scaled with what is summarised (requirement P2)."""

from __future__ import annotations

from dataclasses import dataclass

BASE: dict[int, tuple[int, int]] = {1: (50, 100), 2: (150, 300), 3: (300, 500)}
"""Tokens at least and at most, by level: 1 compact, 2 moderate, 3 detailed (P2)."""

SHARE: dict[int, float] = {1: 0.01, 2: 0.03, 3: 0.05}
"""From where a share of the source is more than the base, the share is the upper bound. 5 % of 10,000 tokens is the
base of level 3, so inputs up to that keep the base."""

MOST: dict[int, int] = {1: 400, 2: 1_500, 3: 4_000}
"""No summary is longer, however much it covers: beyond it, recall by search beats prose."""


@dataclass(frozen=True, slots=True)
class SummaryBudget:
    """How long a summary should be, in tokens.

    Attributes:
        level: 1 compact, 2 moderate, 3 detailed.
        least: What the model is asked for at least.
        most: What it may take at most.
    """

    level: int
    least: int
    most: int

    def within(self, tokens: int) -> SummaryBudget:
        """The same budget in a smaller room; never under 20 tokens, below which nothing can be said."""
        most = max(20, min(self.most, tokens))
        return SummaryBudget(self.level, min(self.least, most), most)


def summary_budget(level: int, source_tokens: int) -> SummaryBudget:
    """The budget for a source of a given size. More input never gives a shorter summary.

    Args:
        level: 1, 2 or 3.
        source_tokens: Size of what is summarised, in tokens.
    """
    least, most = BASE[level]
    scaled = min(MOST[level], max(most, int(SHARE[level] * source_tokens)))
    return SummaryBudget(level, least * scaled // most, scaled)
