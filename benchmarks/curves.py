"""Draws what the benchmarks measured: cost against work, part by part, with straight lines where it is linear.

Run: python -m benchmarks.curves FOLDER [--to PNG]   (after `make bench`, which leaves its figures in build/bench)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Curves = dict[str, dict[int, float]]


def curves(folder: Path) -> dict[str, Curves]:
    """For each part that was measured, its curves: milliseconds by the number of messages or steps."""
    found: dict[str, Curves] = {}
    if figures := _read(folder, "idle_step"):
        found["A step that needs nothing"] = _by_name(figures["milliseconds"])
    if figures := _read(folder, "langgraph_step"):
        same = _by_name(figures["milliseconds"]["same objects"])
        found["A step of a graph"] = {
            "with a node that does nothing": same["nothing"],
            "with the compression node": same["compression"],
        }
    if figures := _read(folder, "session_cost"):
        found["A step of a session, by its length"] = {
            "all steps": _numbered(figures["milliseconds_a_step"]),
            "steps without a compression": _numbered(figures["idle"]),
            "a compression": _numbered(figures["compression"]),
        }
    if figures := _read(folder, "strategies"):
        found["A strategy (agent run)"] = {
            name.partition(",")[0]: curve
            for name, curve in _by_name(
                {
                    size: {row: parts["strategy"] for row, parts in own.items() if row.endswith("agent run")}
                    for size, own in figures["milliseconds"].items()
                }
            ).items()
        }
    if figures := _read(folder, "archive_scale"):
        names = {"append_100_ms": "append 100", "view_ms": "open: the view", "compress_ms": "open and compress"}
        found["The archive, by its length"] = {
            shown: {int(row["messages"]): row[name] for row in figures["rows"]} for name, shown in names.items()
        }
    return found


def draw(parts: Mapping[str, Curves], path: Path) -> None:
    """Write the curves as a PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    rows = -(-len(parts) // 2)
    figure, grid = plt.subplots(rows, 2, figsize=(10, 3.2 * rows), squeeze=False, layout="constrained")
    for axes in grid.flat[len(parts) :]:
        axes.set_visible(False)
    for axes, (title, own) in zip(grid.flat, parts.items(), strict=False):
        for name, curve in own.items():
            axes.plot(list(curve), list(curve.values()), marker="o", markersize=3, linewidth=1.2, label=name)
        axes.set(title=title, xscale="log", yscale="log", ylabel="ms")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=60, metadata={"Software": ""})
    plt.close(figure)


def _read(folder: Path, name: str) -> dict[str, Any] | None:
    path = folder / f"{name}.json"
    found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


def _by_name(figures: Mapping[str, Mapping[str, float]]) -> Curves:
    named: Curves = {}
    for size, own in figures.items():
        for name, value in own.items():
            named.setdefault(name, {})[int(size)] = value
    return named


def _numbered(figures: Mapping[str, float]) -> dict[int, float]:
    return {int(size): value for size, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the figures are, as JSON")
    parser.add_argument("--to", type=Path, help="the picture; by default curves.png beside the figures")
    options = parser.parse_args()
    path = options.to or options.folder / "curves.png"
    draw(curves(options.folder), path)
    print(f"written: {path}")


if __name__ == "__main__":
    main()
