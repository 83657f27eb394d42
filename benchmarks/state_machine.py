"""A long run of the machine that does everything at once (`tests/laws/everything.py`), seed after seed.

python -m benchmarks.state_machine --seconds 300 --json benchmarks/records/state_machine.json
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.laws.everything import Everything

SETTINGS = settings(
    max_examples=20,
    stateful_step_count=40,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


def run(first: int, seconds: float) -> dict[str, object]:
    """Runs machines with one seed after the other until the time is over; a law that does not hold raises."""
    started = time.monotonic()
    seeds: list[int] = []
    while time.monotonic() - started < seconds:
        seeds.append(first + len(seeds))
        run_state_machine_as_test(seed(seeds[-1])(Everything), settings=SETTINGS)
    steps = dict(sorted(Everything.steps.items(), key=lambda row: -row[1]))
    return {
        "seeds": [seeds[0], seeds[-1]],
        "seconds": round(time.monotonic() - started),
        "by_kind": steps,
        "command": f"python -m benchmarks.state_machine --first {first} --seconds {seconds:g}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seconds", type=float, default=300.0, help="for how long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record to a file")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # faults are told of in the log, as they should be
    record = run(options.first, options.seconds)
    print(json.dumps(record, indent=2))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
