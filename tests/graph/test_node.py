"""L1, L4, laws 1, 2, 8, 9, 10: `CompressionNode` in real graphs."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from langchain_ctxcompress import CompressionNode, ConfigError, ContextCompressor, CtxCompressError, PrunerConfig, pin
from langchain_ctxcompress.graph import CompressionState
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel
from tests.support.sizes import independent_tokens

LIMIT = 1_500


def words(i: int) -> str:
    return f"question {i}: what is the state of order A-{1000 + i}, " + "and tell me why, " * 14


@contextmanager
def saver(kind: str, folder):
    if kind == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as sqlite:
            yield sqlite


def graph_with(node: CompressionNode, model: Any, checkpointer: Any, **compiling: Any):
    async def acall(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    from langchain_core.runnables import RunnableLambda

    graph = StateGraph(MessagesState)
    graph.add_node("compress", node)
    graph.add_node("model", RunnableLambda(lambda state: {"messages": [model.invoke(state["messages"])]}, afunc=acall))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    graph.add_edge("model", END)
    return graph.compile(checkpointer=checkpointer, **compiling)


def answer(prompt: list[BaseMessage]) -> str:
    return f"answer to: {str(prompt[-1].content)[:40]} " + "because of this and that " * 6


CLIENTS = pytest.mark.parametrize("client", ["ids", "no ids", "sends all again"])


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@CLIENTS
def test_exchanges_streamed_at_a_small_limit(kind, client, tmp_path):
    talk_and_judge(kind, client, tmp_path, 60)


def test_200_exchanges_streamed_at_a_small_limit(tmp_path):
    talk_and_judge("sqlite", "ids", tmp_path, 200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@CLIENTS
def test_200_exchanges_of_each_client(kind, client, tmp_path):
    talk_and_judge(kind, client, tmp_path, 200)


def talk_and_judge(kind, client, tmp_path, exchanges):
    """Some compressions in a row, each followed by steps of a client that sends what is new, or all it knows."""
    archive = tmp_path / "archive.db"
    model = CheckingModel(answer, limit=LIMIT, room=0)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=archive)
    sent: list[BaseMessage] = []
    answers: list[BaseMessage] = []
    config = {"configurable": {"thread_id": "a thread"}}
    with saver(kind, tmp_path) as checkpointer:
        app = graph_with(CompressionNode(compressor), model, checkpointer)
        for i in range(exchanges):
            question = HumanMessage(words(i), id=None if client == "no ids" else f"h{i}")
            sent.append(question)
            given = [question]
            if client == "sends all again":
                given = [
                    message
                    for pair in zip(sent, [*answers, None], strict=True)
                    for message in pair
                    if message is not None
                ]
            streamed = []
            for message, _ in app.stream({"messages": given}, config, stream_mode="messages"):
                streamed.append(message)
            assert not [m for m in streamed if is_summary(m)]
            assert "earlier_conversation" not in "".join(str(m.content) for m in streamed)
            state = app.get_state(config).values["messages"]
            answers.append(state[-1])
            if client == "no ids":
                sent[-1] = state[-2]
        assert model.failures == []
        assert sum(map(is_summary, state)) == 1
        assert violations(state) == []
        left = {m.id for m in state}
        assert len(state) < 60
        # The newest question and answer are the last, whatever a client sent again.
        assert [m.id for m in state[-2:]] == [sent[-1].id, answers[-1].id]
    here = {m.id: m.content for m in state if not is_summary(m)}
    wanted = {m.id: m.content for m in (*sent, *answers)}
    gone = sorted(set(wanted) - set(here))
    assert set(wanted) - left <= set(gone)
    assert len(gone) > 1.5 * exchanges
    fetched = fetch_in_another_process(archive, gone)
    assert fetched == {message_id: wanted[message_id] for message_id in gone}


def fetch_in_another_process(archive, ids: list[str]) -> dict[str, str]:
    """What a process that starts now finds in the archive (law 9)."""
    import json

    script = (
        "import json, sys\n"
        "from langchain_ctxcompress import ContextCompressor, PrunerConfig\n"
        "compressor = ContextCompressor(config=PrunerConfig(), store=sys.argv[1])\n"
        "found = {i: compressor.expand_message(i) for i in json.load(sys.stdin)}\n"
        "print(json.dumps({i: m and m.content for i, m in found.items()}))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(archive)], input=json.dumps(ids), capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


async def test_async_graph_does_the_same_and_calls_the_summariser_quietly(tmp_path):
    summariser = ScriptedChatModel("user: asked about many orders")
    compressor = ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT), store=tmp_path / "a.db")
    model = CheckingModel(answer, limit=LIMIT, room=0)
    app = graph_with(CompressionNode(compressor), model, InMemorySaver())
    config = {"configurable": {"thread_id": 7}}
    streamed = []
    for i in range(40):
        async for message, _ in app.astream({"messages": [HumanMessage(words(i))]}, config, stream_mode="messages"):
            streamed.append(str(message.content))
    assert summariser.calls > 2
    assert "asked about many orders" not in "".join(streamed)
    assert model.failures == []
    assert len(await compressor.history("7").amessages()) > 60


def test_a_failing_summariser_never_breaks_the_graph():
    compressor = ContextCompressor(
        ScriptedChatModel([RuntimeError("the model is down")]), config=PrunerConfig.for_limit(LIMIT)
    )
    compressor.summariser.retry_wait = 0.0
    model = CheckingModel(answer, limit=LIMIT, room=0)
    app = graph_with(CompressionNode(compressor), model, InMemorySaver())
    for i in range(30):
        app.invoke({"messages": [HumanMessage(words(i))]}, {"configurable": {"thread_id": "t"}})
    assert model.failures == []


def test_a_step_that_needs_nothing_changes_nothing():
    node = CompressionNode(config=PrunerConfig.for_limit(LIMIT))
    messages = [HumanMessage("hello", id="1"), AIMessage("hi", id="2")]
    assert node.invoke({"messages": messages}) == {}


def test_view_mode_keeps_the_state_and_gives_the_model_its_input():
    class State(MessagesState, CompressionState):
        pass

    seen: list[list[BaseMessage]] = []

    def call(state):
        seen.append(state["llm_input_messages"])
        return {"messages": [AIMessage(answer(state["llm_input_messages"]))]}

    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    graph = StateGraph(State)
    graph.add_node("compress", CompressionNode(compressor, mode="view"))
    graph.add_node("model", call)
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for i in range(60):
        state = app.invoke({"messages": [HumanMessage(words(i))]}, config)
    assert len(state["messages"]) == 120
    assert not any(map(is_summary, state["messages"]))
    assert all(violations(prompt) == [] and independent_tokens(prompt) < LIMIT for prompt in seen)
    assert sum(map(is_summary, seen[-1])) == 1
    assert state["ctxcompress"]["tokens_after"] < LIMIT
    assert {type(value) for value in state["ctxcompress"].values()} <= {str, int, list}
    # Between two compressions the prompt only grows at its end (law 7).
    same = [seen[i + 1][: len(seen[i])] == seen[i] for i in range(59)]
    assert same.count(False) == sum(1 for c in compressor.history("t").checkpoints() if c.strategy != "ageing")


@dataclass
class DataState:
    talk: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


class PydanticState(BaseModel):
    talk: Annotated[list[AnyMessage], add_messages] = []


@pytest.mark.parametrize("schema", [DataState, PydanticState])
def test_other_states_and_another_key(schema):
    graph = StateGraph(schema)
    graph.add_node("compress", CompressionNode(config=PrunerConfig.for_limit(LIMIT), messages_key="talk"))
    graph.add_node("model", lambda state: {"talk": [AIMessage(answer(state.talk))]})
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    app = graph.compile(checkpointer=InMemorySaver())
    for i in range(30):
        state = app.invoke({"talk": [HumanMessage(words(i))]}, {"configurable": {"thread_id": "t"}})
    assert sum(map(is_summary, state["talk"])) == 1
    assert independent_tokens(state["talk"]) < LIMIT + 200


def test_the_graphs_own_store_is_the_archive():
    store = InMemoryStore()
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    app = graph_with(CompressionNode(compressor), ScriptedChatModel(answer), InMemorySaver(), store=store)
    for i in range(20):
        app.invoke({"messages": [HumanMessage(words(i), id=f"h{i}")]}, {"configurable": {"thread_id": "t"}})
    again = ContextCompressor(config=PrunerConfig(), store=store)
    assert again.expand_message("h3").content == words(3)
    assert compressor.expand_message("h3").content == words(3)


def test_a_message_deleted_by_the_application_and_one_edited_after_it_was_covered():
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    node = CompressionNode(compressor)
    config = {"configurable": {"thread_id": "t"}}
    state = [m for i in range(30) for m in (HumanMessage(words(i), id=f"h{i}"), AIMessage("yes", id=f"a{i}"))]
    state = add_messages(state, node.invoke({"messages": state}, config)["messages"])
    assert "h3" not in {m.id for m in state}
    state = [m for m in state if m.id != "h28"]
    edited = HumanMessage("in other words: cancel order A-1003", id="h3")
    state = add_messages(state, [edited])
    update = node.invoke({"messages": state}, config)
    state = add_messages(state, update.get("messages", []))
    assert "h3" in {m.id for m in state}  # a new revision stays (law 8)
    again = [HumanMessage(words(4), id="h4"), AIMessage("yes", id="a4"), HumanMessage("and now?", id="new")]
    state = add_messages(state, again)
    state = add_messages(state, node.invoke({"messages": state}, config)["messages"])
    assert "h4" not in {m.id for m in state}  # the same content is dropped again
    compressor.compress(state, session_id="t", force=True)
    assert compressor.expand_message("h3").content == edited.content


def test_the_original_that_overwrote_the_summary_gives_way_to_it_again():
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    node = CompressionNode(compressor)
    config = {"configurable": {"thread_id": "t"}}
    originals = [m for i in range(30) for m in (HumanMessage(words(i), id=f"h{i}"), AIMessage("yes", id=f"a{i}"))]
    state = add_messages(originals, node.invoke({"messages": originals}, config)["messages"])
    before = [(m.id, m.content) for m in state]
    state = add_messages(state, [*originals, HumanMessage("and now?", id="new")])
    assert not any(map(is_summary, state))
    again = CompressionNode(ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=compressor.store))
    state = add_messages(state, again.invoke({"messages": state}, config)["messages"])
    assert [(m.id, m.content) for m in state] == [*before, ("new", "and now?")]


def test_bad_states_and_arguments_are_named():
    node = CompressionNode(config=PrunerConfig())
    for state in ({}, {"messages": None}, {"messages": "text"}, {"messages": [("user", "hi")]}):
        with pytest.raises(CtxCompressError):
            node.invoke(state)
    with pytest.raises(ConfigError, match="replace"):
        CompressionNode(mode="shrink")
    with pytest.raises(ConfigError, match="store"):
        CompressionNode(ContextCompressor(config=PrunerConfig()), store=None)
    with pytest.raises(ConfigError, match="str"):
        CompressionNode("gpt-4o")


def test_pins_and_system_prompt_stay_in_the_state():
    state = [SystemMessage("You sell shoes.", id="s"), pin(HumanMessage("Never call me Bob.", id="p"))]
    state += [m for i in range(30) for m in (HumanMessage(words(i), id=f"h{i}"), AIMessage("yes", id=f"a{i}"))]
    state = add_messages(
        state, CompressionNode(config=PrunerConfig.for_limit(LIMIT)).invoke({"messages": state})["messages"]
    )
    assert [m.content for m in state[:2]] == ["You sell shoes.", "Never call me Bob."]


class LooksAlways(ContextCompressor):
    """Never says from what is new alone that a list needs nothing."""

    def leaves_alone(self, messages: Any, **settings: Any) -> bool:
        return False


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"messages": st.integers(0, 3)},
            optional={
                "ctx_goal": st.sampled_from([None, [], {"description": "Refund the order."}]),
                "ctx_system_prompt": st.sampled_from(["", "Be brief."]),
                "ctxcompress_compact": st.sampled_from([None, False, True, "the SQL"]),
            },
        ),
        max_size=6,
    ),
    st.sampled_from(["replace", "view"]),
    st.sampled_from([None, "Be kind."]),
)
def test_what_a_step_that_needs_nothing_says_is_what_a_whole_look_says(
    states: list[dict[str, Any]], mode: str, prompt: str | None
) -> None:
    config = PrunerConfig(soft_limit_tokens=900, hard_limit_tokens=4_000)
    nodes = [
        CompressionNode(kind(config=config, session_id="s"), mode=mode, system_prompt=prompt)  # type: ignore[arg-type]
        for kind in (ContextCompressor, LooksAlways)
    ]
    messages: list[BaseMessage] = []
    for state in states:
        for _ in range(state["messages"]):
            place = len(messages)
            messages.append(HumanMessage(words(place), id=f"h{place}"))
            messages.append(AIMessage("So it is.", id=f"a{place}"))
        first, second = (node.invoke({**state, "messages": list(messages)}) for node in nodes)
        assert first == second
