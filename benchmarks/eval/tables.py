"""The tables of an evaluation: means over the seeds, with the spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean

from benchmarks.eval.items import KINDS
from benchmarks.eval.playing import Played


def contestants(played: Iterable[Played]) -> dict[str, list[Played]]:
    """What was played, by contestant, in the order they played.

    Args:
        played: Of one set of phrasings.
    """
    grouped: dict[str, list[Played]] = {}
    for each in played:
        grouped.setdefault(each.contestant, []).append(each)
    return grouped


def share(runs: Sequence[Played], place: str, kind: str = "") -> list[float]:
    """For each run, the share of the items of a kind that ended in a place, in percent.

    Args:
        runs: Of one contestant.
        place: `context`, `search` or `lost`.
        kind: One of `KINDS`; all of them where it is empty.
    """
    shares = []
    for run in runs:
        verdicts = [verdict for verdict in run.verdicts if kind in ("", verdict.item.kind)]
        shares.append(100 * sum(verdict.place == place for verdict in verdicts) / len(verdicts))
    return shares


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The mean, with the smallest and the largest where they differ.

    Args:
        values: One for each seed.
        digits: Digits behind the point.
    """
    shown = f"{mean(values):,.{digits}f}"
    least, most = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return shown if least == most else f"{shown} ({least}–{most})"


def kinds_table(played: Iterable[Played]) -> str:
    """By kind of item: in context / found by a search / lost, in percent.

    Args:
        played: Of one set of phrasings.
    """
    groups = contestants(played)
    rows = [["", *KINDS, "all"]]
    for name, runs in groups.items():
        cells = ["/".join(f"{mean(share(runs, place, kind)):.0f}" for place in _PLACES) for kind in (*KINDS, "")]
        rows.append([name, *cells])
    return _markdown(rows)


_PLACES = ("context", "search", "lost")


def totals_table(played: Iterable[Played]) -> str:
    """All items together, and what it cost.

    Args:
        played: Of one set of phrasings.
    """
    columns: list[tuple[str, Callable[[list[Played]], str]]] = [
        ("in context, %", lambda runs: spread(share(runs, "context"))),
        ("found by search, %", lambda runs: spread(share(runs, "search"))),
        ("lost, %", lambda runs: spread(share(runs, "lost"))),
        ("stale restated", lambda runs: spread([sum(v.stale for v in run.verdicts) for run in runs], 1)),
        ("rounds", lambda runs: spread([run.rounds for run in runs])),
        ("summariser calls", lambda runs: spread([run.calls for run in runs])),
        ("tokens read", lambda runs: spread([run.read for run in runs])),
        ("tokens written", lambda runs: spread([run.written for run in runs])),
        ("sent at the end", lambda runs: spread([run.final for run in runs])),
        ("sent on average", lambda runs: spread([run.mean for run in runs])),
        ("most sent", lambda runs: f"{max(run.largest for run in runs):,}"),
        ("degraded or raised", lambda runs: spread([run.errors for run in runs])),
    ]
    rows = [["", *(title for title, _ in columns)]]
    rows += [[name, *(cell(runs) for _, cell in columns)] for name, runs in contestants(played).items()]
    return _markdown(rows)


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in body)])
