"""L7: compression on request, by the agent's tool and by a flag in the state."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langchain_ctxcompress import CompressionMiddleware, CompressionNode, ConfigError, ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph import CompressionState, create_compact_tool
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel

THREAD = {"configurable": {"thread_id": "t"}}


class Agent(CheckingModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def asks_once(prompt: list[BaseMessage]) -> AIMessage:
    """Calls the tool when it is asked to tidy up, and answers otherwise."""
    if prompt[-1].type == "human" and "tidy up" in str(prompt[-1].content):
        call = {"name": "compact_context", "args": {"focus": "the invoice numbers"}, "id": "c1"}
        return AIMessage("", tool_calls=[call])
    return AIMessage("done")


def node_graph(compressor: ContextCompressor, model: Any, mode: str = "replace") -> Any:
    class State(MessagesState, CompressionState):
        pass

    def call(state: Any) -> Any:
        return {"messages": [model.invoke(state["llm_input_messages"] if mode == "view" else state["messages"])]}

    graph = StateGraph(State)
    graph.add_node("compress", CompressionNode(compressor, mode=mode))
    graph.add_node("model", call)
    graph.add_node("tools", ToolNode([create_compact_tool()]))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "compress")
    return graph.compile(checkpointer=InMemorySaver())


def view_graph(compressor: ContextCompressor, model: Any) -> Any:
    return node_graph(compressor, model, "view")


def agent_graph(compressor: ContextCompressor, model: Any) -> Any:
    middleware = CompressionMiddleware(compressor)
    return create_agent(model, [create_compact_tool()], middleware=[middleware], checkpointer=InMemorySaver())


GRAPHS = pytest.mark.parametrize("build", [node_graph, view_graph, agent_graph])


def shown_to(model: ScriptedChatModel) -> list[bool]:
    return [any(map(is_summary, prompt)) for prompt in model.prompts]


@GRAPHS
@pytest.mark.parametrize("run_async", [False, True])
async def test_the_tool_compresses_before_the_agent_goes_on(build: Any, run_async: bool) -> None:
    summariser, model = ScriptedChatModel("invoices 1 to 9"), Agent(asks_once)
    compressor = ContextCompressor(summariser, config=PrunerConfig())
    app = build(compressor, model)
    given = {"messages": [*exchanges(20), HumanMessage("please tidy up")]}
    if run_async and build is agent_graph:
        state = await app.ainvoke(given, THREAD)
    else:
        state = app.invoke(given, THREAD)
    assert shown_to(model) == [False, True]
    assert "the invoice numbers" in str(summariser.prompts[0])
    assert model.failures == []
    assert violations(state["messages"]) == []
    app.invoke({"messages": [HumanMessage("and now?")]}, THREAD)
    assert summariser.calls == 1, "the request is past once it was carried out"


@GRAPHS
@pytest.mark.parametrize(("flag", "said"), [(True, ""), ("keep the SQL", "keep the SQL")])
def test_the_flag_in_the_state_compresses_once(build: Any, flag: Any, said: str) -> None:
    summariser, model = ScriptedChatModel("a summary"), Agent(asks_once)
    app = build(ContextCompressor(summariser, config=PrunerConfig()), model)
    app.invoke({"messages": [*exchanges(20), HumanMessage("hello")]}, THREAD)
    assert shown_to(model) == [False]
    app.invoke({"messages": [HumanMessage("go on")], "ctxcompress_compact": flag}, THREAD)
    assert shown_to(model) == [False, True]
    assert said in str(summariser.prompts[0])
    assert not app.get_state(THREAD).values.get("ctxcompress_compact")
    app.invoke({"messages": [HumanMessage("and now?")]}, THREAD)
    assert summariser.calls == 1


@GRAPHS
def test_the_flag_holds_on_a_thread_s_first_step_too(build: Any) -> None:
    model = Agent(asks_once)
    app = build(ContextCompressor(config=PrunerConfig()), model)
    app.invoke({"messages": [*exchanges(20), HumanMessage("hello")], "ctxcompress_compact": True}, THREAD)
    assert shown_to(model) == [True]


@GRAPHS
def test_where_there_is_nothing_to_compress_nothing_happens(build: Any) -> None:
    model = Agent(asks_once)
    app = build(ContextCompressor(ScriptedChatModel("a summary"), config=PrunerConfig()), model)
    state = app.invoke({"messages": [HumanMessage("please tidy up")], "ctxcompress_compact": True}, THREAD)
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert shown_to(model) == [False, False]


def test_a_flag_of_another_kind_is_refused() -> None:
    app = node_graph(ContextCompressor(config=PrunerConfig()), Agent("x"))
    with pytest.raises(ConfigError, match="ctxcompress_compact is 7"):
        app.invoke({"messages": [HumanMessage("hello")], "ctxcompress_compact": 7}, THREAD)


def test_a_state_without_the_flag_is_served_too() -> None:
    node = CompressionNode(config=PrunerConfig())
    assert node.invoke({"messages": exchanges(3)}) == {}
