"""Prompt tiers (requirement M1)."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress import PromptTier, checkpoint_budget, should_compress
from langchain_ctxcompress.errors import ConfigError

TOKENS = {"MINIMAL": 200, "BASIC": 500, "STANDARD": 1_000, "PREMIUM": 1_500, "ULTRA": 1_500}
counts = st.integers(0, 10**7)


def test_m1_five_tiers_with_their_budgets() -> None:
    assert {tier.name: tier.value for tier in PromptTier} == TOKENS
    assert {tier.name: tier.tokens for tier in PromptTier} == TOKENS


def test_two_tiers_of_one_budget_are_two() -> None:
    assert PromptTier.ULTRA is not PromptTier.PREMIUM
    assert PromptTier.ULTRA != PromptTier.PREMIUM
    assert len(dict.fromkeys(PromptTier)) == 5
    assert PromptTier.ULTRA.name == "ULTRA"


@pytest.mark.parametrize("tier", PromptTier)
def test_a_tier_is_found_by_name_and_survives_pickling(tier: PromptTier) -> None:
    assert PromptTier[tier.name] is tier
    assert PromptTier(tier.name.lower()) is tier
    assert pickle.loads(pickle.dumps(tier)) is tier


class TestCheckpointBudget:
    @given(st.sampled_from(PromptTier), counts)
    def test_m1_what_the_system_prompt_leaves(self, tier: PromptTier, system: int) -> None:
        assert checkpoint_budget(tier, system) == max(0, TOKENS[tier.name] - system)

    def test_examples(self) -> None:
        assert checkpoint_budget(PromptTier.STANDARD, 300) == 700
        assert checkpoint_budget(PromptTier.MINIMAL, 200) == 0
        assert checkpoint_budget(PromptTier.MINIMAL, 5_000) == 0

    def test_a_negative_size_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="system_tokens is -1"):
            checkpoint_budget(PromptTier.BASIC, -1)


class TestShouldCompress:
    @given(counts, counts, counts)
    def test_m1_over_three_quarters_of_what_is_left(self, tokens: int, limit: int, budget: int) -> None:
        assert should_compress(tokens, limit, budget) == (tokens > (limit - budget - 1_000) * Fraction(3, 4))

    @pytest.mark.parametrize(("tokens", "due"), [(4_500, False), (4_501, True), (0, False)])
    def test_examples(self, tokens: int, due: bool) -> None:
        assert should_compress(tokens, 8_000, PromptTier.STANDARD.value) is due

    @pytest.mark.parametrize("name", ["tokens", "limit", "budget"])
    def test_a_negative_number_is_refused_by_name(self, name: str) -> None:
        numbers = {"tokens": 1, "limit": 1, "budget": 1, name: -1}
        with pytest.raises(ConfigError, match=f"{name} is -1"):
            should_compress(**numbers)
