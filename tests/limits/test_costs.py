"""What a compression costs and saves, by the prices of the config: arithmetic that is checked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import ConfigError, PrunerConfig
from langchain_ctxcompress.limits import estimate_costs, growth_of, rewritten_from
from tests.support.conversations import exchanges


def test_by_hand() -> None:
    costs = estimate_costs(
        PrunerConfig(),
        freed_tokens=1_000,
        rewritten_tokens=200,
        growth_tokens=100,
        read_tokens=300,
        cached_tokens=500,
        written_tokens=40,
    )
    assert costs.steps == 5  # ten steps until it is as large again, half of them counted
    assert costs.cost == pytest.approx(200 * 0.9 + 300 + 50 + 40 * 5)
    assert costs.saving == pytest.approx(1_000 * 0.1 * 5)
    assert costs.gain == pytest.approx(costs.saving - costs.cost)


def test_prices_and_steps_are_the_config_s() -> None:
    config = PrunerConfig(cached_price=0.5, cache_write_price=1.25, output_price=2, steps_ahead=3)
    costs = estimate_costs(config, freed_tokens=1_000, rewritten_tokens=100, growth_tokens=1, written_tokens=10)
    assert (costs.steps, costs.cost, costs.saving) == (3, 100 * 0.75 + 20, 1_500)


sizes = st.integers(0, 10**6)


@given(sizes, sizes, st.floats(0, 1e5), sizes, sizes, sizes)
def test_nothing_is_negative_and_more_freed_never_gains_less(
    freed: int, rewritten: int, growth: float, read: int, cached: int, written: int
) -> None:
    def costs(tokens: int) -> float:
        found = estimate_costs(
            PrunerConfig(),
            freed_tokens=tokens,
            rewritten_tokens=rewritten,
            growth_tokens=growth,
            read_tokens=read,
            cached_tokens=cached,
            written_tokens=written,
        )
        assert found.cost >= 0
        assert 0 <= found.steps <= 50
        return found.gain

    assert costs(freed) <= costs(freed + 100)


def test_growth_is_what_came_by_the_answers_that_came() -> None:
    messages = [SystemMessage("be brief"), *exchanges(4)]
    assert growth_of(messages, [1_000, *[10] * 8]) == 20
    assert growth_of([HumanMessage("q")], [7]) == 7


def test_what_is_rewritten_begins_at_the_first_change() -> None:
    before = exchanges(4)
    same = [message.model_copy() for message in before]
    assert rewritten_from(before, same) == 8
    same[5] = AIMessage("another", id=same[5].id)
    assert rewritten_from(before, same) == 5
    assert rewritten_from(before, before[:3]) == 3


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"summariser_input": "whole"}, "summariser_input"),
        ({"economic": 1}, "economic"),
        ({"min_gain": "much"}, "min_gain"),
        ({"min_gain": float("nan")}, "min_gain"),
        ({"steps_ahead": 0}, "steps_ahead"),
        ({"cached_price": -0.1}, "cached_price"),
        ({"cache_write_price": float("inf")}, "cache_write_price"),
        ({"output_price": -1}, "output_price"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(fields: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        PrunerConfig(**fields)
