"""A chat model for the examples: it says what a function tells it to, so that they run without a key or a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class DemoModel(BaseChatModel):
    """Answers each prompt with what `reply` makes of it: a text, or an `AIMessage` with tool calls."""

    reply: Callable[[list[BaseMessage]], str | AIMessage]

    @property
    def _llm_type(self) -> str:
        return "demo"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        """As a real model is told its tools; this one knows them."""
        return self.bind(tools=list(tools), **options)

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_options: Any) -> ChatResult:
        answer = self.reply(messages)
        message = AIMessage(answer) if isinstance(answer, str) else answer
        message.response_metadata = {"finish_reason": "stop"}
        return ChatResult(generations=[ChatGeneration(message=message)])


def summariser() -> DemoModel:
    """Stands for the chat model that writes the summaries; a small, cheap one will do."""
    return DemoModel(reply=lambda _prompt: "The user and the assistant went through the questions one by one.")


def call(name: str, call_id: str, **arguments: Any) -> AIMessage:
    """An answer that calls one tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call_id}])


def newest_question(prompt: list[BaseMessage]) -> str:
    """What the user said last."""
    return next((message.text for message in reversed(prompt) if isinstance(message, HumanMessage)), "")


def since_question(prompt: list[BaseMessage]) -> list[BaseMessage]:
    """What followed the newest human message."""
    newest = max(place for place, message in enumerate(prompt) if isinstance(message, HumanMessage))
    return prompt[newest + 1 :]
