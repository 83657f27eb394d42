"""`kind_of`: one of five kinds, whatever class a message has."""

from __future__ import annotations

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_ctxcompress.messages import kind_of


class OwnHumanMessage(HumanMessage):
    """What a user of LangChain may derive."""


class OwnMessage(BaseMessage):
    type: str = "own"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (HumanMessage("x"), "human"),
        (HumanMessageChunk("x"), "human"),
        (OwnHumanMessage("x"), "human"),
        (AIMessage("x"), "ai"),
        (AIMessageChunk("x"), "ai"),
        (SystemMessage("x"), "system"),
        (ToolMessage("x", tool_call_id="1"), "tool"),
        (FunctionMessage("x", name="f"), "tool"),
        (RemoveMessage(id="1"), "other"),
        (OwnMessage("x"), "other"),
    ],
)
def test_the_class_decides(message: BaseMessage, kind: str) -> None:
    assert kind_of(message) == kind
    assert kind_of(message) == kind, "the remembered answer is another one"


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", "human"),
        ("human", "human"),
        ("USER", "human"),
        ("assistant", "ai"),
        ("ai", "ai"),
        ("system", "system"),
        ("developer", "system"),
        ("tool", "tool"),
        ("robot", "other"),
        ("", "other"),
    ],
)
def test_a_chat_message_is_judged_by_its_role(role: str, kind: str) -> None:
    assert kind_of(ChatMessage("x", role=role)) == kind


def test_two_chat_messages_of_other_roles_are_not_mixed_up() -> None:
    roles = ["user", "assistant", "user", "robot"]
    assert [kind_of(ChatMessage("x", role=role)) for role in roles] == ["human", "ai", "human", "other"]
