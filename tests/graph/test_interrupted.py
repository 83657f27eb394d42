"""L6, laws 2, 4, 8, 9: a run that is killed, cancelled or interrupted while it compresses, and what clients then do."""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel

LIMIT = 1_200
THREAD: Any = {"configurable": {"thread_id": "t"}}


def graph_of(compressor: ContextCompressor, model: Any, checkpointer: Any, **node: Any) -> Any:
    async def acall(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor, **node))
    graph.add_node("model", RunnableLambda(lambda s: {"messages": [model.invoke(s["messages"])]}, afunc=acall))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    return graph.compile(checkpointer=checkpointer)


def check_resumed(app: Any, compressor: ContextCompressor, model: CheckingModel, talk: list[BaseMessage]) -> None:
    messages = app.get_state(THREAD).values["messages"]
    assert model.failures == []
    assert messages[-1].text == "at last"
    assert sum(map(is_summary, messages)) == 1
    assert violations(messages) == []
    kept = {m.id: m.text for m in messages if not is_summary(m)}
    for message in talk:
        if message.id not in kept:
            assert compressor.expand_message(message.id, session_id="t").text == message.text


CHILD = """
import sys, time
from langgraph.checkpoint.sqlite import SqliteSaver
from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.graph.test_interrupted import LIMIT, THREAD, graph_of
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

def hangs(prompt):
    print("summarising", flush=True)
    time.sleep(120)

compressor = ContextCompressor(ScriptedChatModel(hangs), config=PrunerConfig.for_limit(LIMIT), store=sys.argv[2])
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    app = graph_of(compressor, ScriptedChatModel("too early"), saver, background=False)
    app.invoke({"messages": exchanges(30)}, THREAD)
"""


def test_a_process_that_is_killed_while_it_summarises_costs_nothing(tmp_path: Path) -> None:
    checkpoints, archive = str(tmp_path / "checkpoints.db"), str(tmp_path / "archive.db")
    child = subprocess.Popen([sys.executable, "-c", CHILD, checkpoints, archive], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "summarising\n"
    child.kill()
    child.wait()
    child.stdout.close()
    compressor = ContextCompressor(ScriptedChatModel("a talk"), config=PrunerConfig.for_limit(LIMIT), store=archive)
    model = CheckingModel("at last", limit=LIMIT)
    with SqliteSaver.from_conn_string(checkpoints) as saver:
        app = graph_of(compressor, model, saver, background=False)
        assert app.get_state(THREAD).next == ("compress",)
        app.invoke(None, THREAD)
        check_resumed(app, compressor, model, exchanges(30))


async def test_a_run_that_is_cancelled_while_it_summarises_goes_on_when_it_is_resumed() -> None:
    summariser = ScriptedChatModel("a talk", delay=60)
    compressor = ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT))
    model = CheckingModel("at last", limit=LIMIT)
    app = graph_of(compressor, model, InMemorySaver(), background=False)
    run = asyncio.create_task(app.ainvoke({"messages": exchanges(30)}, THREAD))
    while not summariser.calls:
        await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert summariser.cancelled == 1
    assert model.calls == 0
    assert app.get_state(THREAD).values["messages"] == exchanges(30)
    summariser.release()
    await app.ainvoke(None, THREAD)
    check_resumed(app, compressor, model, exchanges(30))


def test_a_keyboard_interrupt_in_the_summariser_ends_the_run_and_nothing_else() -> None:
    pressed = [KeyboardInterrupt()]

    def reply(prompt: Any) -> Any:
        if pressed:
            raise pressed.pop()
        return "a talk"

    compressor = ContextCompressor(ScriptedChatModel(reply), config=PrunerConfig.for_limit(LIMIT))
    model = CheckingModel("at last", limit=LIMIT)
    app = graph_of(compressor, model, InMemorySaver(), background=False)
    with pytest.raises(KeyboardInterrupt):
        app.invoke({"messages": exchanges(30)}, THREAD)
    assert app.get_state(THREAD).values["messages"] == exchanges(30)
    app.invoke(None, THREAD)
    check_resumed(app, compressor, model, exchanges(30))


@pytest.mark.parametrize("threads", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_threads_on_one_node_object_share_nothing(threads: int) -> None:
    """Each thread's summary, prompts and archive hold its own name and no other."""

    def names(prompt: list[BaseMessage]) -> set[str]:
        return {name for message in prompt for name in re.findall(r"user-\d+", message.text)}

    summariser = ScriptedChatModel(lambda prompt: "They spoke: " + " ".join(sorted(names(prompt))) + " is satisfied.")
    mixed: list[set[str]] = []

    class Judge(CheckingModel):
        def check(self, prompt: list[BaseMessage]) -> None:
            super().check(prompt)
            if len(names(prompt)) != 1:
                mixed.append(names(prompt))

    compressor = ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT))
    model = Judge("so it is", limit=LIMIT)
    app = graph_of(compressor, model, InMemorySaver())

    def said(n: int, i: int) -> list[BaseMessage]:
        text = f"user-{n} asks about thing {i} . " + "Please tell me why it is so. " * 8
        return [HumanMessage(text, id=f"h{i}"), AIMessage(f"user-{n} is told that it is so. " * 3, id=f"a{i}")]

    def talk(n: int) -> list[BaseMessage]:
        config: Any = {"configurable": {"thread_id": f"user-{n}"}}
        app.invoke({"messages": [m for i in range(9) for m in said(n, i)] + said(n, 9)[:1]}, config)
        for i in (10, 11):
            state = app.invoke({"messages": said(n, i)[:1]}, config)
        return state["messages"]

    with ThreadPoolExecutor(16) as pool:
        ends = list(pool.map(talk, range(threads)))
    assert mixed == []
    assert model.failures == []
    assert sum(sum(map(is_summary, messages)) for messages in ends) == threads
    for n in range(0, threads, 7):
        archived = compressor.history(f"user-{n}").messages()
        assert names(archived) == {f"user-{n}"}
        kept = {m.id for m in ends[n]} | {m.id for m in archived}
        assert kept >= {f"h{i}" for i in range(12)}


ACTIONS = ("say", "say", "say", "send all again", "send some again", "edit", "delete", "delete two", "delete tail")
SCRIPTS = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 1_000)), min_size=12, max_size=30)


@settings(max_examples=15)
@given(SCRIPTS)
def test_whatever_a_client_does_nothing_comes_back_twice_and_nothing_is_lost(actions: list[tuple[str, int]]) -> None:
    live(actions)


@pytest.mark.slow
@settings(max_examples=500)
@given(SCRIPTS)
def test_whatever_a_client_does_at_length(actions: list[tuple[str, int]]) -> None:
    live(actions)


def live(actions: list[tuple[str, int]]) -> None:
    """Carry out what a client and an application do, and judge the state after each step."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    answers = iter(range(1_000))
    model = CheckingModel(
        lambda prompt: AIMessage("as you say, and because of this and that " * 3, id=f"a{next(answers)}"),
        limit=LIMIT,
        room=200,
    )
    app = graph_of(compressor, model, InMemorySaver())
    known: dict[str, BaseMessage] = {}
    said: list[str] = []
    deleted: set[str] = set()
    covered: set[str] = set()
    tell: set[str] = set()
    for turn, (action, drawn) in enumerate(actions):
        before = app.get_state(THREAD).values.get("messages", [])
        here = [m for m in before if not is_summary(m)]
        sent: list[BaseMessage] = [HumanMessage(f"question {turn}: " + "why is it so? " * 12, id=f"h{turn}")]
        if action == "send all again":
            sent = [m for m in known.values() if m.id not in deleted] + sent
        elif action == "send some again":
            dice = random.Random(drawn)
            sent = [m for m in known.values() if m.id not in deleted and dice.random() < 0.5] + sent
        elif action == "delete tail" and here:
            gone = [str(m.id) for m in here[-1 - drawn % 6 :]]
            app.update_state(THREAD, {"messages": [RemoveMessage(id=i) for i in gone]})
            deleted.update(gone)
        elif action == "edit" and known:
            found = list(known.values())[drawn % len(known)]
            if found.id not in deleted:
                sent.insert(0, found.model_copy(update={"content": f"edited at {turn}: " + "it is otherwise. " * 8}))
        elif action.startswith("delete") and here:
            ids = [str(here[drawn % len(here)].id)] * (1 + (action == "delete two"))  # twice in one update
            app.update_state(THREAD, {"messages": [RemoveMessage(id=i) for i in ids]})
            deleted.update(ids)
        edited = {m.id for m in sent if m.id in known and m.content != known[m.id].content}
        state = app.invoke({"messages": sent}, THREAD)["messages"]
        known |= {str(m.id): m for m in [*sent, state[-1]]}
        said += [i for i in known if i not in said]
        ids = [m.id for m in state]
        assert len(set(ids)) == len(ids)
        assert sum(map(is_summary, state)) <= 1
        there = {str(m.id): m for m in state if not is_summary(m)}
        covered -= edited
        given = {m.id for m in (*before, *sent)}
        back = covered & set(there)
        # Where neither what was replaced last nor anything that was kept behind it is left, a list cannot be told from
        # that of a fork from before, which stays as it is.
        assert not back or not tell & given, "what was replaced came back"
        covered -= back
        assert not deleted & set(there), "what was deleted came back"
        fresh = set(known) - set(there) - deleted - covered
        covered |= fresh
        if fresh:
            place = next(i for i, m in enumerate(state) if is_summary(m))
            tell = {str(m.id) for m in state[place + 1 :] if m.id in given} | {max(fresh, key=said.index)}
        for message_id in covered:
            archived = compressor.expand_message(message_id, session_id="t")
            assert archived is not None, message_id
            assert archived.content == known[message_id].content
        if back:
            return
        assert not any(map(is_summary, before)) or any(map(is_summary, state)), "the summary is lost"
        unedited = [i for i in there if not there[i].text.startswith("edited")]
        assert unedited == sorted(unedited, key=said.index), "out of order"
        for message_id in edited & set(there):
            assert there[message_id].content == known[message_id].content
    assert model.failures == []
