"""How much a sentence of the user is worth keeping: what it asks for beyond this moment, and how sure that is.

A sentence is judged by general features: scope and modality words, person, mood, whether it reports, asks or
replies, and how new its topic is next to the rest of the conversation (an aside has no echo anywhere, so nothing
else could bring it back).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from typing import Literal

from langchain_ctxcompress.ledger.lexicon import Reading, plain, read, split_words, stem, word_set
from langchain_ctxcompress.ledger.sentence_form import (
    BEING,
    FINITE,
    LEAD_WORDS,
    behind_hesitation,
    behind_lead,
    core_of,
    is_definite,
    is_imperative,
    subject_of,
    trim_opening,
    verb_of,
)
from langchain_ctxcompress.ledger.standing import STANDING, holding, is_wished, standing
from langchain_ctxcompress.ledger.taking_back import takes_back
from langchain_ctxcompress.ledger.traits import is_trait
from langchain_ctxcompress.ledger.values import FoundValue, find_values
from langchain_ctxcompress.ledger.voice import Sentence
from langchain_ctxcompress.ledger.wishes import asks_for_good, find_wish
from langchain_ctxcompress.ledger.words.measures import NAMED

RULE_WEIGHT = 0.5
RULE_STANDING = 1.2
FACT_WEIGHT = 0.08

# Log-odds of each feature: rounded, since only their order of size holds for text unseen.
_BIAS = -3.6
_NOVEL = 3.0
_MOSTLY_NOVEL = 1.6
_VALUE = 0.3
_ANNOUNCED = 2.2
_WISHED = 1.3
_TRAIT = -1.2
_GENERAL = 1.0
_LEANING = -1.5
_TALLY = 1.5
STANDING_CUES = tuple(STANDING)
"""Groups of words of which a sentence that asks for something lasting has one."""

_LASTING = {"aside": 2.4, "goal": 0.8, "update": 0.8, "shift": 0.3, "decide": 0.4, "self": 0.1}
PASSING = {"past": 0.6, "now": 0.7, "please": 0.4, "ask": 0.9, "want": 1.0, "ack": 1.8, "feel": 1.5, "trouble": 0.6}
"""Groups of words that belong to this moment, with what each takes off."""

_UNSPACED_WORD = 2.0
_LABEL_WORDS, _LABEL_REST = 8, 2
_OPENING_WORDS = 6
POINTING = word_set(
    """
    it it's that that's this these those there there's das dies dieses es ça cela c'est ce eso esto ello questo quello
    ciò isso isto dat dit het to это этот
    """
)
_AT_HAND = word_set("it it's this these those dies dieses ça cela eso esto ello questo ciò isso isto это")
"""Words that point at something known, and are nothing else in another language."""

_LITTLE = 3
_SPEAKING = word_set(
    """
    i i'm i've i'd i'll ich je j'ai j'aimerais yo io eu ik ja jag ben я
    """
)

_LEAST_PARTS = 2
_PARTS = re.compile(r"[,;]\s+")
_MARKER = re.compile(r"\[(?:CHECKPOINT|DECISION|ARTIFACT|GOAL|RULE|NOTE|TODO)\]\s")

_TELLING_OF = FINITE | word_set("costs needs weighs sleeps kostet braucht cuesta coûte costa custa kost")
_COUNTS = frozenset({"quantity", "number"})
_OWNS = ("'", "\u2019")
_NEAR_VERB = 120
"""Characters between the name of a thing and what is said of it."""
_STANDING_SO = BEING | word_set(
    """
    isn't aren't hasn't haven't has have waits wait fehlt fehlen steht stehen wurde wurden hat haben manque manquent a
    ont falta faltan ha han hanno manca mancano falta faltam ontbreekt heeft saknas har
    """
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a sentence of the user is.

    Attributes:
        kind: `rule` for a standing instruction, `fact` for anything else that lasts, `moment` for the rest.
        weight: How sure it is that it must last, from 0 to 1.
        text: The sentence without greetings and openers.
        reading: Its words and cues.
        values: The exact values in it.
        update: Whether it announces a change.
        takes_back: Whether it takes something back: `permits` what was banned, or `forgets` what was said.
        definite: Whether it states what one definite thing is.
        question: Whether it is a question.
        polite: Whether it says please, also in an opener that is not part of its text.
        imperative: Whether it opens like an instruction.
        about: The stems of what it is about: its topic without the values.
        verb: The stem of the verb of an instruction.
        subject: Of a definite statement, the stems of what it says something about.
        trait: Whether it says what holds for the user or their people.
    """

    kind: Literal["rule", "fact", "moment"]
    weight: float
    text: str
    reading: Reading
    values: tuple[FoundValue, ...]
    update: bool
    takes_back: Literal["", "permits", "forgets"]
    definite: bool
    question: bool
    polite: bool
    imperative: bool
    about: tuple[str, ...]
    verb: str
    subject: tuple[str, ...]
    trait: bool


def judge(sentence: Sentence, novelty: float) -> Judgement:
    """Judge one sentence.

    Args:
        sentence: A sentence in the user's own voice.
        novelty: The share of its topic words heard nowhere else in the conversation at hand, from 0 to 1.

    Returns:
        What it is and how much it weighs.
    """
    sentence = _with_intro(_fluent(sentence))
    spoken = trim_opening(sentence.spoken)
    text = trim_opening(sentence.text)
    reading = read(sentence.spoken)
    found = tuple(find_values(text))
    named = () if read(sentence.spoken).has("update") else _names(text, found)
    values = tuple(value for value in found if value not in named)
    question = text.rstrip("\"'”’»)").endswith(("?", "？", "؟")) or (reading.unspaced and "吗" in text[-3:])
    whole = reading
    wish = find_wish(spoken)
    told_for_good = (wish is not None and wish.lasts) or (question and asks_for_good(spoken))
    question = question and wish is None and not told_for_good
    core = wish.text if wish else core_of(spoken)
    if wish or (core != spoken and not reading.has(*STANDING, "aside")):
        reading = read(core)  # in the language of the sentence itself, whatever language its lead is in
    labelled = _is_labelled(text, values)
    imperative = (
        not labelled
        and is_imperative(core, reading)
        and (core == spoken or reading.has("please", "not", "universal", "scope"))
    )
    definite = labelled or is_definite(core)
    held = 0.0 if question else holding(spoken)
    asked = standing(reading, imperative=imperative or held > 0.0, question=question)
    asked += _WISHED if told_for_good else 0.0
    asked += held if asked < RULE_STANDING else 0.0
    if sentence.intro and not question and read(sentence.intro).has("rulehead", "scope"):
        asked += _ANNOUNCED
    score = _BIAS + _NOVEL * novelty + _MOSTLY_NOVEL * max(0.0, novelty - 0.5) + asked
    score += sum(_LASTING[group] for group in reading.cues if group in _LASTING)
    score += _VALUE if values else 0.0
    score += _TALLY if not question and _is_tally(core, reading) else 0.0
    passing = _passing(reading, question=question, held=held > 0.0)
    score -= passing
    steady = max(asked, RULE_STANDING) if told_for_good else asked - passing / 2
    if len(spoken) * 2 < len(text):
        steady, score = 0.0, -5.0  # mostly a quotation: somebody else's words
    if _MARKER.match(text):
        steady, score = 2.0, 3.0
    trait = not question and is_trait(behind_lead(core))
    if trait:
        score = max(score, _TRAIT + _NOVEL * novelty)
    elif _is_general(reading) or (not question and _is_about_all_you_do(reading)):
        score += _GENERAL
    if not (values or trait) and _leans(reading):
        score += _LEANING
    weight = round(1 / (1 + exp(-score)), 3)
    kind: Literal["rule", "fact", "moment"] = "moment"
    if steady >= RULE_STANDING and not question:
        # What is told to hold always does so however much it is talked about: no word of novelty here.
        kind, weight = "rule", max(weight, RULE_WEIGHT)
    elif weight >= FACT_WEIGHT:
        kind = "fact"
    return Judgement(
        kind,
        weight,
        text,
        reading,
        values,
        update=not question and (whole.has("update") or (whole.has("shift") and not _is_personal(core))),
        takes_back="" if question else takes_back(whole),
        definite=definite,
        question=question,
        polite=whole.has("please"),
        imperative=imperative,
        about=_with_names(_about(core, values) or _about(spoken, values), named),
        verb=verb_of(core) if imperative else "",
        subject=_with_names(subject_of(core) or (_about(core, values) if labelled else ()), named) if definite else (),
        trait=trait,
    )


def _names(text: str, values: tuple[FoundValue, ...]) -> tuple[FoundValue, ...]:
    """The values that tell which thing a sentence is about: the day in "Monday's call is at 9", the 1 in "hall 1".

    Such a value stands in front of the verb, or opens the sentence, and what is said of the thing stands behind it.
    """
    named: list[FoundValue] = []
    for value, later in pairwise(values):
        loose = value.kind in _COUNTS or plain(value.value).rstrip(".") in NAMED
        between = text[value.end : later.start]
        if not loose or len(between) > _NEAR_VERB:
            continue
        day_first = value.kind == "date" and len(split_words(text[: value.start][-_NEAR_VERB:])) <= 1
        if day_first or not _TELLING_OF.isdisjoint(split_words(between)) or between[:1] in _OWNS:
            named.append(value)
    return tuple(named)


def _with_names(about: tuple[str, ...], named: tuple[FoundValue, ...]) -> tuple[str, ...]:
    return tuple(sorted({*about, *(stem(plain(value.value)) for value in named)})) if about and named else about


def _is_labelled(text: str, values: tuple[FoundValue, ...]) -> bool:
    """Whether it is a name, a colon and a value: "Policy reference for the boat: MRN-88213-Q"."""
    head, colon, rest = text.partition(": ")
    if not colon or not values or len(split_words(head)) > _LABEL_WORDS or not read(head).content:
        return False
    for value in values:
        rest = rest.replace(value.value, " ")
    return len(split_words(rest)) <= _LABEL_REST and all(value.value not in head for value in values)


def _fluent(sentence: Sentence) -> Sentence:
    text, spoken = behind_hesitation(sentence.text), behind_hesitation(sentence.spoken)
    return sentence if spoken == sentence.spoken else Sentence(text, spoken, sentence.intro, sentence.bullet)


def _with_intro(sentence: Sentence) -> Sentence:
    """A list item together with the line that introduces it, where that line is the instruction itself."""
    if not sentence.intro or not sentence.bullet:
        return sentence
    intro = read(sentence.intro)
    told = min(intro.cues.get(group, 9) for group in ("universal", "scope", "not", "must")) <= 1
    if not told or intro.has("rulehead", "ask", "ack") or intro.words[0] in _SPEAKING:
        return sentence
    text, spoken = (f"{sentence.intro} {part}" for part in (sentence.text, sentence.spoken))
    return Sentence(text, spoken, "", bullet=True)


def _about(core: str, values: tuple[FoundValue, ...]) -> tuple[str, ...]:
    said = {stem(word) for value in values for word in split_words(value.value) if word.isdigit()}
    for value in values:
        core = core.replace(value.value, " ") if len(value.value) > 2 else core
    return tuple(sorted(word for word in read(core).content if word not in said))


def _is_personal(core: str) -> bool:
    """Whether it opens with the speaker, or points: "I now see …" reports, and changes nothing."""
    words = split_words(core[:80])[:2]
    return any(word in _SPEAKING or word in POINTING for word in words)


def _is_general(reading: Reading) -> bool:
    """Whether it says something of all or none: "anything that touches billing goes through Dana"."""
    passing = ("past", "now", "ack", "feel", "ask", "trouble", "done", "want")
    within = {"ack": LEAD_WORDS}
    passes = any(reading.cues.get(group, _OPENING_WORDS) < within.get(group, _OPENING_WORDS) for group in passing)
    return reading.cues.get("wide") == 0 and len(reading.content) > 1 and not passes


def _is_about_all_you_do(reading: Reading) -> bool:
    """Whether it speaks of all that the listener does: "in everything you write"."""
    passing = reading.has("past", "now", "ack", "feel", "ask", "trouble", "done", "want", "please", "condition")
    return not passing and 0 < reading.cues.get("wide", 0) < reading.cues.get("you", 0)


def _is_tally(core: str, reading: Reading) -> bool:
    """Whether it says of several things in a row how each stands: "login is migrated, billing hasn't begun"."""
    if reading.unspaced or reading.has("self", "you", "want", "please"):
        return False
    parts = [split_words(part) for part in _PARTS.split(core[:400])[:8]]
    standing_so = [part for part in parts if not _STANDING_SO.isdisjoint(part[1:]) and part[0] not in POINTING]
    return len(standing_so) >= _LEAST_PARTS


def _leans(reading: Reading) -> bool:
    """Whether it points at what was just said and names little itself: "I'd love to get this sorted quickly"."""
    return not reading.unspaced and len(reading.content) <= _LITTLE and not _AT_HAND.isdisjoint(reading.words)


def _passing(reading: Reading, *, question: bool, held: bool) -> float:
    """How much a sentence belongs to this moment alone: it asks, answers, reports, or points at what was just said."""
    score = sum(PASSING[group] for group in reading.cues if group in PASSING)
    if not reading.unspaced and reading.cues.get("ack", 0) >= LEAD_WORDS:
        score -= PASSING["ack"]  # "needs her okay first" answers nothing
    told = reading.has("must", "universal", "scope", "norm")
    if told and "trouble" in reading.cues:
        score -= PASSING["trouble"]  # a rule about errors is no trouble
    # "I want to see the draft before the others do" is a condition of all that follows.
    conditioned = "want" in reading.cues and reading.has("limit", "condition") and not reading.has("universal")
    scoped = "want" in reading.cues and reading.has("scope")
    score -= PASSING["want"] if scoped else PASSING["want"] / 2 if conditioned else 0.0
    if not question and reading.cues.get("ask", 0) >= LEAD_WORDS:
        score -= PASSING["ask"]  # "keep the files where they are" asks for nothing
    if is_wished(reading):
        score -= PASSING["past"]
    words = len(reading.words) / (_UNSPACED_WORD if reading.unspaced else 1)
    if question:
        score += 2.2
    if words < 4 and not (reading.has("self") and reading.has("state")):
        score += 0.8
    score += 0.8 * (words > 15) + 0.4 * (words > 25) + 0.8 * (words > 45)
    if len(reading.content) < 2 and not reading.has("scope", "norm"):
        score += 1.2 if reading.content else 1.6
    if not held and not reading.cues.keys() - {"hold"}:
        score += 0.8
    if reading.words and reading.words[0] in POINTING:
        score += 1.4
    if (
        reading.cues.get("self") == 0
        and not (conditioned or scoped)
        and not reading.unspaced
        and reading.words[0] in _SPEAKING
    ):
        score += 1.0
    return score
