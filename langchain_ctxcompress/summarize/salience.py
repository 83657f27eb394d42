"""What a text carries: its units (words, names, exact values) and how much each of them weighs in a conversation.

A unit that few messages share carries more than one that all of them share; an exact value carries more than a word; a
name carries more than other words. Nothing here knows any phrase: it holds for any language whose words can be told
apart, and takes pairs of characters as words where they cannot (Chinese, Japanese, Thai …).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import add
from typing import Literal, NamedTuple

UnitKind = Literal["word", "name", "code", "number"]
"""`code` is an exact value that names a thing (an id, path, URL, hash, version); `number` says how much or when."""

VALUE_KINDS: frozenset[UnitKind] = frozenset({"code", "number"})

KIND_WEIGHT: Mapping[UnitKind, float] = {"word": 1.0, "name": 1.35, "code": 1.8, "number": 1.8}

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    f'[{_UNSPACED}]+|[^\\s{_UNSPACED}"`<>(){{}}\\[\\],;|*“”„«»「」『』（），。；！？、…：\u3000]+(?:,\\d+)*'
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]")
_NUMBER = re.compile(r"(?:[A-Z]{1,3}(?=\$))?[^\w\s#@/]{0,3}(?!\d{7})\d[\d.,:/%°'’–-]*[^\d\s]{0,4}")
"""An amount, a date, a time, a measure. Letters or a `#` in front, or seven digits in a row, are those of an id."""

_INNER_SIGN = re.compile(r"\w[/\\@_#=~:+]+\w|\w\.\w|^[/~.]{1,2}[/\w]|::|^[#@$]\w|^--?\w")
_CAMEL = re.compile(r"[a-z][A-Z]")
_EDGE = ".:!?-–—'’‘=…/\\~&^"
_FEW_MESSAGES = 12
"""In a shorter conversation a word of two messages is not yet a common one."""

_SHORT_WORD = 0.4
"""What a word of up to three letters counts: in the languages that separate words, most such words are grammar."""

_LONGEST_TOKEN = 200
"""A longer run without a space is data (base64, minified code): it says nothing that a summary could quote."""


class Unit(NamedTuple):
    """One thing a text carries.

    Attributes:
        key: What makes it the same unit elsewhere: case-folded.
        kind: What sort of thing it is.
    """

    key: str
    kind: UnitKind


class Vocabulary:
    """The units of one conversation, and in how many of its messages each occurs.

    Attributes:
        messages: Number of messages counted.
    """

    def __init__(self) -> None:
        self.messages = 0
        self._frequency: Counter[str] = Counter()
        self._units: dict[str, tuple[Unit, ...]] = {}
        self._weights: dict[Unit, float] = {}

    def add(self, texts: Iterable[str]) -> set[Unit]:
        """Count one message, given as its texts.

        Returns:
            Its units.
        """
        self.messages += 1
        self._weights.clear()
        tokens: set[str] = set()
        for text in texts:
            tokens.update(_TOKEN.findall(text))
        units = {unit for token in tokens for unit in self._of_token(token)}
        self._frequency.update({unit.key for unit in units})
        return units

    def units(self, text: str) -> dict[str, Unit]:
        """The units of a text by key, in order.

        A word with a capital that does not open the text is a name; next to a number it is part of it (`5 March`).
        """
        found: dict[str, Unit] = {}
        kind_before: UnitKind = "word"
        name_before: str | None = None
        for index, token in enumerate(_TOKEN.findall(text)):
            units = self._of_token(token)
            name = index > 0 and token[:1].isupper()
            for unit in units:
                kind = unit.kind
                if kind == "word" and name:
                    kind = "number" if kind_before == "number" else "name"
                elif kind == "number" and name_before is not None:
                    found[name_before] = Unit(name_before, "number")
                known = found.get(unit.key)
                if known is None or known.kind == "word":
                    found[unit.key] = unit if kind == unit.kind else Unit(unit.key, kind)
            name_before = units[0].key if units and name and found[units[0].key].kind == "name" else None
            kind_before = units[0].kind if units else "word"
        return found

    def weight(self, unit: Unit) -> float:
        """How much a unit carries here: from 0 (every message has it) to 1.8 (an exact value that one message has)."""
        weight = self._weights.get(unit)
        if weight is None:
            frequency = max(self._frequency.get(unit.key, 0), 1)
            rarity = max(0.0, 1.0 - math.log(frequency) / math.log(max(self.messages, _FEW_MESSAGES) + 1)) ** 2
            short = unit.kind == "word" and len(unit.key) < 4 and unit.key.isascii()
            weight = self._weights[unit] = rarity * KIND_WEIGHT[unit.kind] * (_SHORT_WORD if short else 1.0)
        return weight

    def frequency(self, key: str) -> int:
        """In how many messages a unit occurs."""
        return self._frequency.get(key, 0)

    def _of_token(self, token: str) -> tuple[Unit, ...]:
        units = self._units.get(token)
        if units is None:
            units = self._units[token] = _classify(token)
        return units


def _classify(token: str) -> tuple[Unit, ...]:
    """The units of one token: pairs of characters of an unspaced script, else the token itself."""
    if _UNSPACED_RUN.match(token):
        pairs = dict.fromkeys(map(add, token, token[1:])) if len(token) > 1 else {token: None}
        return tuple(Unit(pair, "word") for pair in pairs)
    bare = token.strip(_EDGE)
    if not bare or len(bare) > _LONGEST_TOKEN:
        return ()
    key = bare.casefold()
    if any(map(str.isdigit, bare)):
        return (Unit(key, "number" if _NUMBER.fullmatch(bare) else "code"),)
    if _INNER_SIGN.search(bare) or _CAMEL.search(bare):
        return (Unit(key, "code"),)
    if not any(map(str.isalpha, bare)):
        return ()
    return (Unit(key, "name" if len(bare) > 1 and bare.isupper() and bare.isascii() else "word"),)
