"""What the doors share: each takes a compressor, or the arguments of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.errors import ConfigError


def compressor_of(compressor: ContextCompressor | None, arguments: Mapping[str, Any]) -> ContextCompressor:
    """The compressor of a door.

    Args:
        compressor: One that is shared, or `None`.
        arguments: What to make one of, where there is none.

    Raises:
        ConfigError: Both are given, or the first is no compressor.
    """
    if compressor is None:
        return ContextCompressor(**arguments)
    if not isinstance(compressor, ContextCompressor):
        msg = f"compressor is a {type(compressor).__name__}: pass a ContextCompressor, or its arguments by name"
        raise ConfigError(msg)
    if arguments:
        msg = f"{', '.join(sorted(arguments))}: these are arguments of the compressor, which is given already"
        raise ConfigError(msg)
    return compressor
