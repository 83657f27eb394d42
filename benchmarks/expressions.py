"""How long each regular expression of the package takes for a text of 1 MB that is hard for it.

    python -m benchmarks.expressions [--json benchmarks/records/expressions.json] [--page docs/reliability.md]

The texts are made from the expressions themselves (`tests/fuzz/patterns.py`); those that took longest when they were
short are tried at 64 kB and at 1 MB. Time is the processor's, of this thread.
"""

from __future__ import annotations

import argparse
import functools
import json
from pathlib import Path
from typing import Any

from benchmarks.reliability_page import with_expressions
from tests.fuzz.patterns import Expression, Hard, all_expressions, hard_texts
from tests.fuzz.test_regexes import seconds

SHORT, LONG = 1 << 16, 1 << 20
RECORD = "benchmarks/records/expressions.json"
EACH = {"finditer", "findall", "split", "sub"}
TRIED = 3
"""Texts of an expression that are tried at length."""


def measured(expression: Expression) -> dict[str, Any]:
    """The longest that the package's own calls of the expression take for a text of 1 MB."""
    run = functools.partial(expression.run, to_the_end=False)
    timed = [
        (seconds(run, hard.text(4_000), 1), place, hard) for place, hard in enumerate(hard_texts(expression.pattern))
    ]
    worst: tuple[float, float, Hard] | None = None
    for *_, hard in sorted(timed, reverse=True)[:TRIED]:
        short, long = seconds(run, hard.text(SHORT), 2), seconds(run, hard.text(LONG), 2)
        worst = max(worst or (0.0, 0.0, hard), (long, short, hard), key=lambda one: one[0])
    assert worst is not None
    long, short, hard = worst
    if long > 20 * short:  # other work on the machine, or no linear time
        short, long = seconds(run, hard.text(SHORT), 12), seconds(run, hard.text(LONG), 6)
    return {
        "name": expression.name,
        "methods": list(expression.methods),
        "ms": round(1_000 * long, 1),
        "ms_64_kB": round(1_000 * short, 2),
        "text": (hard.unit + (f" … {hard.other}" if hard.other else ""))[:40],
        "matches": sum(1 for _ in expression.pattern.finditer(hard.text(LONG))) if EACH & {*expression.methods} else 1,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record to a file")
    parser.add_argument("--page", type=Path, metavar="FILE", help="renew their section in the page on reliability")
    parser.add_argument("--only", default="", help="only expressions whose name contains this")
    options = parser.parse_args()
    rows = [measured(one) for one in all_expressions() if options.only in one.name]
    rows.sort(key=lambda row: -row["ms"])
    for row in rows[:40]:
        print(f"{row['ms']:8.1f} ms  {row['ms_64_kB']:7.2f} ms  {row['name']}  {row['matches']:,} × {row['text']!r}")
    print(f"{sum(row['ms'] < 100 for row in rows)} of {len(rows)} under 100 ms for 1 MB")
    record = {"command": f"python -m benchmarks.expressions --json {RECORD}", "expressions": rows}
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.page:
        page = with_expressions(options.page.read_text(encoding="utf-8"), record)
        options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
