"""Every error this package raises, under one base class.

An error says what was wrong, where, and what to do. `except CtxCompressError` catches them all; those that are also a
kind of bad value or bad key derive from Python's own class for it, so that ordinary code catches them too.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Sequence
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


_CODE = re.compile(r"[a-z]+(?:_[a-z]+)+")
_MOST_FIELDS = 3
_OF_THE_SERVER = {"08", "25", "28", "3D", "40", "53", "54", "55", "57", "58"}
"""Classes of SQLSTATE: connections, transactions, rights, resources, locks, the operator, the system."""

_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|AIza|AKIA)[-_]?[A-Za-z0-9_-]{16,}|(?<=[Bb]earer )\S+")

MASK = "[key]"
logger = logging.getLogger(__name__)


def without_keys(text: str) -> str:
    """The text with `[key]` for what has the form that providers give their keys, and for what follows `Bearer`."""
    return _LOOKS_LIKE_A_KEY.sub(MASK, text)


def describe(error: BaseException, *, mask: Callable[[str], str] = without_keys) -> str:
    """What an error was, in one line that holds nothing of a conversation and no key.

    The words of others are not repeated: a provider quotes the request that it refuses, a database the value, pydantic
    the input. What is said is the type of the error, and its status and code, the fields that do not fit, or what the
    system says. Its own words and its traceback go to the log at debug level, with keys masked.

    Args:
        error: Any error; one of this package speaks for itself.
        mask: Takes keys out of a text.
    """
    if isinstance(error, CtxCompressError):
        return str(error)
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("an error of others, in full: %s", mask("".join(traceback.format_exception(error))))
    more = _known(error) or "what it said is in the log at debug level"
    return f"{type(error).__name__}: {more}"


def log_failure(log: logging.Logger, what: str, error: BaseException, *, level: int = logging.ERROR) -> None:
    """Say in the log what failed, in one line; the traceback, which may quote a conversation, is for debug level.

    Args:
        log: Where it is said.
        what: What failed.
        error: Why.
        level: The level of the line.
    """
    log.log(level, "%s: %s", what, describe(error))


def _known(error: BaseException) -> str:
    """What can be told besides the type: words from a fixed set, and numbers."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.strerror or f"errno {error.errno}"
    if type(error).__module__ == "sqlite3":  # names tables and columns, never values
        return str(error)
    if type(error).__name__ == "JSONDecodeError":
        return f"no JSON at character {getattr(error, 'pos', 0)}"
    if type(error).__module__.startswith("pydantic"):
        return _unfit(error)
    if type(error).__module__.startswith("psycopg"):
        return _of_postgres(error)
    status = getattr(error, "status_code", None)
    code = getattr(error, "code", None)
    found = [f"status {status}"] if isinstance(status, int) else []
    if isinstance(code, str) and len(code) <= 40 and _CODE.fullmatch(code):  # such as rate_limit_exceeded
        found.append(code)
    return ", ".join(found)


def _of_postgres(error: BaseException) -> str:
    """What PostgreSQL says of itself. What it says of data and of names (classes 22, 23, 42, P0, XX) quotes values."""
    state, said = getattr(error, "sqlstate", None), getattr(getattr(error, "diag", None), "message_primary", None)
    return str(said) if said and str(state)[:2] in _OF_THE_SERVER else f"SQLSTATE {state}" if state else ""


def _unfit(error: BaseException) -> str:
    """Which fields do not fit, and how, without what stands in them."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return ""
    wrong = error.errors(include_url=False, include_input=False, include_context=False)
    named = [f"{'.'.join(map(str, field['loc'])) or 'it'} ({field['type']})" for field in wrong[:_MOST_FIELDS]]
    more = f" and {len(wrong) - _MOST_FIELDS} more" if len(wrong) > _MOST_FIELDS else ""
    return f"{', '.join(named)}{more}"
