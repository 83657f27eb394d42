"""L1 to L6, laws 1, 2, 6, 8, 10: every door in every kind of run, with a model that judges each prompt it is sent.

The whole product of doors, sync and async, streams, checkpointers and durabilities has several hundred cells and is
marked `slow`. By default a covering subset runs: every two values of two different axes meet in at least one cell.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import Field

from langchain_ctxcompress import (
    CompressedChatMessageHistory,
    CompressionMiddleware,
    CompressionNode,
    ContextCompressor,
    PrunerConfig,
)
from langchain_ctxcompress.graph import CompressionState
from tests.graph.savers import async_saver, sync_saver
from tests.support.legality import is_summary
from tests.support.models import CheckingModel, ScriptedChatModel
from tests.support.postgres import location

DOORS = ("replace", "view", "middleware", "history")
RUNS = ("sync", "async")
STREAMS = ("invoke", "values", "updates", "messages", "events")
SAVERS = ("none", "memory", "sqlite", "postgres")
DURABILITIES = ("sync", "async", "exit")
AXES = (DOORS, RUNS, STREAMS, SAVERS, DURABILITIES)
CELLS = list(itertools.product(*AXES))

Cell = tuple[str, str, str, str, str]
QUESTIONS = 9
PLAIN_QUESTIONS = 20
"""Where the list holds no results of tools."""
CALLS = 2
LIMIT = 1_500
ROOM = 200
"""The history door is sent the newest question besides what it holds."""
SECRET = "the-summariser-said-this"
THREAD = {"configurable": {"thread_id": "t"}}


def pairs(cell: Cell) -> set[tuple[tuple[int, str], tuple[int, str]]]:
    return set(itertools.combinations(enumerate(cell), 2))


def covering() -> list[Cell]:
    """Cells in which every two values of two axes meet: each is the first of those that bring most that is new."""
    wanted = set().union(*map(pairs, CELLS))
    chosen: list[Cell] = []
    while wanted:
        best = max(CELLS, key=lambda cell: len(wanted & pairs(cell)))
        chosen.append(best)
        wanted -= pairs(best)
    return chosen


@tool
def look_up(order: str) -> str:
    """Look an order up."""
    return f"order {order}: " + "on its way from the warehouse; " * 9


class Agent(CheckingModel):
    """Calls its tool twice for each question, then answers; each prompt is also looked through for repetitions."""

    tools: bool = True
    repeated: list[str] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def check(self, prompt: list[BaseMessage]) -> None:
        super().check(prompt)
        ids = [message.id for message in prompt]
        self.repeated += [str(found) for found in set(ids) if ids.count(found) > 1]
        self.repeated += ["two summaries"] * (sum(map(is_summary, prompt)) > 1)


def number_of(prompt: list[BaseMessage]) -> int:
    """Which question is being answered."""
    asked = next(m for m in reversed(prompt) if m.type == "human" and not is_summary(m))
    return int(asked.text.split(":")[0].removeprefix("question "))


def question(i: int) -> HumanMessage:
    return HumanMessage(f"question {i}: where is order A-{1000 + i}? " + "And tell me why it is so. " * 5, id=f"h{i}")


def final(i: int) -> AIMessage:
    return AIMessage(f"answer {i}: " + "all of them are on their way, as it seems to me; " * 4, id=f"a{i}")


def works(prompt: list[BaseMessage]) -> AIMessage:
    i, done = number_of(prompt), 0
    for message in reversed(prompt):
        if message.type == "human" and not is_summary(message):
            break
        done += isinstance(message, ToolMessage)
    if done < CALLS:
        return AIMessage("", tool_calls=[{"name": "look_up", "args": {"order": f"{i}-{done}"}, "id": f"c{i}-{done}"}])
    return final(i)


def talks(prompt: list[BaseMessage]) -> AIMessage:
    return final(number_of(prompt))


def node_graph(mode: Any, model: Any, compressor: ContextCompressor, background: bool, **compiling: Any) -> Any:
    class State(MessagesState, CompressionState):
        """Of both modes."""

    key = "messages" if mode == "replace" else "llm_input_messages"

    async def acall(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state[key])]}

    graph = StateGraph(State)
    graph.add_node("compress", CompressionNode(compressor, mode=mode, background=background))
    graph.add_node("model", RunnableLambda(lambda state: {"messages": [model.invoke(state[key])]}, afunc=acall))
    graph.add_node("tools", ToolNode([look_up]))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "compress")
    return graph.compile(**compiling)


class ListHistory(BaseChatMessageHistory):
    def __init__(self) -> None:
        self.messages: list[BaseMessage] = []

    def add_messages(self, messages: Any) -> None:
        self.messages += messages

    def clear(self) -> None:
        self.messages.clear()


def history_graph(model: Any, compressor: ContextCompressor, **compiling: Any) -> Any:
    """A chain with a history, in a node of a graph: load, answer, save."""
    history = CompressedChatMessageHistory(ListHistory(), compressor, session_id="t")

    def call(state: Any) -> Any:
        asked = state["messages"][-1]
        answer = model.invoke([*history.messages, asked])
        history.add_messages([asked, answer])
        return {"messages": [answer]}

    async def acall(state: Any) -> Any:
        asked = state["messages"][-1]
        answer = await model.ainvoke([*await history.aget_messages(), asked])
        await history.aadd_messages([asked, answer])
        return {"messages": [answer]}

    graph = StateGraph(MessagesState)
    graph.add_node("chain", RunnableLambda(call, afunc=acall))
    graph.add_edge(START, "chain")
    return graph.compile(**compiling)


def build(door: str, model: Any, compressor: ContextCompressor, *, background: bool, **compiling: Any) -> Any:
    if door == "middleware":
        ours = CompressionMiddleware(compressor, background=background)
        return create_agent(model, [look_up], middleware=[ours], **compiling)
    if door == "history":
        return history_graph(model, compressor, **compiling)
    return node_graph(door, model, compressor, background, **compiling)


def run(app: Any, stream: str, given: Any, options: dict[str, Any]) -> Iterator[Any]:
    """What a user is shown of one run."""
    if stream == "invoke":
        yield app.invoke(given, THREAD, **options)["messages"][-1]
    elif stream == "events":
        for message in app.stream_events(given, THREAD, version="v3", **options).messages:
            yield list(message), message.output
    else:
        yield from app.stream(given, THREAD, stream_mode=stream, **options)


async def arun(app: Any, stream: str, given: Any, options: dict[str, Any]) -> AsyncIterator[Any]:
    if stream == "invoke":
        yield (await app.ainvoke(given, THREAD, **options))["messages"][-1]
    elif stream == "events":
        async for event in app.astream_events(given, THREAD, version="v2", **options):
            if event["event"].startswith("on_chat_model") and TAG_NOSTREAM not in event["tags"]:
                yield event["data"].get("chunk") or event["data"].get("output")
    else:
        async for chunk in app.astream(given, THREAD, stream_mode=stream, **options):
            yield chunk


def given_of(i: int, saver: str, door: str) -> dict[str, Any]:
    """Without a checkpointer the client sends the whole talk again each time, as it knows it."""
    if saver != "none" or door == "history":
        return {"messages": [question(i)]}
    return {"messages": [m for n in range(i) for m in (question(n), final(n))] + [question(i)]}


def check_shown(shown: list[list[Any]], stream: str) -> None:
    """Every answer was shown in its own run, and nothing of the compression in a stream of messages."""
    for i, seen in enumerate(shown):
        words = f"answer {i}: all of them" if stream in ("invoke", "values", "updates") else f"answer {i}"
        texts = "".join(chunk[0].text for chunk in seen) if stream == "messages" else str(seen)
        found = words in texts or (stream == "events" and all(part in texts for part in ("answer", f"{i}:", "seems")))
        assert found, f"run {i} does not show its answer"
    if stream in ("messages", "events", "invoke"):
        assert SECRET not in str(shown)
        assert "earlier_conversation" not in str(shown)
    if stream == "messages":  # what a compression writes under the ids it removes is no message of the talk, either
        assert {chunk[0].type for seen in shown for chunk in seen} <= {"AIMessageChunk", "ai", "tool"}


def check_kept(model: Agent, compressor: ContextCompressor, saver: str, door: str) -> None:
    """Whatever left the context is in the archive, as it was said."""
    archived = compressor.history("t").messages()
    kept = {message.text for message in (*model.prompts[-1], *archived) if not is_summary(message)}
    said = {message.text for i in range(number_of(model.prompts[-1])) for message in (question(i), final(i))}
    assert said <= kept
    if door != "history" and saver != "none":
        results = {m.tool_call_id for m in archived if isinstance(m, ToolMessage)}
        shown = {m.tool_call_id for m in model.prompts[-1] if isinstance(m, ToolMessage)}
        assert results | shown >= {f"c{i}-{n}" for i in range(QUESTIONS) for n in range(CALLS)}


async def play(cell: Cell, place: Any) -> None:
    door, way, stream, saver, durability = cell
    model = Agent(talks if door == "history" else works, limit=LIMIT, room=ROOM if door == "history" else 0)
    compressor = ContextCompressor(ScriptedChatModel(f"{SECRET}."), config=PrunerConfig.for_limit(LIMIT))
    options = {} if saver == "none" else {"durability": durability}
    background = durability != "exit"  # so that each kind of stream meets summaries written within the step, too
    questions = PLAIN_QUESTIONS if door == "history" or saver == "none" else QUESTIONS
    shown: list[list[Any]] = []
    if way == "sync":
        with sync_saver(saver, place) as checkpointer:
            app = build(door, model, compressor, background=background, checkpointer=checkpointer)
            for i in range(questions):
                shown.append(list(run(app, stream, given_of(i, saver, door), options)))
    else:
        async with async_saver(saver, place) as checkpointer:
            app = build(door, model, compressor, background=background, checkpointer=checkpointer)
            for i in range(questions):
                shown.append([chunk async for chunk in arun(app, stream, given_of(i, saver, door), options)])
    assert model.failures == []
    assert model.repeated == []
    assert sum(map(is_summary, model.prompts[-1])) == 1
    assert [number_of(prompt) for prompt in model.prompts] == sorted(number_of(prompt) for prompt in model.prompts)
    check_shown(shown, stream)
    check_kept(model, compressor, saver, door)


V3 = pytest.mark.filterwarnings("ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning")


def test_the_subset_covers_every_pair() -> None:
    chosen = covering()
    for one, other in itertools.combinations(range(len(AXES)), 2):
        met = {(cell[one], cell[other]) for cell in chosen}
        assert met == set(itertools.product(AXES[one], AXES[other]))
    assert len(chosen) < 30


@V3
@pytest.mark.parametrize("cell", covering(), ids="-".join)
async def test_cells_that_cover_every_pair(cell: Cell, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    await play(cell, location("memory" if cell[3] == "none" else cell[3], request, tmp_path))


@V3
@pytest.mark.slow
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell not in covering()], ids="-".join)
async def test_every_other_cell(cell: Cell, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    await play(cell, location("memory" if cell[3] == "none" else cell[3], request, tmp_path))
