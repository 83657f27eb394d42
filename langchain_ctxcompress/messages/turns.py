"""Turns: the smallest spans that are kept or replaced whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages.calls import CallKey, answer_of, calls_of, open_calls, take
from langchain_ctxcompress.messages.checking import require_list
from langchain_ctxcompress.messages.kinds import kind_of
from langchain_ctxcompress.messages.marks import is_pinned, is_summary


@dataclass(frozen=True, init=False)
class ConversationTurn:
    """One turn.

    Attributes:
        messages: Its messages, in order.
        index: Its number in the list, from 0.
        indices: The places of its messages in the list they came from.
        token_count: Its size in tokens; 0 until it was counted.
        pinned: Whether it is kept verbatim. Unless given: whether any of its messages is pinned.
        is_summary: Whether it is the summary message, a turn of its own.
    """

    messages: tuple[BaseMessage, ...]
    index: int
    indices: tuple[int, ...]
    token_count: int
    pinned: bool
    is_summary: bool

    def __init__(
        self,
        messages: Iterable[BaseMessage] = (),
        index: int = 0,
        *,
        indices: Iterable[int] = (),
        token_count: int = 0,
        pinned: bool | None = None,
        is_summary: bool | None = None,
    ) -> None:
        own = tuple(messages)
        summary = any(map(_is_summary, own)) if is_summary is None else is_summary
        values = {
            "messages": own,
            "index": index,
            "indices": tuple(indices),
            "token_count": token_count,
            "pinned": any(map(is_pinned, own)) if pinned is None else pinned,
            "is_summary": summary,
        }
        self.__dict__.update(values)  # the fields are frozen; assigned one by one they take three times as long

    def with_tokens(self, token_count: int) -> ConversationTurn:
        """The same turn with its size in tokens."""
        return replace(self, token_count=token_count)


_is_summary = is_summary


def split_turns(messages: Sequence[BaseMessage], sizes: Sequence[int] | None = None) -> list[ConversationTurn]:
    """Split a list into turns.

    A turn opens at a human message (unless the message before is human: then it joins) and at every AI message that is
    not the first since a human one. Results join the turn of their call, system messages in the middle the open turn;
    leading system messages belong to no turn; a leading AI message opens turn 0; the summary message is a turn of its
    own. So human, AI with calls, results, AI is two turns, and five turns of a long agent run are five steps.

    Args:
        messages: The list; it is not changed.
        sizes: The size of each message in tokens, where the turns are to have theirs.

    Returns:
        The turns in order of their first message. Each message is in at most one.

    Raises:
        InvalidMessagesError: It is no list of messages.
    """
    require_list(messages)
    # Told once for the whole list: asked of each turn, it takes as long as all else.
    pins = {place for place, message in enumerate(messages) if is_pinned(message)}
    summaries = {place for place, message in enumerate(messages) if is_summary(message)}
    return [
        ConversationTurn(
            [messages[i] for i in indices],
            number,
            indices=indices,
            token_count=sum([sizes[i] for i in indices]) if sizes else 0,
            pinned=not pins.isdisjoint(indices),
            is_summary=not summaries.isdisjoint(indices),
        )
        for number, indices in enumerate(_groups(messages))
    ]


def count_turns(messages: Sequence[BaseMessage]) -> int:
    """How many turns a list has: as `split_turns`, which also makes them."""
    return len(_groups(messages))


def _groups(messages: Sequence[BaseMessage]) -> list[list[int]]:
    """The places of the messages of each turn."""
    groups: list[list[int]] = []
    closed = True  # no turn takes further messages: at the start, and after a summary
    ai_since_human = False
    steps: list[tuple[int, dict[CallKey, int]]] = []  # calls that still wait for a result, with the turn they are in
    for index, message in enumerate(messages):
        kind = kind_of(message)
        if kind == "human" and is_summary(message):
            groups.append([index])
            closed, ai_since_human = True, False
            continue
        if kind == "tool":
            home = _turn_of_call(steps, answer_of(message))
            if home is not None:
                groups[home].append(index)
                continue
        joins = (kind == "human" and index > 0 and _is_plain_human(messages[index - 1])) or (
            kind == "ai" and not ai_since_human
        )
        opens = closed or (kind in ("human", "ai") and not joins)
        if opens and kind == "system" and not groups:
            continue
        if opens:
            groups.append([])
            closed = False
        groups[-1].append(index)
        if kind == "human":
            ai_since_human = False
        elif kind == "ai":
            ai_since_human = True
            calls = calls_of(message)
            if calls:
                steps.append((len(groups) - 1, open_calls(calls)))
    return groups


def _is_plain_human(message: BaseMessage) -> bool:
    return kind_of(message) == "human" and not is_summary(message)


def _turn_of_call(steps: list[tuple[int, dict[CallKey, int]]], answer: CallKey | None) -> int | None:
    """The turn of the nearest call that waits for this result; the wait is over then."""
    if answer is None:
        return None
    for position in range(len(steps) - 1, -1, -1):
        turn, waiting = steps[position]
        if take(waiting, answer):
            if not waiting:
                del steps[position]
            return turn
    return None


def newest_human(messages: Sequence[BaseMessage]) -> list[int]:
    """The places of the newest human messages: all after the last AI message, else the last one; never a summary."""
    trailing: list[int] = []
    for index in range(len(messages) - 1, -1, -1):
        kind = kind_of(messages[index])
        if kind == "ai" and trailing:
            break
        if kind == "ai":
            return _last_human(messages, index)
        if kind == "human" and not is_summary(messages[index]):
            trailing.append(index)
    return trailing[::-1]


def _last_human(messages: Sequence[BaseMessage], before: int) -> list[int]:
    for index in range(before - 1, -1, -1):
        if _is_plain_human(messages[index]):
            return [index]
    return []
