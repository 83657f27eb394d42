"""Tiers of a prompt: named parts with a size and a priority (requirement C4, C7)."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_ctxcompress.arguments import check_least, check_text
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.tokens import count_tokens

PRIORITY_SYSTEM = 100
PRIORITY_RECENT = 90
PRIORITY_OUTLINE = 70
PRIORITY_HISTORY = 50
PRIORITY_LONG_TERM = 30
"""The standard priorities (C7): system prompt, recent text, outline, compressed history, long-term summary."""


@dataclass(frozen=True, slots=True)
class ContextTier:
    """One part of a prompt.

    Attributes:
        label: Its name.
        content: Its text.
        priority: The higher, the later it is trimmed.
        color: The colour it is drawn in, as CSS or matplotlib name it.
        token_count: The size of `content` in tokens.
    """

    label: str
    content: str
    priority: int
    color: str
    token_count: int


def create_context_tier(
    label: str, content: str, priority: int, color: str = "#888888", *, model: str | None = None
) -> ContextTier:
    """A tier with its size filled in (C4).

    Args:
        label: Its name; not empty.
        content: Its text.
        priority: 0 or more.
        color: The colour it is drawn in.
        model: Whose tokens are counted, as in `count_tokens`.

    Raises:
        ConfigError: The label is empty, the priority negative, or one of them of the wrong kind.
    """
    if not label:
        msg = "label is empty: a tier needs a name"
        raise ConfigError(msg)
    check_text("label", label)
    check_text("content", content)
    check_least(f"priority of tier {label!r}", priority)
    return ContextTier(label, content, priority, color, count_tokens(content, model))
