"""How far a model's summaries can be trusted after several compressions (requirement M2)."""

from __future__ import annotations

import re
from typing import Any

from langchain_ctxcompress.arguments import check_least, check_text
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits.models import is_local, model_name

UNKNOWN_SIZE = 7.0
"""Billions of parameters of a model whose name says nothing: what runs on a laptop."""

DECAY = 0.9
"""What is left of the reliability after each compression: a summary of a summary loses what the first one kept."""

_RELIABILITY = ((70.0, 0.95), (30.0, 0.85), (13.0, 0.7), (7.0, 0.5))
_LEAST_RELIABILITY = 0.3
_WARN_AFTER = ((3.0, 3), (7.0, 5), (13.0, 7))
_WARN_LATEST = 10

_SIZE = re.compile(r"(?=[\dae])(?<![a-z0-9.])(?:(?:(\d+)x|[ae])?(\d+(?:\.\d+)?)b|(\d{2,3})m)(?![a-z0-9])")
"""`7b`, `1.5b`, `8x7b` (experts), `e4b` and `a3b` (effective, active), `135m`. `1m` is a window, not a size."""


def get_model_size(name: str) -> float:
    """The size of a model by its name, in billions of parameters.

    Args:
        name: Such as `llama3:7b`, `qwen2.5-1.5b`, `mixtral-8x7b` (all experts count), `smollm2-135m`.

    Returns:
        The largest size in the name; 7 where it names none.

    Raises:
        ConfigError: It is no text.
    """
    check_text("name", name)
    named = _named_size(name)
    return UNKNOWN_SIZE if named is None else named


def calculate_reliability(model: Any, compressions: int, *, size: float | None = None) -> float | None:
    """How far summaries can be trusted, from 0 to 1.

    Args:
        model: A chat model, its name, or its size in billions of parameters.
        compressions: Compressions so far.
        size: Its size in billions of parameters, where its name does not say.

    Returns:
        (0.95 from 70B, 0.85 from 30B, 0.7 from 13B, 0.5 from 7B, else 0.3) x 0.9 for each compression. `None` where
        the size is not known: a name that has none, unless the model runs on a local runtime, which counts as 7B.

    Raises:
        ConfigError: A number is out of range.
    """
    check_least("compressions", compressions)
    billions = _size_of(model, size)
    if billions is None:
        return None
    base = next((share for least, share in _RELIABILITY if billions >= least), _LEAST_RELIABILITY)
    return float(base * DECAY**compressions)


def warning_threshold(size: float) -> int:
    """After how many compressions to warn: 3 up to 3B, 5 up to 7B, 7 up to 13B, else 10.

    Args:
        size: Billions of parameters.
    """
    return next((after for most, after in _WARN_AFTER if size <= most), _WARN_LATEST)


def should_warn(model: Any, compressions: int, *, size: float | None = None) -> bool:
    """Whether so many compressions are reason to warn; never where the size is not known.

    Args:
        model: A chat model, its name, or its size in billions of parameters.
        compressions: Compressions so far.
        size: Its size in billions of parameters, where its name does not say.

    Raises:
        ConfigError: The size is out of range.
    """
    billions = _size_of(model, size)
    return billions is not None and compressions >= warning_threshold(billions)


def _size_of(model: Any, size: float | None) -> float | None:
    """The size that is set, else the one in the name, else 7 for a local runtime; `None` where it is not known."""
    if size is None and isinstance(model, int | float):
        size = model
    if size is not None:
        if size <= 0:
            msg = f"size is {size}: it must be over 0 (billions of parameters)"
            raise ConfigError(msg)
        return float(size)
    named = _named_size(model if isinstance(model, str) else model_name(model))
    return UNKNOWN_SIZE if named is None and is_local(model) else named


def _named_size(name: str) -> float | None:
    sizes = [
        int(millions) / 1000 if millions else int(experts or 1) * float(billions)
        for experts, billions, millions in _SIZE.findall(name.lower())
    ]
    return max(sizes, default=0.0) or None
