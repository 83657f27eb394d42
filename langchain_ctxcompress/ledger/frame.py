"""What a sentence says of a value: its words without the value, and what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from langchain_ctxcompress.ledger.lexicon import MARKS, plain, read, stem
from langchain_ctxcompress.ledger.sentence_form import BEING
from langchain_ctxcompress.ledger.values import FoundValue, find_values
from langchain_ctxcompress.ledger.words.linking import ADDITIVE, ADDITIVE_UNSPACED, JOINING, LEADING

VALUE, OTHER = "\ufffc", "\ufffd"
"""Marks in the place of the value, and of other values."""

_TOKEN = re.compile(rf"(?:[^\W_]|[{MARKS}])+(?:['-](?:[^\W_]|[{MARKS}])+)*|[{VALUE}{OTHER}]|[,;:!?()—–]|\s-\s")
_MARKS = frozenset(",;:!?()—–") | {" - "}
_BEING_STEMS = frozenset(map(stem, BEING))
COUNTED = frozenset({"quantity", "number"})
"""Kinds of values that may count something."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence without its value.

    Attributes:
        words: The words of the clause that holds the value, with a mark in its place.
        main: The stems that this clause is about.
        all: Those that the whole sentence is about.
        others: Its other values.
        text: All of it without white space, in a script without spaces.
        counted: Whether the value counts something.
        unspaced: Whether the script has no spaces.
        additive: Whether it speaks of one more thing.
    """

    words: tuple[str, ...]
    main: frozenset[str]
    all: frozenset[str]
    others: frozenset[str]
    text: str
    counted: bool
    unspaced: bool
    additive: bool

    def late(self, known: frozenset[str]) -> bool:
        """Whether the value is told of something known: a topic leads up to it, or none comes behind it.

        "Room 12 is for the board" names a thing by its value.
        """
        at = self.words.index(VALUE) if VALUE in self.words else len(self.words)
        before = sum(1 for word in self.words[:at] if name_of(word) in self.all)
        behind = at + 1 + self.counted  # what is counted belongs to the value
        after = any(name_of(word) in known for word in self.words[behind:])
        named = at > 0 and name_of(self.words[at - 1]) in self.all
        return self.unspaced or before >= 2 or (before > 0 and not (after and named))

    @property
    def unit(self) -> str:
        """What a number counts: the word behind it."""
        at = self.words.index(VALUE) + 1 if self.counted and VALUE in self.words else len(self.words)
        return name_of(self.words[at]) if at < len(self.words) and name_of(self.words[at]) in self.all else ""

    def circumstances(self, extra: frozenset[str]) -> frozenset[str]:
        """The added words in front of all others that a preposition leads up to: "with the newcomers the choir has"."""
        if not self.words or plain(self.words[0]) not in LEADING:
            return frozenset()
        front = takewhile(lambda word: name_of(word) in extra or name_of(word) not in self.all, self.words)
        return frozenset(map(name_of, front)) & extra


def name_of(word: str) -> str:
    """How words are compared: by their stems, letters on their own as they are written."""
    return stem(word.lower()) if len(word) > 1 else word


@lru_cache(maxsize=4096)
def values_of(text: str) -> tuple[FoundValue, ...]:
    """The values in a sentence."""
    return tuple(find_values(text))


@lru_cache(maxsize=4096)
def frame_of(text: str, value: str) -> Frame:
    """The frame of a sentence.

    Args:
        text: The sentence.
        value: The value in it that is left out.
    """
    masked, others = text, set()
    for found in reversed(values_of(text)):
        mark = VALUE if found.value == value else OTHER
        if mark == OTHER:
            others.add(found.value)
        masked = f"{masked[: found.start]} {mark} {masked[found.end :]}"
    reading = read(masked)
    about = set(reading.content) - _BEING_STEMS
    folded = plain(masked)
    if reading.unspaced:
        additive = any(word in folded for word in ADDITIVE_UNSPACED)
        bare = "".join(folded.split())
        return Frame((), frozenset(about), frozenset(about), frozenset(others), bare, False, True, additive)
    tokens = _TOKEN.findall(masked.replace("\u2019", "'"))
    # A capital on its own or a small number tells one thing from another: "printer A", "dock 4".
    letters = {word for word in tokens[1:] if len(word) == 1 and (word.isupper() and word != "I")}
    about |= letters
    additive = any(token.lower() in ADDITIVE for token in tokens)
    clauses: list[list[str]] = [[]]
    for token in tokens:
        if token in _MARKS or token.lower() in JOINING:
            clauses.append([])
        else:
            clauses[-1].append(token)
    words = _main_clause(clauses, about)
    main = frozenset(name for word in words if (name := name_of(word)) in about)
    counted = any(found.value == value and found.kind in COUNTED for found in values_of(text))
    return Frame(tuple(words), main, frozenset(about), frozenset(others), "", counted, False, additive)


def _main_clause(clauses: list[list[str]], about: set[str]) -> list[str]:
    """The clause with the value, together with those before it until one says what it is about."""
    at = next((place for place, clause in enumerate(clauses) if VALUE in clause), len(clauses) - 1)
    words = list(clauses[at])
    for clause in reversed(clauses[:at]):
        if any(name_of(word) in about for word in words):
            break
        words = [*clause, *words]
    return words
