"""Every error this package raises, under one base class.

An error says what was wrong, where, and what to do. `except CtxCompressError` catches them all; those that are also a
kind of bad value or bad key derive from Python's own class for it, so that ordinary code catches them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


class CtxCompressError(Exception):
    """Base of all errors of `langchain_ctxcompress`."""


class ConfigError(CtxCompressError, ValueError):
    """A setting has a value it cannot have; the message names the setting, the value and what is allowed."""


class InvalidMessagesError(CtxCompressError, ValueError):
    """The input is not a list of LangChain messages, or a message in it cannot be read; the message names which."""


class TokenCountError(CtxCompressError, RuntimeError):
    """A message could not be counted.

    Attributes:
        message_id: The id of the message that could not be counted; `None` if it had none.
    """

    def __init__(self, message: str, *, message_id: str | None = None) -> None:
        super().__init__(message)
        self.message_id = message_id


class ContextLimitError(CtxCompressError):
    """What must stay is larger than the limit.

    Attributes:
        tokens: Size of what must be sent, in tokens.
        limit: The limit it is over, in tokens.
    """

    def __init__(self, message: str, *, tokens: int, limit: int) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.limit = limit


class UnknownModelLimitError(CtxCompressError, LookupError):
    """The input window of a model is not known; the message says how to set it."""


class UnknownStrategyError(CtxCompressError, LookupError):
    """No strategy is registered under that name; the message lists the names there are."""


class SummariserError(CtxCompressError):
    """The summariser could not be set up (an unknown model name, a missing extra)."""


class StorageError(CtxCompressError):
    """The archive could not be read or written."""


class StorageBoundaryError(CtxCompressError, TypeError):
    """Something that must never be sent to a model (history, a snapshot) stood in a prompt."""


class RecordError(StorageError, ValueError):
    """A stored record is damaged or of an unknown `schema_version`; the message names the record."""


class DamagedHistoryError(RecordError):
    """Some records of a session history are damaged or of an unknown version; all others were read.

    Attributes:
        problems: What is wrong with each of them, by its name.
        messages: Every message that could be read, in order.
    """

    def __init__(self, problems: Sequence[str], messages: Sequence[BaseMessage]) -> None:
        super().__init__(
            f"{'; '.join(problems)}. The other {len(messages)} messages were read: they are in this error's `messages`,"
            ' and `on_damage="skip"` returns them'
        )
        self.problems = list(problems)
        self.messages = list(messages)


class SnapshotNotFoundError(StorageError, KeyError):
    """No snapshot has that id."""

    def __str__(self) -> str:
        """The message as it is: `KeyError` would show it quoted."""
        return str(self.args[0]) if self.args else ""


class ConversationFileError(CtxCompressError, ValueError):
    """A conversation file, or one line of it, cannot be read; the message names file and line."""


class MissingExtraError(CtxCompressError, ImportError):
    """A package that an optional part needs is not installed; the message names the extra that brings it."""
