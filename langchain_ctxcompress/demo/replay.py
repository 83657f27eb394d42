"""Plays a recorded session through a LangGraph graph, step by step, with a `CompressionNode` before the agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.engine import CompressionResult
from langchain_ctxcompress.messages import is_summary, split_turns
from langchain_ctxcompress.tokens import MessageCounter


@dataclass(frozen=True, slots=True)
class Step:
    """One model step of the session.

    Attributes:
        number: Which one, from 1.
        total: How many the session has.
        tokens: What the model was sent, in tokens.
        compression: What the node did before it, if it made the list smaller.
    """

    number: int
    total: int
    tokens: int
    compression: CompressionResult | None


class WatchedCompressor(ContextCompressor):
    """A compressor that keeps the results in which the list became smaller."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.applied: list[CompressionResult] = []

    def compress(self, *args: Any, **kwargs: Any) -> CompressionResult:
        """As `ContextCompressor.compress`."""
        result = super().compress(*args, **kwargs)
        if result.tokens_after < result.tokens_before:
            self.applied.append(result)
        return result


class Replay:
    """A session on its way through the graph.

    Each step is given what came in since the last one (the user's message, or the results of tools) and gives the
    recorded reply, as a model would. The thread's state lives in an in-memory checkpointer.

    Args:
        session: The recorded messages; the last is an AI message.
        compressor: What the node compresses with.

    Attributes:
        prompts: The size of what the model was sent in each step so far, in tokens.
    """

    def __init__(self, session: Sequence[BaseMessage], compressor: WatchedCompressor) -> None:
        self.session = session
        self.compressor = compressor
        self.prompts: list[int] = []
        self._count = MessageCounter()
        self._reply: AIMessage | None = None
        self._config: RunnableConfig = {"configurable": {"thread_id": "demo"}}
        self._graph = self._build()

    def _build(self) -> Any:
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph import START, MessagesState, StateGraph

        from langchain_ctxcompress.graph import CompressionNode

        def agent(state: MessagesState) -> dict[str, list[BaseMessage]]:
            self.prompts.append(sum(self._count(state["messages"])))
            return {"messages": [self._reply] if self._reply else []}

        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(self.compressor))
        graph.add_node("agent", agent)
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "agent")
        return graph.compile(checkpointer=InMemorySaver())

    def steps(self) -> Iterator[Step]:
        """Play it, one model step at a time."""
        rounds = list(_rounds(self.session))
        for number, (incoming, reply) in enumerate(rounds, start=1):
            before = len(self.compressor.applied)
            self._reply = reply
            self._graph.invoke({"messages": incoming}, self._config)
            new = self.compressor.applied[before:]
            yield Step(number, len(rounds), self.prompts[-1], new[-1] if new else None)

    def window(self) -> list[BaseMessage]:
        """The messages that are in the thread's state now."""
        return list(self._graph.get_state(self._config).values.get("messages", []))

    def window_tokens(self) -> int:
        """Their size, in tokens."""
        return sum(self._count(self.window()))

    def turns_kept(self) -> int:
        """How many turns of the window are the session's own, word for word."""
        return sum(not turn.is_summary for turn in split_turns(self.window()))

    def replaced(self) -> list[BaseMessage]:
        """The recorded messages that are no longer in the window; the summary message bears an id of one of them."""
        left = {message.id for message in self.window() if not is_summary(message)}
        return [message for message in self.session if message.id not in left]


def _rounds(session: Sequence[BaseMessage]) -> Iterator[tuple[list[BaseMessage], AIMessage]]:
    """The session cut at the model's replies: what comes in, and the reply to it."""
    incoming: list[BaseMessage] = []
    for message in session:
        if isinstance(message, AIMessage):
            yield incoming, message
            incoming = []
        else:
            incoming.append(message)
