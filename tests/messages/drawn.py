"""Short lists in which every kind of message may follow every other, whatever real conversations hold."""

from __future__ import annotations

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from tests.support.legality import MARK

CALL_IDS = ("a", "b")
REASONING = {"type": "reasoning", "reasoning": "hm"}
SUMMARY = {MARK: {"kind": "summary", "schema_version": 1, "checkpoint_ids": ["c1"], "count": 1}}


def call(call_id: str, name: str = "look", **args: object) -> dict[str, object]:
    return {"name": name, "args": args, "id": call_id}


def ai(*call_ids: str, text: str = "so") -> AIMessage:
    return AIMessage(text, tool_calls=[call(call_id) for call_id in call_ids])


def result(call_id: str, text: str = "found") -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id)


def thought() -> AIMessage:
    return AIMessage([REASONING])


def summary(text: str = "What was said so far.", **fields: object) -> HumanMessage:
    return HumanMessage(text, additional_kwargs=SUMMARY, **fields)


MAKERS = {
    "human": lambda: HumanMessage("please"),
    "ai": ai,
    "step": lambda: ai("a"),
    "batch": lambda: ai("a", "b"),
    "twice": lambda: ai("a", "a"),
    "result-a": lambda: result("a"),
    "result-b": lambda: result("b"),
    "thought": thought,
    "system": lambda: SystemMessage("be kind"),
    "summary": summary,
    "user-role": lambda: ChatMessage("hello", role="user"),
    "odd-role": lambda: ChatMessage("beep", role="robot"),
    "pinned": lambda: HumanMessage("never do that", additional_kwargs={MARK: {"kind": "pin"}}),
}


def message_lists(*, without: tuple[str, ...] = (), max_size: int = 14) -> st.SearchStrategy[list[BaseMessage]]:
    """Draws a list of messages without ids.

    Args:
        without: Kinds to leave out, by name.
        max_size: Most messages.
    """
    names = [name for name in MAKERS if name not in without]
    return st.lists(st.sampled_from(names), max_size=max_size).map(lambda drawn: [MAKERS[name]() for name in drawn])
