"""The goals of a session: given by the caller, carried on by what was reported, restated word for word (G1, G2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.ledger.goals import Goal, GoalUpdates, parse_goal_markers, same_text, update_goal
from langchain_ctxcompress.ledger.voice import own_lines
from langchain_ctxcompress.messages import extract_text_content, kind_of

Goals = Goal | Mapping[str, Any] | Sequence["Goal | Mapping[str, Any]"]
"""What a caller may pass: one goal or several, as records or as the plain values a checkpointed state holds."""

MOST_REPORTED = 40
"""Steps, decisions and files that reports may bring a goal to, of each: what the caller wrote is not counted out."""

_QUOTE_MARKS = " \t>|`*-•#\"“„«'"

T = TypeVar("T")


def read_goals(given: Goals | None) -> tuple[Goal, ...]:
    """Goals as records, the most important first.

    Args:
        given: Records or plain values; `None` is none.

    Raises:
        ConfigError: Something in it is no goal; the message names what is wrong.
    """
    if given is None:
        return ()
    items: Iterable[Any] = (given,) if isinstance(given, Goal | Mapping) else given
    if isinstance(items, str) or not isinstance(items, Iterable):
        msg = f"goal is a {type(given).__name__}: pass a Goal, its model_dump(mode='json'), or a sequence of these"
        raise ConfigError(msg)
    goals = [_read_goal(item) for item in items]
    return tuple(sorted(goals, key=lambda goal: -goal.priority))


def _read_goal(item: Any) -> Goal:
    if isinstance(item, Goal):
        return item
    try:
        return Goal.model_validate(item)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, p['loc'])) or 'it'}: {p['msg']}" for p in error.errors())
        msg = f"a goal cannot be read ({problems}): pass a Goal, or its model_dump(mode='json')"
        raise ConfigError(msg) from None


def goal_values(goals: Iterable[Goal]) -> list[dict[str, Any]]:
    """Goals as plain values, for a checkpointed state or a record."""
    return [goal.model_dump(mode="json") for goal in goals]


@dataclass(frozen=True, slots=True)
class GoalSet:
    """The goals of a session, the most important first.

    Attributes:
        now: As they stand, with what was reported.
        given: As the caller wrote each of them.
    """

    now: tuple[Goal, ...] = ()
    given: tuple[Goal, ...] = ()

    def with_given(self, given: Sequence[Goal] | None) -> GoalSet:
        """The goals that hold when the caller passes some.

        Somebody who passes the same goal at each call has not taken its progress back: it goes on as it stands. A goal
        that the caller changed holds as the caller wrote it.

        Args:
            given: What the caller passes; `None` leaves everything as it is, an empty sequence ends all goals.
        """
        if given is None:
            return self
        pairs = list(zip(self.given, self.now, strict=False))
        known = {wrote: (now, wrote) for wrote, now in pairs} | {now: (now, wrote) for wrote, now in pairs}
        found = [known.get(goal, (goal, goal)) for goal in given]
        return GoalSet(tuple(now for now, _ in found), tuple(wrote for _, wrote in found))

    def reported(self, report: str, source: Sequence[BaseMessage] = (), *, now: datetime | None = None) -> GoalSet:
        """The goals after a report (`apply_report`)."""
        return replace(self, now=apply_report(self.now, report, source, given=self.given, now=now))


def apply_report(
    goals: Sequence[Goal],
    report: str,
    source: Sequence[BaseMessage] = (),
    *,
    given: Sequence[Goal] = (),
    now: datetime | None = None,
) -> tuple[Goal, ...]:
    """The goals after a summary's markers and those of the agent's own messages were applied (G3).

    A marker goes to the goal that has such a step, decision or file, else to the first that is active. One that
    somebody else wrote, in a tool result, a quoted file or a human message, is no report, also where a summariser
    repeats it.

    Args:
        goals: The goals, the most important first.
        report: A summary by a model.
        source: The messages it was made of.
        given: The goals as the caller wrote them: nothing in them is dropped to make room.
        now: The time written into steps that are completed by this.
    """
    if not goals:
        return ()
    said = [*(text for message in source if (text := _own_markers(message))), report]
    updates = _without(parse_goal_markers("\n".join(said)), _foreign(source))
    if not updates:
        return tuple(goals)
    updated = list(goals)
    for place, part in _shared_out(goals, updates).items():
        goal = update_goal(goals[place], part, now=now)
        updated[place] = _bounded(goal, given[place] if place < len(given) else None)
    return tuple(updated)


def _own_markers(message: BaseMessage) -> str:
    """What an AI message itself reports; quotations in it are not its own."""
    text = extract_text_content(message) if kind_of(message) == "ai" else ""
    return "\n".join(own_lines(text)) if "[" in text else ""


def _foreign(source: Sequence[BaseMessage]) -> set[str]:
    """What markers say that stand in tool results, or in what a human message quotes."""
    texts = [(kind_of(m), extract_text_content(m)) for m in source if kind_of(m) != "ai"]
    found = parse_goal_markers("\n".join(_not_own(kind, text) for kind, text in texts if "[" in text))
    steps = {same_text(step.text) for step in found.checkpoints}
    return steps | {same_text(each.text) for each in found.decisions} | {each.path for each in found.artifacts}


def _not_own(kind: str, text: str) -> str:
    own = set(own_lines(text)) if kind == "human" else set()
    return "\n".join(line.lstrip(_QUOTE_MARKS) for line in text.splitlines() if line not in own)


def _without(updates: GoalUpdates, foreign: set[str]) -> GoalUpdates:
    if not foreign:
        return updates
    return GoalUpdates(
        checkpoints=tuple(step for step in updates.checkpoints if same_text(step.text) not in foreign),
        decisions=tuple(each for each in updates.decisions if same_text(each.text) not in foreign),
        artifacts=tuple(each for each in updates.artifacts if each.path not in foreign),
    )


def _shared_out(goals: Sequence[Goal], updates: GoalUpdates) -> dict[int, GoalUpdates]:
    """The updates by the place of the goal they are of."""
    active = next((place for place, goal in enumerate(goals) if goal.status == "active"), 0)

    parts: dict[int, GoalUpdates] = {}
    for kind in ("checkpoints", "decisions", "artifacts"):
        for update in getattr(updates, kind):
            name = update.path if kind == "artifacts" else same_text(update.text)
            place = next((at for at, goal in enumerate(goals) if name in _names(goal)), active)
            part = parts.get(place, GoalUpdates())
            parts[place] = part.model_copy(update={kind: (*getattr(part, kind), update)})
    return parts


def _names(goal: Goal) -> set[str]:
    said = [*(step.text for step in goal.checkpoints), *(decision.text for decision in goal.decisions)]
    return set(map(same_text, said)) | {artifact.path for artifact in goal.artifacts}


def _bounded(goal: Goal, given: Goal | None) -> Goal:
    """A goal that reports have not made longer than they may: finished steps, loose decisions and old files go first.

    What the caller wrote stays, and so does a locked decision; where these leave no room, nothing new is taken up.
    """
    own = _names(given) if given else set()
    steps = _newest(goal.checkpoints, [s for s in goal.checkpoints if same_text(s.text) not in own and s.completed_at])
    loose = [each for each in goal.decisions if same_text(each.text) not in own and not each.locked]
    files = _newest(goal.artifacts, [each for each in goal.artifacts if each.path not in own])
    decisions = _newest(goal.decisions, loose)
    bounded = {
        "checkpoints": _room_for(steps, [s for s in steps if same_text(s.text) not in own]),
        "decisions": _room_for(decisions, [d for d in decisions if same_text(d.text) not in own]),
        "artifacts": files,
    }
    return goal.model_copy(update=bounded)


def _newest(every: tuple[T, ...], may_go: Sequence[T]) -> tuple[T, ...]:
    """Without the oldest of those that may go, as far as there are too many."""
    over = max(0, len(every) - MOST_REPORTED)
    gone = list(may_go[: min(over, len(may_go))])
    return tuple(each for each in every if each not in gone)


def _room_for(every: tuple[T, ...], reported: Sequence[T]) -> tuple[T, ...]:
    """Without the newest reported ones, as far as there are still too many."""
    over = max(0, len(every) - MOST_REPORTED)
    gone = list(reported[len(reported) - min(over, len(reported)) :]) if over else []
    return tuple(each for each in every if each not in gone)


def render_goals(goals: Iterable[Goal]) -> str:
    """Goals as text, word for word, each with its steps, decisions and files.

    Args:
        goals: The goals, in the order in which they are to stand.

    Returns:
        One section for each goal; `""` for none.
    """
    return "\n\n".join(map(_goal_text, goals))


def _goal_text(goal: Goal) -> str:
    lines = [f"## Goal ({goal.status})\n{goal.description}"]
    lines += [f"- [{step.status}] {step.text}" for step in goal.checkpoints]
    lines += [f"- decided{' (locked)' if each.locked else ''}: {each.text}" for each in goal.decisions]
    lines += [f"- {artifact.action} {artifact.path}" for artifact in goal.artifacts]
    return "\n".join(lines)
