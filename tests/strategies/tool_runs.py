"""Runs of tool calls, and what a strategy makes of them when it is run by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import PrunerConfig, count_tokens, truncate_to_tokens
from langchain_ctxcompress.limits import PruneUrgency, classify_prune_urgency
from langchain_ctxcompress.messages import ensure_ids, repair_messages
from langchain_ctxcompress.strategies import ClearTools, CompressionDraft, CompressionRequest, Tools
from langchain_ctxcompress.tokens import MessageCounter
from tests.support.legality import mark_kind

OUTPUT = "line of output with a number 12345\n" * 60


class CountingTools:
    """Counts as the package does, and remembers how often each message object was counted."""

    def __init__(self) -> None:
        self.seen: list[BaseMessage] = []  # holds them, so that no id is given to another object
        counter = MessageCounter()

        def count(messages: Sequence[BaseMessage]) -> list[int]:
            self.seen += messages
            return counter(messages)

        self.tools = Tools(count, count_tokens, truncate_to_tokens, counter.saying)

    @property
    def counts(self) -> Counter[int]:
        return Counter(map(id, self.seen))


def request_of(
    messages: Sequence[BaseMessage], limit: int, *, tools: Tools | None = None, **fields: Any
) -> CompressionRequest:
    own = ensure_ids(repair_messages(ensure_ids(messages, "s")).messages, "s")
    tools = tools or CountingTools().tools
    config = PrunerConfig.for_limit(limit, **fields)
    sizes = tuple(tools.count(own))
    request = CompressionRequest(tuple(own), sizes, config, PruneUrgency.NONE, tools, session_id="s")
    urgency = classify_prune_urgency(request.window, config)
    return CompressionRequest(tuple(own), sizes, config, urgency, tools, session_id="s")


def run(strategy: ClearTools, request: CompressionRequest) -> CompressionDraft:
    steps = strategy.run(request)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    draft = stop.value.value
    assert isinstance(draft, CompressionDraft)
    return draft


def step(number: int, output: str | list[Any] = OUTPUT, **args: Any) -> list[BaseMessage]:
    call = {"name": "look", "args": args or {"path": f"file{number}.py"}, "id": f"c{number}"}
    return [
        AIMessage(f"Step {number}.", tool_calls=[call], id=f"a{number}"),
        ToolMessage(output, tool_call_id=f"c{number}", name="look", id=f"t{number}"),
    ]


def steps(number: int, build: Callable[[int], list[BaseMessage]] = step) -> list[BaseMessage]:
    """A run: a task, the answer to it, and `number` steps, each a turn."""
    begun = [HumanMessage("Find it.", id="task"), AIMessage("I will.", id="will")]
    return [*begun, *(message for n in range(number) for message in build(n))]


def said(messages: Sequence[BaseMessage], message_id: str) -> BaseMessage:
    return next(message for message in messages if message.id == message_id)


def cleared(messages: Sequence[BaseMessage]) -> list[str | None]:
    return [message.id for message in messages if mark_kind(message) == "cleared"]


def limit_for(messages: Sequence[BaseMessage]) -> int:
    """A hard limit under which the list is a little over its soft limit."""
    return int(sum(MessageCounter()(messages)) / 0.63)
