"""S4: no prompt that the package builds holds a snapshot or an archived object, whichever door it goes through."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_ctxcompress import (
    ActiveContext,
    CompressedChatMessageHistory,
    CompressionMiddleware,
    CompressionNode,
    ContextCompressor,
    PrunerConfig,
    SessionHistory,
    SnapshotStore,
    StorageBoundaryError,
)
from langchain_ctxcompress.graph import CompressionState
from tests.history.test_history import ListHistory
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

HISTORY = SessionHistory(None, session_id="archived session")
SNAPSHOT = SnapshotStore(HISTORY.store, session_id="archived session").create(exchanges(2))
ITEM = next(item for item in HISTORY.store.search(("ctxcompress",), limit=100) if item.namespace[-2:-1] == ("log",))

KEPT: dict[str, tuple[BaseMessage, str]] = {
    "a snapshot as text": (HumanMessage(SNAPSHOT.model_dump_json(), id="bad"), SNAPSHOT.snapshot_id),
    "a snapshot in a block": (
        HumanMessage([{"type": "text", "text": "see"}, {"type": "data", "data": SNAPSHOT}], id="bad"),
        SNAPSHOT.snapshot_id,
    ),
    "a history in keyword arguments": (
        HumanMessage("see", additional_kwargs={"context": HISTORY}, id="bad"),
        "archived session",
    ),
    "a log item in a call": (
        AIMessage("", tool_calls=[{"name": "t", "args": {"found": ITEM.value}, "id": "x"}], id="bad"),
        "segment",
    ),
}
CASES = pytest.mark.parametrize(("bad", "name"), KEPT.values(), ids=KEPT)


def compressor(model: Any = None) -> ContextCompressor:
    return ContextCompressor(model, config=PrunerConfig.for_limit(1_000))


@CASES
async def test_the_compressor(bad: BaseMessage, name: str) -> None:
    own = compressor()
    for messages in ([*exchanges(2), bad], [bad, *exchanges(60)]):
        for call in (own.compress, own.plan, own.view):
            with pytest.raises(StorageBoundaryError, match=name):
                call(messages)
        for acall in (own.acompress, own.aview):
            with pytest.raises(StorageBoundaryError, match=name):
                await acall(messages)


@CASES
def test_a_step_that_needs_no_compression(bad: BaseMessage, name: str) -> None:
    own = compressor()
    messages = exchanges(2)
    own.compress(messages)
    with pytest.raises(StorageBoundaryError, match=name):
        own.compress([*messages, bad])


def test_an_archived_object_among_the_messages() -> None:
    for kept, name in ((SNAPSHOT, SNAPSHOT.snapshot_id), (HISTORY, "archived session"), (ITEM, ITEM.key)):
        with pytest.raises(StorageBoundaryError, match=name):
            compressor().compress([*exchanges(2), kept])  # type: ignore[list-item]


@CASES
@pytest.mark.parametrize("mode", ["replace", "view"])
async def test_the_node(bad: BaseMessage, name: str, mode: Any) -> None:
    class State(MessagesState, CompressionState):
        pass

    prompts: list[Any] = []
    graph = StateGraph(State)
    graph.add_node("compress", CompressionNode(compressor(), mode=mode))
    graph.add_node("model", lambda state: prompts.append(state) or {"messages": [AIMessage("hello")]})
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    graph.add_edge("model", END)
    app = graph.compile()
    with pytest.raises(StorageBoundaryError, match=name):
        app.invoke({"messages": [*exchanges(2), bad]})
    with pytest.raises(StorageBoundaryError, match=name):
        await app.ainvoke({"messages": [*exchanges(60), bad]})
    assert prompts == []


@CASES
def test_the_middleware(bad: BaseMessage, name: str) -> None:
    model = ScriptedChatModel("fine")
    agent = create_agent(model, [], middleware=[CompressionMiddleware(compressor())])
    with pytest.raises(StorageBoundaryError, match=name):
        agent.invoke({"messages": [*exchanges(60), bad]})
    assert model.prompts == []


@CASES
async def test_the_chat_history_does_not_store_it(bad: BaseMessage, name: str) -> None:
    inner = ListHistory()
    history = CompressedChatMessageHistory(inner, compressor(), session_id="s")
    history.add_messages(exchanges(2))
    with pytest.raises(StorageBoundaryError, match=name):
        history.add_messages([bad])
    with pytest.raises(StorageBoundaryError, match=name):
        await history.aadd_messages([bad])
    assert inner.messages == exchanges(2)
    inner.add_messages([bad])
    with pytest.raises(StorageBoundaryError, match=name):
        _ = history.messages


@CASES
def test_the_active_context(bad: BaseMessage, name: str) -> None:
    with pytest.raises(StorageBoundaryError, match=name):
        ActiveContext(50_000).build_prompt(bad)


def test_the_summariser_is_sent_no_record_and_data_does_not_stop_it() -> None:
    """A pasted record inside a longer text is a user's own words (law 4); each prompt passes the guard all the same."""
    model = ScriptedChatModel("Orders were discussed. " * 3)
    own = compressor(model)
    quoted = HumanMessage(f"What is this? {SNAPSHOT.model_dump_json()[:200]}", id="quoted")
    long = [m.model_copy(update={"content": f"{m.content} " + "and so on " * 20}) for m in exchanges(40)]
    assert own.compress([long[0], long[1], quoted, *long[2:]]).changed
    assert model.prompts
