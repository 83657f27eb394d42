"""Several agents: a supervisor hands work over to two others, all in one shared list of messages.

A hand-over is a tool call, its result, and a jump to another node. The compression never parts a call from its result.
"""

from __future__ import annotations

from typing import Annotated, Any

from _model import DemoModel, call, newest_question, since_question, summariser
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from langchain_ctxcompress import CompressionMiddleware, CompressionNode, ContextCompressor, PrunerConfig

WORKERS = ("research", "writing")


def hand_over_to(worker: str) -> BaseTool:
    """The tool by which the supervisor gives work to one of the others."""

    @tool(f"hand_over_to_{worker}", description=f"Give the request to {worker}.")
    def hand_over(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
        said = ToolMessage(f"{worker} takes over.", tool_call_id=tool_call_id)
        return Command(goto=worker, graph=Command.PARENT, update={"messages": [said]})

    return hand_over


def build(boss: BaseChatModel, worker: BaseChatModel, compressor: ContextCompressor) -> CompiledStateGraph:
    """Compress, let the supervisor decide, hand over; a worker's answer goes back to the supervisor."""
    tools = [hand_over_to(name) for name in WORKERS]
    bound = boss.bind_tools(tools)
    hands = StateGraph(MessagesState)  # in a graph of its own, so that it jumps in the one around it
    hands.add_node("tools", ToolNode(tools))
    hands.add_edge(START, "tools")

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor))
    graph.add_node("supervisor", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", hands.compile(), destinations=WORKERS)
    for name in WORKERS:
        agent = create_agent(worker, [], middleware=[CompressionMiddleware(compressor)], name=name)

        def work(state: MessagesState, agent: Any = agent, name: str = name) -> dict[str, Any]:
            answer = agent.invoke({"messages": state["messages"]})["messages"][-1]
            return {"messages": [answer.model_copy(update={"name": name})]}

        graph.add_node(name, work)
        graph.add_edge(name, "compress")
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "supervisor")
    graph.add_conditional_edges("supervisor", tools_condition, ["tools", END])
    return graph.compile(checkpointer=InMemorySaver())


def decide(prompt: list[BaseMessage]) -> AIMessage:
    """What the supervisor does: it has things found out, has them written down, then reports."""
    answers = [m for m in since_question(prompt) if isinstance(m, AIMessage) and m.name]
    if len(answers) < len(WORKERS):
        worker = WORKERS[len(answers)]
        return call(f"hand_over_to_{worker}", f"{worker}-{abs(hash(newest_question(prompt)))}")
    return AIMessage("It is found out and written down.")


def main() -> None:
    """Give the team one request after the other."""
    boss = DemoModel(reply=decide)  # a real one: init_chat_model("openai:gpt-4.1")
    worker = DemoModel(reply=lambda _prompt: "This is what came of it: " + "one thing and another, " * 15)
    compressor = ContextCompressor(summariser(), config=PrunerConfig.for_limit(2_000))
    team = build(boss, worker, compressor)
    thread = {"configurable": {"thread_id": "team"}}
    for number in range(15):
        request = HumanMessage(f"Request {number}: a page on topic {number}, please.")
        state = team.invoke({"messages": [request]}, thread)
    print(state["messages"][-1].text)
    print(f"{len(compressor.history('team').messages())} messages are archived, {len(state['messages'])} are shared")


if __name__ == "__main__":
    main()
