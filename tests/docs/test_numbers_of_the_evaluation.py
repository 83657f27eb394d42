"""The README's numbers of the evaluation are those of its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = {
    "this package": "ladder, lossy model",
    "this package, without a model": "ladder, no model",
    "langmem": "langmem",
    "LangChain's `SummarizationMiddleware`": "SummarizationMiddleware",
    "deepagents": "deepagents",
    "`trim_messages`": "trim_messages",
}
COLUMNS = {
    "in the window, %": "in context, %",
    "found by search, %": "found by search, %",
    "lost, %": "lost, %",
    "old values restated": "stale restated",
    "summariser calls": "summariser calls",
}


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page, each as rows of cells, the head first."""
    found: list[list[list[str]]] = [[]]
    for line in text.split("\n"):
        if line.startswith("|"):
            if not re.fullmatch(r"[|\s:-]+", line):
                found[-1].append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def means(contestant: str, column: str) -> list[float]:
    """The means of a contestant in each section of the page."""
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    return [
        float(row[table[0].index(column)].split(" ")[0].replace(",", ""))
        for table in tables(page)
        if column in table[0]
        for row in table
        if row[0] == contestant
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_says_what_the_evaluation_found(name: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = next(table for table in tables(readme) if "in the window, %" in table[0])
    row = next(row for row in table if row[0] == name)
    for column, theirs in COLUMNS.items():
        found = means(NAMES[name], theirs)
        assert len(found) == 4, "written and recorded filler, open and held-out phrasings"
        said = [float(part) for part in row[table[0].index(column)].split("–")]
        assert (said[0], said[-1]) == (min(found), max(found)), f"{name}: {column}"


def test_the_page_has_a_date_four_seeds_and_every_contestant() -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    assert re.search(r"^\d{4}-\d\d-\d\d, .*`make eval`", page, re.MULTILINE)
    assert "means of 4 seeds" in page
    for kind in ("middle-out", "bands", "pack", "clear-tools", "top-down-truncation", *NAMES.values()):
        assert re.search(rf"^\| {kind}[ ,]", page, re.MULTILINE), kind
