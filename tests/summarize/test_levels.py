"""P2: three levels, exact at the base, never shorter for more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.summarize import SummaryBudget, summary_budget

SIZES = st.integers(0, 2_000_000)


@pytest.mark.parametrize(("level", "least", "most"), [(1, 50, 100), (2, 150, 300), (3, 300, 500)])
@pytest.mark.parametrize("source", [0, 1, 400, 5_000, 10_000])
def test_p2_base_values_hold_up_to_ten_thousand_tokens(level: int, least: int, most: int, source: int) -> None:
    assert summary_budget(level, source) == SummaryBudget(level, least, most)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_p2_larger_inputs_get_more_up_to_a_bound(level: int) -> None:
    base, large, huge = (summary_budget(level, size) for size in (10_000, 30_000, 10**9))
    assert base.most < large.most < huge.most
    assert base.least < large.least < huge.least
    assert huge == summary_budget(level, 10**12)


@given(SIZES, SIZES, st.sampled_from((1, 2, 3)))
def test_p2_more_input_never_gives_a_shorter_summary(one: int, other: int, level: int) -> None:
    small, large = (summary_budget(level, size) for size in sorted((one, other)))
    assert small.most <= large.most
    assert small.least <= large.least


@given(SIZES)
def test_p2_a_higher_level_says_more(source: int) -> None:
    one, two, three = (summary_budget(level, source) for level in (1, 2, 3))
    assert one.most < two.most < three.most
    assert one.least < two.least < three.least


@given(SIZES, st.sampled_from((1, 2, 3)), st.integers(-100, 10_000))
def test_a_budget_within_a_room(source: int, level: int, room: int) -> None:
    budget = summary_budget(level, source).within(room)
    assert 20 <= budget.most <= max(20, room)
    assert 0 < budget.least <= budget.most
    assert budget.level == level


def test_a_level_there_is_not() -> None:
    with pytest.raises(KeyError):
        summary_budget(4, 100)
