"""The exact values of a session while a merge goes on: which are current, and which were superseded by which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from langchain_ctxcompress.ledger.records import Superseded, ValueRecord

_MAX_VALUES = 400
_MAX_SOURCES = 16
# A value of these kinds names one thing wherever it stands; the others ("$500") may be the value of several.
_NAMING_KINDS = frozenset({"id", "path", "url", "hash", "email", "phone", "branch", "host", "error", "number"})
# Of these people have several at a time: a new one takes the place of an old one only where it is said to be the one.
_MANY_KINDS = frozenset({"id", "number", "hash", "email", "phone", "error"})
_COMPARABLE = {"number": "quantity", "amount": "quantity", "percent": "quantity", "host": "url"}
_RANK = {"user": 0, "call": 1, "ai": 2, "tool": 3}


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One value took the place of another.

    Attributes:
        old: The value that no longer holds.
        new: The value that does.
        bare: Whether the new one was said without its subject ("make it 5 pm"), so that only the old sentence tells
            what it is.
    """

    old: ValueRecord
    new: ValueRecord
    bare: bool


Key = tuple[str, ...]
Identity = tuple[str, str, Key]


def _identity(value: ValueRecord) -> Identity:
    return value.value_kind, value.text.casefold(), () if value.value_kind in _NAMING_KINDS else value.key


def _family(kind: str) -> str:
    return _COMPARABLE.get(kind, kind)


def _latest(values: Iterable[ValueRecord]) -> list[ValueRecord]:
    newest = max(values, key=lambda other: other.order, default=None)
    return [newest] if newest is not None else []


class _Family:
    """The values of kinds that can take each other's place, found by what they say and by what they are the value of.

    What is found comes in the order in which it was put in.
    """

    def __init__(self) -> None:
        self._values: dict[Identity, ValueRecord] = {}
        self._places: dict[Identity, int] = {}
        self._by_text: dict[str, dict[Identity, None]] = defaultdict(dict)
        self._by_key: dict[Key, dict[Identity, None]] = defaultdict(dict)
        self._by_stem: dict[str, set[Key]] = defaultdict(set)
        self._next = 0

    def put(self, value: ValueRecord) -> None:
        """Add a value, or exchange it for the one of its identity."""
        identity = _identity(value)
        known = self._values.get(identity)
        if known is None:
            self._places[identity] = self._next
            self._next += 1
        else:
            del self._by_text[known.text][identity], self._by_key[known.key][identity]
        self._values[identity] = value
        self._by_text[value.text][identity] = None
        self._by_key[value.key][identity] = None
        for stem in value.key:
            self._by_stem[stem].add(value.key)

    def remove(self, value: ValueRecord) -> None:
        """Remove the value of this one's identity, if there is one."""
        identity = _identity(value)
        known = self._values.pop(identity, None)
        if known is not None:
            del self._places[identity], self._by_text[known.text][identity], self._by_key[known.key][identity]

    def saying(self, texts: set[str]) -> list[ValueRecord]:
        """The values that say one of these texts."""
        return self._in_order(identity for text in texts for identity in self._by_text.get(text, ()))

    def of(self, key: Key) -> list[ValueRecord]:
        """The values of one thing."""
        return self._in_order(self._by_key.get(key, ()))

    def near(self, key: Key) -> list[ValueRecord]:
        """The values of things whose name is a part of this one, or the other way round, but not the same."""
        own = set(key)
        keys = {other for stem in own for other in self._by_stem.get(stem, ()) if own < set(other) or own > set(other)}
        return self._in_order(identity for other in keys for identity in self._by_key.get(other, ()))

    def all(self) -> list[ValueRecord]:
        """Every value."""
        return list(self._values.values())

    def _in_order(self, found: Iterable[Identity]) -> list[ValueRecord]:
        return [self._values[identity] for identity in sorted(found, key=self._places.__getitem__)]


def _nearest(value: ValueRecord, near: list[ValueRecord]) -> list[ValueRecord]:
    """The values of the one thing whose name is a part of the subject of the new one, or the other way round."""
    key = set(value.key)
    counted = [other for other in near if other.value_kind == "quantity" and key < set(other.key)]
    if counted:  # "make that 6 seats": of several counts of seats, the last one
        return _latest(counted)
    near = [other for other in near if other.key]
    return near if len({other.key for other in near}) == 1 else []


class ValueBook:
    """Values by identity, with the newest said by the user on top."""

    def __init__(self, values: Iterable[ValueRecord], superseded: Iterable[Superseded]) -> None:
        self._live = {_identity(value): value for value in values}
        self._families: dict[str, _Family] = defaultdict(_Family)
        for value in self._live.values():
            if value.by == "user":
                self._families[_family(value.value_kind)].put(value)
        self._gone = {(gone.text, source) for gone in superseded if not gone.whole for source in gone.sources}
        self.superseded: list[Superseded] = []

    def add_all(self, values: Iterable[ValueRecord]) -> list[ValueChange]:
        """Add values in the order they were said.

        Returns:
            Which took the place of which.
        """
        changes: list[ValueChange] = []
        for value in sorted(values, key=lambda record: record.order):
            if value.sources and (value.text, value.sources[-1]) in self._gone:
                continue
            if not value.key and self._took_over(value):
                continue
            known = self._live.get(_identity(value))
            if known is not None:
                self._meet_again(known, value)
                continue
            changes += self._add(value)
        return changes

    def _took_over(self, value: ValueRecord) -> bool:
        """Whether a value without a subject is known from the same message, with the subject of the one it replaced."""
        said = self._families[_family(value.value_kind)].saying({value.text})
        return any(other.key and other.update and set(other.sources) & set(value.sources) for other in said)

    def _meet_again(self, known: ValueRecord, value: ValueRecord) -> None:
        fresh = [source for source in value.sources if source not in known.sources]
        # At the limit a use is no longer counted: a count without its source could be counted twice.
        fresh = fresh[: _MAX_SOURCES - len(known.sources)]
        if not fresh:
            return
        update: dict[str, object] = {"uses": known.uses + len(fresh), "sources": (*known.sources, *fresh)}
        if _RANK[value.by] < _RANK[known.by]:
            update |= {"by": value.by, "weight": max(value.weight, known.weight)}
            if value.subject:
                update |= {"subject": value.subject, "key": value.key}
        if not known.subject:
            update |= {"subject": value.subject}
        changed = known.model_copy(update=update)
        self._remove(known)
        self._put(changed)

    def _add(self, value: ValueRecord) -> list[ValueChange]:
        replaced = self._replaced_by(value) if value.by == "user" else []
        bare = not value.key
        if replaced and bare:
            value = value.model_copy(update={"subject": replaced[-1].subject, "key": replaced[-1].key})
        elif replaced and replaced[-1].things and replaced[-1].things[0] in value.things:
            value = value.model_copy(update={"key": replaced[-1].key, "things": replaced[-1].things, "single": True})
        for old in replaced:
            self._remove(old)
            gone = Superseded(text=old.text, key=old.key, order=value.order, sources=old.sources)
            self.superseded.append(gone)
            self._gone.update((old.text, source) for source in old.sources)
        self._put(value)
        return [ValueChange(old, value, bare) for old in replaced]

    def _replaced_by(self, value: ValueRecord) -> list[ValueRecord]:
        family = self._families[_family(value.value_kind)]
        if named := [other for other in family.saying({*value.replaces} - {value.text}) if other.order <= value.order]:
            return named
        if measured := self._measured_before(value, family):
            return measured
        if not (value.update or value.single) or (value.value_kind in _MANY_KINDS and not value.single):
            return []

        def earlier(values: Iterable[ValueRecord]) -> list[ValueRecord]:
            return [other for other in values if other.order < value.order and other.text != value.text]

        if not value.key:
            known = family.all()
            if value.value_kind == "quantity" and "." in value.text:  # "we went up to 3.4"
                known = [other for other in (*known, *self._families["version"].all()) if "." in other.text]
            return _latest(earlier(known)) if value.update else []
        if same := earlier(family.of(value.key)):
            return same if value.update or any(other.single for other in same) else []
        return _nearest(value, earlier(family.near(value.key))) if value.update else []

    def _measured_before(self, value: ValueRecord, family: _Family) -> list[ValueRecord]:
        """The values of the same kind that were said to be those of the one thing which this one measures."""
        found = [other for key in value.things for other in (*family.of(key), *family.near(key))]
        return [
            other
            for other in {_identity(other): other for other in found}.values()
            if other.single
            and other.value_kind == value.value_kind
            and len(other.things) == 1
            and other.things[0] in value.things
            and other.order < value.order
            and other.text != value.text
        ]

    def _put(self, value: ValueRecord) -> None:
        self._live[_identity(value)] = value
        if value.by == "user":
            self._families[_family(value.value_kind)].put(value)

    def _remove(self, value: ValueRecord) -> None:
        self._live.pop(_identity(value), None)
        self._families[_family(value.value_kind)].remove(value)

    def take_out(self, outdated: Iterable[Superseded]) -> None:
        """Take out values that the statements show to be outdated.

        Args:
            outdated: Values, with the messages that say them.
        """
        for gone in outdated:
            said = [
                value
                for value in self._live.values()
                if value.text == gone.text and value.order < gone.order and set(gone.sources) & set(value.sources)
            ]
            for value in said:
                self._remove(value)
            if not said and any((gone.text, source) in self._gone for source in gone.sources):
                continue
            sources = tuple(dict.fromkeys(source for value in said for source in value.sources)) or gone.sources
            self.superseded.append(gone.model_copy(update={"sources": sources}))

    def current(self) -> tuple[ValueRecord, ...]:
        """The current values in order, at most 400: beyond that the least used and oldest go."""
        kept = list(self._live.values())
        if len(kept) > _MAX_VALUES:
            kept.sort(key=lambda value: (_RANK[value.by], -value.uses, -value.order))
            del kept[_MAX_VALUES:]
        return tuple(sorted(kept, key=lambda value: (value.order, value.text)))
