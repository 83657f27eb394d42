"""Prompt tiers: how large a system prompt is meant to be, and what is left for checkpoints beside it (requirement M1).

For those who size their prompts by tier. They trigger nothing: the limits of `PrunerConfig` alone do.
"""

from __future__ import annotations

import enum

from langchain_ctxcompress.arguments import check_kind, check_least

SAFETY_TOKENS = 1_000
"""Tokens that `should_compress` leaves free for the answer."""

TRIGGER_PERCENT = 75
"""How full the rest of the window may get before a compression is due."""


class PromptTier(enum.Enum):
    """How much of the window a system prompt may take; the `value` is its budget in tokens.

    `PromptTier("basic")` finds a tier by its name in lower case.
    """

    # Two tiers have one budget: were the members made of it, ULTRA would be another name of PREMIUM.
    MINIMAL = "minimal", 200
    BASIC = "basic", 500
    STANDARD = "standard", 1_000
    PREMIUM = "premium", 1_500
    ULTRA = "ultra", 1_500

    tokens: int

    def __new__(cls, label: str, tokens: int) -> PromptTier:
        """A member that is found by its label."""
        tier = object.__new__(cls)
        tier._value_ = label
        tier.tokens = tokens
        return tier

    @enum.property
    def value(self) -> int:
        """The budget, in tokens."""
        return self.tokens


def checkpoint_budget(tier: PromptTier, system_tokens: int) -> int:
    """What a tier leaves for checkpoints beside a system prompt: `max(0, budget - system_tokens)`.

    Args:
        tier: The tier.
        system_tokens: Size of the system prompt, in tokens; 0 or more.

    Raises:
        ConfigError: `system_tokens` is negative, or `tier` is none.
    """
    check_kind("tier", tier, PromptTier, "a PromptTier, such as PromptTier.BASIC")
    check_least("system_tokens", system_tokens)
    return max(0, tier.tokens - system_tokens)


def should_compress(tokens: int, limit: int, budget: int) -> bool:
    """Whether a conversation fills its part of the window: `tokens > (limit - budget - 1000) x 0.75`.

    Args:
        tokens: Size of the conversation, in tokens.
        limit: The model's input window, in tokens.
        budget: What the prompt takes, in tokens, such as a tier's.

    Raises:
        ConfigError: A number is negative.
    """
    for name, value in (("tokens", tokens), ("limit", limit), ("budget", budget)):
        check_least(name, value)
    return tokens * 100 > (limit - budget - SAFETY_TOKENS) * TRIGGER_PERCENT
