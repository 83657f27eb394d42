"""What a session costs, counted with no line of the package under test.

The unit is one input token that no cache holds; the cache holds the longest list of equal messages at the front of the
request before and its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from tests.support.sizes import independent_message_tokens

CACHED = 0.1


@dataclass
class Paid:
    """What the input of a session's model calls cost, in units, and what was sent in each call, in tokens."""

    units: float
    sent: list[int]


def same_front(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> int:
    """How many messages at the front say the same."""
    place = 0
    while place < min(len(before), len(after)) and (before[place].type, before[place].content) == (
        after[place].type,
        after[place].content,
    ):
        place += 1
    return place


def steps(session: Sequence[BaseMessage]) -> Iterator[tuple[list[BaseMessage], AIMessage]]:
    """What came in before each answer, and the answer."""
    incoming: list[BaseMessage] = []
    for message in session:
        if isinstance(message, AIMessage):
            yield incoming, message
            incoming = []
        incoming.append(message)


def replayed(session: Sequence[BaseMessage], shrink: Callable[[list[BaseMessage]], list[BaseMessage]]) -> Paid:
    """Replays a session whose list goes through `shrink` before each answer."""
    paid, messages, before = Paid(0.0, []), list[BaseMessage](), list[BaseMessage]()
    for incoming, answer in steps(session):
        messages = shrink([*messages, *incoming])
        sizes = [independent_message_tokens(message) for message in messages]
        held = same_front(before, messages)
        paid.units += CACHED * sum(sizes[:held]) + sum(sizes[held:])
        paid.sent.append(sum(sizes))
        before = [*messages, answer]
    return paid
