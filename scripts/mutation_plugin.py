"""A plugin of pytest for mutation testing: it measures which lines each test reaches, or runs tests on mutants.

Each mutant has a process of its own, forked from the one that has collected the tests, so that none waits for imports.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import defaultdict
from pathlib import Path

import pytest

LEAST_SECONDS = 20.0
SLOWER = 8.0
"""A mutant that takes so many times as long as the tests took when they were measured is taken for an endless one."""


def pytest_configure(config: pytest.Config) -> None:
    """Measure or run, as the environment says."""
    if "MEASURED" in os.environ:
        config.pluginmanager.register(Measuring(Path(os.environ["MEASURED"])))
    if "WORK" in os.environ:
        config.pluginmanager.register(Running(Path(os.environ["WORK"]), Path(os.environ["ANSWERS"])))


class Measuring:
    """Notes how long each test takes, and reads from the coverage data which lines it reaches."""

    def __init__(self, written: Path) -> None:
        self._written = written
        self._seconds: dict[str, float] = defaultdict(float)
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the time, and what did not pass."""
        self._seconds[report.nodeid] += report.duration
        if not report.passed:  # skipped ones say nothing either
            self._failed.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Write what was measured, once the coverage data are written."""
        from coverage import CoverageData

        data = CoverageData()
        data.read()
        root = Path.cwd()
        lines = {
            str(Path(file).relative_to(root)): {
                line: sorted({context.partition("|")[0] for context in contexts if context})
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        seconds = {test: took for test, took in self._seconds.items() if test not in self._failed}
        found = {"seconds": seconds, "failed": sorted(self._failed), "lines": lines}
        self._written.write_text(json.dumps(found), encoding="utf-8")


class Running:
    """Runs on each mutant its tests, until one fails."""

    def __init__(self, work: Path, answers: Path) -> None:
        given = json.loads(work.read_text(encoding="utf-8"))
        self._mutants = given["mutants"]
        self._end = time.monotonic() + 60 * given["minutes"]
        self._answers = answers

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run each mutant's tests in a process of its own, instead of all tests here."""
        items = {item.nodeid: item for item in session.items}
        for one in self._mutants:
            if time.monotonic() > self._end:
                break
            chosen = [items[test] for test in one["tests"] if test in items]
            started = time.monotonic()
            process = os.fork()
            if not process:
                os.setsid()
                _child(session, one["mutant"], chosen, self._answers.with_suffix(".killer"))
            state = _wait(process, LEAST_SECONDS + SLOWER * one["seconds"])
            answer = {"mutant": one["mutant"], "state": state, "seconds": round(time.monotonic() - started, 1)}
            killer = self._answers.with_suffix(".killer")
            if state == "killed" and killer.exists():
                answer["by"] = killer.read_text(encoding="utf-8")
            killer.unlink(missing_ok=True)
            with self._answers.open("a", encoding="utf-8") as file:
                file.write(json.dumps(answer) + "\n")
        return True


def _child(session: pytest.Session, mutant: str, items: list[pytest.Item], killer: Path) -> None:
    """Runs the tests on the mutant, and ends the process: 0 where none of them fails."""
    from mutmut.mutation.trampoline import set_mutant_under_test

    set_mutant_under_test(mutant)
    code = 0
    try:
        for item, following in zip(items, [*items[1:], None], strict=True):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                killer.write_text(item.nodeid, encoding="utf-8")
                code = 1
                break
    except BaseException:  # noqa: BLE001 - whatever the mutant brings the run down with, it was noticed
        code = 1
    os._exit(code)


def _wait(process: int, seconds: float) -> str:
    """How the process ended; one that takes too long is ended with all it started."""
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        if time.monotonic() > end:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return "too slow"
        time.sleep(0.02)
