"""Mutation testing of a random sample: which small faults in the core would no test notice?

    python -m scripts.mutation [--sample 360] [--seed 8] [--children 2] [--report FILE]

mutmut makes every mutant of the files named in `pyproject.toml` (some 5,700); the sample is drawn over all of them, so
that each file has its share by size. A mutant is killed when a test fails or runs far beyond its usual time. What
survives is printed as a diff, to be read one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

MUTANTS = Path("mutants")
FIRST = "langchain_ctxcompress.messages.kinds.x_kind_of__mutmut_1"
"""Any mutant: a run of it alone makes all of them, and learns which test reaches which function."""

# mutmut's exit codes. What is not named here is a test that failed, ran out of time or brought the process down.
LEFT = {0: "survived", 5: "unreached", 33: "unreached", None: "not run", 2: "interrupted", 34: "skipped", 35: "unclear"}


def mutmut(*arguments: str) -> str:
    """Runs mutmut with the tests as CI runs them: the same examples each time."""
    environment = {**os.environ, "CI": "1", "HYPOTHESIS_PROFILE": "mutation"}
    command = [sys.executable, "-m", "mutmut", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - own words
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\nmutmut {arguments[0]} failed")
    return done.stdout


def results() -> dict[str, int | None]:
    """The answer to each mutant; `None` where it has not been run."""
    found: dict[str, int | None] = {}
    for file in sorted(MUTANTS.rglob("*.meta")):
        found.update(json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"])
    return found


def room(mutant: str) -> str:
    """The part of the package a mutant is in."""
    return ".".join(mutant.split(".")[1:2])


def main() -> int:
    """Draw, run, report. The exit code is 1 where fewer than 85 % were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=360, help="how many mutants are run")
    parser.add_argument("--seed", type=int, default=8, help="of the sample")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1, help="how many are run at once")
    parser.add_argument("--least", type=float, default=85.0, help="percent that must be killed")
    parser.add_argument("--report", type=Path, help="where the survivors are written; standard output otherwise")
    given = parser.parse_args()

    children = ("--max-children", str(given.children))
    mutmut("run", *children, FIRST)
    every = sorted(results())
    draw = random.Random(given.seed)  # noqa: S311 - protects nothing
    chosen = sorted(draw.sample(every, min(given.sample, len(every))))
    mutmut("run", *children, *chosen)
    answers = results()

    count: dict[str, Counter[str]] = defaultdict(Counter)
    left: list[str] = []
    for mutant in chosen:
        state = LEFT.get(answers[mutant], "killed")
        count[room(mutant)][state] += 1
        if state != "killed":
            left.append(mutant)
    lines = [f"{len(chosen)} of {len(every)} mutants, seed {given.seed}"]
    lines += [f"{name}: {dict(sorted(states.items()))}" for name, states in sorted(count.items())]
    share = 100 * (1 - len(left) / len(chosen))
    lines.append(f"killed: {share:.1f} %")
    lines += [f"\n## {mutant} ({answers[mutant]})\n{mutmut('show', mutant)}" for mutant in left]
    report = "\n".join(lines)
    if given.report:
        given.report.write_text(report, encoding="utf-8")
        report = "\n".join(lines[: len(count) + 2])
    sys.stdout.write(f"{report}\n")
    return 0 if share >= given.least else 1


if __name__ == "__main__":
    sys.exit(main())
