"""The page of reliability is made of what the faults did, and says so where something was lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import faults
from benchmarks.faults import Row
from benchmarks.reliability_page import page

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["empty", "store: writes fail"])
def test_a_row_says_how_often_a_fault_was_met_and_that_nothing_was_lost(name: str) -> None:
    row = faults.cases()[name]()
    assert row.injected > 3
    assert row.answered == (faults.QUESTIONS, faults.QUESTIONS)
    assert row.lost == 0
    assert row.events


def test_the_page_says_what_was_lost_and_where_its_figures_are_from(tmp_path: Path) -> None:
    soak = json.loads((ROOT / "benchmarks/records/soak.json").read_text(encoding="utf-8"))
    (tmp_path / "soak.json").write_text(json.dumps({**soak, "lost": ["m1", "m2"]}))
    text = page([Row("cut", "model", injected=7, answered=(9, 9), lost=3)], tmp_path)
    assert "| cut | 7 | 9 of 9 answers;  | 3 | `'cut'` |" in text
    assert "2 were lost" in text
    assert soak["command"] in text


def test_every_fault_of_the_server_and_of_the_store_stands_in_the_page() -> None:
    written = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    missing = [name for name in faults.cases() if f"`'{name}'`" not in written]
    assert missing == []


def test_the_page_names_the_expressions_that_took_long_and_how_their_time_grew(tmp_path: Path) -> None:
    rows = [
        {"name": "a:_QUICK", "ms": 32.0, "ms_64_kB": 2.0, "text": "a", "matches": 1, "methods": []},
        {"name": "b:_SLOW", "ms": 340.0, "ms_64_kB": 20.0, "text": "a|\n", "matches": 600_000, "methods": []},
    ]
    record = {"command": "python -m benchmarks.expressions", "expressions": rows}
    (tmp_path / "expressions.json").write_text(json.dumps(record))
    text = page([], tmp_path)
    assert "Each of the 2 regular expressions" in text
    assert "1 took under 100 ms for 1 MB. The others, below, took 17 to 17 times as long" in text
    assert "| `b:_SLOW` | 340 | 20.0 | `a&#124;\\n` | 600,000 |" in text
    assert "_QUICK" not in text
