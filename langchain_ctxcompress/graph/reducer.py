"""A reducer for states whose messages more than one node of a step may remove."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage, RemoveMessage


def merge_messages(left: Any, right: Any) -> list[Any]:
    """As LangGraph's `add_messages`; what is to be removed and is not there any more is no error.

    Two branches of one step cannot know of each other. Where a node of yours removes messages beside a
    `CompressionNode`, one of the two comes second, and `add_messages` raises. A state whose messages have this reducer
    takes both::

        class State(TypedDict):
            messages: Annotated[list[AnyMessage], merge_messages]

    Args:
        left: The messages of the state.
        right: The update: a message or a list, in any form that LangChain knows.

    Returns:
        The new list.
    """
    from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

    there = {message.id for message in cast("list[BaseMessage]", add_messages(left, []))}
    update: list[Any] = []
    for item in _items(right):
        if isinstance(item, RemoveMessage) and item.id not in there and item.id != REMOVE_ALL_MESSAGES:
            continue
        there.add(getattr(item, "id", None))
        update.append(item)
    return cast("list[Any]", add_messages(left, update))


def _items(update: Any) -> Sequence[Any]:
    return update if isinstance(update, list) else [update]
