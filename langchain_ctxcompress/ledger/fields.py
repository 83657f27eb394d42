"""A message of the user that is data alone: a JSON object whose fields say what is what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from langchain_ctxcompress.ledger.values import find_values

_MOST_TEXT = 4_000
_MOST_FIELDS = 12
_DEEPEST = 3
_LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    Attributes:
        name: Its keys from the outermost, with dots between.
        value: What it holds, as text.
        kind: What sort of value it is.
    """

    name: str
    value: str
    kind: str


def read_fields(text: str) -> list[Field]:
    """The fields of a message that is one JSON object.

    Args:
        text: The message text.

    Returns:
        Its fields with a short value; nothing where it is no such object, or one of more than 12 fields: a page of
        data is looked up, not remembered.
    """
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")) or len(text) > _MOST_TEXT:
        return []
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found = list(_leaves(told, (), _DEEPEST))
    return found if len(found) <= _MOST_FIELDS else []


def _leaves(told: Any, names: tuple[str, ...], depth: int) -> Iterator[Field]:
    if isinstance(told, dict) and depth:
        for name, inner in told.items():
            yield from _leaves(inner, (*names, name), depth - 1)
    elif isinstance(told, (str, int, float)) and not isinstance(told, bool):
        value = " ".join(str(told).split())
        if value and len(value) <= _LONGEST_VALUE:
            kind = next((found.kind for found in find_values(value) if found.value == value), "field")
            yield Field(".".join(names)[:_LONGEST_VALUE], value, kind)
