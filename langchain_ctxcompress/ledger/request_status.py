"""Requests of the user, and whether they were answered: so that what is done is not done again."""

from __future__ import annotations

from typing import Literal

from langchain_ctxcompress.ledger.statements import POINTING, Judgement

_MAX_REQUEST = 180
_SHORT = 3
"""Topic stems of a complaint that does not point at what it is about."""

_SHORT_UNSPACED = 16


def request_weight(judged: Judgement) -> float:
    """How much a sentence looks like the request of its message, 0 for one that asks for nothing.

    Args:
        judged: The sentence.

    Returns:
        A score; above 0.45 it is one.
    """
    reading = judged.reading
    if not (reading.content or judged.values or judged.question):
        return 0.0  # a courtesy without an object: "please remember"
    weight = 0.0
    if judged.question:
        weight += 0.5
    if judged.polite or reading.has("want", "please"):
        weight += 0.5
    if reading.has("ask"):
        weight += 0.3
    if judged.imperative:
        weight += 0.3
    if judged.values:
        weight += 0.2
    if reading.has("ack", "feel") and len(reading.words) < 8:
        weight -= 0.5
    return max(0.0, weight)


def shorten_request(text: str, most: int = _MAX_REQUEST) -> str:
    """A request at a length that reminds of it: cut at a word, with a mark, beyond a number of characters."""
    if len(text) <= most:
        return text
    cut = text[:most]
    return (cut[: cut.rfind(" ")] if " " in cut[most // 2 :] else cut) + " …"


def reply_of(judgements: list[Judgement]) -> Literal["moved_on", "not_done"]:
    """How a human message relates to the work before it.

    Args:
        judgements: Its first sentences.

    Returns:
        `not_done` if it opens with a complaint that it does not work, else `moved_on`.
    """
    return "not_done" if any(_complains(judged) for judged in judgements[:2]) else "moved_on"


def _complains(judged: Judgement) -> bool:
    """Whether a sentence says that what was just done does not work: it names trouble, and little that is new.

    "That is still not working" points back; "fix the wrong total in the report for May" has a topic of its own.
    """
    reading = judged.reading
    if not reading.has("trouble"):
        return False
    length = len(reading.words) if reading.unspaced else len(reading.content)
    return length <= (_SHORT_UNSPACED if reading.unspaced else _SHORT) or reading.words[0] in POINTING
