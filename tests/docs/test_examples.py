"""What the README shows is run, and prints what it says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
