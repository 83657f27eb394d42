"""Tiers of a prompt (requirements C4, C7)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits import ContextTier, create_context_tier
from langchain_ctxcompress.limits.tiers import (
    PRIORITY_HISTORY,
    PRIORITY_LONG_TERM,
    PRIORITY_OUTLINE,
    PRIORITY_RECENT,
    PRIORITY_SYSTEM,
)
from langchain_ctxcompress.tokens import count_tokens


class TestC4:
    @given(st.text(max_size=200), st.integers(0, 1_000), st.sampled_from([None, "gpt-4", "claude-sonnet-4-5"]))
    def test_the_token_count_is_filled_in(self, content: str, priority: int, model: str | None) -> None:
        tier = create_context_tier("recent", content, priority, "#123456", model=model)
        assert tier == ContextTier("recent", content, priority, "#123456", count_tokens(content, model))

    def test_example(self) -> None:
        assert create_context_tier("system", "hello world", 100, "red").token_count == 2

    def test_a_colour_is_optional(self) -> None:
        assert create_context_tier("system", "", 100).color

    def test_a_tier_cannot_be_changed(self) -> None:
        tier = create_context_tier("system", "hello", 100)
        with pytest.raises(FrozenInstanceError):
            tier.content = "other"  # type: ignore[misc]

    def test_an_empty_label_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="label is empty"):
            create_context_tier("", "hello", 100)

    def test_a_negative_priority_is_refused_by_name(self) -> None:
        with pytest.raises(ConfigError, match="priority of tier 'outline' is -1"):
            create_context_tier("outline", "hello", -1)


def test_c7_the_standard_priorities() -> None:
    standard = (PRIORITY_SYSTEM, PRIORITY_RECENT, PRIORITY_OUTLINE, PRIORITY_HISTORY, PRIORITY_LONG_TERM)
    assert standard == (100, 90, 70, 50, 30)
