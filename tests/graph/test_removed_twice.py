"""Law 8: a node of the application removes, in the same step, what a compression removes."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, _messages_delta_reducer, add_messages
from typing_extensions import TypedDict

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph import CompressionState, merge_messages
from tests.support.conversations import exchanges
from tests.support.legality import is_summary

LIMIT = 1_200
THREAD: Any = {"configurable": {"thread_id": "t"}}
TALK = exchanges(30)


class Merging(TypedDict):
    messages: Annotated[list[AnyMessage], merge_messages]


class Delta(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


class Viewing(MessagesState, CompressionState):
    pass


def graph_of(state: Any, compressor: ContextCompressor, other: str, *removes: str, **node: Any) -> Any:
    """The compression, and beside it a node that removes messages; LangGraph writes in the order of their names."""
    graph = StateGraph(state)
    graph.add_node("compress", CompressionNode(compressor, **node))
    graph.add_node(other, lambda _: {"messages": [RemoveMessage(id=i) for i in removes]})
    graph.add_edge(START, "compress")
    graph.add_edge(START, other)
    return graph.compile(checkpointer=InMemorySaver())


def check(app: Any, compressor: ContextCompressor, gone: tuple[str, ...]) -> list[BaseMessage]:
    messages: list[BaseMessage] = app.invoke({"messages": TALK}, THREAD)["messages"]
    ids = [m.id for m in messages]
    assert len(set(ids)) == len(ids)
    assert sum(map(is_summary, messages)) == 1
    kept = {m.id for m in messages if not is_summary(m)}
    assert not kept & set(gone)
    assert len(kept) < len(TALK) / 2
    for message in TALK:
        if message.id not in kept:
            archived = compressor.expand_message(str(message.id), session_id="t")
            assert archived is not None
            assert archived.text == message.text
    return messages


@pytest.mark.parametrize(
    ("state", "other"),
    [(MessagesState, "before"), (Merging, "before"), (Merging, "zz"), (Delta, "before"), (Delta, "zz")],
)
@pytest.mark.parametrize("gone", [("human-4",), ("human-4", "ai-4", "human-9")])
def test_what_both_remove_is_removed_once(state: Any, other: str, gone: tuple[str, ...]) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    messages = check(graph_of(state, compressor, other, *gone), compressor, gone)
    order = [m.id for m in TALK]
    shown = [order.index(m.id) for m in messages]
    assert shown == sorted(shown)


def test_langgraphs_own_reducer_refuses_what_comes_second_from_another_node() -> None:
    """Written behind the compression, the other node's removal is not ours to mend: its reducer, or its order, is."""
    app = graph_of(MessagesState, ContextCompressor(config=PrunerConfig.for_limit(LIMIT)), "zz", "human-4")
    with pytest.raises(ValueError, match="human-4"):
        app.invoke({"messages": TALK}, THREAD)


@pytest.mark.parametrize("other", ["before", "zz"])
def test_in_view_mode_nothing_is_removed_and_either_order_will_do(other: str) -> None:
    app = graph_of(Viewing, ContextCompressor(config=PrunerConfig.for_limit(LIMIT)), other, "human-4", mode="view")
    state = app.invoke({"messages": TALK}, THREAD)
    assert [m.id for m in state["messages"]] == [m.id for m in TALK if m.id != "human-4"]
    assert sum(map(is_summary, state["llm_input_messages"])) == 1


def test_the_message_whose_id_the_summary_bears_may_be_among_them() -> None:
    """The reducer then takes the summary for a new message; the next step puts it back to its place."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    bears = next(
        str(m.id)
        for m in ContextCompressor(config=PrunerConfig.for_limit(LIMIT)).compress(TALK).messages
        if is_summary(m)
    )
    app = graph_of(MessagesState, compressor, "before", bears)
    assert is_summary(check(app, compressor, (bears,))[-1])
    node = CompressionNode(compressor)
    state = [*app.get_state(THREAD).values["messages"], HumanMessage("and now?", id="now")]
    state = add_messages(state, node.invoke({"messages": state}, THREAD)["messages"])
    place = next(p for p, m in enumerate(state) if is_summary(m))
    assert 0 < place < len(state) - 5
    assert [m.id for m in state if not is_summary(m)] == sorted(
        (m.id for m in state if not is_summary(m)), key=[*(m.id for m in TALK), "now"].index
    )


@pytest.mark.parametrize(
    "update",
    [
        [AIMessage("new", id="n")],
        AIMessage("new", id="n"),
        [("user", "hi"), {"role": "assistant", "content": "yes"}],
        [RemoveMessage(id="human-0"), HumanMessage("said", id="ai-0")],
        [HumanMessage("x", id="x"), RemoveMessage(id="x")],
        [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("x", id="x")],
    ],
)
def test_the_reducer_is_langgraphs_in_all_else(update: Any) -> None:
    talk = exchanges(2)
    told = [(m.type, m.content) for m in merge_messages(talk, update)]
    assert told == [(m.type, m.content) for m in add_messages(talk, update)]
    assert merge_messages(talk, [RemoveMessage(id="gone"), *talk[:1]]) == talk
    assert merge_messages([], talk) == talk
