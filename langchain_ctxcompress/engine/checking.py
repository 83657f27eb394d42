"""What a caller gave, before anything is done with it."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.messages import require_list, require_messages
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
    require_list(messages)
    guard_messages(messages, start=start)
    require_messages(messages, start=start)
    for place, message in enumerate(messages[start:], start):
        if message.type == "remove":
            msg = (
                f"item {place} of messages is a RemoveMessage, which tells a reducer to remove a message: leave that"
                " message out yourself. If the list is of a graph's state, its reducer does not remove by id: give it"
                " add_messages, or the node mode='view'"
            )
            raise InvalidMessagesError(msg)
