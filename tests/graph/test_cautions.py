"""What works today and loses something tomorrow is said once, in the log, and not where all is well."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from langchain_ctxcompress import CompressionMiddleware, CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.errors import ConfigError, InvalidMessagesError
from langchain_ctxcompress.graph import cautions
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(1_200)
THREAD: Any = {"configurable": {"thread_id": "t"}}
TALK = {"messages": exchanges(30)}


@pytest.fixture(autouse=True)
def nothing_said_before() -> Iterator[None]:
    for said in (cautions._no_thread, cautions._outlived, cautions._unknown_window):
        said.cache_clear()
    yield


def graph_of(compressor: ContextCompressor, state: Any = MessagesState) -> StateGraph[Any]:
    graph = StateGraph(state)
    graph.add_node("compress", CompressionNode(compressor))
    graph.add_edge(START, "compress")
    return graph


def warned(caplog: pytest.LogCaptureFixture, words: str) -> int:
    return sum(words in record.getMessage() for record in caplog.records if record.levelname == "WARNING")


def test_runs_without_a_thread_are_said_to_share_a_session_once(caplog: pytest.LogCaptureFixture) -> None:
    app = graph_of(ContextCompressor(config=CONFIG)).compile()
    app.invoke(TALK)
    app.invoke(TALK)
    assert warned(caplog, "no thread_id") == 1


@pytest.mark.parametrize(
    ("saved", "kept", "warnings"),
    [("memory", None, 0), ("sqlite", None, 1), ("sqlite", "compressor", 0), ("sqlite", "graph", 0)],
)
def test_a_state_that_outlives_its_originals_is_said(
    saved: str, kept: str | None, warnings: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = str(tmp_path / "archive.db") if kept == "compressor" else None
    graph = graph_of(ContextCompressor(config=CONFIG, store=store))
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as sqlite:
        saver = sqlite if saved == "sqlite" else InMemorySaver()
        app = graph.compile(checkpointer=saver, store=InMemoryStore() if kept == "graph" else None)
        assert len(app.invoke(TALK, THREAD)["messages"]) < 30
    assert warned(caplog, "do not: pass a store") == warnings
    assert warned(caplog, "no thread_id") == 0


@pytest.mark.parametrize(("config", "warnings"), [(None, 1), (CONFIG, 0)])
def test_a_middleware_that_cannot_follow_its_model_says_so(
    config: PrunerConfig | None, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    middleware = CompressionMiddleware(ContextCompressor(config=config))
    agent = create_agent(ScriptedChatModel("so it is"), middleware=[middleware], checkpointer=InMemorySaver())
    for text in ("one", "two"):
        agent.invoke({"messages": [HumanMessage(text)]}, THREAD)
    assert warned(caplog, "is not known, so the limits are the defaults") == warnings


def test_a_summariser_that_fails_is_said_when_it_begins_and_when_it_is_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(_: Any) -> Any:
        raise RuntimeError("sk-secret of a user")

    compressor = ContextCompressor(ScriptedChatModel(fails), config=CONFIG)
    for name in "abcd":
        assert compressor.compress(exchanges(30), session_id=name).outcome == "degraded"
    assert warned(caplog, "the summariser failed (error)") == 1
    assert warned(caplog, "failed 3 times in a row (error): it is left alone for 60 s") == 1
    assert "sk-secret" not in caplog.text


def test_turns_that_are_dropped_without_a_summary_are_said_once_a_session(caplog: pytest.LogCaptureFixture) -> None:
    """The first turn and the last five are over the soft limit alone: there is never a middle to summarise."""
    compressor = ContextCompressor(ScriptedChatModel("never asked"), config=PrunerConfig.for_limit(1_500))
    window: list[Any] = []
    reasons = []
    for number in range(16):
        window += [
            HumanMessage(f"{number}: " + "why is it so? " * 45, id=f"h{number}"),
            AIMessage("so it is. " * 40, id=f"a{number}"),
        ]
        result = compressor.compress(window, session_id="s")
        window = list(result.messages)
        reasons += [result.reason] if result.changed else []
    assert set(reasons) == {"truncated"}
    assert len(reasons) > 2
    assert warned(caplog, "turns were dropped without a summary") == 1
    for number in range(16):
        assert compressor.expand_message(f"h{number}", session_id="s") or any(m.id == f"h{number}" for m in window)


def test_a_reducer_that_does_not_remove_is_named() -> None:
    class Adding(TypedDict):
        messages: Annotated[list[AnyMessage], operator.add]

    app = graph_of(ContextCompressor(config=CONFIG), Adding).compile(checkpointer=InMemorySaver())
    app.invoke(TALK, THREAD)
    with pytest.raises(InvalidMessagesError, match=r"is a RemoveMessage.* its reducer does not remove by id"):
        app.invoke({"messages": [HumanMessage("and now?", id="new")]}, THREAD)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_tokens": 4_000}, r"max_tokens: no such argument.*instead of max_tokens write config=PrunerConfig.for_l"),
        ({"output_messages_key": "llm_input_messages"}, "mode='view' and llm_input_key of CompressionNode"),
        ({"soft_limit_tokens": 5}, "soft_limit_tokens: no such argument"),
        ({"modle": None}, "modle: no such argument; those of a compressor are model, config"),
        ({"config": 8_000}, "config is 8000: it must be a PrunerConfig"),
    ],
)
def test_arguments_of_other_libraries_are_answered_with_ours(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        CompressionNode(**arguments)


def test_a_model_in_the_place_of_the_compressor_and_the_arguments_of_a_peer() -> None:
    model: Any = ScriptedChatModel("x")
    with pytest.raises(ConfigError, match=r"pass a ContextCompressor.*instead of trigger write"):
        CompressionMiddleware(model, trigger=("tokens", 5_000))


def test_a_wrong_key_names_those_there_are() -> None:
    node = CompressionNode(ContextCompressor(config=CONFIG), messages_key="mesages")
    with pytest.raises(InvalidMessagesError, match="no messages under 'mesages', but 'messages': set messages_key"):
        node.invoke({"messages": []})
