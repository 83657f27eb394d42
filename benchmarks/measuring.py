"""What the benchmarks share: rounds of works taken in turn, tables with the ratios first, figures as JSON.

Times are those of the processor, not of the clock on the wall: what is measured waits for nothing, and what else a
machine does is not its cost. A ratio is the median of the ratios of each round, in which the works follow each other.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SLACK = 1.5
"""`--check` fails where a ratio is worse than the stated one by half: machines differ, and so do their neighbours."""


clock = time.process_time
"""Seconds of the processor that this process took."""


class Rounds:
    """What some works took, round by round.

    Args:
        works: What is measured, by name.
        runs: How many rounds; in each the works are run in turn, so that a busy machine slows all of them.
        taken: The milliseconds of a work; by default those that calling it takes.
    """

    def __init__(
        self,
        works: Mapping[str, Callable[[], Any]],
        runs: int,
        taken: Callable[[Callable[[], Any]], float] | None = None,
    ) -> None:
        taken = taken or milliseconds
        self.times: dict[str, list[float]] = {name: [] for name in works}
        settle()
        for _ in range(runs):
            for name, work in works.items():
                self.times[name].append(taken(work))

    @property
    def medians(self) -> dict[str, float]:
        """The median of each, in milliseconds."""
        return {name: statistics.median(own) for name, own in self.times.items()}

    def ratio(self, one: str, other: str) -> float:
        """The median of what one took of the other in each round."""
        return statistics.median(a / b for a, b in zip(self.times[one], self.times[other], strict=True))


def milliseconds(work: Callable[[], Any]) -> float:
    """What calling a work takes."""
    start = clock()
    work()
    return (clock() - start) * 1_000


def settle() -> None:
    """Takes what exists by now out of the garbage collector's sight: imports and inputs are not what is measured."""
    gc.collect()
    gc.freeze()


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    shown = [[cell if isinstance(cell, str) else _figure(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in [list(columns), *shown]) for place in range(len(columns))]
    print(f"\n{title}")
    for row in (list(columns), *shown):
        first, *rest = (
            cell.ljust(w) if not place else cell.rjust(w)
            for place, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join((first, *rest)).rstrip())


def _figure(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


class Ratios:
    """What was stated, and what was measured.

    Attributes:
        rows: Each ratio: its name, what was measured, what is stated, whether more is better.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float, bool]] = []

    def at_least(self, name: str, measured: float, stated: float) -> None:
        self.rows.append((name, measured, stated, True))

    def at_most(self, name: str, measured: float, stated: float) -> None:
        self.rows.append((name, measured, stated, False))

    def show(self) -> None:
        rows = [
            [
                name,
                measured,
                f"{'>=' if more else '<='} {stated:g}",
                "met" if self._met(measured, stated, more) else "NOT met",
            ]
            for name, measured, stated, more in self.rows
        ]
        table("Ratios", ("", "measured", "stated", ""), rows)

    def broken(self) -> list[str]:
        """Those that are worse than stated by half."""
        return [
            f"{name}: {measured:.3f}, stated {'at least' if more else 'at most'} {stated:g}"
            for name, measured, stated, more in self.rows
            if not self._met(measured * SLACK if more else measured / SLACK, stated, more)
        ]

    @staticmethod
    def _met(measured: float, stated: float, more: bool) -> bool:
        return measured >= stated if more else measured <= stated


def arguments(
    description: str | None, own: Callable[[argparse.ArgumentParser], None] = lambda _: None
) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer runs")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of each, of which the median is shown")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is worse than the stated one by half")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    own(parser)
    return parser.parse_args()


def finish(options: argparse.Namespace, ratios: Ratios, figures: Mapping[str, Any]) -> None:
    """Writes the figures where that is asked for, and leaves with an error where a ratio is broken and that matters."""
    if options.json:
        stated = [{"name": n, "measured": m, "stated": s, "at_least": more} for n, m, s, more in ratios.rows]
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"ratios": stated, **figures}, indent=2) + "\n", encoding="utf-8")
    if options.check and (broken := ratios.broken()):
        sys.exit("worse than stated by half:\n  " + "\n  ".join(broken))
