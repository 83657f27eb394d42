"""What a caller gave for messages: refused where it is no message, with the place in the list."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import InvalidMessagesError


def no_message(value: object, name: str = "message") -> InvalidMessagesError:
    """The error for what is no message.

    Args:
        value: What was passed.
        name: What it was passed as.
    """
    return InvalidMessagesError(
        f"{name} is a {type(value).__name__}, not a LangChain message:"
        " convert the list with langchain_core.messages.convert_to_messages"
    )


def require_list(messages: object, name: str = "messages") -> None:
    """Refuse what is no list; what is in it is not looked at.

    Raises:
        InvalidMessagesError: It is none.
    """
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        msg = f"{name} is a {type(messages).__name__}: pass a list of LangChain messages"
        raise InvalidMessagesError(msg)


def require_messages(messages: Sequence[object], name: str = "messages", *, start: int = 0) -> None:
    """Refuse what is no list of messages.

    Args:
        messages: What was passed.
        name: What it was passed as.
        start: The first place that is looked at.

    Raises:
        InvalidMessagesError: It is no list, or something in it is no message; the error says where.
    """
    require_list(messages, name)
    for place, message in enumerate(messages[start:], start):
        if not isinstance(message, BaseMessage):
            raise no_message(message, f"item {place} of {name}")
