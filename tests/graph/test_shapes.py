"""L1, L6: one node in every shape of graph: states, reducers, branches, interrupts, retries, checkpointers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass, field
from operator import add
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from langgraph.types import Command, RetryPolicy, Send, interrupt
from pydantic import BaseModel

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph import CompressionState
from tests.graph.savers import async_saver, sync_saver
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel
from tests.support.postgres import location
from tests.support.sizes import independent_tokens

LIMIT = 1_500
THREAD = {"configurable": {"thread_id": "t"}}


def question(i: int) -> HumanMessage:
    return HumanMessage(f"question {i}: where is order A-{1000 + i}? " + "and tell me why, " * 14, id=f"h{i}")


def answer(prompt: list[BaseMessage]) -> str:
    return f"answer to: {str(prompt[-1].content)[:30]} " + "because of this and that " * 6


def new_compressor(**arguments: Any) -> ContextCompressor:
    return ContextCompressor(**{"config": PrunerConfig.for_limit(LIMIT), **arguments})


def checking(replies: Any = answer, room: int = 0) -> CheckingModel:
    return CheckingModel(replies, limit=LIMIT, room=room)


def graph_of(node: CompressionNode, model: Any, state: Any = MessagesState, key: str = "messages") -> StateGraph:
    def read(state: Any) -> list[BaseMessage]:
        return state[key] if isinstance(state, dict) else getattr(state, key)

    async def acall(state: Any) -> Any:
        return {key: [await model.ainvoke(read(state))]}

    graph = StateGraph(state)
    graph.add_node("compress", node)
    graph.add_node("model", RunnableLambda(lambda state: {key: [model.invoke(read(state))]}, afunc=acall))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    graph.add_edge("model", END)
    return graph


def check_end(messages: list[BaseMessage], compressor: ContextCompressor, session: str = "t", turns: int = 30) -> None:
    """One summary, a legal and small list, and every question either in it or in the archive."""
    assert sum(map(is_summary, messages)) == 1
    assert violations(messages) == []
    assert independent_tokens(messages) < LIMIT + 200
    here = {m.id: m.content for m in messages if not is_summary(m)}
    for i in range(turns):
        found = here.get(f"h{i}") or compressor.expand_message(f"h{i}", session_id=session).content
        assert found == question(i).content


class DeltaState(CompressionState):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


@dataclass
class DataState:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


class PydanticState(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = []


@pytest.mark.parametrize("state", [MessagesState, DataState, PydanticState, DeltaState])
@pytest.mark.parametrize("run_async", [False, True])
async def test_states_and_reducers(state: Any, run_async: bool) -> None:
    compressor, model = new_compressor(), checking()
    app = graph_of(CompressionNode(compressor), model, state).compile(checkpointer=InMemorySaver())
    for i in range(30):
        given = {"messages": [question(i)]}
        result = await app.ainvoke(given, THREAD) if run_async else app.invoke(given, THREAD)
    assert model.failures == []
    check_end(result["messages"], compressor)


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Where the checkpointer keeps its threads."""
    return location(kind, request, tmp_path)


SAVERS = pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
DURABILITIES = pytest.mark.parametrize("durability", ["sync", "async", "exit"])


@SAVERS
@DURABILITIES
def test_checkpointers_and_durabilities(kind: str, durability: Any, place: Any) -> None:
    compressor, model = new_compressor(), checking()
    with sync_saver(kind, place) as saver:
        app = graph_of(CompressionNode(compressor), model).compile(checkpointer=saver)
        for i in range(30):
            app.invoke({"messages": [question(i)]}, THREAD, durability=durability)
        messages = app.get_state(THREAD).values["messages"]
    assert model.failures == []
    check_end(messages, compressor)


@SAVERS
@DURABILITIES
async def test_the_same_async_with_a_summariser_in_the_background(kind: str, durability: Any, place: Any) -> None:
    compressor, model = new_compressor(model=ScriptedChatModel("a summary")), checking()
    async with async_saver(kind, place) as saver:
        app = graph_of(CompressionNode(compressor), model).compile(checkpointer=saver)
        for i in range(30):
            await app.ainvoke({"messages": [question(i)]}, THREAD, durability=durability)
            if (work := compressor.background.of("t")) is not None and i % 2:
                await work.await_()
        messages = (await app.aget_state(THREAD)).values["messages"]
    assert model.failures == []
    assert compressor.background.counts["applied"] > 0
    check_end(messages, compressor)


def test_strict_msgpack_reads_back_all_that_was_written(tmp_path: Path) -> None:
    """In a process of its own: the setting is read when LangGraph is imported."""
    script = (
        "import sys, warnings\n"
        "from langchain_core.messages import AIMessage, HumanMessage\n"
        "from langgraph.checkpoint.sqlite import SqliteSaver\n"
        "from langgraph.graph import START, MessagesState, StateGraph\n"
        "from langchain_ctxcompress import CompressionNode, PrunerConfig\n"
        "from langchain_ctxcompress.graph import CompressionState\n"
        "class State(MessagesState, CompressionState):\n"
        "    pass\n"
        "config = {'configurable': {'thread_id': 't'}}\n"
        "for mode in ('replace', 'view'):\n"
        "    with SqliteSaver.from_conn_string(sys.argv[1] + mode) as saver:\n"
        "        for run in range(30):\n"
        "            graph = StateGraph(State)\n"
        "            graph.add_node('compress', CompressionNode(config=PrunerConfig.for_limit(1_500), mode=mode))\n"
        "            graph.add_node('model', lambda s: {'messages': [AIMessage(f'yes {run}, it is so. ' * 8)]})\n"
        "            graph.add_edge(START, 'compress')\n"
        "            graph.add_edge('compress', 'model')\n"
        "            app = graph.compile(checkpointer=saver)\n"
        "            state = app.invoke({'messages': [HumanMessage(f'order {run}? ' * 12)]}, config)\n"
        "        kept = app.get_state(config).values\n"
        "        shown = kept['messages' if mode == 'replace' else 'llm_input_messages']\n"
        "        marks = [m.additional_kwargs.get('ctxcompress', {}).get('kind') for m in shown]\n"
        "        kinds = {type(m).__name__ for m in shown}\n"
        "        print(mode, marks.count('summary'), kinds <= {'HumanMessage', 'AIMessage'})\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", script, str(tmp_path / "db")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert run.stdout.splitlines() == ["replace 1 True", "view 1 True"]
    assert "nregistered" not in run.stderr
    assert "Blocked" not in run.stderr


def test_a_subgraph_has_a_session_of_its_own() -> None:
    compressor, model = new_compressor(), checking()
    inner = graph_of(CompressionNode(compressor), model).compile(checkpointer=True)
    outer = StateGraph(MessagesState)
    outer.add_node(
        "inner", lambda state: {"messages": inner.invoke({"messages": state["messages"][-1:]})["messages"][-1]}
    )
    outer.add_node("compress", CompressionNode(compressor))
    outer.add_edge(START, "compress")
    outer.add_edge("compress", "inner")
    app = outer.compile(checkpointer=InMemorySaver())
    for i in range(30):
        app.invoke({"messages": [question(i)]}, THREAD)
    assert model.failures == []
    assert compressor.expand_message("h3", session_id="t|inner").content == question(3).content
    inside = [m.type for m in compressor.history("t|inner").messages()]
    assert set(inside) == {"human", "ai"}
    outside = compressor.history("t").messages()
    assert {m.type for m in outside} == {"human", "ai"}
    assert len({m.id for m in outside}) == len(outside)


def test_a_subgraph_that_shares_its_parents_messages() -> None:
    compressor, model = new_compressor(), checking()
    inner = graph_of(CompressionNode(compressor), model).compile()
    outer = StateGraph(MessagesState)
    outer.add_node("agent", inner)
    outer.add_edge(START, "agent")
    app = outer.compile(checkpointer=InMemorySaver())
    for i in range(30):
        streamed = list(app.stream({"messages": [question(i)]}, THREAD, stream_mode="messages", subgraphs=True))
        assert "earlier_conversation" not in str(streamed)
    assert model.failures == []
    # A subgraph hands its list back, without its removals: the parent keeps the originals, the model is not shown them.
    kept = app.get_state(THREAD).values["messages"]
    assert len(kept) == 60
    assert sum(map(is_summary, kept)) == 1
    assert violations(model.prompts[-1]) == []


def test_a_parallel_branch_s_write_survives_a_compression() -> None:
    compressor = new_compressor()
    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor))
    graph.add_node("beside", lambda state: {"messages": [AIMessage("noted beside it")]})
    graph.add_edge(START, "compress")
    graph.add_edge(START, "beside")
    app = graph.compile(checkpointer=InMemorySaver())
    for i in range(40):
        messages = app.invoke({"messages": [question(i)]}, THREAD)["messages"]
        assert messages[-1].content == "noted beside it"
    check_end(messages, compressor, turns=40)


def test_two_compressions_of_one_list_in_the_same_step() -> None:
    """Both remove the same ids."""
    compressor = new_compressor()
    graph = StateGraph(MessagesState)
    graph.add_node("one", CompressionNode(compressor))
    graph.add_node("other", CompressionNode(compressor))
    graph.add_edge(START, "one")
    graph.add_edge(START, "other")
    app = graph.compile(checkpointer=InMemorySaver())
    messages = app.invoke({"messages": exchanges(30)}, THREAD)["messages"]
    assert sum(map(is_summary, messages)) == 1
    assert violations(messages) == []
    assert app.invoke({"messages": [HumanMessage("and now?")]}, THREAD)["messages"][-1].content == "and now?"


class Parts(MessagesState):
    found: Annotated[list[int], add]


def test_send_gives_each_task_its_own_messages() -> None:
    compressor = new_compressor()
    node = CompressionNode(compressor)

    def part(state: Parts, config: RunnableConfig) -> Any:
        update = node.invoke(state, config)
        return {"found": [len(add_messages(state["messages"], update.get("messages", [])))]}

    graph = StateGraph(Parts)
    graph.add_node("part", part)
    graph.add_conditional_edges(
        START, lambda state: [Send("part", {"messages": exchanges(n, start=100 * n)}) for n in (2, 30, 40)], ["part"]
    )
    app = graph.compile(checkpointer=InMemorySaver())
    found = app.invoke({"messages": []}, THREAD)["found"]
    assert found[0] == 4
    assert all(count < 25 for count in found)


@SAVERS
def test_interrupt_and_resume_after_a_compression(kind: str, place: Any) -> None:
    """The compression is a step of its own: what comes after is interrupted and resumed, and it is not done again."""
    summariser = ScriptedChatModel("a summary")
    compressor = new_compressor(model=summariser)

    def ask(state: Any) -> Any:
        word = interrupt("go on?")
        return {"messages": [AIMessage(f"{word}: " + "because of this and that " * 8)]}

    with sync_saver(kind, place) as saver:
        for i in range(20):
            graph = StateGraph(MessagesState)  # made anew, as in a process that starts
            graph.add_node("compress", CompressionNode(compressor, background=False))
            graph.add_node("ask", ask)
            graph.add_edge(START, "compress")
            graph.add_edge("compress", "ask")
            app = graph.compile(checkpointer=saver)
            assert "__interrupt__" in app.invoke({"messages": [question(i)]}, THREAD)
            before, calls = app.get_state(THREAD).values["messages"], summariser.calls
            messages = app.invoke(Command(resume=f"yes {i}"), THREAD)["messages"]
            assert messages[:-1] == before
            assert summariser.calls == calls
            assert str(messages[-1].content).startswith(f"yes {i}")
    check_end(messages, compressor, turns=20)


def test_a_failure_behind_a_compression_does_not_pay_for_it_twice() -> None:
    summariser = ScriptedChatModel("a summary")
    compressor, fails = new_compressor(model=summariser), [True, True, False]

    def call(state: Any) -> Any:
        if fails.pop(0):
            raise ConnectionError("the provider is down")
        return {"messages": [AIMessage("at last")]}

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor, background=False))
    graph.add_node("model", call, retry_policy=RetryPolicy(initial_interval=0.01, max_attempts=2, jitter=False))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    app = graph.compile(checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        app.invoke({"messages": exchanges(30)}, THREAD)
    messages = app.invoke(None, THREAD)["messages"]
    assert messages[-1].content == "at last"
    assert summariser.calls == 1
    assert sum(map(is_summary, messages)) == 1


async def test_many_threads_of_one_graph_at_once() -> None:
    compressor, model = new_compressor(model=ScriptedChatModel("a summary")), checking()
    app = graph_of(CompressionNode(compressor), model).compile(checkpointer=InMemorySaver())

    async def talk(name: str) -> list[BaseMessage]:
        config = {"configurable": {"thread_id": name}}
        for i in range(12):
            said = HumanMessage(f"{name} says: " + "where is my order? " * 25, id=f"{name}-{i}")
            state = await app.ainvoke({"messages": [said]}, config)
        return state["messages"]

    for number, messages in enumerate(await asyncio.gather(*(talk(f"user{n}") for n in range(8)))):
        own = [m for m in messages if m.type == "human" and not is_summary(m)]
        assert own
        assert all(str(m.content).startswith(f"user{number} says") for m in own)
        assert all(str(m.id).startswith(f"user{number}-") for m in compressor.history(f"user{number}").messages()[::2])
    assert model.failures == []
