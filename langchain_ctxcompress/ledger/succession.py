"""Whether a later sentence gives the value of an earlier one anew, or speaks of a second thing that is alike.

Two sentences about two things contrast: each says a word that the other does not, in the same place ("the project's
budget", "the conference's budget"), or the later one adds a word to the name of the thing ("the child's ticket", "a
ticket for children"). A sentence that takes another's place says what that one says, or less of it ("the call is now
at 15:30"), and what it adds tells of the change ("was upgraded and", "they close early"). Only the place of words,
function words and the kind of value decide, so that it holds in any wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise, takewhile
from typing import Literal

from langchain_ctxcompress.ledger.frame import COUNTED, VALUE, Frame, frame_of, name_of, values_of
from langchain_ctxcompress.ledger.lexicon import plain, read
from langchain_ctxcompress.ledger.sentence_form import DEFINITE
from langchain_ctxcompress.ledger.values import FoundValue
from langchain_ctxcompress.ledger.words.linking import BOUNDS, FROM, PREPOSITIONS, SINCE, WAYS_TO
from langchain_ctxcompress.ledger.words.measures import MONTHS

Succession = Literal["", "likely", "sure"]
"""What a later sentence is to an earlier one: nothing, likely its successor, or surely so."""

_TOWARDS = frozenset(("to", "auf", "a", "à", "al", "naar", "till", "до", "na"))
_SMALL = 3
_MISTAKABLE = ("ack", "feel", "want", "trouble", "prefer", "limit", "decide", "goal", "done", "mind")
_NUMERIC = frozenset({"quantity", "number", "amount", "percent", "version"})
_WAYS = frozenset({"phone", "email", "address"})
_END = " .!?…)\"'"
_NAMING = frozenset({"id", "number", "hash", "email", "error"})
_LEAST_CONTAINED = 3


def changed_value(older: str, older_slots: Sequence[str], newer: str) -> tuple[FoundValue, FoundValue] | None:
    """The value of an earlier sentence that a later one may give anew.

    Args:
        older: The earlier sentence.
        older_slots: The values in it.
        newer: The later sentence.

    Returns:
        The old value and the new one: the only ones of their kind in which the two sentences differ.
    """
    gone = [value for value in values_of(older) if value.value in older_slots and value.value not in newer]
    fresh = [value for value in values_of(newer) if value.value not in older]
    pairs = [(old, new) for old in gone for new in fresh if _alike(older, old, newer, new)]
    if len(pairs) != 1:
        return None
    return pairs[0]


def _alike(older: str, old: FoundValue, newer: str, new: FoundValue) -> bool:
    """Whether two values can take each other's place: of one kind, or one a number that nothing is counted with."""
    if old.kind == new.kind:
        return True
    for text, bare, other in ((older, old, new), (newer, new, old)):
        if bare.kind in COUNTED and not text[bare.end :].strip(_END).strip():
            return other.kind in _NUMERIC and (other.kind != "version" or bare.value.count(".") == 1)
    return False


def succession(
    older: str, newer: str, values: tuple[FoundValue, FoundValue], *, update: bool, definite: bool
) -> tuple[Succession, bool]:
    """What a later sentence is to an earlier one with a value of the same kind.

    Args:
        older: The earlier sentence.
        newer: The later one.
        values: The old value and the new one (`changed_value`).
        update: Whether the later one announces a change.
        definite: Whether the earlier one states what one definite thing is.

    Returns:
        Its succession, and whether it says less of the thing than the earlier one, so that both are needed.
    """
    old, new = frame_of(older, values[0].value), frame_of(newer, values[1].value)
    if old.unspaced != new.unspaced or (new.additive and not old.additive) or not old.main & new.all:
        return "", False
    lost, extra = old.main - new.all, new.main - old.all
    lost_values, extra_values = old.others - new.others, new.others - old.others
    if (lost_values and extra_values) or (old.counted and new.counted and old.unit != new.unit):
        return "", False
    around = new.circumstances(extra)
    extra -= around
    shorter = bool(lost or lost_values)
    anew = old.unspaced and old.text != new.text and _told_of_the_same(old.text, new.text)
    same_thing = not (lost or extra) and bool(old.words) and plain(old.words[0]) in DEFINITE
    if not (update or definite or anew or same_thing) and values[0].kind in _NAMING:
        return "", False  # "open folder A-1", "open folder A-2": such values name things
    if _joined_otherwise(old, new) or (_letters(old.all - new.all) and _letters(new.all - old.all)):
        return "", False
    if lost and not extra and not old.unspaced and _contrasts(old, new, lost, _mistakable(new)):
        return "", False
    if lost and extra:
        together = len(old.main & new.all) >= 2 and not old.unspaced
        return ("likely" if together and not _contrasts(old, new, lost, extra) else ""), True
    if extra_values or _names_another(old, new, extra):
        return ("likely" if update and not shorter else ""), shorter
    if shorter and not update and any(word.endswith(("'s", "s'")) and name_of(word) in lost for word in old.words):
        return "", False  # "Ana's flight", "the flight"
    if shorter:
        told = definite or len(old.main & new.all) >= 2
        return ("sure" if update else "likely" if told and new.late(old.all) else ""), True
    if update:
        return "sure", False
    if not (old.late(old.all) and new.late(old.all)) or _tells_otherwise(new, extra):
        return "", False
    return ("sure" if definite and not (old.unspaced or around) else "likely"), False


def tells_apart(older: str, older_slots: Sequence[str], newer: str) -> bool:
    """Whether two sentences with values of one kind speak of two things: each has a word in the place of the other's.

    Args:
        older: The earlier sentence.
        older_slots: The values in it.
        newer: The later one.
    """
    values = changed_value(older, older_slots, newer)
    if values is None:
        return True
    old, new = frame_of(older, values[0].value), frame_of(newer, values[1].value)
    if old.unspaced or new.unspaced or (old.others - new.others and new.others - old.others):
        return True
    lost, extra = old.main - new.all, new.main - old.all
    return bool(lost and extra and _contrasts(old, new, lost, extra)) or _joined_otherwise(old, new)


def speaks_of_a_way(text: str, value: str) -> bool:
    """Whether a word that leads to a place or a time stands right in front of a value, behind a word that is no being.

    Args:
        text: A sentence.
        value: A value in it.
    """
    frame = frame_of(text, value)
    at = frame.words.index(VALUE) if VALUE in frame.words else 0
    led = at > 1 and plain(frame.words[at - 1]) in _TOWARDS
    return led and name_of(frame.words[at - 2]) in frame.all


def is_way_to_reach(values: tuple[FoundValue, FoundValue] | None) -> bool:
    """Whether two values are ways to reach somebody, of one kind."""
    return values is not None and values[0].kind == values[1].kind and values[0].kind in _WAYS


def may_reach(text: str) -> bool:
    """Whether a sentence holds a way to reach somebody."""
    return any(value.kind in _WAYS for value in values_of(text))


def reaches_speaker(text: str, value: str) -> bool:
    """Whether a sentence gives a way to reach the speaker: it names no other thing, and nobody of theirs.

    "Use … to reach me" and "my number is …" do, "my mother's number" and "… for the plumber" do not.

    Args:
        text: A sentence.
        value: A phone number, an address or the like in it.
    """
    frame = frame_of(text, value)
    named = [name for name in frame.main if len(name) > _SMALL]
    return len(named) <= 1 and not frame.unspaced and any(read(word).has("self") for word in frame.words)


def owns_another(text: str, value: str) -> bool:
    """Whether a word of the speaker's own stands in front of what the sentence is about: "my wife".

    Args:
        text: A sentence.
        value: A value in it.
    """
    frame = frame_of(text, value)
    return any(read(word).has("self") and name_of(after) in frame.main for word, after in pairwise(frame.words))


def says_all_of(older: Sequence[str], newer: str) -> bool:
    """Whether a later sentence says all that an earlier one is about, and more.

    Args:
        older: Stems that the earlier sentence is about.
        newer: The later sentence.
    """
    return len(older) >= _LEAST_CONTAINED and frozenset(older) < frozenset(read(newer).content)


def _mistakable(frame: Frame) -> frozenset[str]:
    """Words that may be a topic or small talk: "the parking fine"."""
    return frozenset(name_of(word) for word in frame.words if len(word) > 1 and read(word).has(*_MISTAKABLE))


def _letters(names: frozenset[str]) -> bool:
    return any(len(name) == 1 for name in names)


def _contrasts(old: Frame, new: Frame, lost: frozenset[str], extra: frozenset[str]) -> bool:
    """Whether a word that is lost and one that is added stand in the same place."""
    before, after = ([name_of(word) for word in frame.words] for frame in (old, new))
    return any(
        tag == "replace" and not lost.isdisjoint(before[start:end]) and not extra.isdisjoint(after[first:last])
        for tag, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    )


def _names_another(old: Frame, frame: Frame, extra: frozenset[str]) -> bool:
    """Whether an added word is a part of the name of the thing, so that it is another one.

    It is where a preposition leads up to it, or a word of the name stands next to it.
    """
    if not extra:
        return False
    if frame.unspaced:
        return not _told_of_the_same(old.text, frame.text)
    known = old.all
    names = [name_of(word) for word in frame.words]
    for at, name in enumerate(names):
        if name not in extra:
            continue
        if len(name) == 1 or frame.words[at].endswith(("'s", "s'")):
            return True
        back = at - 1
        while back >= 0 and names[back] != VALUE and (names[back] in extra or _is_small(frame.words[back].lower())):
            back -= 1
        led = plain(frame.words[back]) if back >= 0 else ""
        since = (back > 0 and plain(frame.words[back - 1]) in SINCE) or (
            led in FROM and plain(frame.words[at]) in MONTHS
        )
        if led in PREPOSITIONS and not since:
            return True
        if next((other for other in names[at + 1 :] if other not in extra), "") in known:
            return True
    return False


def _is_small(word: str) -> bool:
    """An article, or a word like one."""
    return len(word) <= 3 and word not in PREPOSITIONS


def _told_of_the_same(older: str, newer: str) -> bool:
    """Whether two unspaced sentences differ only in a word before the value: 租金是, 租金涨到."""
    (before, _, behind), (prefix, _, after) = older.partition(VALUE), newer.partition(VALUE)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, prefix, strict=False)))
    told = read(before[shared:]).content if before[shared:] else ()
    return behind == after and shared >= _LEAST_CONTAINED and not told and len(prefix) - shared <= _LEAST_CONTAINED


def _joined_otherwise(old: Frame, new: Frame) -> bool:
    """Whether a word has another preposition in each: the train to Lyon, the train from Lyon."""
    before, after = (
        {name_of(word): plain(last) for last, word in pairwise(frame.words) if plain(last) in WAYS_TO | BOUNDS}
        for frame in (old, new)
    )
    bounds = [each.get(VALUE, "") for each in (before, after)]
    if bounds[0] != bounds[1] and BOUNDS.issuperset(bounds):
        return True
    shared = before.keys() & after.keys() & old.all
    return any(before[word] != after[word] for word in shared)


def _tells_otherwise(frame: Frame, extra: frozenset[str]) -> bool:
    """Whether an added word leads right up to the value: "includes 40" says something else than "is 40"."""
    at = frame.words.index(VALUE) if VALUE in frame.words else 0
    return at > 0 and name_of(frame.words[at - 1]) in extra
