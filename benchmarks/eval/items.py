"""What is planted: a sentence, and what of it has to be found again."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from types import ModuleType

from benchmarks.eval import held_out_phrasings, open_phrasings

SETS: dict[str, ModuleType] = {"open": open_phrasings, "held-out": held_out_phrasings}
KINDS = ("rule", "constraint", "fact", "value", "goal", "preference", "decision", "update", "near-duplicate")
_MARKED = re.compile("«(.*?)»")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@dataclass(frozen=True, slots=True)
class Item:
    """One planted item.

    Attributes:
        kind: One of `KINDS`.
        texts: What the user says: one sentence, or for an update the old one and the new one.
        keys: What stands together in one line where the item is there: its subject, and its key phrase or value.
        stale: What stands together in one line where a value is restated that no longer holds; empty: nothing can.
    """

    kind: str
    texts: tuple[str, ...]
    keys: tuple[str, ...]
    stale: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """What somebody would search for who knows what the item is about, but not its value."""
        words = re.findall(r"[^\W\d_][\w'’-]*", " ".join(self.keys))
        if not words:
            words = re.findall(r"[^\W\d_][\w'’-]*", self.texts[-1])
        return " ".join(words[:6])


class ItemMaker:
    """Makes items from a set of phrasings; the same seed makes the same items.

    Args:
        phrasings: A key of `SETS`.
        rng: Where chance comes from.
    """

    def __init__(self, phrasings: str, rng: random.Random) -> None:
        self.source = SETS[phrasings]
        self.rng = rng
        self._words = rng.sample(self.source.WORDS, len(self.source.WORDS))

    def make(self, each: int, updates: int, pairs: int) -> list[Item]:
        """So many items of each kind of sentence, so many updates, and so many pairs that are alike.

        Args:
            each: Items of each kind of sentence.
            updates: Updates.
            pairs: Pairs of near-duplicates.
        """
        made: list[Item] = []
        for kind, sentences in self.source.ITEMS.items():
            made += [self._single(kind, sentence) for sentence in self.rng.sample(sentences, each)]
        for update in self.rng.sample(self.source.UPDATES, updates):
            old, new, about, now, before = (part.format(**slots) for slots in [self._slots()] for part in update)
            made.append(Item("update", (old, new), (about, now), (about, before)))
        for pair in self.rng.sample(self.source.NEAR, pairs):
            slots = self._slots()
            made += [self._single("near-duplicate", sentence, slots) for sentence in pair]
        return made

    def _single(self, kind: str, sentence: str, slots: dict[str, str] | None = None) -> Item:
        filled = sentence.format(**(slots or self._slots()))
        return Item(kind, (_MARKED.sub(r"\1", filled),), tuple(_MARKED.findall(filled)))

    def _slots(self) -> dict[str, str]:
        """A value for every name in braces; the second of a kind differs from the first."""
        rng = self.rng
        person, person2 = rng.sample(self.source.PEOPLE, 2)
        word = self._words.pop() if self._words else rng.choice(self.source.WORDS)
        small, small2 = map(str, rng.sample(range(3, 12), 2))
        amount, amount2 = map(str, rng.sample(range(120, 980, 7), 2))
        day, day2 = rng.sample(range(1, 28), 2)
        month = rng.choice(_MONTHS)
        hour, hour2 = rng.sample(range(9, 20), 2)
        minute = rng.choice(("10", "25", "40", "50"))
        price, price2 = rng.sample(range(210, 4_900, 30), 2)
        unit = rng.choice(("euros", "dollars", "francs"))
        major, minor = rng.randint(2, 9), rng.randint(0, 9)
        return {
            "person": person,
            "person2": person2,
            "word": word,
            "thing": rng.choice(self.source.THINGS),
            "small": small,
            "small2": small2,
            "amount": amount,
            "amount2": amount2,
            "date": f"{day} {month}",
            "date2": f"{day2} {month}",
            "hour": f"{hour} o'clock",
            "clock": f"{hour}:{minute}",
            "clock2": f"{hour2}:{minute}",
            "money": f"{price:,} {unit}",
            "money2": f"{price2:,} {unit}",
            "code": f"{self._letters()}{rng.randint(1_000, 9_999)}-{self._letters()}",
            "code2": f"{self._letters()}{rng.randint(1_000, 9_999)}-{self._letters()}",
            "phone": f"0{rng.randint(300, 990)} {rng.randint(10_000, 99_999)}",
            "phone2": f"0{rng.randint(300, 990)} {rng.randint(10_000, 99_999)}",
            "version": f"{major}.{minor}.1",
            "version2": f"{major + 1}.{minor}.4",
        }

    def _letters(self) -> str:
        return "".join(self.rng.choices("BCDFGHJKLMNPQRSTVWXZ", k=2))
