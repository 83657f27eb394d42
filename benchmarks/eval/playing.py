"""Plays sessions to contestants, and keeps what each of them did."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from benchmarks.eval.contestants import Contestant
from benchmarks.eval.judging import Verdict, judge
from benchmarks.eval.sessions import Session


@dataclass(frozen=True, slots=True)
class Played:
    """One session, played to one contestant.

    Attributes:
        contestant: Its name.
        searches: Whether it has a search.
        verdicts: One for each planted item.
        rounds: How often it made the list smaller.
        errors: What went wrong.
        calls: Calls of the summariser.
        read: Tokens the summariser read.
        written: Tokens it wrote.
        final: Size of what would be sent at the end, in tokens.
        mean: Mean size of what was sent at each step, in tokens.
        largest: The largest.
        seconds: Time of it all.
    """

    contestant: str
    searches: bool
    verdicts: tuple[Verdict, ...]
    rounds: int
    errors: int
    calls: int
    read: int
    written: int
    final: int
    mean: float
    largest: int
    seconds: float


Usage = Callable[[], tuple[int, int, int]]
"""Calls of the summariser so far, tokens read, tokens written."""


def play(session: Session, kind: type[Contestant], model: BaseChatModel, usage: Usage, window: int) -> Played:
    """Plays a session.

    Args:
        session: The session.
        kind: Who plays.
        model: The summariser, which it has for itself.
        usage: What the summariser was used for.
        window: The most that should be sent, in tokens.
    """
    started = time.monotonic()
    contestant = kind(model, window)
    sizes: list[int] = []
    sent: list[BaseMessage] = []
    incoming: list[BaseMessage] = []
    for message in session.messages:
        if isinstance(message, AIMessage):
            sent = contestant.step(incoming)
            sizes.append(contestant.count(sent))
            incoming = []
        incoming.append(message)
    originals = frozenset(message.text for message in session.messages)
    verdicts = judge(session.items, sent, originals, contestant.find)
    calls, read, written = usage()
    return Played(
        kind.name,
        kind.searches,
        tuple(verdicts),
        contestant.rounds,
        len(contestant.errors),
        calls,
        read,
        written,
        sizes[-1],
        sum(sizes) / len(sizes),
        max(sizes),
        time.monotonic() - started,
    )


def losses(played: Sequence[Played]) -> list[str]:
    """One line for each item that is not in context, or restated although it no longer holds.

    Args:
        played: What was played.
    """
    return [
        f"{each.contestant} | {verdict.item.kind} | {verdict.place}{' STALE' * verdict.stale}"
        f" | {verdict.item.texts[-1]}"
        for each in played
        for verdict in each.verdicts
        if verdict.place != "context" or verdict.stale
    ]
