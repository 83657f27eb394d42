"""The user's lasting statements while a merge goes on: true duplicates joined, changed and withdrawn ones taken out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from langchain_ctxcompress.ledger.lexicon import read, split_words, stem
from langchain_ctxcompress.ledger.records import Fact, Rule, Superseded, ValueRecord
from langchain_ctxcompress.ledger.sameness import (
    Statement,
    are_bare_facts,
    asks,
    names_anew,
    signature,
    tells_of_change,
    topic,
)
from langchain_ctxcompress.ledger.succession import (
    Succession,
    changed_value,
    is_way_to_reach,
    may_reach,
    owns_another,
    reaches_speaker,
    says_all_of,
    succession,
    tells_apart,
)
from langchain_ctxcompress.ledger.value_book import ValueChange

_MAX_FACTS = 400
_MAX_SOURCES = 6
_MAX_AMENDMENTS = 3
_COMMON = 40
_FEW = 6
"""Statements that share a word which still tells what they are about."""

_RENEWED = 0.85


class StatementBook:
    """Live statements, indexed by the stems they are about."""

    def __init__(self, statements: Iterable[Statement], superseded: Iterable[Superseded]) -> None:
        self._live: dict[tuple[str, ...], Statement] = {}
        self._by_stem: dict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
        self._gone = {(gone.text, source) for gone in superseded if gone.whole for source in gone.sources}
        self._told: set[tuple[str, str]] = set()  # what stands behind a statement that it changes, by message
        self.superseded: list[Superseded] = []
        self.outdated: list[Superseded] = []
        for statement in statements:
            self._put(statement)

    def add_all(
        self, statements: Sequence[Statement], withdrawals: Iterable[Superseded], changes: Sequence[ValueChange]
    ) -> None:
        """Add statements in the order they were said.

        Args:
            statements: New ones.
            withdrawals: What was said only to take something back.
            changes: The values that took the place of others.
        """
        by_source: dict[str, list[ValueChange]] = defaultdict(list)
        for change in changes:
            by_source[change.new.sources[-1] if change.new.sources else ""].append(change)
        events: list[tuple[int, int, Statement | Superseded]] = []
        events += [(statement.order, 1, statement) for statement in statements]
        events += [(gone.order, 0, gone) for gone in withdrawals if gone.whole]
        applied: set[int] = set()
        for _, _, event in sorted(events, key=lambda item: (item[0], item[1])):
            if isinstance(event, Superseded):
                if not any((event.text, source) in self._gone for source in event.sources):
                    self._withdraw(set(event.key), event.order)
                    self._gone.update((event.text, source) for source in event.sources)
                continue
            if self._is_known(event) or self._join_duplicate(event):
                continue
            source = event.sources[-1] if event.sources else ""
            weight = event.weight
            told = False
            for change in by_source.get(source, ()):
                if change.new.text in event.slots:
                    applied.add(id(change))
                    heaviest, amended = self._change(change, event)
                    renews = _RENEWED if heaviest and not event.takes_back else 0.0
                    weight, told = max(weight, heaviest, renews), told or amended
            self._replace(event)
            renewed = None if (joined := self._succeed(event)) else self._renewed(event)
            if joined or (renewed is not None and self._is_joined(event, renewed)):
                continue
            weight = weight if renewed is None else max(weight, _RENEWED)
            withdrawn = bool(event.takes_back) and self._withdraw(topic(event), event.order)
            if (told or (withdrawn and event.takes_back == "forgets")) and isinstance(event, Fact):
                self._gone.update((event.text, source) for source in event.sources)
                continue
            self._put(event.model_copy(update={"weight": weight}) if weight != event.weight else event)
        for change in changes:
            if id(change) not in applied:
                self._change(change, None)

    def _is_known(self, statement: Statement) -> bool:
        """Whether it is a statement read again that is gone, or stands behind the one it changes."""
        said = [(statement.text, source) for source in statement.sources]
        return any(each in self._gone or each in self._told for each in said)

    def _join_duplicate(self, statement: Statement) -> bool:
        same = signature(statement.text)
        known = self._live.get(same)
        if known is None:
            return False
        sources = tuple(dict.fromkeys((*known.sources, *statement.sources)))[: max(_MAX_SOURCES, len(known.sources))]
        if sources != known.sources or (isinstance(statement, Rule) and isinstance(known, Fact)):
            update = {"sources": sources, "weight": max(known.weight, statement.weight)}
            fields = known.model_dump(exclude={"kind"}) | update
            is_rule = isinstance(known, Rule) or isinstance(statement, Rule)
            self._put(Rule(**fields) if is_rule else Fact(**fields))
        return True

    def _change(self, change: ValueChange, newer: Statement | None) -> tuple[float, bool]:
        """Take the old value out of the statements that say it.

        Returns:
            The weight of the heaviest of them, and whether the sentence with the new value was joined to one of them.
        """
        weight, amended = 0.0, False
        asked = newer is not None and asks(newer)
        for statement in self._saying(change.old):
            if statement.order >= change.new.order:
                continue
            weight = max(weight, statement.weight)
            about = set(statement.key) - {statement.verb}
            if (
                newer is not None
                and not (change.bare or asked)
                and about <= {*newer.key, *change.new.key}
                and len(statement.slots) == 1
            ):
                self._drop(statement, change.new.order)
                continue
            if change.bare or asked or newer is None:
                said = newer.text if newer is not None else f"{change.new.subject}: {change.new.text}".strip(": ")
                if said not in statement.amended:
                    joined = (*statement.amended, said)[-_MAX_AMENDMENTS:]
                    sources = tuple(dict.fromkeys((*statement.sources, *change.new.sources)))
                    self._put(statement.model_copy(update={"amended": joined, "sources": sources}))
                amended = True
        return weight, amended

    def _saying(self, value: ValueRecord) -> list[Statement]:
        """The live statements that say a value and come from a message it came from."""
        sources = set(value.sources)
        stems = [stem(word) for word in split_words(value.text)]
        found = dict.fromkeys(identity for word in stems for identity in self._by_stem.get(word, ()))
        candidates = (self._live[identity] for identity in found)
        return [each for each in candidates if value.text in each.slots and sources & set(each.sources)]

    def _replace(self, newer: Statement) -> None:
        """Drop the statement that differs from an announced change in one place only."""
        if newer.slots:
            self._replace_value(newer)
        if not newer.update or newer.slots:
            return
        about = topic(newer) - {newer.verb}
        best: Statement | None = None
        for older, shared in self._near(about):
            if older.order < newer.order and (best is None or older.order > best.order):
                fresh, lost = len(about) - shared, len(topic(older) - {older.verb}) - shared
                one_place = min(fresh, lost) <= 1 and max(fresh, lost) <= 2 and shared >= max(2, fresh)
                same_subject = bool(newer.subject) and newer.subject == older.subject
                best = older if one_place or same_subject else best
        if best is not None:
            self._drop(best, newer.order)

    def _replace_value(self, newer: Statement) -> None:
        """Drop the statements of the same things whose values the newer one names beside new ones of their form.

        "701 tiles for the lighthouse instead of 148" leaves no "148 tiles for the lighthouse". Where the old value is
        not named, two values of one thing may both hold, as the codes of two houses do.
        """
        for older, _ in self._near(set(newer.key)):
            if older.order < newer.order and names_anew(older, newer):
                self._drop(older, newer.order)

    def _succeed(self, newer: Statement) -> bool:
        """Drop or amend the statements whose value a newer one gives anew.

        Returns:
            Whether the newer one was joined to one of them, and needs no line of its own.
        """
        found: list[tuple[Succession, bool, Statement]] = []
        for older, _ in self._near(set(newer.key)):
            if older.order >= newer.order or newer.takes_back:
                continue
            values = changed_value(older.text, older.slots, newer.text) if newer.slots and older.slots else None
            if values is not None:
                kind, shorter = succession(older.text, newer.text, values, update=newer.update, definite=older.definite)
                if kind:
                    found.append(("likely" if asks(newer) else kind, shorter, older))
            elif are_bare_facts(newer, older) and says_all_of(older.key, newer.text):
                found.append(("likely", False, older))
        found += [("likely", True, older) for older in self._ways_to_reach(newer)] if not found else []
        return self._take_place(newer, found)

    def _is_joined(self, newer: Statement, renewed: Statement) -> bool:
        """Join a statement that tells of a change to the one it may give anew."""
        tells = newer.update or tells_of_change(newer)
        return tells and self._take_place(newer, [("likely", True, renewed)])

    def _renewed(self, newer: Statement) -> Statement | None:
        """The last earlier statement that a newer one may give anew: of one topic, with a value of one kind.

        Nothing where both tell apart two things, or where the topic is one of many statements.
        """
        if newer.takes_back or not (newer.update or (newer.slots and isinstance(newer, Fact))):
            return None
        named = {stem(word) for slot in newer.slots for word in split_words(slot)}
        about = frozenset(read(newer.text).content) - named
        if not about:
            bare = [older for older in self._live.values() if self._may_renew(older, newer)] if newer.update else []
            return max(bare, key=lambda each: (each.order, each.text), default=None)
        found = []
        for word in about:
            holders = self._by_stem.get(word, {})
            if len(holders) <= _FEW:
                found += [self._live[identity] for identity in holders if self._may_renew(self._live[identity], newer)]
        return max(found, key=lambda each: (each.order, each.text), default=None)

    @staticmethod
    def _may_renew(older: Statement, newer: Statement) -> bool:
        if older.order >= newer.order or not isinstance(older, Fact):
            return False
        if not newer.slots:
            return not older.slots and older.definite
        return (
            bool(older.slots)
            and changed_value(older.text, older.slots, newer.text) is not None
            and not tells_apart(older.text, older.slots, newer.text)
        )

    def _ways_to_reach(self, newer: Statement) -> list[Statement]:
        """The last statement of how to reach the user, where a newer one says it in words that are not its own."""
        found: list[Statement] = []
        for older in self._live.values() if may_reach(newer.text) else ():
            values = changed_value(older.text, older.slots, newer.text) if older.slots else None
            if older.order >= newer.order or not is_way_to_reach(values):
                continue
            old, new = (value.value for value in values or ())
            if reaches_speaker(older.text, old) and reaches_speaker(newer.text, new):
                found += [] if owns_another(newer.text, new) else [older]
        return [max(found, key=lambda each: (each.order, each.text))] if found else []

    def _take_place(self, newer: Statement, found: list[tuple[Succession, bool, Statement]]) -> bool:
        if any(newer.text in older.amended for _, _, older in found):
            return True  # the same message, read again
        for kind, shorter, older in found:
            if kind == "sure" and not shorter:
                self._outdate(older, newer, joined=False)
                self._drop(older, newer.order)
        if any(kind == "sure" and not shorter for kind, shorter, _ in found):
            return False
        least = [each for each in found if each[1]]
        if len(least) > 1 and len(least) == len(found):
            return False  # "the call is at five" where several calls are known
        if not found:
            return False
        kind, _, older = max(found, key=lambda each: (each[0] == "sure", not each[1], each[2].order, each[2].text))
        if isinstance(newer, Rule) and len(older.amended) >= _MAX_AMENDMENTS:
            return False
        self._outdate(older, newer, joined=kind == "likely")
        fields = older.model_dump(exclude={"kind"}) | {
            "amended": (*older.amended, newer.text)[-_MAX_AMENDMENTS:],
            "sources": tuple(dict.fromkeys((*older.sources, *newer.sources))),
            "weight": max(older.weight, newer.weight),
        }
        self._put(Rule(**fields) if isinstance(newer, Rule) or isinstance(older, Rule) else Fact(**fields))
        return True

    def _outdate(self, older: Statement, newer: Statement, *, joined: bool) -> None:
        """Note that the value of a statement no longer holds."""
        values = changed_value(older.text, older.slots, newer.text)
        if values is not None:
            self.outdated.append(
                Superseded(
                    text=values[0].value,
                    key=older.key,
                    order=newer.order,
                    joined=joined,
                    sources=older.sources[:_MAX_SOURCES],
                )
            )

    def _withdraw(self, about: set[str], order: int) -> bool:
        """Drop the statement that a sentence takes back: the one that shares most of its topic, if one stands out."""
        scored: list[tuple[float, Statement]] = []
        for older, shared in self._near(about):
            if older.order < order:
                rarity = sum(1 / len(self._by_stem[word]) for word in about & topic(older))
                smaller, larger = sorted((len(about), len(topic(older))))
                share = shared / smaller
                alone = share >= 1 and rarity >= 1  # nothing else is about it
                if alone or (share >= 0.5 and shared * 3 >= larger and (shared > 1 or rarity >= 0.5)):
                    scored.append((share + rarity, older))
        scored.sort(key=lambda item: (-item[0], -item[1].order))
        if scored and (len(scored) == 1 or scored[0][0] > scored[1][0] + 1e-9):
            self._drop(scored[0][1], order)
            return True
        return False

    def _near(self, about: set[str]) -> list[tuple[Statement, int]]:
        shared: Counter[tuple[str, ...]] = Counter()
        for word in about:
            holders = self._by_stem.get(word, {})
            if len(holders) <= _COMMON:
                shared.update(holders.keys())
        return [(self._live[identity], len(about & topic(self._live[identity]))) for identity in shared]

    def _put(self, statement: Statement) -> None:
        identity = signature(statement.text)
        self._live[identity] = statement
        self._told.update((text, source) for text in statement.amended for source in statement.sources)
        for word in topic(statement):
            self._by_stem[word][identity] = None

    def _drop(self, statement: Statement, order: int) -> None:
        identity = signature(statement.text)
        self._live.pop(identity, None)
        for word in topic(statement):
            self._by_stem[word].pop(identity, None)
        gone = Superseded(text=statement.text, key=statement.key, order=order, whole=True, sources=statement.sources)
        self.superseded.append(gone)
        self._gone.update((statement.text, source) for source in statement.sources)

    def rules(self) -> tuple[Rule, ...]:
        """The current rules in order, all of them."""
        rules = (statement for statement in self._live.values() if isinstance(statement, Rule))
        return tuple(sorted(rules, key=lambda rule: (rule.order, rule.text)))

    def facts(self) -> tuple[Fact, ...]:
        """The current facts in order, at most 400: beyond that those of the least weight, then the oldest, go."""
        facts = [statement for statement in self._live.values() if isinstance(statement, Fact)]
        if len(facts) > _MAX_FACTS:
            facts.sort(key=lambda fact: (-fact.weight, -fact.order, fact.text))
            del facts[_MAX_FACTS:]
        return tuple(sorted(facts, key=lambda fact: (fact.order, fact.text)))
