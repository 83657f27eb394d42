"""What two statements of the user have in common."""

from __future__ import annotations

import re
from itertools import repeat

from langchain_ctxcompress.ledger.frame import values_of
from langchain_ctxcompress.ledger.lexicon import read, split_words, stem, word_set
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


def asks(statement: Statement) -> bool:
    """Whether a statement is a question: a change that is asked for may be denied."""
    return statement.text.endswith(("?", "？", "؟"))


def names_anew(older: Statement, newer: Statement) -> bool:
    """Whether a later statement names the values of an earlier one beside new ones of their form, and its thing.

    Args:
        older: The earlier one.
        newer: The later one.
    """
    about, denies = set(newer.key), read(newer.text).has("not", "instead")
    fresh = [slot for slot in newer.slots if slot not in older.slots]
    named = bool(older.slots) and set(older.slots) < set(newer.slots)
    anew = named and sorted(map(form_of, fresh)) == sorted(map(form_of, older.slots))
    if denies and named and not anew:  # "it is not on Tuesday but on Thursday"
        kinds = {value.value: value.kind for value in values_of(newer.text)}
        anew = sorted(kinds.get(slot, "") for slot in fresh) == sorted(map(kinds.get, older.slots, repeat("")))
    return anew and set(older.key) <= about
