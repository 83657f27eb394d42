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


def _identity(value: ValueRecord) -> tuple[str, str, tuple[str, ...]]:
    return value.value_kind, value.text.casefold(), () if value.value_kind in _NAMING_KINDS else value.key


def _family(kind: str) -> str:
    return _COMPARABLE.get(kind, kind)


def _latest(values: Iterable[ValueRecord]) -> list[ValueRecord]:
    newest = max(values, key=lambda other: other.order, default=None)
    return [newest] if newest is not None else []


def _nearest(value: ValueRecord, older: list[ValueRecord]) -> list[ValueRecord]:
    """The values of the one thing whose name is a part of the subject of the new one, or the other way round."""
    key = set(value.key)
    counted = [other for other in older if other.value_kind == "quantity" and key < set(other.key)]
    if counted:  # "make that 6 seats": of several counts of seats, the last one
        return _latest(counted)
    near = [other for other in older if other.key and (key < set(other.key) or key > set(other.key))]
    return near if len({other.key for other in near}) == 1 else []


class ValueBook:
    """Values by identity, with the newest said by the user on top."""

    def __init__(self, values: Iterable[ValueRecord], superseded: Iterable[Superseded]) -> None:
        self._live = {_identity(value): value for value in values}
        self._by_family: dict[str, dict[tuple[str, str, tuple[str, ...]], None]] = defaultdict(dict)
        for identity, value in self._live.items():
            if value.by == "user":
                self._by_family[_family(value.value_kind)][identity] = None
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
            known = self._live.get(_identity(value))
            if known is not None:
                self._meet_again(known, value)
                continue
            changes += self._add(value)
        return changes

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
        for old in replaced:
            self._remove(old)
            gone = Superseded(text=old.text, key=old.key, order=value.order, sources=old.sources)
            self.superseded.append(gone)
            self._gone.update((old.text, source) for source in old.sources)
        self._put(value)
        return [ValueChange(old, value, bare) for old in replaced]

    def _replaced_by(self, value: ValueRecord) -> list[ValueRecord]:
        family = [self._live[identity] for identity in self._by_family[_family(value.value_kind)]]
        older = [other for other in family if other.order <= value.order and other.text != value.text]
        named = [other for other in older if other.text in value.replaces]
        if named or (value.value_kind in _MANY_KINDS and not value.single):
            return named
        older = [other for other in older if other.order < value.order]
        if not value.key:
            return _latest(older) if value.update else []
        same = [other for other in older if other.key == value.key]
        if same:
            return same if value.update or (value.single and any(other.single for other in same)) else []
        return _nearest(value, older) if value.update else []

    def _put(self, value: ValueRecord) -> None:
        identity = _identity(value)
        self._live[identity] = value
        if value.by == "user":
            self._by_family[_family(value.value_kind)][identity] = None

    def _remove(self, value: ValueRecord) -> None:
        identity = _identity(value)
        self._live.pop(identity, None)
        self._by_family[_family(value.value_kind)].pop(identity, None)

    def current(self) -> tuple[ValueRecord, ...]:
        """The current values in order, at most 400: beyond that the least used and oldest go."""
        kept = list(self._live.values())
        if len(kept) > _MAX_VALUES:
            kept.sort(key=lambda value: (_RANK[value.by], -value.uses, -value.order))
            del kept[_MAX_VALUES:]
        return tuple(sorted(kept, key=lambda value: (value.order, value.text)))
