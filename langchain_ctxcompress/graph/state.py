"""How a node finds its way in a graph: the session it serves, the messages of a state, and the update it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict  # as MessagesState is: a state may inherit from both

from langchain_ctxcompress.errors import ConfigError, InvalidMessagesError

LLM_INPUT_KEY = "llm_input_messages"
"""Where view mode puts the model's input; `create_react_agent` reads it from there."""

STATE_KEY = "ctxcompress"
"""Where view mode says what it did."""


class CompressionState(TypedDict):
    """The keys that view mode writes; a state of yours inherits from it, or names them.

    Attributes:
        llm_input_messages: The active context, anew at each step.
        ctxcompress: What the last step did: outcome, reason, tokens, checkpoint ids; a plain dict.
        ctxcompress_compact: Set it to compress at the next step, whatever the limits say: `True`, or what the summary
            should keep. The step sets it back to `None`.
        ctx_goal: What the work is for: a goal or several as plain values (`goal.model_dump(mode="json")`).
        ctx_system_prompt: In replace mode, the system prompt for the model node.
    """

    llm_input_messages: NotRequired[list[BaseMessage]]
    ctxcompress: NotRequired[dict[str, Any]]
    ctxcompress_compact: NotRequired[bool | str | None]
    ctx_goal: NotRequired[Any]
    ctx_system_prompt: NotRequired[str]


def messages_in(state: Any, key: str) -> list[BaseMessage]:
    """The messages of a state: a mapping, a dataclass or a Pydantic model.

    Raises:
        InvalidMessagesError: The state has no such key, or it holds no list.
    """
    found = value_in(state, key)
    if found is None:
        there = f", but {', '.join(map(repr, state))}" if isinstance(state, Mapping) and state else ""
        msg = f"the state ({type(state).__name__}) has no messages under {key!r}{there}: set messages_key"
        raise InvalidMessagesError(msg)
    if type(found) is list:
        return found
    if not isinstance(found, Sequence) or isinstance(found, str):
        msg = f"{key!r} of the state is a {type(found).__name__}, not a list of messages"
        raise InvalidMessagesError(msg)
    return list(found)


def value_in(state: Any, key: str) -> Any:
    """What a state has under a key; `None` where it has nothing."""
    if type(state) is dict or isinstance(state, Mapping):  # the first is what most graphs have, and quickly told
        return state.get(key)
    return getattr(state, key, None)


def session_of(config: RunnableConfig | None) -> str | None:
    """The session of a run: its thread, and in a subgraph the names on the way to it; `None` without a thread.

    Task ids are left out, so that the same subgraph is the same session at each step.
    """
    configurable = (config or {}).get("configurable") or {}
    thread = configurable.get("thread_id")
    if thread is None:
        return None
    namespace = str(configurable.get("checkpoint_ns") or "")
    if "|" not in namespace:
        return str(thread)
    path = namespace.split("|")[:-1]  # the last part is the node itself
    return "|".join((str(thread), *(part.split(":", 1)[0] for part in path)))


def update_by_id(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The update that makes `add_messages` (or a delta reducer) turn one list into the other.

    What left is removed by id; what changed is written under its id, so that it keeps its place and is not streamed as
    a new message. A parallel branch's write is not touched; what it removed as well is removed once (`add_messages`
    refuses to remove what is not there, so an empty message is written under each id before it is removed). Only where
    a message has to be put in between, or ids repeat, is the whole list written anew.

    Args:
        before: The list in the state.
        after: The list it is to become.

    Raises:
        ConfigError: A message in the state has no id, so its reducer is not one that can be updated by id.
    """
    if any(not message.id for message in before):
        msg = (
            "messages in the state have no id, so they cannot be replaced: use a state whose messages have the reducer"
            " add_messages, or mode='view'"
        )
        raise ConfigError(msg)
    known = {message.id: message for message in before}
    order = [message.id for message in after]
    in_place = len(known) == len(before) and [i for i in known if i in set(order)] == order
    if not in_place:
        from langgraph.graph.message import REMOVE_ALL_MESSAGES

        return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *after]
    kept = set(order)
    removed = [update for i in known if i not in kept for update in (HumanMessage("", id=i), RemoveMessage(id=str(i)))]
    return [*removed, *(message for message in after if message is not known[message.id])]
