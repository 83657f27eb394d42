"""Mutation testing of a random sample: which small faults in the core would no test notice?

    python -m scripts.mutation [--sample 340] [--seed 8] [--minutes 60] [--report FILE]

mutmut makes every mutant of the files named in `pyproject.toml`; the sample is drawn over all of them, so that each
file has its share by size, and is taken in random order. For each mutant those tests are run that reach the statement
it changes, the quickest first; first those of the mutated rooms, then, where none of them fails, those of the laws and
of the engine. A mutant is killed when a test fails, or runs far beyond its usual time. What survives is printed as a
diff, to be read one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.mutants import Mutant, make_mutants

WHERE = Path("mutants")
COPIED = ("langchain_ctxcompress", "tests", "scripts", "docs", "examples", "benchmarks", "README.md", "pyproject.toml")
ROOMS = (
    "tests/messages",
    "tests/strategies",
    "tests/test_arguments.py",
    "tests/test_compressor.py",
    "tests/test_compressor_calls.py",
    "tests/test_compressor_sessions.py",
    "tests/test_plans.py",
)
OTHERS = ("tests/laws", "tests/engine")
MARKS = "not slow and not realmodel"
LEFT = ("survived", "unreached")


def pytest(*arguments: str, **environment: str) -> int:
    """Runs pytest among the mutants: the same examples each time."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scripts.mutation_plugin"]
    own = {**os.environ, "CI": "1", "HYPOTHESIS_PROFILE": "mutation", "MUTANT_UNDER_TEST": "", **environment}
    # own words, nobody else's
    return subprocess.run([*command, "-m", MARKS, *arguments], cwd=WHERE, env=own, check=False).returncode  # noqa: S603


def prepare() -> list[Mutant]:
    """The tree with all mutants in it, beside this one."""
    shutil.rmtree(WHERE, ignore_errors=True)
    WHERE.mkdir()
    for name in COPIED:
        source = Path(name)
        if source.is_dir():
            shutil.copytree(source, WHERE / name, ignore=shutil.ignore_patterns("__pycache__", "site"))
        else:
            shutil.copy(source, WHERE / name)
    patterns = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]["only_mutate"]
    return [
        mutant for pattern in patterns for file in sorted(Path().glob(pattern)) for mutant in make_mutants(file, WHERE)
    ]


def reached(tests: Sequence[str], name: str) -> dict[str, Any]:
    """Which lines each test reaches, and how long it takes; measured once."""
    found = WHERE / f"{name}.json"
    if not found.exists():
        pytest(
            "--cov", "--cov-context=test", "--cov-report=", "--cov-fail-under=0", *tests, MEASURED=str(found.resolve())
        )
    measured: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return measured


def tests_of(mutant: Mutant, known: dict[str, Any]) -> list[str]:
    """The tests that reach what a mutant changes, quickest first; where none is known to, those of its function."""
    lines = known["lines"].get(mutant.file, {})
    for span in (mutant.statement, mutant.function):
        tests = {test for line in range(span[0], span[1] + 1) for test in lines.get(str(line), ())}
        if tests := tests & known["seconds"].keys():
            return sorted(tests, key=lambda test: (known["seconds"][test], test))
    return []


def run(mutants: Sequence[Mutant], known: dict[str, Any], name: str, minutes: float) -> dict[str, dict[str, Any]]:
    """What the tests say of each mutant that there was time for."""
    work, answers = WHERE / f"{name}.work.json", WHERE / f"{name}.answers.jsonl"
    chosen = [
        {"mutant": one.name, "tests": own, "seconds": sum(known["seconds"][test] for test in own)}
        for one in mutants
        if (own := tests_of(one, known))
    ]
    work.write_text(json.dumps({"minutes": minutes, "mutants": chosen}), encoding="utf-8")
    answers.write_text("", encoding="utf-8")
    files = sorted({test.partition("::")[0] for one in chosen for test in one["tests"]})
    if files:
        pytest(*files, WORK=str(work.resolve()), ANSWERS=str(answers.resolve()))
    found = {one["mutant"]: one for one in map(json.loads, answers.read_text(encoding="utf-8").splitlines())}
    # in the order of the draw: where time ran out, what came before counts
    last = max((place for place, one in enumerate(mutants) if one.name in found), default=-1)
    return {one.name: found.get(one.name, {"state": "unreached"}) for one in mutants[: last + 1]}


def main() -> int:
    """Draw, run, report. The exit code is 1 where fewer than 85 % were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=340, help="how many mutants are drawn")
    parser.add_argument("--seed", type=int, default=8, help="of the sample and its order")
    parser.add_argument("--minutes", type=float, default=600, help="time for the tests of the rooms")
    parser.add_argument("--least", type=float, default=85.0, help="percent that must be killed")
    parser.add_argument("--without", type=Path, help="a file with names of mutants that are not drawn, one a line")
    parser.add_argument("--own", action="store_true", help="only the tests of the rooms, not those of laws and engine")
    parser.add_argument("--report", type=Path, help="where the survivors are written; standard output otherwise")
    given = parser.parse_args()

    every = {mutant.name: mutant for mutant in prepare()}
    left_out = set(given.without.read_text(encoding="utf-8").split()) if given.without else set()
    names = sorted(every.keys() - left_out)
    draw = random.Random(given.seed)  # noqa: S311 - protects nothing
    drawn = [every[name] for name in draw.sample(names, min(given.sample, len(names)))]
    own = run(drawn, reached(ROOMS, "rooms"), "rooms", given.minutes)
    survivors = [every[name] for name in own if own[name]["state"] in LEFT]
    other = {} if given.own else run(survivors, reached(OTHERS, "others"), "others", given.minutes)

    count: dict[str, Counter[str]] = defaultdict(Counter)
    for name, answer in own.items():
        state = answer["state"]
        if state in LEFT and other.get(name, {}).get("state", "unreached") not in LEFT:
            state = "killed by the laws or the engine"
        count[name.split(".")[1]][state] += 1
    states = sum(count.values(), Counter[str]())
    killed = states.total() - sum(states[state] for state in LEFT)
    share = 100 * killed / max(1, states.total())
    lines = [
        f"{states.total()} of {len(every)} mutants, the first of {len(drawn)} drawn with seed {given.seed}",
        *(f"{room}: {dict(sorted(found.items()))}" for room, found in sorted(count.items())),
        f"killed by the tests of the rooms: {100 * states['killed'] / max(1, states.total()):.1f} %",
        f"killed: {share:.1f} %",
    ]
    report = "\n".join([*lines, *(f"\n## {one.name}\n{one.diff}" for one in survivors)])
    if given.report:
        given.report.write_text(report, encoding="utf-8")
        report = "\n".join(lines)
    sys.stdout.write(f"{report}\n")
    return 0 if share >= given.least else 1


if __name__ == "__main__":
    sys.exit(main())
