"""The idle step: a list that only grew, and needs nothing, is judged by what is new in it.

So a step costs what is new and one comparison with what was seen before; a list that is not a continuation is looked at
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import GoalSet
from langchain_ctxcompress.messages import count_turns, is_derived, is_summary, kind_of, repair_messages
from langchain_ctxcompress.storage import CheckpointChain, CheckpointSummary
from langchain_ctxcompress.strategies.base import goals_of
from langchain_ctxcompress.tokens import Measured, continues


@dataclass(frozen=True, slots=True)
class Seen:
    """A list that was in order and under its soft limit.

    Attributes:
        measured: Its messages and their size.
        closed: Turns that do not change any more, whatever comes: those before `step`.
        turns: Its turns.
        step: The place of the last AI message: everything before it is closed; 0 where there is none.
        head: The checkpoint it stands on.
        goals: The goals that the checkpoint holds.
    """

    measured: Measured
    closed: int
    turns: int
    step: int
    head: CheckpointSummary | None
    goals: GoalSet

    @classmethod
    def of(cls, measured: Measured, turns: int, head: CheckpointSummary | None) -> Seen:
        """What is to be remembered of a list."""
        step = _last_step(measured.messages)
        return cls(measured, turns - count_turns(measured.messages[step:]), turns, step, head, goals_of(head))

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
        if not all(isinstance(m, BaseMessage) and m.id and m.type != "remove" and not is_derived(m) for m in new):
            return None
        if chain.records and (self.head is None or any(map(chain.reach(self.head).touches, new))):
            return None
        if not new:
            return Seen(self.measured.again(messages), self.closed, self.turns, self.step, self.head, self.goals)
        tail = messages[self.step :]
        if repair_messages(tail).changed:
            return None
        measured = self.measured.grown(messages, count)
        last = _last_step(tail)
        turns = self.closed + count_turns(tail)
        closed = turns - count_turns(tail[last:]) if last else self.closed
        return Seen(measured, closed, turns, self.step + last, self.head, self.goals)


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
