"""The idle step: a list that only grew, and needs nothing, is judged by what is new in it.

So a step costs what is new and one comparison with what was seen before; a list that is not a continuation is looked at
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import is_

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import GoalSet
from langchain_ctxcompress.messages import count_turns, in_order, is_derived, is_summary, kind_of
from langchain_ctxcompress.storage import CheckpointChain, CheckpointSummary
from langchain_ctxcompress.strategies.base import goals_of
from langchain_ctxcompress.tokens import Measured, continues


@dataclass(slots=True)
class Seen:
    """A list that was in order and under its soft limit.

    Attributes:
        measured: Its messages and their size.
        step: The place of the last AI message: the turns before it do not change any more; 0 where there is none.
        head: The checkpoint it stands on.
        goals: The goals that the checkpoint holds.
        standing: Its summary message, where it has one.
        closed: The place up to which turns were counted, which is that of an AI message or 0, and how many there are.
    """

    measured: Measured
    step: int
    head: CheckpointSummary | None
    goals: GoalSet
    standing: tuple[BaseMessage, ...]
    closed: tuple[int, int]

    @classmethod
    def of(cls, measured: Measured, turns: int, head: CheckpointSummary | None) -> Seen:
        """What is to be remembered of a list."""
        step = _last_step(measured.messages)
        standing = tuple(filter(is_summary, measured.messages))[:1]
        closed = (step, turns - count_turns(measured.messages[step:]))
        return cls(measured, step, head, goals_of(head), standing, closed)

    def behind(self, messages: Sequence[BaseMessage]) -> int:
        """The place from which on a list holds other objects than this one; 0 where it is not this one continued."""
        before = self.measured.messages
        return len(before) if len(messages) >= len(before) and all(map(is_, before, messages)) else 0

    def turns(self) -> int:
        """Its turns; counted are those that came since it was last asked, and asked is for a result."""
        place, closed = self.closed
        messages = self.measured.messages
        turns = closed + count_turns(messages[place:])
        if place < self.step:
            self.closed = (self.step, turns - count_turns(messages[self.step :]))
        return turns

    def tokens(self, overhead_tokens: int) -> int:
        """Size of all that is sent, in tokens.

        Args:
            overhead_tokens: What is known to be sent besides the messages.
        """
        return self.measured.tokens + overhead_tokens + self.measured.unseen(overhead_tokens)

    def grown(
        self,
        messages: Sequence[BaseMessage],
        chain: CheckpointChain,
        count: Callable[[Sequence[BaseMessage]], list[int]],
    ) -> Seen | None:
        """The list with what came to it; `None` where it is not simply this one continued, in order.

        Args:
            messages: The list now.
            chain: The session's checkpoints: an original that comes back is no new message.
            count: Sizes of messages, in tokens.
        """
        before, messages = self.measured.messages, tuple(messages)
        if not continues(messages, before):
            return None
        new = messages[len(before) :]
        for message in new:
            if (
                not isinstance(message, BaseMessage)
                or not message.id
                or message.type == "remove"
                or is_derived(message)
            ):
                return None
        if chain.records and (self.head is None or any(map(chain.reach(self.head).touches, new))):
            return None
        if not new:
            return Seen(self.measured.again(messages), self.step, self.head, self.goals, self.standing, self.closed)
        tail = messages[self.step :]
        if not in_order(tail):
            return None
        measured = self.measured.grown(messages, count)
        return Seen(measured, self.step + _last_step(tail), self.head, self.goals, self.standing, self.closed)


def stale_in(messages: Sequence[BaseMessage], head: CheckpointSummary | None) -> int:
    """How many messages at the front were there when the list was last made smaller.

    What providers reported with them is the size of a list that is no more.

    Args:
        messages: The list.
        head: The checkpoint it stands on.
    """
    if head is None:
        return len(messages) if any(map(is_summary, messages)) else 0
    newest = (place for place in range(len(messages) - 1, -1, -1) if messages[place].id == head.newest_id)
    return next(newest, len(messages) - 1) + 1


def _last_step(messages: Sequence[BaseMessage]) -> int:
    return next((place for place in range(len(messages) - 1, -1, -1) if kind_of(messages[place]) == "ai"), 0)
