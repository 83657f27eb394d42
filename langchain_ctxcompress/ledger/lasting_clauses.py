"""What is told for good in one clause of a long sentence that belongs to the moment as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_ctxcompress.ledger.clauses import clauses
from langchain_ctxcompress.ledger.lexicon import read
from langchain_ctxcompress.ledger.statements import Judgement, judge
from langchain_ctxcompress.ledger.voice import Sentence
from langchain_ctxcompress.ledger.words.people import PEOPLE

LONG_MOMENT, SIGNS_OF_WORD = 9, 2.5
"""Words of a sentence worth little as a whole whose clauses are looked at one by one, and signs that make a word."""

TOLD = 0.3
"""What a sentence weighs that tells something without a word that says so."""

_LONG = 16
_SURE_AS_A_WHOLE = 0.5
_SURE_CLAUSE = 0.6
_LEAST_CLAUSE, _LEAST_TOPIC = 4, 2
_TOLD_FOR_GOOD = ("scope", "universal", "must", "prefer", "norm", "not")


@dataclass(frozen=True, slots=True)
class Heard:
    """How many messages say each stem, and the stems of the one that answers: an echo does not make a topic."""

    messages: Counter[str]
    echo: frozenset[str]

    def novelty(self, content: Sequence[str]) -> float:
        """The share of topic stems that no other message says.

        Args:
            content: Topic stems of a sentence.
        """
        fresh = sum(1 for word in content if self.messages[word] - (word in self.echo) <= 1)
        return fresh / len(content) if content else 0.0


def lasting_clauses(sentence: Sentence, judged: Judgement, heard: Heard) -> list[Judgement]:
    """The clauses of a long sentence that hold for longer than it does as a whole: what is told for good in a request.

    A clause has less around it that would show what it is: it must say more to be a rule than a sentence must.

    Args:
        sentence: A sentence.
        judged: What it is as a whole.
        heard: Who else speaks of it.
    """
    size = len(judged.reading.words) / (SIGNS_OF_WORD if judged.reading.unspaced else 1)
    long = size > (LONG_MOMENT if judged.weight < TOLD else _LONG)
    asks = judged.text.endswith(("?", "？", "؟"))  # also a question by which something is told for good
    whole = 0.0 if asks else judged.weight
    if (judged.kind == "rule" and not asks) or sentence.bullet or whole >= _SURE_AS_A_WHOLE or not long:
        return []
    found: list[Judgement] = []
    for clause in clauses(sentence):
        reading = read(clause.told.spoken)
        if not (
            reading.has(*_TOLD_FOR_GOOD, "self", "hold", "wide") or not PEOPLE.isdisjoint(reading.words[:_LEAST_CLAUSE])
        ):
            continue
        told = judge(clause.told, heard.novelty(reading.content))
        fit = len(reading.words) >= _LEAST_CLAUSE and len(reading.content) >= _LEAST_TOPIC and not told.question
        lasts = told.trait or told.kind == "rule" or told.reading.has(*_TOLD_FOR_GOOD, "wide")
        if fit and told.weight > max(whole, TOLD) and lasts:
            sure = told.kind == "rule" and told.weight >= _SURE_CLAUSE
            found.append(replace(told, text=clause.text, kind="rule" if sure else "fact"))
    return found
