"""The doors that `everything.py` goes through: a node in both modes, an agent, a history.

Each keeps what the application knows of its conversation, and notes every list before it is compressed, with the prompt
that was made of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NotRequired

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from langchain_ctxcompress import (
    CompressedChatMessageHistory,
    CompressionMiddleware,
    CompressionNode,
    ContextCompressor,
)
from tests.support.archive import RawArchive
from tests.support.faults import SUMMARY_MARK
from tests.support.histories import ListHistory
from tests.support.legality import is_summary, mark_kind
from tests.support.models import ScriptedChatModel


class ViewState(TypedDict):
    """The state of a graph in view mode; in replace mode the node leaves its own keys out."""

    messages: Annotated[list[Any], add_messages]
    llm_input_messages: NotRequired[list[Any]]
    ctxcompress: NotRequired[dict[str, Any]]


@tool
def look(q: str) -> str:
    """Looks something up."""
    return f"found {q}: " + "line of output " * (5 + len(q) % 40)


class Spy(AgentMiddleware):
    """Tells what the agent's list is before it is compressed."""

    def __init__(self, note: Callable[[list[BaseMessage]], None]) -> None:
        super().__init__()
        self.note = note

    def before_model(self, state: Any, runtime: Any) -> None:
        self.note(list(state["messages"]))

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        self.note(list(state["messages"]))


class Door:
    """One conversation through one door.

    Attributes:
        whole: The newest revision of each message that is in the conversation, in order.
        given: The lists before compression, each with the prompt that was made of it, and how many checkpoints there
            were by then.
        replaced: The ids of what was replaced before the last run.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.archive = name, RawArchive(path, name)
        self.whole: dict[str, BaseMessage] = {}
        self.past: list[tuple[Any, dict[str, BaseMessage]]] = []
        self.given: list[tuple[list[BaseMessage], list[BaseMessage], int]] = []
        self.spied: list[BaseMessage] = []
        self.script: list[AIMessage] = []
        self.number = 0
        self.saver = InMemorySaver()
        self.config: Any = {"configurable": {"thread_id": name}}
        self.leaked: list[str] = []
        self.replaced: set[str] = set()
        self.steady: tuple[str, ...] = ()
        self.model = ScriptedChatModel(self.answer, streams=True)

    def new_id(self) -> str:
        self.number += 1
        return f"{self.name}-{self.number}"

    def answer(self, prompt: list[BaseMessage]) -> AIMessage:
        self.given.append((self.spied, prompt, self.archive.checkpoints()))
        message = self.script.pop(0) if self.script else AIMessage("so it is " * 4)
        return message.model_copy(update={"id": self.new_id()})

    def note(self, messages: list[BaseMessage]) -> None:
        self.spied = messages
        for message in messages:
            if not is_summary(message) and mark_kind(message) in (None, "pin"):
                self.whole[message.id or ""] = message

    def open(self, compressor: ContextCompressor, *, background: bool) -> None:
        self.compressor = compressor

    def run(self, messages: list[BaseMessage], *, on_loop: bool = False, config: Any = None) -> None:
        raise NotImplementedError

    def state(self) -> list[BaseMessage]:
        raise NotImplementedError

    def shown(self) -> list[BaseMessage]:
        """What the model would be shown now."""
        return self.compressor.view(self.state(), session_id=self.name)

    def write(self, message: BaseMessage) -> None:
        """Somebody changes a message, or removes one."""
        raise NotImplementedError


class GraphDoor(Door):
    """A node in a graph, with a model and a tool behind it."""

    mode = "replace"

    def open(self, compressor: ContextCompressor, *, background: bool) -> None:
        super().open(compressor, background=background)
        key = "llm_input_messages" if self.mode == "view" else "messages"

        async def amodel(state: Any) -> Any:
            return {"messages": [await self.model.ainvoke(state[key])]}

        graph = StateGraph(ViewState)
        graph.add_node("spy", lambda state: self.note(list(state["messages"])))
        graph.add_node("compress", CompressionNode(compressor, mode=self.mode, background=background))
        graph.add_node(
            "model", RunnableLambda(lambda state: {"messages": [self.model.invoke(state[key])]}, afunc=amodel)
        )
        graph.add_node("tools", ToolNode([look]))
        graph.add_edge(START, "spy")
        graph.add_edge("spy", "compress")
        graph.add_edge("compress", "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "spy")
        self.app: Any = graph.compile(checkpointer=self.saver)

    def run(self, messages: list[BaseMessage], *, on_loop: bool = False, config: Any = None) -> None:
        config = {**(config or self.config), "recursion_limit": 200}
        given = {"messages": messages}
        if on_loop:
            asyncio.run(self.stream(given, config))
        else:
            for chunk in self.app.stream(given, config, stream_mode="messages"):
                self.heard(chunk)
        self.after()

    async def stream(self, given: Any, config: Any) -> None:
        async for chunk in self.app.astream(given, config, stream_mode="messages"):
            self.heard(chunk)

    def heard(self, chunk: Any) -> None:
        """Law 10: neither the summariser's tokens nor the summary message."""
        message = chunk[0]
        if SUMMARY_MARK in str(message.content) or is_summary(message):
            self.leaked.append(repr(message)[:200])

    def after(self) -> None:
        snapshot = self.app.get_state(self.config)
        for message in snapshot.values["messages"]:
            if not is_summary(message) and mark_kind(message) in (None, "pin"):
                self.whole[message.id or ""] = message
        self.past = [*self.past[-11:], (snapshot.config, dict(self.whole))]

    def state(self) -> list[BaseMessage]:
        return list(self.app.get_state(self.config).values.get("messages") or [])

    def shown(self) -> list[BaseMessage]:
        return super().shown() if self.mode == "view" else self.state()

    def write(self, message: BaseMessage) -> None:
        self.app.update_state(self.config, {"messages": [message]}, as_node="model")


class ViewDoor(GraphDoor):
    """The same, and the state keeps everything."""

    mode = "view"


class AgentDoor(GraphDoor):
    """`create_agent` with the middleware."""

    def open(self, compressor: ContextCompressor, *, background: bool) -> None:
        self.compressor = compressor
        self.app = create_agent(
            self.model,
            [look],
            system_prompt="Be brief.",
            middleware=[Spy(self.note), CompressionMiddleware(compressor, background=background)],
            checkpointer=self.saver,
        )

    def answer(self, prompt: list[BaseMessage]) -> AIMessage:
        return super().answer([m for m in prompt if not isinstance(m, SystemMessage)])

    def write(self, message: BaseMessage) -> None:
        self.app.update_state(self.config, {"messages": [message]}, as_node="model")


class HistoryDoor(Door):
    """A chat history around one that keeps all."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, path)
        self.inner = ListHistory()

    def open(self, compressor: ContextCompressor, *, background: bool) -> None:
        super().open(compressor, background=background)
        self.history = CompressedChatMessageHistory(self.inner, compressor, session_id=self.name)

    def run(self, messages: list[BaseMessage], *, on_loop: bool = False, config: Any = None) -> None:
        if on_loop:
            asyncio.run(self.arun(messages))
            return
        self.history.add_messages(messages)
        self.note(list(self.inner.messages))
        replies = self.turn()
        self.history.add_messages([self.model.invoke(self.history.messages), *replies])
        self.note(list(self.inner.messages))
        self.script.clear()

    async def arun(self, messages: list[BaseMessage]) -> None:
        await self.history.aadd_messages(messages)
        self.note(list(self.inner.messages))
        replies = self.turn()
        prompt = await self.history.aget_messages()
        await self.history.aadd_messages([await self.model.ainvoke(prompt), *replies])
        self.note(list(self.inner.messages))
        self.script.clear()

    def turn(self) -> list[BaseMessage]:
        """What an agent says behind its first call until its last word: it is saved with it."""
        *calls, last = [*self.script, AIMessage("that was all")]
        self.script = calls[:1] or [last]
        messages: list[BaseMessage] = []
        for place, call in enumerate(calls):
            if place:
                messages.append(call.model_copy(update={"id": self.new_id()}))
            for made in call.tool_calls:
                text = look.invoke(made["args"])
                messages.append(ToolMessage(text, tool_call_id=made["id"], id=self.new_id()))
        return [*messages, last.model_copy(update={"id": self.new_id()})] if calls else []

    def state(self) -> list[BaseMessage]:
        return list(self.inner.messages)

    def write(self, message: BaseMessage) -> None:
        kept = [m for m in self.inner.messages if m.id != message.id or not isinstance(message, RemoveMessage)]
        self.inner.messages = [message if m.id == message.id else m for m in kept]
