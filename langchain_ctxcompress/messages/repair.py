"""Repair of what is already broken in the input (law 1).

An orphan result is dropped (the caller archives it first), an unanswered call in the middle gets an error tool message,
an open call at the end stays: it may be an interrupt that is still to be resumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage, FunctionMessage, ToolMessage

from langchain_ctxcompress.messages.calls import CallKey, answer_of, call_name, calls_of, open_calls, take
from langchain_ctxcompress.messages.kinds import kind_of
from langchain_ctxcompress.messages.marks import MARK_KEY

NO_RESULT = "No result was recorded for this call."
"""What the error tool message says."""


_MARK = {MARK_KEY: {"kind": "repair"}}


@dataclass(frozen=True, slots=True)
class Repair:
    """A legal list, and what had to be done for it.

    Attributes:
        messages: The repaired list; the input's own objects, and `added` between them.
        dropped: Orphan results, in order.
        added: Error tool messages for calls that were never answered, in order.
    """

    messages: list[BaseMessage]
    dropped: tuple[BaseMessage, ...] = ()
    added: tuple[BaseMessage, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything had to be repaired."""
        return bool(self.dropped or self.added)


@dataclass(slots=True)
class _OpenStep:
    """The AI message whose results are being read."""

    message: BaseMessage | None = None
    calls: list[CallKey] = field(default_factory=list)
    open: Counter[CallKey] = field(default_factory=Counter)

    def unanswered(self) -> list[BaseMessage]:
        """Error results for what is still open, in the order of the calls."""
        results: list[BaseMessage] = []
        for key in self.calls:
            if self.open[key] > 0:
                self.open[key] -= 1
                results.append(self._error(key))
        return results

    def _error(self, key: CallKey) -> BaseMessage:
        name = self.message and call_name(self.message, key)
        if key[0] == "function":
            return FunctionMessage(name=key[1], content=NO_RESULT, additional_kwargs=_MARK)
        return ToolMessage(NO_RESULT, tool_call_id=key[1], name=name or None, status="error", additional_kwargs=_MARK)


_NONE_OPEN = _OpenStep()


def in_order(messages: Sequence[BaseMessage]) -> bool:
    """Whether every result answers a call right before it and every call but those at the end has its result."""
    waiting: dict[CallKey, int] = {}
    for message in messages:
        answer = answer_of(message)
        if answer is not None:
            if not take(waiting, answer):
                return False
        elif waiting:
            return False
        elif calls := calls_of(message):
            waiting = open_calls(calls)
    return True


def repair_messages(messages: Sequence[BaseMessage]) -> Repair:
    """Make a list legal with as little as possible.

    Order and objects of the kept messages are the input's. A list that is legal comes back as it is. A pinned or system
    message is never dropped unless it is itself an orphan result, which no provider would accept.
    """
    if in_order(messages):
        return Repair(list(messages))
    kept: list[BaseMessage] = []
    dropped: list[BaseMessage] = []
    added: list[BaseMessage] = []
    step = _NONE_OPEN
    for message in messages:
        if kind_of(message) == "tool":
            answer = answer_of(message)
            if answer is None or step.open[answer] <= 0:
                dropped.append(message)
                continue
            step.open[answer] -= 1
        else:
            if step.calls:
                errors = step.unanswered()
                kept += errors
                added += errors
            calls = calls_of(message)
            if calls or step.calls:
                step = _OpenStep(message, calls, Counter(calls)) if calls else _NONE_OPEN
        kept.append(message)
    return Repair(kept, tuple(dropped), tuple(added))
