"""Packing tiers into a budget: the lowest priority is trimmed first (requirements C5, C6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_ctxcompress.arguments import check_kind, check_least
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits.tiers import ContextTier
from langchain_ctxcompress.tokens import count_batch, count_tokens, truncate_to_tokens


@dataclass(frozen=True, slots=True)
class PackedContext:
    """Tiers that fit a budget.

    Attributes:
        packed: The tiers that are left, in the order they were given in.
        total_tokens: Their size, in tokens; never over the budget.
        overflow: Whether not even the highest priority fitted whole: what is left is no longer the prompt that was
            meant.
    """

    packed: list[ContextTier]
    total_tokens: int
    overflow: bool


def pack_context(tiers: Sequence[ContextTier], max_tokens: int, *, model: str | None = None) -> PackedContext:
    """Make tiers fit a budget (C5).

    Room goes to the highest priority first; of two with the same priority, to the one given first. The first tier that
    does not fit whole is trimmed to what is left, the ones after it are dropped. So no tier is trimmed while one of
    lower priority holds anything.

    Args:
        tiers: The tiers; they are not changed. They are counted anew, so that a size that is out of date does no harm.
        max_tokens: The budget, in tokens.
        model: Whose tokens are counted, as in `count_tokens`.

    Returns:
        All tiers where all fit, else what is left of them.

    Raises:
        ConfigError: Two tiers have the same label, the budget is negative, or something is no tier.
    """
    _check(tiers, max_tokens)
    sizes = count_batch([tier.content for tier in tiers], model)
    counted = [_sized(tier, size) for tier, size in zip(tiers, sizes, strict=True)]
    left: dict[str, ContextTier] = {}
    room, cut = max_tokens, None
    for tier in sorted(counted, key=lambda tier: -tier.priority):
        if tier.token_count <= room:
            left[tier.label] = tier
            room -= tier.token_count
            continue
        cut = tier if cut is None else cut
        text = truncate_to_tokens(tier.content, room, model)
        if text:
            left[tier.label] = replace(tier, content=text, token_count=count_tokens(text, model))
        room = 0  # a crumb that the cut left over is no reason to begin a lower tier
    packed = [left[tier.label] for tier in counted if tier.label in left]
    overflow = cut is not None and cut.priority == max(tier.priority for tier in counted)
    return PackedContext(packed, sum(tier.token_count for tier in packed), overflow)


def compress_to_fit(tiers: Sequence[ContextTier], max_tokens: int, *, model: str | None = None) -> list[ContextTier]:
    """The tiers that are left when they have to fit a budget (C6); whole tiers go, lowest first, where they must.

    Args:
        tiers: The tiers; they are not changed.
        max_tokens: The budget, in tokens.
        model: Whose tokens are counted, as in `count_tokens`.

    Raises:
        ConfigError: Two tiers have the same label, the budget is negative, or something is no tier.
    """
    return pack_context(tiers, max_tokens, model=model).packed


def _check(tiers: Sequence[ContextTier], max_tokens: int) -> None:
    check_least("max_tokens", max_tokens)
    check_kind("tiers", tiers, Sequence, "a list of tiers")
    for place, tier in enumerate(tiers):
        check_kind(f"item {place} of tiers", tier, ContextTier, "a ContextTier, as create_context_tier makes")
    twice = [label for label, number in Counter(tier.label for tier in tiers).items() if number > 1]
    if twice:
        msg = f"two tiers have the label {', '.join(map(repr, twice))}: each tier needs its own"
        raise ConfigError(msg)


def _sized(tier: ContextTier, size: int) -> ContextTier:
    return tier if tier.token_count == size else replace(tier, token_count=size)
