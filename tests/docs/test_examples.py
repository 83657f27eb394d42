"""What the README and the notebooks show is run, and prints what they say it prints."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def run(source: str, names: dict) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "example", "exec"), names)
    return printed.getvalue()


def test_the_first_example_of_the_readme():
    first = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    window, original = run(first, {"__name__": "example"}).splitlines()
    assert int(window.split()[0]) < 20
    assert original == "Day 7: order A-1007 costs 27 EUR."


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_print_what_is_committed(path):
    names: dict = {"__name__": "notebook"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            printed = run("".join(cell["source"]), names)
            assert printed == "".join(line for output in cell["outputs"] for line in output["text"])


def test_there_are_notebooks():
    assert NOTEBOOKS
