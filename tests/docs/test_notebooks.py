"""Each notebook runs in a kernel of its own, from nothing and without a key, and prints what is committed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 150_000
"""Bytes of a notebook with its outputs: it is read on a web page, too."""


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def printed(cell: dict[str, Any]) -> str:
    said = [output for output in cell.get("outputs", []) if output["output_type"] == "stream"]
    return "".join("".join(output["text"]) for output in said if output["name"] == "stdout")


def shown(cell: dict[str, Any]) -> list[list[str]]:
    return [sorted(output["data"]) for output in cell.get("outputs", []) if "data" in output]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_committed(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.notebooks", path.stem, "--out", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=280, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3_000:]
    for old, new in zip(cells(path), cells(tmp_path / path.name), strict=True):
        assert shown(new) == shown(old)
        if "varies" not in old["metadata"].get("tags", []):  # what depends on Python's own library, which it reads
            assert printed(new) == printed(old)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_says_nothing_of_where_it_was_run(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    outputs = [output for cell in cells(path) for output in cell.get("outputs", [])]
    assert outputs
    assert all(output.get("name") != "stderr" for output in outputs)
    assert not any(str(Path.home()) in json.dumps(output) or "/tmp/" in json.dumps(output) for output in outputs)


def test_there_are_notebooks() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06", "07"]
