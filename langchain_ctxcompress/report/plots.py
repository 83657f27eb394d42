"""Reports as pictures, by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from langchain_ctxcompress.errors import MissingExtraError
from langchain_ctxcompress.limits import ContextTier
from langchain_ctxcompress.report.composition import COLORS, summary_sections
from langchain_ctxcompress.strategies import RungReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from langchain_ctxcompress.report.session import SessionReport

INK, SOFT, HARD = "#4c72b0", "#c9a227", "#c44e52"


def plot_tokens(report: SessionReport, *, whole: bool = False) -> Figure:
    """Tokens per step: the window beside the whole session, the limits, each compression as a drop.

    Args:
        report: What is drawn.
        whole: Whether the axis goes on to the end of the session without compression, beside which a window may
            look flat.
    """
    figure, axes = _figure(8.0, 3.6)
    steps: list[float] = []
    sizes: list[int] = []
    uncompressed: list[int] = []
    total = 0
    for point, size in zip(report.curve, report.sizes, strict=True):
        total += size
        if point.before is not None:
            steps.append(point.place)
            sizes.append(point.before)
            uncompressed.append(total)
        steps.append(point.place)
        sizes.append(point.tokens)
        uncompressed.append(total)
    axes.plot(steps, uncompressed, color="#999999", linestyle=":", label="without compression")
    axes.plot(steps, sizes, color=INK, label="window")
    drops = [point for point in report.curve if point.before is not None]
    axes.plot(
        [point.place for point in drops],
        [point.tokens for point in drops],
        "v",
        color=INK,
        markersize=5,
        label=f"{len(drops)} compressions",
    )
    for limit, color, label in (
        (report.soft_limit_tokens, SOFT, "soft limit"),
        (report.hard_limit_tokens, HARD, "hard limit"),
    ):
        if limit:
            axes.axhline(limit, color=color, linewidth=1, linestyle="--", label=label)
    ceiling = 1.12 * max([*sizes, *(uncompressed if whole else ()), report.hard_limit_tokens or 0, 1])
    axes.set_ylim(0, ceiling)
    leaves = next((step for step, size in zip(steps, uncompressed, strict=True) if size > ceiling), None)
    if leaves is not None:
        said = f"to {total:,} \u2192"
        axes.annotate(said, (leaves, ceiling), (4, -12), textcoords="offset points", color="#777777", fontsize="small")
    axes.set_xlabel("messages")
    axes.set_ylabel("tokens")
    figure.legend(fontsize="small", loc="outside lower center", ncols=5)
    return figure


def plot_tiers(windows: Mapping[str, Sequence[ContextTier]]) -> Figure:
    """Windows as stacks of their parts, one bar each.

    Args:
        windows: The parts of each window, by its name.
    """
    figure, axes = _figure(8.0, 1.6 + 0.5 * len(windows))
    names = list(windows)
    left = [0] * len(names)
    parts = {tier.label: tier.color for tiers in windows.values() for tier in tiers}
    order = {part: place for place, part in enumerate(COLORS)}
    for part in sorted(parts, key=lambda part: order.get(part, len(order))):
        sizes = [sum(tier.token_count for tier in windows[name] if tier.label == part) for name in names]
        axes.barh(names, sizes, left=left, color=parts[part], label=part)
        left = [before + size for before, size in zip(left, sizes, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("tokens")
    figure.legend(fontsize="small", loc="outside lower center", ncols=4)
    return figure


def plot_rungs(rungs: Sequence[RungReport]) -> Figure:
    """What each rung freed, in the order in which they were tried."""
    figure, axes = _figure(8.0, 1.0 + 0.4 * max(1, len(rungs)))
    labels = [f"{place}. {rung.name}" for place, rung in enumerate(rungs, start=1)]
    bars = axes.barh(labels, [rung.freed for rung in rungs], color=INK)
    axes.bar_label(bars, labels=[f"{rung.freed:,} ({rung.reason})" for rung in rungs], padding=3, fontsize="small")
    axes.margins(x=0.35)
    axes.invert_yaxis()
    axes.set_xlabel("tokens freed")
    return figure


def plot_ledger(report: SessionReport) -> Figure:
    """The size of the restated ledger and of the whole summary message, from compression to compression."""
    figure, axes = _figure(8.0, 3.2)
    numbers = list(range(1, len(report.compressions) + 1))
    sections = [summary_sections(made.rendered).get("ledger", "") for made in report.compressions]
    whole = [report.count_text(made.rendered) for made in report.compressions]
    axes.plot(numbers, whole, color=COLORS["summary"], label="summary message")
    axes.plot(numbers, [report.count_text(text) for text in sections], color=COLORS["ledger"], label="its ledger")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("compression")
    axes.set_ylabel("tokens")
    axes.legend(fontsize="small")
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    try:
        from langchain_ctxcompress.report.picture import Picture
    except ImportError as error:
        msg = 'plots need matplotlib: pip install "langchain-ctxcompress[report]"'
        raise MissingExtraError(msg) from error
    figure = Picture(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="both", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    return figure, axes
