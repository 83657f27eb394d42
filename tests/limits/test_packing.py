"""Packing tiers into a budget (requirements C5, C6)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress import compress_to_fit, count_tokens, create_context_tier, pack_context
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits import ContextTier
from tests.support.conversations import WORDS


def sized(label: str, tokens: int, priority: int) -> ContextTier:
    tier = create_context_tier(label, " a" * tokens, priority)
    assert tier.token_count == tokens
    return tier


STANDARD = [sized("system", 100, 100), sized("recent", 200, 90), sized("history", 300, 50)]

contents = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join) | st.text(max_size=60)


@st.composite
def tier_lists(draw: st.DrawFn) -> list[ContextTier]:
    made = draw(st.lists(st.tuples(contents, st.sampled_from((30, 50, 70, 90, 100))), max_size=7))
    return [create_context_tier(f"tier {i}", text, priority) for i, (text, priority) in enumerate(made)]


def sizes(tiers: list[ContextTier]) -> dict[str, int]:
    return {tier.label: tier.token_count for tier in tiers}


class TestC5Examples:
    @pytest.mark.parametrize("budget", [600, 601, 10**9])
    def test_all_fit_unchanged(self, budget: int) -> None:
        packed = pack_context(STANDARD, budget)
        assert packed.packed == STANDARD
        assert (packed.total_tokens, packed.overflow) == (600, False)

    def test_400_trims_history_to_100(self) -> None:
        packed = pack_context(STANDARD, 400)
        assert sizes(packed.packed) == {"system": 100, "recent": 200, "history": 100}
        assert (packed.total_tokens, packed.overflow) == (400, False)

    def test_150_keeps_system_trims_recent_to_50_and_drops_history(self) -> None:
        packed = pack_context(STANDARD, 150)
        assert sizes(packed.packed) == {"system": 100, "recent": 50}
        assert packed.packed[0] == STANDARD[0]
        assert (packed.total_tokens, packed.overflow) == (150, False)

    def test_one_system_tier_of_500_in_100_overflows(self) -> None:
        packed = pack_context([sized("system", 500, 100)], 100)
        assert sizes(packed.packed) == {"system": 100}
        assert (packed.total_tokens, packed.overflow) == (100, True)

    @pytest.mark.parametrize(("budget", "left"), [(300, 2), (299, 2), (100, 1), (99, 1), (1, 1), (0, 0)])
    def test_at_the_edges(self, budget: int, left: int) -> None:
        packed = pack_context(STANDARD, budget)
        assert len(packed.packed) == left
        assert packed.total_tokens == budget
        assert packed.overflow == (budget < 100)

    def test_the_order_given_stays_and_does_not_decide(self) -> None:
        turned = STANDARD[::-1]
        assert sizes(pack_context(turned, 400).packed) == {"history": 100, "recent": 200, "system": 100}
        assert [tier.label for tier in pack_context(turned, 400).packed] == ["history", "recent", "system"]

    def test_of_one_priority_the_first_stays_whole(self) -> None:
        pair = [sized("one", 50, 50), sized("two", 50, 50)]
        assert sizes(pack_context([sized("system", 10, 100), *pair], 80).packed) == {"system": 10, "one": 50, "two": 20}

    def test_no_tiers(self) -> None:
        packed = pack_context([], 0)
        assert (packed.packed, packed.total_tokens, packed.overflow) == ([], 0, False)


class TestC5Properties:
    @given(tier_lists(), st.integers(0, 400))
    def test_never_over_the_budget_and_counted_exactly(self, tiers: list[ContextTier], budget: int) -> None:
        packed = pack_context(tiers, budget)
        assert packed.total_tokens <= budget
        assert packed.total_tokens == sum(count_tokens(tier.content) for tier in packed.packed)
        assert all(tier.token_count == count_tokens(tier.content) for tier in packed.packed)

    @given(tier_lists(), st.integers(0, 400))
    def test_no_tier_is_cut_while_a_lower_one_holds_anything(self, tiers: list[ContextTier], budget: int) -> None:
        after = {tier.label: tier for tier in pack_context(tiers, budget).packed}
        cut = [tier.priority for tier in tiers if tier.content and after.get(tier.label) != tier]
        held = [tier.priority for tier in tiers if tier.content and tier.label in after]
        assert not cut or all(priority >= max(cut) for priority in held)

    @given(tier_lists(), st.integers(0, 400))
    def test_at_most_one_tier_is_trimmed_and_it_is_a_front_part(self, tiers: list[ContextTier], budget: int) -> None:
        before = {tier.label: tier for tier in tiers}
        trimmed = [tier for tier in pack_context(tiers, budget).packed if tier != before[tier.label]]
        assert len(trimmed) <= 1
        for tier in trimmed:
            assert tier.content
            assert before[tier.label].content.startswith(tier.content)
            assert replace(before[tier.label], content=tier.content, token_count=tier.token_count) == tier

    @given(tier_lists(), st.integers(0, 400))
    def test_order_is_kept_and_the_input_is_not_changed(self, tiers: list[ContextTier], budget: int) -> None:
        given_tiers = list(tiers)
        packed = pack_context(tiers, budget).packed
        assert tiers == given_tiers
        order = [tier.label for tier in tiers]
        labels = [tier.label for tier in packed]
        assert labels == sorted(labels, key=order.index)

    @given(tier_lists(), st.integers(0, 400))
    def test_overflow_says_that_the_highest_priority_was_cut(self, tiers: list[ContextTier], budget: int) -> None:
        packed = pack_context(tiers, budget)
        top = max((tier.priority for tier in tiers), default=0)
        whole = all(tier in packed.packed for tier in tiers if tier.priority == top and tier.content)
        assert packed.overflow == (not whole)

    @given(tier_lists())
    def test_all_fit_is_exactly_the_sum(self, tiers: list[ContextTier]) -> None:
        total = sum(tier.token_count for tier in tiers)
        assert pack_context(tiers, total).packed == tiers
        assert total == 0 or pack_context(tiers, total - 1).packed != tiers

    @given(tier_lists(), st.integers(0, 400))
    def test_packing_again_changes_nothing(self, tiers: list[ContextTier], budget: int) -> None:
        packed = pack_context(tiers, budget).packed
        assert pack_context(packed, budget).packed == packed

    def test_a_size_that_is_out_of_date_is_counted_anew(self) -> None:
        stale = replace(sized("recent", 5, 90), content=" a" * 500)
        packed = pack_context([stale], 100)
        assert packed.total_tokens == packed.packed[0].token_count == 100

    def test_counted_as_the_model_counts(self) -> None:
        text = " a" * 100
        packed = pack_context(
            [create_context_tier("recent", text, 90, model="claude-sonnet-4-5")], 60, model="claude-x"
        )
        assert packed.total_tokens == count_tokens(packed.packed[0].content, "claude-x") <= 60
        assert count_tokens(packed.packed[0].content) <= 52


class TestC6:
    @given(tier_lists(), st.integers(0, 400))
    def test_the_same_as_a_list_without_empty_leftovers(self, tiers: list[ContextTier], budget: int) -> None:
        fitted = compress_to_fit(tiers, budget)
        assert fitted == pack_context(tiers, budget).packed
        assert sum(tier.token_count for tier in fitted) <= budget
        given_empty = {tier.label for tier in tiers if not tier.content}
        assert all(tier.content or tier.label in given_empty for tier in fitted)

    def test_whole_tiers_go_lowest_first(self) -> None:
        assert compress_to_fit(STANDARD, 600) == STANDARD
        assert compress_to_fit(STANDARD, 300) == STANDARD[:2]
        assert compress_to_fit(STANDARD, 100) == STANDARD[:1]
        assert compress_to_fit(STANDARD, 0) == []


class TestRefused:
    @pytest.mark.parametrize("pack", [pack_context, compress_to_fit])
    def test_a_negative_budget(self, pack: object) -> None:
        with pytest.raises(ConfigError, match="max_tokens is -1: it must be 0 or more"):
            pack(STANDARD, -1)  # type: ignore[operator]

    @pytest.mark.parametrize("pack", [pack_context, compress_to_fit])
    @pytest.mark.parametrize("budget", [0, 10_000])
    def test_equal_labels(self, pack: object, budget: int) -> None:
        with pytest.raises(ConfigError, match="two tiers have the label 'recent'"):
            pack([*STANDARD, sized("recent", 1, 30)], budget)  # type: ignore[operator]
