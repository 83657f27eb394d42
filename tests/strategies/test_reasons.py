"""The reason of a list that stays as it is says what is the case."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.support.conversations import exchanges
from tests.support.sizes import independent_tokens


@pytest.mark.parametrize("strategy", ["bands", "clear-tools", "emergency", "ladder", "middle-out", "pack"])
@given(
    st.integers(1, 12),
    st.integers(0, 12),
    st.integers(1, 120),
    st.integers(1, 120),
    st.integers(200, 4_000),
    st.integers(0, 3_000),
    st.booleans(),
)
@settings(max_examples=40)
def test_a_list_that_stays_as_it_is_has_a_reason_that_is_the_case(
    strategy: str, early: int, late: int, short: int, long: int, soft: int, above: int, force: bool
) -> None:
    """What is said of the limits is true of the list, by sizes that are counted apart."""
    messages = [*exchanges(early, words=short), *exchanges(late, words=long, start=early)]
    config = PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=soft + 1 + above)
    result = ContextCompressor(config=config, strategy=strategy).compress(messages, force=force)
    if result.changed:
        return
    size = independent_tokens(messages)
    stays = independent_tokens([*messages[:2], *messages[2:][-10:]])  # one turn as prefix, five at the end
    nothing_to_clear = strategy == "clear-tools" and not any(message.type == "tool" for message in messages)
    slack = 0.05
    limits = {
        "below_soft_limit": size < soft * (1 + slack),
        "below_hard_limit": size < config.hard_limit_tokens * (1 + slack),
        "protected_tail_over_trigger": stays > soft * (1 - slack),
        "protected_set_over_hard_limit": size > config.hard_limit_tokens * (1 - slack),
        "still_over_hard_limit": size > config.hard_limit_tokens * (1 - slack),
        "too_few_candidates": stays < soft * (1 + slack) or nothing_to_clear,
        "not_enough": len(messages) > 12,
    }
    assert limits.get(result.reason, True), (result.reason, size, stays)


def test_turns_that_are_fewer_than_the_least_are_no_protected_tail() -> None:
    """Two long turns between short ones: they are too few to be summarised, and what stays verbatim is small."""
    messages = [*exchanges(1), *exchanges(2, words=600, start=1), *exchanges(5, start=3)]
    config = PrunerConfig(soft_limit_tokens=1_000, hard_limit_tokens=50_000)
    result = ContextCompressor(config=config, strategy="middle-out").compress(messages)
    assert (result.outcome, result.reason) == ("noop", "too_few_candidates")


def test_short_candidates_under_a_hard_limit_are_said_to_be_that() -> None:
    """`bands` shortens no short message, and `emergency` has nothing to do under the hard limit."""
    messages = exchanges(60, words=1)
    config = PrunerConfig(soft_limit_tokens=600, hard_limit_tokens=50_000)
    reasons = {
        name: ContextCompressor(config=config, strategy=name).compress(messages).reason
        for name in ("bands", "emergency")
    }
    assert reasons == {"bands": "not_enough", "emergency": "below_hard_limit"}
