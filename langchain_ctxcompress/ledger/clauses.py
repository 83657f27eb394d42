"""The clauses of a long sentence: a constraint is often said in one of them, in the middle of a request.

"Plan a day in Lisbon with two museums, dad's hip isn't great, so routes with staircases are out, and tell me what it
costs": as a whole this asks for something now, and yet one clause of it holds for all that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from langchain_ctxcompress.ledger.lexicon import is_unspaced, split_words, word_set
from langchain_ctxcompress.ledger.voice import Sentence
from langchain_ctxcompress.ledger.words.linking import JOINING

_BREAK = re.compile(r"[,;:]\s+|\s[-–—]\s|—|[，、；]")
_MOST_CLAUSES = 12
_LEAST_WORDS = 3
_LEAST_UNSPACED = 5


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a sentence.

    Attributes:
        text: It as it is written, with the one before it where it gives the consequence of that.
        told: What it says itself, without the word that joins it.
    """

    text: str
    told: Sentence


def clauses(sentence: Sentence) -> list[Clause]:
    """The clauses of a sentence that has several.

    Args:
        sentence: A sentence of the user.

    Returns:
        Its clauses, at most 12; one too short to say anything stands with the one before it. Nothing where there is
        one alone.
    """
    text = sentence.spoken
    if "…" in text:
        return []  # something quoted was left out of it: its clauses are not all the user's
    spans: list[tuple[int, int, int]] = []  # where its text starts, where it starts itself, where it ends
    start = 0
    for mark in (*_BREAK.finditer(text), None):
        end = mark.start() if mark else len(text)
        part = text[start:end]
        if spans and _is_short(part):
            spans[-1] = (spans[-1][0], spans[-1][1], end)
        elif part.strip():
            spans.append((spans[-1][0] if spans and _first_word(part) in _CONSEQUENCE else start, start, end))
        start = mark.end() if mark else len(text)
        if len(spans) > _MOST_CLAUSES:
            return []
    if len(spans) == 1 or not spans:
        return []
    return [Clause(text[opened:end].strip(), _told(text[start:end].strip())) for opened, start, end in spans]


def _told(part: str) -> Sentence:
    word = _first_word(part)
    rest = part[len(word) :].lstrip() if word in _JOINED and part.lower().startswith(word) else part
    return Sentence(rest, rest, "", bullet=False)


def _is_short(part: str) -> bool:
    return len(part) < _LEAST_UNSPACED if is_unspaced(part) else len(split_words(part)) < _LEAST_WORDS


def _first_word(part: str) -> str:
    words = split_words(part[:40])
    return words[0] if words else ""


_CONSEQUENCE = word_set(
    """
    so since as because otherwise therefore which whose sonst deshalb daher weil denn sodass car donc sinon parce así
    porque entonces sino perché quindi altrimenti porque então senão omdat want dus bo więc ponieważ потому
    поэтому иначе
    """
)
_JOINED = _CONSEQUENCE | JOINING
