"""What two statements of the user have in common."""

from __future__ import annotations

import re

from langchain_ctxcompress.ledger.lexicon import split_words, stem, word_set
from langchain_ctxcompress.ledger.records import Fact, Rule
from langchain_ctxcompress.ledger.succession import speaks_of_a_way

Statement = Rule | Fact

_POLITE = word_set(
    """
    please kindly also just so well and oh btw thanks bitte svp pls plz really very
    """
)


def signature(text: str) -> tuple[str, ...]:
    """What two true duplicates share: the same words in the same order, but for case, marks and courtesies."""
    words = split_words(text)
    return tuple(word for word in words if word not in _POLITE) or tuple(words) or (text,)


def form_of(value: str) -> str:
    """What a value looks like: its marks and letters, whatever its digits."""
    return re.sub(r"\d+", "0", value.lower())


def topic(statement: Statement) -> set[str]:
    """The stems a statement is about, those of its values included."""
    return {*statement.key, *(stem(word) for slot in statement.slots for word in split_words(slot))}


def tells_of_change(statement: Statement) -> bool:
    """Whether a statement speaks of another thing in the place of one that is known, or of a way from one to the next.

    "Another spot", "slipped to 9 June", "moved to hall 6": a word for one more or a way stands by the value.
    """
    return any(speaks_of_a_way(statement.text, slot) for slot in statement.slots)


def are_bare_facts(*statements: Statement) -> bool:
    """Whether all are facts without a value."""
    return all(isinstance(statement, Fact) and not statement.slots for statement in statements)
