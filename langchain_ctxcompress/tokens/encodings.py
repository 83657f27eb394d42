"""Which encoding counts for which model, and with what margin."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import lru_cache

from langchain_ctxcompress.arguments import check_text

logger = logging.getLogger(__name__)

DEFAULT_ENCODING = "o200k_base"
"""Counts for everything that names no model (C1); OpenAI's encoding since GPT-4o."""

BUNDLED_ENCODINGS = frozenset({"o200k_base", "cl100k_base", "o200k_harmony"})
"""Encodings whose ranks come with `toktok-rs`, so that counting needs no network."""

MARGIN_PERCENT = 15
"""What is added for a model whose encoding is not known (C1)."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a model's tokens are counted.

    Attributes:
        name: The BPE encoding.
        margin_percent: What is added to the exact count, in percent; 0 where the encoding is the model's own.
    """

    name: str
    margin_percent: int = 0

    def with_margin(self, tokens: int) -> int:
        """An exact count with the margin, rounded up."""
        return -(-tokens * (100 + self.margin_percent) // 100)

    def without_margin(self, tokens: int) -> int:
        """The largest exact count that is at most `tokens` with the margin."""
        return tokens * 100 // (100 + self.margin_percent)


@lru_cache(maxsize=256)
def encoding_for(model: str | None) -> Encoding:
    """The encoding of a model.

    Args:
        model: A model name (with or without a provider in front: `openai:gpt-4o`, `azure/gpt-4o`), the name of an
            encoding, or `None` for the default encoding without margin.

    Raises:
        ConfigError: It is no text.
    """
    if model is None:
        return Encoding(DEFAULT_ENCODING)
    check_text("model", model)
    name = model.rsplit("/", 1)[-1].split(":", 1)[-1] if not model.startswith("ft:") else model
    own = name if name in BUNDLED_ENCODINGS else _known_encoding(name)
    if own is None or not _available(own):
        return Encoding(DEFAULT_ENCODING, MARGIN_PERCENT)
    return Encoding(own)


def _known_encoding(model: str) -> str | None:
    from tiktoken.model import encoding_name_for_model

    try:
        return encoding_name_for_model(model)
    except KeyError:
        return None


def _available(encoding: str) -> bool:
    """Whether the ranks are at hand. tiktoken would download them: it is asked only where a cache was set up for it."""
    if encoding in BUNDLED_ENCODINGS:
        return True
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        return False
    import tiktoken

    try:
        tiktoken.get_encoding(encoding)
    except (OSError, ValueError) as error:
        logger.warning(
            "the ranks of %s cannot be loaded (%s): its models are counted with %s plus %d %%",
            encoding,
            error,
            DEFAULT_ENCODING,
            MARGIN_PERCENT,
        )
        return False
    return True
