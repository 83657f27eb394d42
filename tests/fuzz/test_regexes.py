"""Every regular expression of the package takes time linear in its text, whatever the text is."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.fuzz.patterns import Expression, Hard, all_expressions, hard_texts

EXPRESSIONS = all_expressions()
WORST = 3
"""Texts of an expression that are tried at length: those that took it longest when they were short."""

MOST_GROWTH = 9.0
"""For a text four times as long: 4 where time is linear, 16 where it is quadratic. No measure of the machine."""


def seconds(run: Callable[[str], None], text: str, tries: int = 3) -> float:
    """Processor time of this thread, the least of some tries: what else the machine does is not in it."""
    best = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        run(text)
        best = min(best, time.thread_time() - started)
    return best


def worst_of(expression: Expression, size: int) -> list[Hard]:
    timed = [
        (seconds(expression.run, hard.text(size), 1), place, hard)
        for place, hard in enumerate(hard_texts(expression.pattern))
    ]
    return [hard for *_, hard in sorted(timed, reverse=True)[:WORST]]


def growth(run: Callable[[str], None], hard: Hard, size: int) -> tuple[float, float]:
    """How much longer four times the text takes, and how long that is; 1.0 where it is too short to be measured.

    What looks quadratic is looked at again, and then at four times that length: where it is, each step takes 16 times
    as long. A busy machine, or a text that no longer fits into its cache, shows once.
    """
    short, long = hard.text(size), hard.text(4 * size)
    for tries in (2, 12):
        large = seconds(run, long, tries)
        ratio = large / max(seconds(run, short, tries), 1e-6)
        if large < 0.004 or ratio < MOST_GROWTH:
            return (1.0 if large < 0.004 else ratio), large
    return min(ratio, seconds(run, hard.text(16 * size), 2) / large), large


def test_all_expressions_are_found() -> None:
    names = {expression.name for expression in EXPRESSIONS}
    assert {"ledger.values:_PIECE", "ledger.lexicon:_SCRIPTS", "tokens.text:_CHARACTER"} <= names
    assert len(names) > 120


def test_a_quadratic_expression_would_be_found() -> None:
    import re

    bad = Expression("bad", re.compile(r"\w+@"), ("search",))
    assert any(growth(bad.run, hard, 500)[0] > MOST_GROWTH for hard in worst_of(bad, 500))


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda expression: expression.name)
def test_time_is_linear(expression: Expression) -> None:
    for hard in worst_of(expression, 400):
        ratio, _ = growth(expression.run, hard, 4_000)
        assert ratio < MOST_GROWTH, f"{expression.pattern.pattern!r} by {expression.methods} on {hard}"


@pytest.mark.slow
@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda expression: expression.name)
def test_time_is_linear_up_to_a_megabyte(expression: Expression) -> None:
    for hard in worst_of(expression, 2_000):
        for size in (4_000, 16_000, 64_000, 250_000):
            ratio, took = growth(expression.run, hard, size)
            assert ratio < MOST_GROWTH, f"{expression.pattern.pattern!r} by {expression.methods} on {hard}"
        print(f"{expression.name}: {1_000 * took:.1f} ms for 1 MB of {hard.unit!r}")
