"""The idle step: a list that only grew, and needs nothing, is judged by what is new in it.

What was seen before is told by the message objects themselves, which stay the same from step to step within a run. So a
step costs what is new and one comparison of references; a list that is not a continuation is looked at whole.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import is_derived, kind_of, repair_messages, split_turns
from langchain_ctxcompress.storage import CheckpointChain, CheckpointSummary


@dataclass(frozen=True, slots=True)
class Seen:
    """A list that was in order and under its soft limit.

    Attributes:
        messages: Its messages, the objects themselves.
        tokens: Their size in tokens.
        turns: Their turns.
        step: The place of the last AI message: everything before it is closed; 0 where there is none.
        head: The checkpoint it stands on.
    """

    messages: tuple[BaseMessage, ...]
    tokens: int
    turns: int
    step: int
    head: CheckpointSummary | None

    @classmethod
    def of(cls, messages: Sequence[BaseMessage], tokens: int, turns: int, head: CheckpointSummary | None) -> Seen:
        """What is to be remembered of a list."""
        return cls(tuple(messages), tokens, turns, _last_step(messages), head)

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
        known = len(self.messages)
        if len(messages) < known or not all(map(operator.is_, self.messages, messages)):
            return None
        new = messages[known:]
        if not new:
            return self
        if not all(isinstance(m, BaseMessage) and m.id and not is_derived(m) for m in new):
            return None
        if chain.records and (self.head is None or not chain.reach(self.head).touched.isdisjoint(m.id for m in new)):
            return None
        tail = messages[self.step :]
        if repair_messages(tail).changed:
            return None
        turns = self.turns + len(split_turns(tail)) - len(split_turns(self.messages[self.step :]))
        step = self.step + _last_step(tail)
        return Seen(tuple(messages), self.tokens + sum(count(new)), turns, step, self.head)


def _last_step(messages: Sequence[BaseMessage]) -> int:
    return next((place for place in range(len(messages) - 1, -1, -1) if kind_of(messages[place]) == "ai"), 0)
