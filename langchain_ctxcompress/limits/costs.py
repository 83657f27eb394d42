"""What a compression costs and saves, in units of one input token that no cache holds.

Most of a long session's bill is the cached reading of what stands in the window, step after step. A compression makes
each coming step cheaper by what it frees, and costs what the summariser reads and writes, and one rewrite: what stands
behind the first change is in no cache any more, and is read at the full price once. All of it is pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import is_summary, kind_of

if TYPE_CHECKING:
    from langchain_ctxcompress.limits.config import PrunerConfig


@dataclass(frozen=True, slots=True)
class CompressionCosts:
    """What a compression costs once, and saves in the coming steps.

    Tokens are counted; costs and savings are units: the price of one input token that no cache holds is 1.

    Attributes:
        freed_tokens: Tokens that each coming step is smaller by.
        rewritten_tokens: Tokens that the next step reads at the full price, since they stand behind the first change.
        read_tokens: Tokens that the summariser reads, those from the cache not included.
        cached_tokens: Tokens that the summariser reads from the provider's cache.
        written_tokens: Tokens that the summariser writes.
        steps: Coming steps for which the saving is counted.
        cost: What it costs, in units.
        saving: What these steps save, in units.
    """

    freed_tokens: int
    rewritten_tokens: int
    read_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    steps: float = 0.0
    cost: float = 0.0
    saving: float = 0.0

    @property
    def gain(self) -> float:
        """What it saves beyond what it costs, in units; negative where it pays less than it costs."""
        return self.saving - self.cost


def estimate_costs(
    config: PrunerConfig,
    *,
    freed_tokens: int,
    rewritten_tokens: int,
    growth_tokens: float,
    read_tokens: int = 0,
    cached_tokens: int = 0,
    written_tokens: int = 0,
) -> CompressionCosts:
    """The costs of a compression, priced.

    Once `freed_tokens / growth_tokens` steps have passed, the list is as large again as it is now. Without this
    compression another one would come somewhere in between, so half of these steps count as saved by it, and never
    more than `config.steps_ahead`: a conversation may end.

    Args:
        config: The prices, and how many steps are looked ahead.
        freed_tokens: Tokens that leave.
        rewritten_tokens: Tokens that stay or are new, from the first change on.
        growth_tokens: Tokens that a step adds.
        read_tokens: Tokens that the summariser reads, those from the cache not included.
        cached_tokens: Tokens that it reads from the cache.
        written_tokens: Tokens that it writes.
    """
    steps = min(float(config.steps_ahead), max(0, freed_tokens) / (2 * max(growth_tokens, 1.0)))
    rewrite = rewritten_tokens * (config.cache_write_price - config.cached_price)
    read = read_tokens + cached_tokens * config.cached_price
    return CompressionCosts(
        freed_tokens,
        rewritten_tokens,
        read_tokens,
        cached_tokens,
        written_tokens,
        steps,
        max(0.0, rewrite) + read + written_tokens * config.output_price,
        max(0, freed_tokens) * config.cached_price * steps,
    )


def rewritten_from(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> int:
    """The place of the first message of `after` that `before` does not have there: what is sent anew begins with it."""
    place = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and (old.type, old.content) != (new.type, new.content):
            break
        place += 1
    return place


def growth_of(messages: Sequence[BaseMessage], sizes: Sequence[int]) -> float:
    """Tokens that a step adds, by the conversation so far: each answer of the model is one step.

    Args:
        messages: The conversation; system messages and the summary message are no growth.
        sizes: Their sizes, in tokens.
    """
    grown = steps = 0
    for message, size in zip(messages, sizes, strict=True):
        kind = kind_of(message)
        if kind != "system" and not is_summary(message):
            grown += size
            steps += kind == "ai"
    return grown / max(1, steps)
