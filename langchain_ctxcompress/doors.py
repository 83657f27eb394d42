"""What the doors share: each takes a compressor, or the arguments of one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.errors import ConfigError

ELSEWHERE: Mapping[str, str] = {
    "max_tokens": "config=PrunerConfig.for_limit(max_tokens)",
    "max_tokens_before_summary": "config=PrunerConfig(soft_limit_tokens=..., hard_limit_tokens=...)",
    "max_summary_tokens": "nothing: a summary's size follows from what it covers",
    "trigger": "config=PrunerConfig(soft_limit_tokens=..., hard_limit_tokens=...)",
    "keep": "config=PrunerConfig(recent_turns=...)",
    "token_counter": "config=PrunerConfig(encoding_model=...)",
    "encoding_model": "config=PrunerConfig(encoding_model=...)",
    "input_messages_key": "messages_key of CompressionNode",
    "output_messages_key": "mode='view' and llm_input_key of CompressionNode",
    "summary_prompt": "mode=..., or instructions=... of compress",
    "soft_limit_tokens": "config=PrunerConfig(soft_limit_tokens=..., hard_limit_tokens=...)",
    "hard_limit_tokens": "config=PrunerConfig(soft_limit_tokens=..., hard_limit_tokens=...)",
    "recent_turns": "config=PrunerConfig(recent_turns=...)",
}
"""What is written here instead of arguments that langmem and LangChain's middleware have, or that are a config's."""

ARGUMENTS = tuple(name for name in inspect.signature(ContextCompressor.__init__).parameters if name != "self")


def compressor_of(compressor: ContextCompressor | None, arguments: Mapping[str, Any]) -> ContextCompressor:
    """The compressor of a door.

    Args:
        compressor: One that is shared, or `None`.
        arguments: What to make one of, where there is none.

    Raises:
        ConfigError: Both are given, an argument is unknown, or the first is no compressor.
    """
    unknown = [name for name in arguments if name not in ARGUMENTS]
    hints = [f"instead of {name} write {ELSEWHERE[name]}" for name in unknown if name in ELSEWHERE]
    if compressor is not None and not isinstance(compressor, ContextCompressor):
        msg = f"compressor is a {type(compressor).__name__}: pass a ContextCompressor, or its arguments by name"
        raise ConfigError("; ".join([msg, *hints]))
    if unknown:
        msg = f"{', '.join(unknown)}: no such argument; those of a compressor are {', '.join(ARGUMENTS)}"
        raise ConfigError("; ".join([msg, *hints]))
    if compressor is None:
        return ContextCompressor(**arguments)
    if arguments:
        msg = f"{', '.join(sorted(arguments))}: these are arguments of the compressor, which is given already"
        raise ConfigError(msg)
    return compressor
