"""`TokenMeter`: the size of a window in time proportional to what is new in it.

Three things are never done twice. A message object is counted once as long as it lives. One that was counted before and
comes as another object, as checkpointers and histories load them at each run, is known by a fingerprint of what it
says. And a list that only grew is measured by what came to it: whether it did is told by comparing references, or,
where the objects are new, their fields.

What is compared is what a message holds, so a message that is changed in place keeps its first size: make a copy
instead (`model_copy`), as LangGraph's reducers do.
"""

from __future__ import annotations

import marshal
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import no_message
from langchain_ctxcompress.tokens.messages import count_messages, count_saying

K = TypeVar("K")

KNOWN_OBJECTS = 20_480
"""Message objects whose size is remembered, some 200 bytes each; where there are more, the oldest are forgotten."""

KNOWN_PRINTS = 20_480
"""Fingerprints that are remembered, some 130 bytes each; where there are more, the oldest are forgotten."""

ANCHORS = 3
"""Calls whose reported sizes must agree that more is sent than was counted."""


class _Known(weakref.ref[BaseMessage]):
    """A message that was counted: a weak reference, so that the meter keeps none alive."""

    __slots__ = ("key", "tokens")
    key: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A list and its size.

    Attributes:
        messages: Its messages, the objects themselves.
        tokens: Their size in tokens.
        beyond: For the newest calls whose size the provider reported, oldest first: how much more was sent than the
            messages in front of the answer take, in tokens.
    """

    messages: tuple[BaseMessage, ...] = ()
    tokens: int = 0
    beyond: tuple[int, ...] = ()

    @classmethod
    def of(cls, messages: Sequence[BaseMessage], sizes: Sequence[int], *, stale: int = 0) -> Measured:
        """A list whose messages were counted.

        Args:
            messages: The list.
            sizes: The size of each message, in tokens.
            stale: So many messages at the front were there when the list was last made smaller: what providers reported
                with them is no longer true.
        """
        return _measured(messages, sizes, cls(), stale)

    def again(self, messages: Sequence[BaseMessage]) -> Measured:
        """The same list, as other objects."""
        return Measured(tuple(messages), self.tokens, self.beyond)

    def grown(self, messages: Sequence[BaseMessage], count: Callable[[Sequence[BaseMessage]], list[int]]) -> Measured:
        """The list with what came to it; only that is counted.

        Args:
            messages: A list that continues this one.
            count: Sizes of messages in tokens.
        """
        return _measured(messages, count(messages[len(self.messages) :]), self, 0)

    def unseen(self, overhead_tokens: int = 0) -> int:
        """Tokens that are sent besides the messages and the overhead, by what the provider reported; 0 if unknown.

        A single report says little: the answer may come from another agent with a window of its own, or from before
        messages were deleted, and both say too much. So the least of the newest three counts, and nothing does before
        there are three.

        Args:
            overhead_tokens: What is known to be sent besides the messages.
        """
        return max(0, min(self.beyond) - overhead_tokens) if len(self.beyond) == ANCHORS else 0


class TokenMeter:
    """Measures messages, each of them once. Safe to share between threads.

    Args:
        model: Whose tokens are counted, as in `count_tokens`.
    """

    def __init__(self, model: str | None = None) -> None:
        self.model = model
        self._known: dict[int, _Known] = {}
        self._prints: dict[int, int] = {}
        self._lock = threading.Lock()

    def __call__(self, messages: Sequence[BaseMessage]) -> list[int]:
        """The size of each message in tokens, in order.

        Raises:
            TokenCountError: A message cannot be counted; the error has its id.
            InvalidMessagesError: Something in the list is no message.
        """
        if len(messages) == 1:
            return [self._one(messages[0])]  # most steps bring one message, and lists of one take twice as long
        known = self._known
        counts = [entry.tokens if (entry := known.get(id(m))) is not None and entry() is m else -1 for m in messages]
        new = [place for place, count in enumerate(counts) if count < 0]
        if new:
            for place, tokens in zip(new, self._sizes([messages[place] for place in new]), strict=True):
                counts[place] = tokens
            with self._lock:
                self._known = _with_room(self._known, KNOWN_OBJECTS)
            for place in new[-KNOWN_OBJECTS // 2 :]:
                self._remember(messages[place], counts[place])
        return counts

    def saying(self, messages: Sequence[BaseMessage], texts: Sequence[str]) -> list[int]:
        """What each message would take if its content were another text, in tokens; nothing of it is remembered.

        Args:
            messages: The messages.
            texts: A text for each.

        Raises:
            TokenCountError: A message cannot be counted.
        """
        return count_saying(messages, texts, self.model)

    def measure(self, messages: Sequence[BaseMessage], *, after: Measured | None = None) -> Measured:
        """Measure a list; where it only grew, what came to it.

        Args:
            messages: The list.
            after: What it was before.

        Raises:
            TokenCountError: A message cannot be counted.
        """
        if after is not None and continues(messages, after.messages):
            return after.grown(messages, self)
        return Measured.of(messages, self(messages))

    def _one(self, message: BaseMessage) -> int:
        """The size of one message; as for many."""
        entry = self._known.get(id(message))
        if entry is not None and entry() is message:
            return entry.tokens
        own = _fingerprint(message)
        size = self._prints.get(own) if own is not None else None
        if size is None:
            size = count_messages((message,), self.model)[0]
        with self._lock:
            if own is not None:
                self._prints = _with_room(self._prints, KNOWN_PRINTS)
                self._prints[own] = size
            self._known = _with_room(self._known, KNOWN_OBJECTS)
        self._remember(message, size)
        return size

    def _sizes(self, messages: Sequence[BaseMessage]) -> list[int]:
        """Sizes of messages whose objects are new: from their fingerprints, else counted in one batch."""
        prints = list(map(_fingerprint, messages))
        found = [self._prints.get(own, -1) if own is not None else -1 for own in prints]
        new = [place for place, size in enumerate(found) if size < 0]
        sizes = count_messages([messages[place] for place in new], self.model) if new else []
        for place, size in zip(new, sizes, strict=True):
            found[place] = size
        with self._lock:
            self._prints = _with_room(self._prints, KNOWN_PRINTS)
            for place in new[-KNOWN_PRINTS // 2 :]:
                if (own := prints[place]) is not None:
                    self._prints[own] = found[place]
        return found

    def _remember(self, message: BaseMessage, tokens: int) -> None:
        entry = _Known(message, self._forget)
        entry.key, entry.tokens = id(message), tokens
        self._known[entry.key] = entry

    def _forget(self, entry: weakref.ref[BaseMessage]) -> None:
        """Called when a message is gone; another may have its address by now."""
        if isinstance(entry, _Known) and self._known.get(entry.key) is entry:
            self._known.pop(entry.key, None)


def _with_room(known: dict[int, K], most: int) -> dict[int, K]:
    """Where it is full, the newer half: a new table, since one that is emptied stays as large as it was."""
    return known if len(known) < most else dict(islice(known.copy().items(), len(known) - most // 2, None))


def continues(messages: Sequence[BaseMessage], before: Sequence[BaseMessage]) -> bool:
    """Whether a list is another one with nothing or something behind it: the same objects, or ones that hold the same.

    Some 2 µs for 1,000 objects that are the same, 600 µs where they are new.
    """
    known = len(before)
    if len(messages) < known:
        return False
    if not known:
        return True
    last = known - 1
    same = messages[0] is before[0] and messages[last] is before[last] and messages[last // 2] is before[last // 2]
    front = messages[:known]
    try:
        if same:
            return (front if isinstance(front, tuple) else tuple(front)) == tuple(before)
        # The fields at once: LangChain's own comparison takes ten times as long.
        return list(map(type, front)) == list(map(type, before)) and list(map(vars, front)) == list(map(vars, before))
    except Exception:  # noqa: BLE001 - whatever the comparison of an artifact raises
        return False


def _measured(messages: Sequence[BaseMessage], sizes: Sequence[int], before: Measured, stale: int) -> Measured:
    """`sizes` are those of the messages that came behind `before`."""
    start, tokens, beyond = len(before.messages), before.tokens, before.beyond
    for place, size in enumerate(sizes, start):
        message = messages[place]
        if place >= stale and isinstance(message, AIMessage) and (reported := _reported(message)):
            beyond = (*beyond, reported - tokens)[-ANCHORS:]
        tokens += size
    return Measured(tuple(messages), tokens, beyond)


def _reported(message: AIMessage) -> int:
    """The tokens that the provider read for an answer; 0 where it does not say."""
    usage = message.usage_metadata
    return int(usage.get("input_tokens") or 0) if usage else 0


def _fingerprint(message: BaseMessage) -> int | None:
    """A hash of all that is counted of a message; `None` where it holds what cannot be written out quickly."""
    try:
        said = vars(message)
    except TypeError:
        raise no_message(message) from None
    try:
        written = marshal.dumps(
            (
                type(message).__name__,
                said.get("content"),
                said.get("name"),
                said.get("tool_calls"),
                said.get("invalid_tool_calls"),
                said.get("tool_call_id"),
                said.get("additional_kwargs"),
            ),
            2,  # the newest version that writes equal things equally: later ones refer back to objects by identity
        )
    except ValueError:
        return None
    return hash((len(written), hash(written)))
