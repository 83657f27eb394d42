"""Arguments of the wrong kind: refused where they come in, in one sentence that names the argument and what to pass.

Else they would fail deep inside, in words that say nothing to a caller, or worse, would not fail: a text is a sequence
of texts, too. What a caller passed is not repeated beyond numbers and `None`: it may be a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from numbers import Real

from langchain_ctxcompress.errors import ConfigError


def check_kind(name: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """Refuse an argument of the wrong kind.

    Args:
        name: What the argument is called.
        value: What was passed.
        kind: What it has to be an instance of.
        wanted: The same in words, with an article.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(value, kind):
        raise _wrong(name, value, wanted)


def check_callable(name: str, value: object, wanted: str) -> None:
    """Refuse what cannot be called.

    Args:
        name: What the argument is called.
        value: What was passed.
        wanted: What it has to be, in words.

    Raises:
        ConfigError: It cannot be called.
    """
    if not callable(value):
        raise _wrong(name, value, wanted)


def check_text(name: str, value: object) -> None:
    """Refuse what is no text.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(value, str):
        check_kind(name, value, str, "a str")


def check_least(name: str, value: object, least: float = 0, *, unit: str = "") -> None:
    """Refuse a number that is too small, and what is no number.

    Args:
        name: What the argument is called.
        value: What was passed.
        least: The least that it may be.
        unit: What it counts, such as `tokens`.

    Raises:
        ConfigError: It is smaller, or no number.
    """
    if not isinstance(value, Real):
        check_kind(name, value, Real, "a number")
    elif value < least or not value <= inf:  # NaN is in no order
        msg = f"{name} is {value}: it must be {least} or more{f', in {unit}' if unit else ''}"
        raise ConfigError(msg)


def check_ids(name: str, ids: Iterable[str]) -> tuple[str, ...]:
    """The ids that were passed; one text is refused, which is a sequence of one-letter ids by itself.

    Raises:
        ConfigError: It is no collection of texts.
    """
    check_kind(name, ids, Iterable, "a list of ids")
    if isinstance(ids, str):
        msg = f"{name} is one text: it must be a list of ids, such as [{name.removesuffix('s')}]"
        raise ConfigError(msg)
    given = tuple(ids)
    for place, one in enumerate(given):
        check_text(f"item {place} of {name}", one)
    return given


def _wrong(name: str, value: object, wanted: str) -> ConfigError:
    shown = repr(value) if value is None or isinstance(value, Real) else f"a {type(value).__name__}"
    return ConfigError(f"{name} is {shown}: it must be {wanted}")
