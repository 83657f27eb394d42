"""The package's own entry in a message: the mark of a pin, and the mark of a summary message.

Both live in `additional_kwargs["ctxcompress"]`, which every checkpointer and history keeps and no provider is sent.
"""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.messages.checking import no_message

MARK_KEY = "ctxcompress"
"""The key in `additional_kwargs`."""

DERIVED_KINDS = frozenset({"summary", "cut", "cleared", "compressed", "repair"})
"""Marks of messages that are no originals."""

ORIGINAL = "original"
"""The key in the mark of a shortened message under which the hash of what its original says stands."""

ASKED = "asked"
"""The key in the mark of the newest human message that says that it was cut because the user opted in."""

M = TypeVar("M", bound=BaseMessage)


def _mark(message: BaseMessage, kind: str) -> dict[str, Any] | None:
    entry = message.additional_kwargs.get(MARK_KEY)
    return entry if isinstance(entry, dict) and entry.get("kind") == kind else None


def summary_mark(message: BaseMessage) -> dict[str, Any] | None:
    """What a summary message says of itself, or `None` if the message is not one.

    Returns:
        `{"kind": "summary", "schema_version", "session_id", "checkpoint_ids", "first_id", "last_id", "count"}`.
    """
    return _mark(message, "summary")


def is_summary(message: BaseMessage) -> bool:
    """Whether the message is a summary message that this package made."""
    try:
        return bool(message.additional_kwargs) and summary_mark(message) is not None
    except AttributeError:
        raise no_message(message) from None


def is_derived(message: BaseMessage) -> bool:
    """Whether this package made the message, or made it shorter: it is no original and is not archived."""
    entry = message.additional_kwargs.get(MARK_KEY) if message.additional_kwargs else None
    return isinstance(entry, dict) and entry.get("kind") in DERIVED_KINDS


def was_asked(message: BaseMessage) -> bool:
    """Whether the message is what is left of a newest human message that the user allowed to be cut."""
    mark = _mark(message, "cut")
    return mark is not None and bool(mark.get(ASKED))


def is_pinned(message: BaseMessage) -> bool:
    """Whether the message is pinned, that is kept verbatim by every strategy.

    Raises:
        InvalidMessagesError: It is no message.
    """
    try:
        return bool(message.additional_kwargs) and _mark(message, "pin") is not None
    except AttributeError:
        raise no_message(message) from None


def pin(message: M) -> M:
    """A pinned copy with the same id; the input is not changed.

    Raises:
        InvalidMessagesError: The message is a summary message, which is rewritten by each compression; or it is none.
    """
    if not isinstance(message, BaseMessage):
        msg = f"a {type(message).__name__} cannot be pinned: pass a LangChain message"
        raise InvalidMessagesError(msg)
    if is_summary(message):
        msg = f"message {message.id!r} is a summary message, which each compression rewrites: pin an original instead"
        raise InvalidMessagesError(msg)
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK_KEY: {"kind": "pin"}}})


def unpin(message: M) -> M:
    """A copy without the pin and with the same id; a message that is not pinned is returned as it is.

    Raises:
        InvalidMessagesError: It is no message.
    """
    if not is_pinned(message):
        return message
    rest = {key: value for key, value in message.additional_kwargs.items() if key != MARK_KEY}
    return message.model_copy(update={"additional_kwargs": rest})
