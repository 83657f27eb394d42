"""What a window is made of: its parts as tiers, each with a size and a colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.limits import ContextTier
from langchain_ctxcompress.limits.tiers import (
    PRIORITY_HISTORY,
    PRIORITY_LONG_TERM,
    PRIORITY_OUTLINE,
    PRIORITY_RECENT,
    PRIORITY_SYSTEM,
)
from langchain_ctxcompress.messages import extract_text_content, is_pinned, is_summary, kind_of

COLORS = {
    "system": "#4c72b0",
    "pinned": "#8172b3",
    "before the summary": "#55a868",
    "summary": "#dd8452",
    "the user's own words": "#c9a227",
    "ledger": "#c44e52",
    "after the summary": "#64b5cd",
}
"""The parts in the order in which they are drawn; told apart without red and green alone."""

_PRIORITIES = {
    "system": PRIORITY_SYSTEM,
    "pinned": PRIORITY_SYSTEM,
    "before the summary": PRIORITY_OUTLINE,
    "summary": PRIORITY_HISTORY,
    "the user's own words": PRIORITY_HISTORY,
    "ledger": PRIORITY_LONG_TERM,
    "after the summary": PRIORITY_RECENT,
}

_SECTIONS = {
    "the user's own words": re.compile(
        r"<user_words>\n(?:[^<\n]++|\n(?!</user_words>)|<(?!user_words>))*+\n</user_words>"
    ),
    "ledger": re.compile(r"<ledger>\n(?:[^<\n]++|\n(?!</ledger>)|<(?!ledger>))*+\n</ledger>"),
}


def window_tiers(
    messages: Sequence[BaseMessage],
    *,
    count: Callable[[Sequence[BaseMessage]], list[int]],
    count_text: Callable[[str], int],
) -> list[ContextTier]:
    """The parts of an active context, those that are there.

    Args:
        messages: The active context.
        count: Sizes of messages, in tokens.
        count_text: Size of a text, in tokens.

    Returns:
        A tier for each part, in the order of `COLORS`. Their sizes sum up to the size of the messages.
    """
    sizes = dict.fromkeys(COLORS, 0)
    texts: dict[str, list[str]] = {part: [] for part in COLORS}
    behind = not any(is_summary(message) for message in messages)
    for message, size in zip(messages, count(messages), strict=True):
        text = extract_text_content(message)
        if is_summary(message):
            behind = True
            for part, section in summary_sections(text).items():
                texts[part].append(section)
                taken = min(count_text(section), size)
                sizes[part] += taken
                size -= taken  # noqa: PLW2901 - what is left of it is the summary's
            part = "summary"
        elif kind_of(message) == "system":
            part = "system"
        elif is_pinned(message):
            part = "pinned"
        else:
            part = "after the summary" if behind else "before the summary"
        sizes[part] += size
        texts[part].append(text)
    return [
        ContextTier(part, "\n".join(texts[part]), _PRIORITIES[part], color, sizes[part])
        for part, color in COLORS.items()
        if sizes[part]
    ]


def summary_sections(text: str) -> dict[str, str]:
    """The sections of a summary message that are told apart: the user's own words, and the ledger."""
    found = {part: pattern.search(text) for part, pattern in _SECTIONS.items()}
    return {part: match[0] for part, match in found.items() if match}
