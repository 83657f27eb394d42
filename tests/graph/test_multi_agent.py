"""Agents in one graph: a supervisor and a swarm, with a shared list and with lists of their own."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from langchain_ctxcompress import CompressionMiddleware, CompressionNode, ContextCompressor, PrunerConfig
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel

LIMIT = 1_800
THREAD: Any = {"configurable": {"thread_id": "t"}}
QUESTIONS = 14


class Agent(CheckingModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def question(i: int) -> HumanMessage:
    return HumanMessage(f"question {i}: what about order A-{1000 + i}? " + "I would like to know. " * 6, id=f"h{i}")


def new_compressor() -> ContextCompressor:
    return ContextCompressor(ScriptedChatModel("They spoke of orders."), config=PrunerConfig.for_limit(LIMIT))


def newest(prompt: list[BaseMessage]) -> tuple[int, list[BaseMessage]]:
    """The number of the newest question, and what followed it."""
    place = max(p for p, m in enumerate(prompt) if m.type == "human" and not is_summary(m))
    return int(prompt[place].text.split(":")[0].removeprefix("question ")), prompt[place + 1 :]


def calling(*named: str, i: int) -> AIMessage:
    calls = [{"name": name, "args": {}, "id": f"{name}-{i}"} for name in named]
    return AIMessage("", tool_calls=calls, id=f"calls-{named[0]}-{i}")


def answer(i: int) -> AIMessage:
    return AIMessage(f"answer {i}: " + "it is on its way, as it seems. " * 8, id=f"a{i}")


def split(messages: list[BaseMessage]) -> list[str]:
    """Hand-overs whose call and result do not stand side by side."""
    found = []
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage) and message.tool_call_id.startswith("to_"):
            caller = next((m for m in reversed(messages[:place]) if not isinstance(m, ToolMessage)), None)
            ids = [call["id"] for call in getattr(caller, "tool_calls", [])]
            found += [] if message.tool_call_id in ids else [message.tool_call_id]
    for place, message in enumerate(messages[:-1]):
        for call in getattr(message, "tool_calls", []):
            answered = {m.tool_call_id for m in messages[place + 1 :] if isinstance(m, ToolMessage)}
            found += [] if call["id"] in answered else [str(call["id"])]
    return found


def check(models: list[Agent], limit: int = LIMIT) -> None:
    for model in models:
        assert model.prompts
        assert model.failures == []
        for prompt in model.prompts:
            assert split(prompt) == []
            ids = [message.id for message in prompt]
            assert len(set(ids)) == len(ids)
            assert sum(map(is_summary, prompt)) <= 1
        assert sum(map(is_summary, model.prompts[-1])) == 1


@tool
def look_up() -> str:
    """Look the order up."""
    return "The order is on its way from the warehouse. " * 6


def handing_to(other: str) -> Any:
    """The hand-over of a swarm: the other agent goes on with the same list."""

    @tool(f"to_{other}")
    def hand_over(runtime: ToolRuntime, call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Hand over to the other agent."""
        said = ToolMessage(f"{other} goes on", tool_call_id=call_id, id=f"result-{call_id}")
        # The caller's list ends with the call: the graph around it has not seen it yet.
        messages = [*runtime.state["messages"], said]
        return Command(goto=other, graph=Command.PARENT, update={"messages": messages, "active": other})

    return hand_over


class Swarm(MessagesState):
    active: str


@pytest.mark.parametrize("run_async", [False, True])
async def test_a_swarm_with_one_shared_list(run_async: bool) -> None:
    def acts(other: str) -> Any:
        def reply(prompt: list[BaseMessage]) -> AIMessage:
            i, since = newest(prompt)
            used = [call["name"] for m in since for call in getattr(m, "tool_calls", [])]
            if not used:
                return calling("look_up", i=i)
            if not any(name.startswith("to_") for name in used):
                return calling(f"to_{other}", i=i)
            return answer(i)

        return reply

    compressor = new_compressor()
    models = {"ann": Agent(acts("bob"), limit=LIMIT), "bob": Agent(acts("ann"), limit=LIMIT)}
    graph = StateGraph(Swarm)
    for name, other in (("ann", "bob"), ("bob", "ann")):
        agent = create_agent(
            models[name], [look_up, handing_to(other)], middleware=[CompressionMiddleware(compressor)], name=name
        )
        graph.add_node(name, agent, destinations=(other,))
    graph.add_conditional_edges(START, lambda state: state.get("active") or "ann", ["ann", "bob"])
    app = graph.compile(checkpointer=InMemorySaver())
    for i in range(QUESTIONS):
        given = {"messages": [question(i)]}
        state = await app.ainvoke(given, THREAD) if run_async else app.invoke(given, THREAD)
        assert state["messages"][-1].text == answer(i).text
        assert state["active"] == ("bob", "ann")[i % 2]
    check(list(models.values()))
    kept = {m.id: m.text for m in state["messages"] if not is_summary(m)}
    for i in range(QUESTIONS):
        archived = [compressor.expand_message(f"h{i}", session_id=session) for session in ("t|ann", "t|bob")]
        assert question(i).text in [kept.get(f"h{i}"), *(m.text for m in archived if m is not None)]


def test_a_supervisor_with_a_shared_list_and_hand_overs_beside_other_calls() -> None:
    """The batch holds another call besides the hand-over: it is kept or replaced whole."""

    def acts(prompt: list[BaseMessage]) -> AIMessage:
        i, since = newest(prompt)
        if not since:
            return calling("look_up", "to_worker", i=i)
        return answer(i)

    @tool
    def to_worker(call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Hand over to the worker."""
        return Command(goto="worker", update={"messages": [ToolMessage("the worker goes on", tool_call_id=call_id)]})

    compressor = new_compressor()
    boss = Agent(acts, limit=LIMIT)
    worker = Agent(lambda prompt: AIMessage(f"report {newest(prompt)[0]}: " + "done so far. " * 12), limit=LIMIT)
    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor))
    graph.add_node("boss", lambda state: {"messages": [boss.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([look_up, to_worker]), destinations=("worker",))
    graph.add_node("worker", lambda state: {"messages": [worker.invoke(state["messages"])]})
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "boss")
    graph.add_conditional_edges("boss", tools_condition)
    graph.add_edge("worker", "compress")
    app = graph.compile(checkpointer=InMemorySaver())
    for i in range(QUESTIONS):
        state = app.invoke({"messages": [question(i)]}, THREAD)
        assert split(state["messages"]) == []
    check([boss, worker], LIMIT)
    results = {m.tool_call_id for m in compressor.history("t").messages() if isinstance(m, ToolMessage)}
    shown = {m.tool_call_id for m in state["messages"] if isinstance(m, ToolMessage)}
    assert results | shown == {f"{name}-{i}" for name in ("look_up", "to_worker") for i in range(QUESTIONS)}


def test_a_supervisor_whose_workers_have_lists_of_their_own() -> None:
    compressor = new_compressor()
    models = {
        name: Agent(lambda prompt: AIMessage("what I found: " + f"{newest(prompt)[0]} " * 40), limit=LIMIT)
        for name in ("ann", "bob")
    }
    workers = {
        name: create_agent(model, [], middleware=[CompressionMiddleware(compressor)], checkpointer=True, name=name)
        for name, model in models.items()
    }

    def asks(name: str) -> Any:
        def ask(state: MessagesState) -> Any:
            i, _ = newest(state["messages"])
            task = HumanMessage(f"question {i}: {name} alone is told the word {name}-{i}. " + "Please look. " * 10)
            report = workers[name].invoke({"messages": [task]})["messages"][-1]
            return {"messages": [AIMessage(report.text, name=name, id=f"{name}-{i}")]}

        return ask

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor))
    graph.add_edge(START, "compress")
    for name in workers:
        graph.add_node(name, asks(name))
    graph.add_edge("compress", "ann")
    graph.add_edge("ann", "bob")
    app = graph.compile(checkpointer=InMemorySaver())
    for i in range(QUESTIONS):
        state = app.invoke({"messages": [question(i)]}, THREAD)
        assert violations(state["messages"]) == []
    check(list(models.values()))
    for name, other in (("ann", "bob"), ("bob", "ann")):
        inside = compressor.history(f"t|{name}").messages()
        assert inside
        assert not [m for m in inside if f"{other}-" in m.text]
        assert not [m for prompt in models[name].prompts for m in prompt if f"{other}-" in m.text]
    assert not [m for m in compressor.history("t").messages() if "is told the word" in m.text]
