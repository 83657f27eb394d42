"""Modes: what kind of conversation it is, and so what of it a summary keeps word for word (requirement P4)."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from langchain_ctxcompress.arguments import check_text
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.summarize.templating import template


class Mode(StrEnum):
    """The modes there are from the start; `register_mode` adds others."""

    DEVELOPER = "developer"
    PLANNING = "planning"
    DEBUGGER = "debugger"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class PreservationStrategy:
    """What a summary is to keep as it stands, besides the rules and exact values that every summary keeps.

    Attributes:
        code: Code, commands and configuration.
        errors: Error messages and traces.
        goals: Goals and their state.
        decisions: Decisions and their reasons: always.
    """

    code: bool = False
    errors: bool = False
    goals: bool = False
    decisions: Literal[True] = True


@dataclass(frozen=True, slots=True)
class SummaryMode:
    """A mode.

    Attributes:
        name: What it is called by; case is no difference.
        focus: What the summariser is told about the conversation, in a sentence or two.
        preserve: What the summary is to keep as it stands.
    """

    name: str
    focus: str
    preserve: PreservationStrategy = PreservationStrategy()


_PRESERVE = {
    Mode.DEVELOPER: PreservationStrategy(code=True),
    Mode.PLANNING: PreservationStrategy(goals=True),
    Mode.DEBUGGER: PreservationStrategy(code=True, errors=True),
    Mode.ASSISTANT: PreservationStrategy(),
}
_OWN = frozenset(map(str, Mode))
_registered: dict[str, SummaryMode] = {}
_lock = threading.Lock()


def register_mode(
    name: str, focus: str, *, preserve: PreservationStrategy | None = None, replace: bool = False
) -> SummaryMode:
    """Add a mode that `PrunerConfig.mode`, a compressor or a call can name.

    Args:
        name: Its name.
        focus: What the summariser is told about such conversations, in a sentence or two.
        preserve: What the summary is to keep as it stands; by default decisions.
        replace: Whether a mode of that name may be replaced.

    Raises:
        ConfigError: The name or the text is empty, or a mode has that name.
    """
    check_text("name", name)
    check_text("focus", focus)
    key = name.strip().casefold()
    if not key or not focus.strip():
        msg = f"register_mode(name={name!r}, focus={focus!r}): both must say something"
        raise ConfigError(msg)
    mode = SummaryMode(key, focus.strip(), preserve or PreservationStrategy())
    with _lock:
        if not replace and key in mode_names():
            msg = f"there is a mode {key!r} already: take another name, or pass replace=True"
            raise ConfigError(msg)
        _registered[key] = mode
    return mode


def mode_names() -> tuple[str, ...]:
    """The names of all modes."""
    return tuple(dict.fromkeys((*map(str, Mode), *_registered)))


def resolve_mode(mode: str | SummaryMode) -> SummaryMode:
    """The mode of a name.

    Args:
        mode: A name, or a mode itself.

    Raises:
        ConfigError: No mode has that name; the message lists those there are.
    """
    if isinstance(mode, SummaryMode):
        return mode
    key = str(mode).strip().casefold()
    if key in _registered:
        return _registered[key]
    if key not in _OWN:
        msg = f"mode is {mode!r}; there are: {', '.join(mode_names())} (register_mode adds others)"
        raise ConfigError(msg)
    return _own_mode(key)


@functools.cache
def _own_mode(key: str) -> SummaryMode:
    """One of this package's own; each step asks for it, so its template is rendered once."""
    return SummaryMode(key, template(f"modes/{key}.j2").render().strip(), _PRESERVE[Mode(key)])
