"""In which order the segments of a conversation are worth their tokens.

The order does not depend on the budget: a summary is a front part of it, so that a larger budget never says less.

Each voice has a share of the tokens, so that a hundred tool calls cannot crowd out what the user said, nor the user's
words the outcome. Within a voice the next segment is the one that adds most for its length: what a taken segment
already carries counts little a second time, and each further segment of one message counts less.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from langchain_ctxcompress.summarize.cues import (
    DECISION_SIGNS,
    DECISION_WORDS,
    DIRECTIVE_SIGNS,
    DIRECTIVE_WORDS,
    ERROR_SIGNS,
)
from langchain_ctxcompress.summarize.salience import VALUE_KINDS, Unit, Vocabulary
from langchain_ctxcompress.summarize.sentences import Segment
from langchain_ctxcompress.summarize.utterances import Voice

SHARES: Mapping[Voice, float] = {
    "user": 0.76,
    "note": 0.76,
    "assistant": 0.13,
    "call": 0.05,
    "tool": 0.04,
    "quoted": 0.02,
}
"""What part of the tokens each voice gets while all have something to say; what one does not use goes to the others."""

AGED_SHARES: Mapping[Voice, float] = {
    "user": 0.90,
    "note": 0.90,
    "assistant": 0.05,
    "call": 0.03,
    "tool": 0.01,
    "quoted": 0.01,
}
"""The same for a summary that is shortened: how the work went fades, what the user wants stays true."""

_COVERED = 0.2
"""What a unit still counts when a taken segment already carries it."""

_SPEAKER_TOKENS = 4
_LENGTH_POWER = 0.8
"""How much length costs: 0 takes what carries most, 1 what carries most per token and so only the shortest."""

_CODE_SIGNS = re.compile(r"[(){}\[\]=<>|\\^~*#_]|[:;](?!\s)")
"""Signs that pasted code, tables and terminal output are full of, and prose is not."""

_QUESTION_MARKS = ("?", "？", "؟", ";")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A segment that may be taken.

    Attributes:
        utterance: Index of its utterance.
        place: Index of the segment in the utterance.
        segment: What it says.
        voice: Who says it; `quoted` for what a user only shows.
        units: What it carries, by key.
        asked: Keys of what the assistant said just before: a reply repeats it, a wish or a rule of one's own does not.
    """

    utterance: int
    place: int
    segment: Segment
    voice: Voice
    units: Mapping[str, Unit]
    asked: Set[str] = frozenset()


def rank(
    candidates: Sequence[Candidate],
    vocabulary: Vocabulary,
    sizes: Sequence[int],
    shares: Mapping[Voice, float],
) -> Iterator[Candidate]:
    """Yield the candidates in the order they should be taken.

    Args:
        candidates: What there is, in conversation order.
        vocabulary: The units of the whole conversation.
        sizes: Characters of each utterance.
        shares: What part of the tokens each voice gets.
    """
    factors = [_factor(candidate, sizes, place / len(candidates)) for place, candidate in enumerate(candidates)]
    for index, candidate in enumerate(candidates):
        if candidate.asked:
            factors[index] *= 0.4 + 0.6 * _own_part(candidate, vocabulary)
    costs = [_tokens(candidate.segment.text) for candidate in candidates]
    covered: set[str] = set()
    taken_of: defaultdict[int, int] = defaultdict(int)
    opened: set[int] = set()

    def content(index: int) -> float:
        return sum(
            vocabulary.weight(unit) * (_COVERED if key in covered else 1.0)
            for key, unit in candidates[index].units.items()
        )

    def score(index: int) -> float:
        candidate = candidates[index]
        cost = costs[index] + (0 if candidate.utterance in opened else _SPEAKER_TOKENS)
        crowd = 1.0 / (1.0 + 0.25 * taken_of[candidate.utterance])
        return float(content(index) * factors[index] * crowd / cost**_LENGTH_POWER)

    queues: dict[Voice, list[tuple[float, int]]] = {}
    for index, candidate in enumerate(candidates):
        queues.setdefault(candidate.voice, []).append((-score(index), -index))
    for queue in queues.values():
        heapq.heapify(queue)
    spent = dict.fromkeys(queues, 0.0)
    best = {voice: queue[0][0] or -1.0 for voice, queue in queues.items()}

    def due(voice: Voice) -> tuple[float, str]:
        # a voice that has little left to say is asked less often
        left = max(0.0, queues[voice][0][0] / best[voice]) ** 0.5
        return (spent[voice] + 10) / (shares[voice] * (0.1 + 0.9 * left)), voice

    while queues:
        voice = min(queues, key=due)
        queue = queues[voice]
        while True:
            _, negative = heapq.heappop(queue)
            now = -score(-negative)
            if not queue or (now, negative) <= queue[0]:
                break
            heapq.heappush(queue, (now, negative))
        index = -negative
        candidate = candidates[index]
        spent[voice] += costs[index] + (0 if candidate.utterance in opened else _SPEAKER_TOKENS)
        covered.update(candidate.units)
        taken_of[candidate.utterance] += 1
        opened.add(candidate.utterance)
        if not queue:
            del queues[voice]
        yield candidate


def _factor(candidate: Candidate, sizes: Sequence[int], position: float) -> float:
    """What raises or lowers a segment besides what it carries: what it does, and how recent it is."""
    text = candidate.segment.text
    words = candidate.units.keys()
    factor = 1.0 + 0.15 * position
    if candidate.voice in ("user", "note"):
        hints = len(words & DIRECTIVE_WORDS) + (1 if DIRECTIVE_SIGNS.search(text) else 0)
        factor *= 1.0 + 0.3 * min(hints, 2)
        if text.endswith(_QUESTION_MARKS):
            factor *= 0.6
        factor /= 1.0 + sizes[candidate.utterance] / 2000
        if len(_CODE_SIGNS.findall(text)) > 2 + len(text) / 25:
            factor *= 0.4
    elif candidate.voice == "assistant":
        hints = len(words & DECISION_WORDS) + (1 if DECISION_SIGNS.search(text) else 0)
        factor *= 1.0 + 0.3 * min(hints, 2)
        if ERROR_SIGNS.search(text):
            factor *= 1.3
        if text.endswith(_QUESTION_MARKS):
            factor *= 0.5
    elif candidate.voice == "tool" and ERROR_SIGNS.search(text):
        factor *= 2.0
    return factor


def _own_part(candidate: Candidate, vocabulary: Vocabulary) -> float:
    """What part of a segment's weight was not in what the assistant had just said."""
    total = own = 0.0
    for key, unit in candidate.units.items():
        weight = vocabulary.weight(unit)
        total += weight
        own += 0.0 if key in candidate.asked else weight
    return own / total if total else 1.0


def _tokens(text: str) -> float:
    """A rough size in tokens, to compare segments by: four ASCII characters, or one and a half others, are a token."""
    plain = len(text.encode("ascii", "ignore"))
    return max(3.0, plain / 4 + (len(text) - plain) / 1.5)


def replaced_by_newer(candidates: Sequence[Candidate], vocabulary: Vocabulary) -> set[int]:
    """Which candidates say what a later one of the same voice says again with a newer number.

    Two segments speak of the same thing if they share nearly all words that weigh anything and the same ids, and differ
    in a number: "the budget is 4,000" and "the budget is now 5,500", but not "order W12" and "order W13", nor "the
    project's budget" and "the conference's budget".
    """
    replaced: set[int] = set()
    by_word: defaultdict[tuple[Voice, str], list[_Frame]] = defaultdict(list)
    for index in range(len(candidates) - 1, -1, -1):
        candidate = candidates[index]
        frame = _frame(candidate, vocabulary) if candidate.voice in ("user", "assistant", "note") else None
        if frame is None:
            continue
        rarest = sorted(frame.words, key=lambda key: (-frame.words[key], key))[:3]
        if any(frame.is_replaced_by(newer) for key in rarest for newer in by_word[candidate.voice, key][-20:]):
            replaced.add(index)
        for key in frame.words:
            by_word[candidate.voice, key].append(frame)
    return replaced


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a segment speaks of, apart from the numbers it gives for it."""

    words: Mapping[str, float]
    codes: frozenset[str]
    numbers: frozenset[str]

    def is_replaced_by(self, newer: _Frame) -> bool:
        """Whether the newer one gives another number for the same thing; it may say more about it, but not much."""
        shared = len(self.words.keys() & newer.words.keys())
        return (
            self.codes == newer.codes
            and not self.numbers <= newer.numbers
            and shared >= 2
            and shared >= 0.85 * len(self.words)
            and shared >= 0.5 * len(newer.words)
        )


def _frame(candidate: Candidate, vocabulary: Vocabulary) -> _Frame | None:
    kinds: dict[str, set[str]] = {"number": set(), "code": set()}
    words: dict[str, float] = {}
    for key, unit in candidate.units.items():
        if unit.kind in VALUE_KINDS:
            kinds[unit.kind].add(key)
        elif (weight := vocabulary.weight(unit)) > 0.1:
            words[key] = weight
    if not kinds["number"] or not words:
        return None
    return _Frame(words, frozenset(kinds["code"]), frozenset(kinds["number"]))
