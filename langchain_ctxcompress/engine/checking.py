"""What a caller gave, before anything is done with it."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.storage import guard_messages


def check_given(messages: Sequence[BaseMessage], start: int = 0) -> None:
    """Refuse what is no message, and what is kept and never sent (S4): the list is the main model's prompt.

    Args:
        messages: What the caller gave.
        start: The first place that is looked at: what is before it was looked at before.

    Raises:
        InvalidMessagesError: It is no list of messages.
        StorageBoundaryError: It holds what must not be sent.
    """
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        msg = f"messages is a {type(messages).__name__}: pass a list of LangChain messages"
        raise InvalidMessagesError(msg)
    guard_messages(messages, start=start)
    for place, message in enumerate(messages[start:], start):
        if not isinstance(message, BaseMessage):
            msg = (
                f"item {place} of messages is a {type(message).__name__}, not a LangChain message:"
                " convert the list with langchain_core.messages.convert_to_messages"
            )
            raise InvalidMessagesError(msg)
        if message.type == "remove":
            msg = (
                f"item {place} of messages is a RemoveMessage: the list's reducer does not remove by id. Use a state"
                " whose messages have the reducer add_messages, or mode='view'"
            )
            raise InvalidMessagesError(msg)
