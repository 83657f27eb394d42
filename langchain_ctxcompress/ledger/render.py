"""The ledger as text: each kind under its heading, the same bytes for the same ledger, within a number of tokens.

What must shrink goes in this order: values (the least used and oldest first), finished requests, statements that
are likely small talk, artifacts, the remaining facts by weight. Rules and the goal always stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from langchain_ctxcompress.ledger.goals import Goal
from langchain_ctxcompress.ledger.masking import mask_superseded
from langchain_ctxcompress.ledger.records import (
    ArtifactRecord,
    Fact,
    Ledger,
    Request,
    Rule,
    Superseded,
    ValueRecord,
)

_TAG = re.compile(r"<(?=[/!?A-Za-z])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]")
_HEADINGS = {
    "rules": "Rules of the user",
    "facts": "Said by the user",
    "decisions": "Decisions",
    "open": "Open requests",
    "artifacts": "Files",
    "values": "Values",
    "finished": "Finished, not to be done again",
}
_FIRST_TO_GO = frozenset({"values", "finished"})
_SURE = 0.55
_LIKELY = 0.42
_TOLD = 1.5
"""Log-odds for a statement of what one definite thing is with an exact value in it: no small talk."""
_RARE = 2
"""Messages that may say a word that is no common topic: the user's, and an answer that echoes it."""
_UNHEARD = 0.5
"""Of one word that is rare it is less sure than of five that the topic is."""

_CUES, _RARITY, _SMALL_TALK = 0.7, 5.0, 1.8
"""What cues and rarity add to the log-odds that a statement must last, and what speaks against any: rounded. That
nobody else speaks of it tells more than how it is put."""

_OPEN_SHOWN = 3
_FILES_SHOWN = 8
_SERIES_SHOWN = 3
_BARE = frozenset({"quantity", "percent"})
_MAX_LINE = 600
_FRAME = 1
"""Tokens of what stands around a line: its bullet, since its end is mostly one token with its full stop."""

_MOST_OF_LINE = 40
"""Tokens that few lines exceed."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the rendered ledger, with where it stands and how late it goes."""

    section: str
    text: str
    rank: tuple[float, ...]
    order: int
    value: str = ""


def escape(text: str) -> str:
    """Text that cannot close or open a tag around it, on one line, otherwise as written.

    Args:
        text: Any text.

    Returns:
        It with `&lt;` for a `<` that starts a tag, and line ends and control characters as spaces.
    """
    return _TAG.sub("&lt;", " ".join(_CONTROL.sub(" ", text).split()))


def render(ledger: Ledger, goal: Goal | None = None, *, max_tokens: int, count: Callable[[str], int]) -> str:
    """Render a ledger and a goal.

    Args:
        ledger: What must not be lost.
        goal: The goal, restated verbatim first.
        max_tokens: Size to keep to. Rules and the goal stay even if they alone are over it.
        count: Counts the tokens of a text.

    Returns:
        Markdown sections; an empty string for nothing at all.
    """
    ledger = _without_the_done(ledger)
    fixed = [_Line("rules", _statement_line(rule, ledger.superseded), (), rule.order) for rule in ledger.rules]
    optional = sorted(_optional_lines(ledger), key=lambda line: line.rank)
    head = _goal_text(goal)
    used = count(_assemble(head, fixed))
    kept = _fitting(optional, fixed, max_tokens - used, count)
    text = _assemble(head, [*fixed, *kept])
    while kept and (over := count(text) - max_tokens) > 0:
        del kept[-max(1, min(over // _MOST_OF_LINE, len(kept) // 10)) :]
        text = _assemble(head, [*fixed, *kept])
    return text


def _fitting(optional: Iterable[_Line], fixed: Sequence[_Line], room: int, count: Callable[[str], int]) -> list[_Line]:
    """The lines that fit, by rank; what another line says already comes behind all that is said nowhere else."""
    headings = {line.section for line in fixed}
    kept: list[_Line] = []
    said_again: list[_Line] = []
    said = [line.text for line in fixed]
    full = False

    def add(line: _Line) -> bool:
        nonlocal room
        cost = count(line.text) + _FRAME
        if line.section not in headings:
            cost += count(_HEADINGS[line.section]) + 3 * _FRAME
        if cost > room:
            return False
        room -= cost
        headings.add(line.section)
        kept.append(line)
        if line.section != "values":
            said.append(line.text)
        return True

    for line in optional:
        if full and line.section in _FIRST_TO_GO:
            continue
        if any((line.value or line.text) in text for text in said):
            said_again += [] if line.value else [line]
            continue
        part = [] if line.value else [each for each in kept if not each.value and each.text in line.text]
        for each in part:
            kept.remove(each)
            said.remove(each.text)
            room += count(each.text) + _FRAME
        if add(line):
            said_again += part
            continue
        full = True
        for each in part:
            add(each)
    for line in said_again:
        if not add(line):
            break
    return kept


def _assemble(head: str, lines: Iterable[_Line]) -> str:
    parts = [head] if head else []
    lines = list(lines)
    for section, heading in _HEADINGS.items():
        within = sorted((line for line in lines if line.section == section), key=lambda line: (line.order, line.text))
        if not within:
            continue
        if section in {"values", "artifacts"}:
            parts.append(f"## {heading}\n" + "; ".join(line.text for line in within))
        else:
            parts.append(f"## {heading}\n" + "\n".join(f"- {line.text}" for line in within))
    return "\n\n".join(parts)


def _without_the_done(ledger: Ledger) -> Ledger:
    """The ledger without the instructions that were for one time only and were carried out: they stand as finished."""
    over = [request for request in ledger.requests if request.carried_out and request.status == "finished"]
    if not over:
        return ledger
    return ledger.model_copy(update={"rules": tuple(rule for rule in ledger.rules if not _said_in(rule, over))})


def _said_in(statement: Rule | Fact, requests: Iterable[Request]) -> bool:
    """Whether a request says all that a statement of the same message does."""
    if statement.amended:
        return False
    sources = set(statement.sources)
    return any(statement.text in request.text and sources <= set(request.sources) for request in requests)


def _is_outdated(request: Request, superseded: Iterable[Superseded]) -> bool:
    """Whether a sentence of a request was replaced by a later one as a whole."""
    sources = set(request.sources)
    return any(gone.whole and gone.text in request.text and sources & set(gone.sources) for gone in superseded)


def _optional_lines(ledger: Ledger) -> list[_Line]:
    """Everything that may go, with its rank: the smaller, the later it goes."""
    ranked = _ranked_facts(ledger)
    telling = [
        request
        for request in ledger.requests
        if (request.terms or request.carried_out) and not _is_outdated(request, ledger.superseded)
    ]
    by_source: dict[str, list[Request]] = {}
    for request in telling:
        for source in request.sources:
            by_source.setdefault(source, []).append(request)
    worth: dict[str, float] = {}
    lines: list[_Line] = []
    for fact, rarity in ranked:
        within = [request for source in fact.sources[:1] for request in by_source.get(source, ())]
        if _said_in(fact, [request for request in within if request.carried_out]):
            for request in within:
                worth[request.text] = max(rarity, worth.get(request.text, 0.0))
            continue
        if not (line := _statement_line(fact, ledger.superseded)):
            continue
        rank = (_fact_tier(rarity), -rarity, -fact.order)
        lines.append(_Line("facts", line, rank, fact.order))
    lines += [
        _Line("decisions", escape(decision.text)[:_MAX_LINE], (1, -decision.order), decision.order)
        for decision in ledger.decisions
    ]
    for request in telling:
        own = _worth(request.terms, request.key, ledger) if request.terms else 0.0
        worth[request.text] = max(own, worth.get(request.text, 0.0))
    lines += _request_lines(ledger, worth)
    lines += _artifact_lines(ledger.artifacts)
    lines += _value_lines(ledger.values)
    return lines


def _fact_tier(weight: float) -> int:
    return 0 if weight >= _SURE else 3 if weight >= _LIKELY else 5


def _ranked_facts(ledger: Ledger) -> list[tuple[Fact, float]]:
    """Facts with how likely each must last: by its weight, and by how seldom the session speaks of its topic."""
    ranked: list[tuple[Fact, float]] = []
    for fact in ledger.facts:
        told = _TOLD if fact.definite and fact.slots else 0.0
        ranked.append((fact, _worth(fact.weight, fact.key, ledger, told)))
    return ranked


def _worth(weight: float, key: tuple[str, ...], ledger: Ledger, told: float = 0.0) -> float:
    rare = sum(1 for word in key if ledger.heard.get(word, 0) <= _RARE) / (len(key) + _UNHEARD)
    weight = min(max(weight, 0.001), 0.999)
    odds = _CUES * log(weight / (1 - weight)) + _RARITY * rare - _SMALL_TALK + told
    return round(1 / (1 + exp(-odds)), 3)


def _statement_line(statement: Rule | Fact, superseded: tuple[Superseded, ...]) -> str:
    """A statement as it holds now, with what changed it; nothing of a fact that only says what no longer holds."""
    text = mask_superseded(statement, superseded)
    if isinstance(statement, Fact) and text != statement.text and all(slot not in text for slot in statement.slots):
        text = text if statement.amended else ""
    return escape(" → ".join(filter(None, (text, *statement.amended))))


def _request_lines(ledger: Ledger, worth: dict[str, float]) -> list[_Line]:
    """The requests: what is worth as much as a fact goes as late as that, whether it is finished or not."""
    lines: list[_Line] = []
    opened = [request for request in ledger.requests if request.status == "open"]
    over = [request for request in ledger.requests if request.status == "finished"]
    finished = [request for request in over if not _is_outdated(request, ledger.superseded)]
    ranks = [("open", request, 1 if place < _OPEN_SHOWN else 6) for place, request in enumerate(reversed(opened))]
    ranks += [("finished", request, 7) for request in finished]
    for section, request, tier in ranks:
        rarity = worth.get(request.text, 0.0)
        told = _fact_tier(rarity) if rarity else tier
        rank = (told, -rarity, -request.order) if told < tier else (tier, -request.order)
        lines.append(_request_line(section, request, ledger, rank))
    return lines


def _request_line(section: str, request: Request, ledger: Ledger, rank: tuple[float, ...]) -> _Line:
    return _Line(section, escape(mask_superseded(request, ledger.superseded)), rank, request.order)


def _artifact_lines(artifacts: tuple[ArtifactRecord, ...]) -> list[_Line]:
    newest = sorted(artifacts, key=lambda artifact: -artifact.order)
    return [
        _Line(
            "artifacts",
            f"{artifact.action} {escape(artifact.text)}",
            (2 if place < _FILES_SHOWN else 4, place),
            artifact.order,
        )
        for place, artifact in enumerate(newest)
    ]


def _value_lines(values: tuple[ValueRecord, ...]) -> list[_Line]:
    """The values, each to be left out where a line that is kept says it.

    A bare number goes before a value that names or measures something, and of a series ("day: 6; day: 7; …") the newest
    stay before any other of it: one counter must not take the room of an order number.
    """
    lines: list[_Line] = []
    series: Counter[tuple[str, ...]] = Counter()
    for value in sorted(values, key=lambda value: (-value.order, value.text)):
        if value.by in {"ai", "tool"} and value.uses < 2:
            continue
        bare = value.value_kind in _BARE and not any(char.isalpha() for char in value.text)
        name = (value.value_kind, *value.key)
        place = series[name]
        series[name] += 1
        if bare and place >= _SERIES_SHOWN:
            continue
        text = f"{value.subject}: {value.text}" if value.subject else value.text
        rank = (8, 2 if bare else 0 if value.by == "user" else 1, place // _SERIES_SHOWN, -value.uses, -value.order)
        lines.append(_Line("values", escape(text)[:_MAX_LINE], rank, value.order, value.text))
    return lines


def _goal_text(goal: Goal | None) -> str:
    if goal is None:
        return ""
    lines = [f"## Goal\n{escape(goal.description)} ({goal.status})"]
    lines += [f"- [{step.status}] {escape(step.text)}" for step in goal.checkpoints]
    lines += [f"- decided{' (locked)' if each.locked else ''}: {escape(each.text)}" for each in goal.decisions]
    lines += [f"- {artifact.action} {escape(artifact.path)}" for artifact in goal.artifacts]
    return "\n".join(lines)
