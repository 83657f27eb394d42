"""`ActiveContext`: what the model is sent, as an object one can add to, ask for its size, and build a prompt of (S1).

It stands here, and not beside the session history and the snapshots, because it counts tokens and shows checkpoints as
a summary message does: the storage room knows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress.arguments import check_ids, check_kind, check_least, check_text
from langchain_ctxcompress.errors import ConfigError, ContextLimitError
from langchain_ctxcompress.limits.validation import Reducible, ValidationResult, validate_size
from langchain_ctxcompress.messages import (
    MARK_KEY,
    is_pinned,
    kind_of,
    newest_human,
    repair_messages,
    require_list,
    require_messages,
    split_turns,
)
from langchain_ctxcompress.storage import SCHEMA_VERSION, CheckpointSummary
from langchain_ctxcompress.storage.boundaries import guard_prompt
from langchain_ctxcompress.strategies.rendering import quotes_of, render_summary
from langchain_ctxcompress.tokens import MessageCounter

SAFETY_MARGIN = 1_000
"""Tokens under the limit that stay free: for the answer, and for what a count cannot see."""

RECENT_TURNS = 5
"""Turns at the end that `validate` never suggests to touch."""


@dataclass(frozen=True, slots=True)
class PartTokens:
    """Sizes in tokens.

    Attributes:
        system: The system prompt.
        checkpoints: The message that shows the checkpoints.
        recent: The recent messages.
    """

    system: int = 0
    checkpoints: int = 0
    recent: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.system + self.checkpoints + self.recent


@dataclass(frozen=True, slots=True)
class ActiveContextState:
    """An active context at one moment.

    Attributes:
        system_prompt: The system prompt.
        checkpoints: The checkpoints, oldest first.
        messages: The recent messages.
        tokens: The size of each part.
        limit: The most that may be sent, in tokens.
        available_tokens: What may still be added, in tokens.
    """

    system_prompt: str
    checkpoints: tuple[CheckpointSummary, ...]
    messages: tuple[BaseMessage, ...]
    tokens: PartTokens
    limit: int
    available_tokens: int


class ActiveContext:
    """System prompt, checkpoints and recent messages: all that the model is sent, and nothing else.

    Args:
        limit: The most that may be sent, in tokens.
        system_prompt: The system prompt; `""` for none.
        checkpoints: Summary checkpoints, oldest first.
        messages: Recent messages.
        safety_margin: Tokens under the limit that stay free. Default 1,000.
        count: Sizes of messages in tokens; by default a `MessageCounter`.

    Raises:
        ConfigError: `limit` is not above `safety_margin`, that is negative, or an argument is of the wrong kind.
        InvalidMessagesError: Something in `messages` is no message.
        StorageBoundaryError: Something in them is kept and never sent.
    """

    def __init__(
        self,
        limit: int,
        *,
        system_prompt: str = "",
        checkpoints: Iterable[CheckpointSummary] = (),
        messages: Sequence[BaseMessage] = (),
        safety_margin: int = SAFETY_MARGIN,
        count: Callable[[Sequence[BaseMessage]], list[int]] | None = None,
    ) -> None:
        check_least("limit", limit)
        check_least("safety_margin", safety_margin)
        if safety_margin >= limit:
            msg = f"safety_margin {safety_margin} must be from 0 to below limit {limit} (tokens)"
            raise ConfigError(msg)
        check_text("system_prompt", system_prompt)
        self.limit = limit
        self.safety_margin = safety_margin
        self._count = count or MessageCounter()
        self._system = SystemMessage(system_prompt) if system_prompt else None
        self._checkpoints = {_checkpoint(c).checkpoint_id: c for c in checkpoints}
        self._messages: list[BaseMessage] = _sendable(messages)
        self._summary = self._summary_message()

    @property
    def system_prompt(self) -> str:
        """The system prompt."""
        return str(self._system.content) if self._system else ""

    @property
    def checkpoints(self) -> tuple[CheckpointSummary, ...]:
        """The checkpoints, oldest first."""
        return tuple(self._checkpoints.values())

    @property
    def messages(self) -> tuple[BaseMessage, ...]:
        """The recent messages."""
        return tuple(self._messages)

    @property
    def tokens(self) -> PartTokens:
        """The size of each part as it is sent."""
        return PartTokens(
            self._size([self._system] if self._system else []),
            self._size([self._summary] if self._summary else []),
            self._size(repair_messages(self._messages).messages),
        )

    @property
    def token_count(self) -> int:
        """The size of all that is sent, in tokens: that of `build_prompt()`."""
        return self.tokens.total

    @property
    def available_tokens(self) -> int:
        """What may still be added, in tokens; 0 where nothing may."""
        return max(0, self.limit - self.safety_margin - self.token_count)

    def build_prompt(self, new_message: BaseMessage | None = None) -> list[BaseMessage]:
        """The prompt: system prompt, checkpoints, recent messages, the new message, and nothing else.

        The recent messages are sent as providers take them: a tool result whose call was removed is left out, a call
        without a result in the middle gets one that says so.

        Args:
            new_message: Sent at the end; it is not added.

        Raises:
            InvalidMessagesError: `new_message` is no message.
            StorageBoundaryError: Something in the prompt is kept and never sent.
        """
        new = [] if new_message is None else _sendable([new_message])
        front = [message for message in (self._system, self._summary) if message is not None]
        prompt = [*front, *repair_messages([*self._messages, *new]).messages]
        guard_prompt(prompt)
        return prompt

    def add_message(self, message: BaseMessage) -> None:
        """Add a recent message; one with the id of another takes its place.

        Raises:
            ContextLimitError: With it, more than `limit - safety_margin` tokens would be sent; it is not added. The
                error has both numbers.
            InvalidMessagesError: It is no message.
            StorageBoundaryError: It holds something that is kept and never sent.
        """
        (message,) = _sendable([message])
        place = next((i for i, own in enumerate(self._messages) if message.id and own.id == message.id), None)
        messages = [*self._messages, message]
        if place is not None:
            messages[place] = messages.pop()
        front = self.tokens
        tokens = front.system + front.checkpoints + self._size(repair_messages(messages).messages)
        most = self.limit - self.safety_margin
        if tokens > most:
            msg = (
                f"with this message {tokens} tokens would be sent, and {most} may be (limit {self.limit}, less the"
                f" safety margin of {self.safety_margin}): compress first, or remove messages"
            )
            raise ContextLimitError(msg, tokens=tokens, limit=most)
        self._messages = messages

    def add_checkpoint(self, checkpoint: CheckpointSummary) -> None:
        """Add a checkpoint behind the others; one with the id of another takes its place.

        Raises:
            ConfigError: It is none.
        """
        self._checkpoints[_checkpoint(checkpoint).checkpoint_id] = checkpoint
        self._summary = self._summary_message()

    def remove_messages(self, ids: Iterable[str]) -> int:
        """Remove the messages and the checkpoints of these ids.

        Returns:
            How many were removed.

        Raises:
            ConfigError: What is given is no list of ids.
        """
        gone = set(check_ids("ids", ids))
        before = len(self._messages) + len(self._checkpoints)
        self._messages = [message for message in self._messages if message.id not in gone]
        self._checkpoints = {i: checkpoint for i, checkpoint in self._checkpoints.items() if i not in gone}
        self._summary = self._summary_message()
        return before - len(self._messages) - len(self._checkpoints)

    def state(self) -> ActiveContextState:
        """All of it at this moment."""
        return ActiveContextState(
            self.system_prompt, self.checkpoints, self.messages, self.tokens, self.limit, self.available_tokens
        )

    def validate(self) -> ValidationResult:
        """Whether it fits `limit - safety_margin`, and what to do where it does not (P9)."""
        return validate_size(self.token_count, self.limit - self.safety_margin, self._reducible())

    def _reducible(self) -> Reducible:
        """What could be made smaller: not the last turns, pins, system messages or the newest human message."""
        turns = split_turns(self._messages)
        older = [turn for turn in turns[:-RECENT_TURNS] if not turn.pinned]
        newest = set(newest_human(self._messages))
        may_be_cut = [
            message
            for place, message in enumerate(self._messages)
            if place not in newest and not is_pinned(message) and kind_of(message) != "system"
        ]
        size = sum(self._size(turn.messages) for turn in older)
        return Reducible(
            candidates=size,
            checkpoints=tuple(self._size([message]) for c in self.checkpoints if (message := _shown([c]))),
            largest_message=max(self._count(may_be_cut), default=0),
            older=size,
        )

    def _size(self, messages: Sequence[BaseMessage]) -> int:
        return sum(self._count(messages))

    def _summary_message(self) -> HumanMessage | None:
        return _shown(self.checkpoints)


def is_active_context(value: object) -> TypeGuard[ActiveContext]:
    """Whether a value is an active context: the one layer of the three that is sent."""
    return isinstance(value, ActiveContext)


def _sendable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    require_list(messages)
    guard_prompt(list(messages))
    require_messages(messages)
    return list(messages)


def _checkpoint(value: CheckpointSummary) -> CheckpointSummary:
    check_kind("checkpoint", value, CheckpointSummary, "a CheckpointSummary")
    return value


def _shown(checkpoints: Sequence[CheckpointSummary]) -> HumanMessage | None:
    """The summary message for checkpoints; `None` where they have nothing to show."""
    quotes = quotes_of(checkpoints)
    texts = [(checkpoint.checkpoint_id, checkpoint.text) for checkpoint in checkpoints if checkpoint.text]
    if not texts and not quotes:
        return None
    first, last = checkpoints[0], checkpoints[-1]
    count = sum(len(checkpoint.covered) for checkpoint in checkpoints)
    mark = {
        "kind": "summary",
        "schema_version": SCHEMA_VERSION,
        "session_id": last.session_id,
        "checkpoint_ids": [checkpoint.checkpoint_id for checkpoint in checkpoints],
        "first_id": first.first_id,
        "last_id": last.last_id,
        "count": count,
    }
    text = render_summary(texts, quotes, count=count)
    return HumanMessage(text, id=first.first_id or None, additional_kwargs={MARK_KEY: mark})
