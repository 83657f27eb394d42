"""`compressed_react_agent`: a ready graph of an agent with tools, whose messages are compressed before each model call.

Most will use `create_agent` with the middleware. This is the same in the open: a graph of three nodes to take as it is,
or to copy and change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableLambda

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.doors import compressor_of
from langchain_ctxcompress.graph.node import CompressionNode
from langchain_ctxcompress.graph.overhead import OverheadCounter
from langchain_ctxcompress.graph.state import CompressionState
from langchain_ctxcompress.summarize import AgentCall

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore


def compressed_react_agent(
    model: BaseChatModel,
    tools: Sequence[BaseTool] = (),
    compressor: ContextCompressor | None = None,
    *,
    system_prompt: str = "",
    background: bool = True,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
    **arguments: Any,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """An agent that calls its tools until it has an answer; in front of each model call it compresses.

    Args:
        model: The agent's chat model; without tools it need not take any.
        tools: Its tools.
        compressor: The engine. Without it, `arguments` make one.
        system_prompt: Sent in front of each request; it counts towards the limits, as the tools' schemas do.
        background: As in `CompressionNode`.
        checkpointer: Keeps threads.
        store: The graph's store; the archive, where the compressor has none of its own.
        **arguments: Arguments of a `ContextCompressor`.
    """
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    class State(MessagesState, CompressionState):
        """Messages, and the flag that asks for a compression."""

    engine = compressor_of(compressor, arguments)
    system = [SystemMessage(system_prompt)] if system_prompt else []
    overhead = OverheadCounter(engine.count_text, engine.count)(system[0] if system else None, tools)
    bound: Any = model.bind_tools(tools) if tools else model

    def call(state: Any) -> dict[str, Any]:
        return {"messages": [bound.invoke([*system, *state["messages"]])]}

    async def acall(state: Any) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke([*system, *state["messages"]])]}

    graph: Any = StateGraph(State)
    sent = AgentCall(model, tuple(tools), system[0] if system else None)
    node = CompressionNode(engine, background=background, overhead_tokens=overhead, agent=sent)
    graph.add_node("compress", node)
    graph.add_node("model", RunnableLambda(call, afunc=acall))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    if tools:
        graph.add_node("tools", ToolNode(tools))
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "compress")
    compiled: CompiledStateGraph[Any, Any, Any, Any] = graph.compile(checkpointer=checkpointer, store=store)
    return compiled
