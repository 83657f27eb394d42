"""How much a sentence asks for something that lasts: cues of scope, quantity, duty and taste, and how it is built."""

from __future__ import annotations

import re

from langchain_ctxcompress.ledger.lexicon import Reading, read, split_words, word_set
from langchain_ctxcompress.ledger.words.linking import JOINING, PREPOSITIONS

STANDING = {
    "scope": 1.0,
    "universal": 1.0,
    "must": 0.9,
    "unable": 0.4,
    "prefer": 1.0,
    "limit": 0.5,
    "not": 0.3,
    "mind": 0.6,
    "rulehead": 0.3,
    "norm": 1.2,
}
"""Groups of cues of which a sentence that asks for something lasting has one, with their log-odds: rounded, since only
their order of size holds for text unseen."""

_HOLDING = 1.2
_LEAST_WORDS = 4
_FEW_UNSPACED = 5
_REPORTED_WITHIN = 5
_NO_SUCH = word_set(
    """
    no kein keine keinen keinerlei pas aucun aucune sin ningún ninguna nessun nessuna niente nenhum nenhuma sem geen
    inga ingen żadnych никаких никакого
    """
)
_VERBS = word_set("is are was were it's that's i'm can could will would should am be been has had does did do")
_LEAST_BANNED = 2
_CLAUSE = re.compile(r"[,;:—–]\s+|\s[-—–]\s|[，、；。]")
_LEADS = JOINING | word_set("so then just please also now always bitte por favor per favore proszę пожалуйста lütfen")
_CHOOSING = word_set("keep garde gardez behalte conserva conserve")
_SAYING_HOW = PREPOSITIONS | word_set("as out below above away to wie als tel tal come como")
_POINTED_AT = word_set("it that this them those these es das ihn ça cela le la lo los las eso esto isso isto to это")


def standing(reading: Reading, *, imperative: bool, question: bool) -> float:
    """How much a sentence asks for something that lasts.

    Args:
        reading: Its words and cues.
        imperative: Whether it opens like an instruction.
        question: Whether it is a question.

    Returns:
        Log-odds; a rule has 1.2 and more.
    """
    ordered = imperative or reading.has("please", "must")
    told = ordered or reading.has("you") or reading.cues.get("universal") == 0
    score = sum(STANDING[group] for group in reading.cues if group in STANDING)
    if told and reading.has("universal", "scope"):
        score += 0.6
    if imperative and reading.has("not"):
        score += 0.9
    if _is_verbless_ban(reading):
        score += 0.9
    if imperative and reading.has("limit", "condition"):
        score += 0.3
    if (
        reading.has("past")
        and not is_wished(reading)
        and (not told or (not ordered and reading.cues["past"] < _REPORTED_WITHIN))
    ):
        score -= 0.8  # "at no point did I …" tells what was
    return score - (1.0 if question else 0.0)


def is_wished(reading: Reading) -> bool:
    """Whether a verb of the past is none, but what somebody would rather have: "I'd rather you called me Al"."""
    return reading.cues.get("prefer", reading.cues.get("past", 0)) < reading.cues.get("past", 0)


def _is_verbless_ban(reading: Reading) -> bool:
    """Whether it is a noun under a word that denies it, and nothing that tells: "no loans with a variable rate"."""
    if reading.unspaced or not reading.words or reading.words[0] not in _NO_SUCH:
        return False
    tells = reading.has("past", "state", "you", "want", "ask", "ack", "feel", "now", "trouble", "done")
    return len(reading.content) >= _LEAST_BANNED and not tells and _VERBS.isdisjoint(reading.words)


def holding(spoken: str) -> float:
    """How much one of the clauses tells to keep something as it is, or to stop a habit.

    "Leave the tests untouched", "we moved, so stop suggesting Heroku": such a verb first in a clause, with an object
    that is named and something said of it. "Keep it" and "leave that" point at what is at hand and do not last.

    Args:
        spoken: A sentence.

    Returns:
        Log-odds to add, 0 where no clause does.
    """
    for clause in _CLAUSE.split(spoken[:400])[:8]:
        words = split_words(clause)
        while words and words[0] in _LEADS:
            words = words[1:]
        reading = read(" ".join(words)) if words else None
        if reading is None or "hold" not in reading.cues:
            continue
        if reading.unspaced:
            if reading.cues["hold"] == 0 and len(reading.words) > _FEW_UNSPACED:
                return _HOLDING
        elif reading.cues["hold"] == 0 and len(words) >= _LEAST_WORDS - 1 and _POINTED_AT.isdisjoint(words[1:3]):
            chooses = words[0] in _CHOOSING and _SAYING_HOW.isdisjoint(words[2:])
            if not chooses:  # as "keep the red one" does; "keep the logo as it is" says how
                return _HOLDING
    return 0.0
