"""What an exact value is the value of, in the words around it."""

from __future__ import annotations

import re

from langchain_ctxcompress.ledger.lexicon import Reading, read, stem
from langchain_ctxcompress.ledger.values import FoundValue

_CLAUSE = re.compile(
    r"[,;:!?，。；、：()]\s*"
    r"|\s(?=[-–—abemopuyни])(?:[-–—]|but|and|or|aber|und|oder|mais|et|pero|y|ma|e|mas|maar|en|но|и)\s"
)
_SUBJECT_WORDS = 4
_WINDOW = 200


def subject_of(text: str, value: FoundValue) -> tuple[str, tuple[str, ...]]:
    """The subject of a value in its sentence.

    A quantity is named by what is counted ("6 seats"), other values by the topic words before them in their clause,
    or, if there are none, by those after them.

    Args:
        text: The sentence.
        value: A value found in it.

    Returns:
        The subject as words, and as sorted stems. Both are empty where the sentence names none ("make it 5 pm").
    """
    left = text[max(0, value.start - _WINDOW) : value.start]
    boundaries = list(_CLAUSE.finditer(left))
    near_left = left[boundaries[-1].end() :] if boundaries else left
    right = text[value.end : value.end + _WINDOW]
    boundary = _CLAUSE.search(right.lstrip(" .,"))
    near_right = right.lstrip(" .,")[: boundary.start()] if boundary else right
    candidates = (near_right, near_left) if value.kind == "quantity" else (near_left, left, near_right)
    for index, part in enumerate(candidates):
        reading = read(part.strip()) if part.strip() else None
        if reading and reading.topic:
            nearest_last = part is not near_right
            words = _topic_words(reading)
            if value.kind == "quantity" and index == 0:
                words = words[:1]
            words = words[-_SUBJECT_WORDS:] if nearest_last else words[:_SUBJECT_WORDS]
            key = sorted({stem(word) for word in words} if not reading.unspaced else set(reading.content))
            return " ".join(words), tuple(key)
    return "", ()


def _topic_words(reading: Reading) -> list[str]:
    return [word for word in reading.topic if not any(char.isdigit() for char in word)]


def subject_of_key(key: str) -> tuple[str, tuple[str, ...]]:
    """The subject that the name of a tool argument states: `order_id` is the order id.

    Args:
        key: The argument's name.

    Returns:
        The subject as words, and as sorted stems.
    """
    words = [word.lower() for word in _KEY_WORD.findall(key)]
    return " ".join(words), tuple(sorted({stem(word) for word in words}))


_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def measured_things(text: str, value: FoundValue, subject: tuple[str, ...] | None) -> tuple[tuple[str, ...], ...]:
    """The things a sentence may measure: none, or two where its last word may be a part of the thing or a verb.

    A verb of change does not stand right before the value: "rose to 500" has a word between them, "wurde auf 500
    erhöht" has it behind; "costs 500" and "includes 500" say something else of the thing than its value.

    Args:
        text: The sentence.
        value: The one value of its kind in it.
        subject: The stems in front of its copula; `None` where it has none.

    Returns:
        Keys of the things.
    """
    if value.kind not in _MEASURES:
        return ()
    before, after = read(text[: value.start]), read(text[value.end :])
    if subject is not None:
        return (subject,) if len(subject) >= _LEAST_THING and not after.content else ()
    stems = tuple(dict.fromkeys((*before.content, *after.content)))
    apart = bool(after.content) or (bool(before.words) and stem(before.words[-1]) not in before.content)
    if len(after.content) > 1 or not apart or len(stems) > _MOST_THING:
        return ()
    keys = (stems[:-1],) if after.content else (stems, stems[:-1])
    return tuple(tuple(sorted(key)) for key in keys if len(key) >= _LEAST_THING)


_LEAST_THING, _MOST_THING = 2, 6
"""Stems that name a thing: one alone is too common, and beyond six a sentence tells more than a value."""
_MEASURES = frozenset({"amount", "percent", "quantity"})
"""Values of which a thing has one at a time; it may well begin at one time and end at another."""
