"""Band tasks: one message that is to be shortened, and what came of it (requirements B2 and B6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_kind, check_least
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.messages import (
    MARK_KEY,
    ConversationTurn,
    MessageKind,
    apply_compressed_content,
    extract_text_content,
    is_derived,
    is_pinned,
    kind_of,
    newest_human,
    require_messages,
)
from langchain_ctxcompress.strategies.band_mapping import TurnBandMapping
from langchain_ctxcompress.summarize import TARGET_SHARE, CompressionLevel, TaskFailure, TaskStatus
from langchain_ctxcompress.tokens import estimate_tokens

M = TypeVar("M", bound=BaseMessage)

MIN_TOKENS = 20
"""Shorter texts are left alone: the model's answer would hardly be shorter (B2)."""

TIMEOUT_SECONDS = 5.0
"""For the first attempt (B2): one message is written again in a second or two."""

MARK_KIND = "compressed"


@dataclass(frozen=True, slots=True)
class BandTask:
    """One message that is to be shortened where it stands.

    Attributes:
        message_index: Its place in the list.
        message_id: Its id; `None` if it has none.
        message_type: `human` or `ai`.
        text: What it says.
        level: How much it is shortened.
        estimated_tokens: Size of the text by `estimate_tokens`.
        attempt: Attempts made so far.
        timeout: Seconds for the first attempt; each further one gets twice as long.
        status: Where the task stands.
        result: The shortened text of a task that succeeded.
        failure: Why there is none; `None` where there is.
        detail: The error, in one line.
        previous: The level at which the message was shortened before.
    """

    message_index: int
    message_id: str | None
    message_type: MessageKind
    text: str
    level: CompressionLevel
    estimated_tokens: int
    attempt: int = 0
    timeout: float = TIMEOUT_SECONDS
    status: TaskStatus = TaskStatus.PENDING
    result: str = ""
    failure: TaskFailure | None = None
    detail: str = ""
    previous: CompressionLevel | None = None

    @property
    def target_share(self) -> float:
        """What share of the text is aimed at; the level's share of the original where it was shortened before."""
        return TARGET_SHARE[self.level] / (TARGET_SHARE[self.previous] if self.previous else 1)

    def succeeded(self, text: str, attempts: int = 1) -> BandTask:
        """The task with its result."""
        return replace(self, status=TaskStatus.SUCCEEDED, result=text, failure=None, detail="", attempt=attempts)

    def failed(self, failure: TaskFailure = TaskFailure.ERROR, detail: str = "", attempts: int = 1) -> BandTask:
        """The task without a result, and why."""
        return replace(self, status=TaskStatus.FAILED, result="", failure=failure, detail=detail, attempt=attempts)


def create_compression_tasks(
    messages: Sequence[BaseMessage],
    turns: Sequence[ConversationTurn],
    mapping: Sequence[TurnBandMapping],
    min_tokens: int = MIN_TOKENS,
    *,
    timeout: float = TIMEOUT_SECONDS,
) -> list[BandTask]:
    """The messages that are to be shortened, as tasks, in order (B2).

    Human and AI messages in a band. Left alone are system messages, tool results, pinned and newest human messages,
    summary messages, and what was shortened to the same level before.

    Args:
        messages: The list.
        turns: Its turns.
        mapping: In which band each turn lies.
        min_tokens: The least size of a text that is a task, by `estimate_tokens`.
        timeout: Seconds for the first attempt of each task.

    Raises:
        ConfigError: `min_tokens` or `timeout` is out of range, or the mapping belongs to other turns.
        InvalidMessagesError: Something in the list is no message.
    """
    check_settings(min_tokens=min_tokens, timeout=timeout)
    require_messages(messages)
    check_kind("mapping", mapping, Sequence, "a list, as map_turns_to_bands gives")
    newest = set(newest_human(messages))
    tasks: list[BandTask] = []
    for place, level in sorted(places_in_bands(messages, turns, mapping)):
        message = messages[place]
        text = extract_text_content(message)
        tokens = estimate_tokens(text)
        if tokens < max(1, min_tokens) or place in newest or is_pinned(message) or not may_shorten(message, level):
            continue
        tasks.append(
            BandTask(
                place,
                message.id,
                kind_of(message),
                text,
                level,
                tokens,
                timeout=timeout,
                previous=compressed_level(message),
            )
        )
    return tasks


def check_settings(
    *, min_tokens: int = MIN_TOKENS, timeout: float = TIMEOUT_SECONDS, attempts: int = 1, concurrency: int = 1
) -> None:
    """Refuse settings with which no task could be run.

    Raises:
        ConfigError: One of them is out of range.
    """
    for name, value, least in (
        ("min_tokens", min_tokens, 0),
        ("attempts", attempts, 1),
        ("concurrency", concurrency, 1),
    ):
        check_least(name, value, least)
    check_kind("timeout", timeout, Real, "a number")
    if not timeout > 0:
        msg = f"timeout is {timeout}: it must be over 0, in seconds"
        raise ConfigError(msg)


def places_in_bands(
    messages: Sequence[BaseMessage], turns: Sequence[ConversationTurn], mapping: Sequence[TurnBandMapping]
) -> Iterator[tuple[int, CompressionLevel]]:
    """The places of the human and AI messages that lie in a band, with its level.

    Raises:
        ConfigError: The mapping names a turn that is not there, or a turn holds a message that is not in the list.
    """
    own = {id(message): place for place, message in enumerate(messages)}
    for entry in mapping:
        if entry.band is None:
            continue
        if not 0 <= entry.turn_index < len(turns):
            msg = f"the mapping names turn {entry.turn_index}, there are {len(turns)} turns: map these turns anew"
            raise ConfigError(msg)
        turn = turns[entry.turn_index]
        # A turn that was not made by `split_turns` may not know the places of its messages.
        for place in turn.indices or [own.get(id(message), -1) for message in turn.messages]:
            if not 0 <= place < len(messages):
                msg = f"turn {entry.turn_index} holds a message that is not in the list: split this list anew"
                raise ConfigError(msg)
            if kind_of(messages[place]) in ("human", "ai"):
                yield place, entry.band.level


def may_shorten(message: BaseMessage, level: CompressionLevel) -> bool:
    """Whether a message is an original, or was shortened less than `level` asks for."""
    before = compressed_level(message)
    if before is None:
        return not is_derived(message)
    return TARGET_SHARE[level] < TARGET_SHARE[before]


def compressed_level(message: BaseMessage) -> CompressionLevel | None:
    """The level at which a message was shortened; `None` for one that was not. A level not known here is the last."""
    entry = message.additional_kwargs.get(MARK_KEY)
    if not isinstance(entry, dict) or entry.get("kind") != MARK_KIND:
        return None
    level = entry.get("level")
    return CompressionLevel(level) if level in list(CompressionLevel) else CompressionLevel.HEAVY


def mark_compressed(message: M, level: CompressionLevel) -> M:
    """A copy that says that it was shortened: it is no original, is not archived, and is not shortened so again."""
    mark = {MARK_KEY: {"kind": MARK_KIND, "level": str(level)}}
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, **mark}})


def apply_compression_results(messages: Sequence[BaseMessage], results: Iterable[BandTask]) -> list[BaseMessage]:
    """Put the shortened texts in place (B6).

    Only tasks that succeeded are applied; every other message is the same object as before. A message is known by its
    place and id, by its id alone where it has moved; one that says something else by now is left as it is.

    Args:
        messages: The list; it is not changed.
        results: The finished tasks, in any order.

    Raises:
        InvalidMessagesError: Something in the list is no message.
        ConfigError: Something in `results` is no task.
    """
    require_messages(messages)
    check_kind("results", results, Iterable, "a list of BandTasks")
    changed = list(messages)
    for place, task in places_of(messages, results):
        changed[place] = apply_compressed_content(messages[place], task.result)
    return changed


def places_of(messages: Sequence[BaseMessage], results: Iterable[BandTask]) -> Iterator[tuple[int, BandTask]]:
    """Where in the list the message of each task that succeeded stands now."""
    by_id: dict[str | None, int] = {message.id: place for place, message in enumerate(messages) if message.id}
    for task in results:
        check_kind("one of results", task, BandTask, "a BandTask")
        if task.status != TaskStatus.SUCCEEDED or not task.result.strip():
            continue
        for place in (task.message_index, by_id.get(task.message_id, -1)):
            if 0 <= place < len(messages) and _is_of(messages[place], task):
                yield place, task
                break


def _is_of(message: BaseMessage, task: BandTask) -> bool:
    return message.id == task.message_id and extract_text_content(message) == task.text
