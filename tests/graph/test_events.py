"""L5, law 10: what a user sees of a compression is an event, and never a token of it, inline or in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionEvent, CompressionMiddleware, CompressionNode, ContextCompressor
from langchain_ctxcompress import PrunerConfig as Config
from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.report import event_in
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel

ROUNDS = 12
SECRET = "the-summariser-said-this"
LIMITS = Config(soft_limit_tokens=1_200, hard_limit_tokens=6_000)
THREAD = {"configurable": {"thread_id": "t"}}


class Agent(ScriptedChatModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def summariser() -> ScriptedChatModel:
    usage = {"input_tokens": 900, "output_tokens": 30, "total_tokens": 930}
    return ScriptedChatModel(lambda prompt: AIMessage(f"{SECRET} and more", usage_metadata=usage))


def answer(prompt: Any) -> str:
    return "an answer of some length " * 8


def node_graph(compressor: ContextCompressor, background: bool) -> Any:
    model = Agent(answer)

    async def acall(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor, background=background))
    graph.add_node("model", RunnableLambda(lambda s: {"messages": [model.invoke(s["messages"])]}, afunc=acall))
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    return graph.compile(checkpointer=InMemorySaver())


def agent_graph(compressor: ContextCompressor, background: bool) -> Any:
    middleware = CompressionMiddleware(compressor, background=background)
    return create_agent(Agent(answer), [], middleware=[middleware], checkpointer=InMemorySaver())


GRAPHS = pytest.mark.parametrize("build", [node_graph, agent_graph])
BACKGROUND = pytest.mark.parametrize("background", [False, True])


def question(i: int) -> dict[str, Any]:
    return {"messages": [HumanMessage(f"question {i}, " + "and tell me why it is so, " * 14)]}


def settle(compressor: ContextCompressor) -> None:
    """Let the job end, so that a test does not depend on its pace."""
    if work := compressor.background.of("t"):
        work.future.exception(20)


def check(compressor: ContextCompressor, heard: list[Any], state: Any, background: bool) -> None:
    assert sum(map(is_summary, state["messages"])) == 1, "there was a compression"
    assert SECRET not in str(heard)
    assert "earlier_conversation" not in str(heard)
    assert (compressor.background.counts["applied"] > 0) is background


def check_only_answers(heard: list[tuple[Any, Any]]) -> None:
    """Neither a removal nor what is written under the id that is removed."""
    assert {message.type for message, _ in heard} <= {"AIMessageChunk", "ai"}
    said: dict[str, str] = {}
    for message, _ in heard:
        said[message.id] = said.get(message.id, "") + message.text
    assert list(said.values()) == [answer(None)] * ROUNDS


@GRAPHS
@BACKGROUND
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_messages_stream_shows_nothing_of_it(build: Any, background: bool, version: str) -> None:
    compressor = ContextCompressor(summariser(), config=LIMITS)
    app, heard = build(compressor, background), []
    for i in range(ROUNDS):
        heard += list(app.stream(question(i), THREAD, stream_mode="messages", version=version))
        settle(compressor)
    check(compressor, heard, app.get_state(THREAD).values, background)
    check_only_answers([chunk["data"] if version == "v2" else chunk for chunk in heard])


@GRAPHS
@BACKGROUND
async def test_the_same_async(build: Any, background: bool) -> None:
    compressor = ContextCompressor(summariser(), config=LIMITS)
    app, heard = build(compressor, background), []
    for i in range(ROUNDS):
        async for chunk in app.astream(question(i), THREAD, stream_mode="messages"):
            heard.append(chunk)
        await asyncio.to_thread(settle, compressor)
    check(compressor, heard, app.get_state(THREAD).values, background)
    check_only_answers(heard)


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning")
@GRAPHS
@BACKGROUND
def test_v3_streams_show_nothing_of_it(build: Any, background: bool) -> None:
    compressor = ContextCompressor(summariser(), config=LIMITS)
    app, heard = build(compressor, background), []
    for i in range(ROUNDS):
        run = app.stream_events(question(i), THREAD, version="v3")
        heard += [(list(message), message.output) for message in run.messages]
        settle(compressor)
    assert len(heard) == ROUNDS
    check(compressor, heard, app.get_state(THREAD).values, background)


@GRAPHS
@BACKGROUND
async def test_astream_events_filtered_by_tag_show_nothing_of_it(build: Any, background: bool) -> None:
    compressor = ContextCompressor(summariser(), config=LIMITS)
    app, tokens, custom = build(compressor, background), [], []
    for i in range(ROUNDS):
        async for event in app.astream_events(question(i), THREAD, version="v2"):
            if event["event"].startswith("on_chat_model") and TAG_NOSTREAM not in event["tags"]:
                tokens.append(event)
            if event["event"] == "on_custom_event" and event["name"] == "ctxcompress":
                custom.append(CompressionEvent.model_validate(event["data"]))
        await asyncio.to_thread(settle, compressor)
    assert any(event["event"] == "on_chat_model_stream" for event in tokens)
    assert SECRET not in str([event["data"].get("chunk") for event in tokens])
    assert "applied" in {event.kind for event in custom}
    assert (compressor.background.counts["applied"] > 0) is background


@GRAPHS
@BACKGROUND
def test_the_custom_stream_and_the_callback_say_what_happened(build: Any, background: bool) -> None:
    told: list[CompressionEvent] = []
    compressor = ContextCompressor(summariser(), config=LIMITS, on_event=told.append)
    app, heard = build(compressor, background), []
    for i in range(ROUNDS):
        heard += list(app.stream(question(i), THREAD, stream_mode="custom"))
        settle(compressor)
    events = [event for chunk in heard if (event := event_in(chunk))]
    assert len(events) == len(heard)
    assert {event.session_id for event in told} == {"t"}
    assert [event for event in told if event.kind != "ready"] == events
    kinds = [str(event.kind) for event in told if event.kind != "skipped"]
    if background:
        assert kinds[:3] == ["started", "ready", "applied"]
        assert all(event.background for event in told if event.kind != "skipped")
    else:
        assert kinds[:2] == ["started", "applied"]
        assert not any(event.background for event in told)
    applied = next(event for event in told if event.kind == "applied")
    assert applied.tokens_before >= 1_200
    assert applied.tokens_after < applied.tokens_before
    assert (applied.input_tokens, applied.output_tokens, applied.model_calls) == (900, 30, 1)
    assert applied.seconds > 0
    assert applied.checkpoint_id in {c.checkpoint_id for c in compressor.history("t").checkpoints()}
    assert applied.reason == "compressed"


@GRAPHS
@pytest.mark.parametrize("run_async", [False, True])
async def test_no_step_waits_for_a_summariser_that_never_answers(build: Any, run_async: bool) -> None:
    slow = ScriptedChatModel(SECRET, delay=600.0)
    compressor = ContextCompressor(slow, config=Config(soft_limit_tokens=1_200, hard_limit_tokens=60_000))
    app = build(compressor, True)
    try:
        for i in range(ROUNDS):
            state = await app.ainvoke(question(i), THREAD) if run_async else app.invoke(question(i), THREAD)
        work = compressor.background.of("t")
        assert work is not None
        assert not work.done
        assert slow.calls <= 1
        assert len(state["messages"]) == 2 * ROUNDS
    finally:
        compressor.close()
        slow.release()


def test_what_is_skipped_and_what_failed_is_said_with_its_reason() -> None:
    told: list[CompressionEvent] = []
    compressor = ContextCompressor(
        config=Config(soft_limit_tokens=100, hard_limit_tokens=200, recent_turns=50), on_event=told.append
    )
    compressor.compress(exchanges(1))
    assert told == []
    compressor.compress([m.model_copy(update={"content": "words " * 60}) for m in exchanges(1)])
    compressor.compress([HumanMessage("words " * 400)])
    assert [(event.kind, event.reason) for event in told] == [
        ("skipped", "protected_tail_over_trigger"),
        ("failed", "protected_set_over_hard_limit"),
    ]


def test_a_callback_that_raises_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: CompressionEvent) -> None:
        raise RuntimeError("a defect of the application")

    compressor = ContextCompressor(summariser(), config=LIMITS, on_event=broken)
    assert compressor.compress(exchanges(30)).outcome == "applied"
    assert "on_event failed" in caplog.text


@pytest.mark.parametrize("chunk", [None, "text", {}, {"type": "other"}, {"type": "ctxcompress", "kind": "no such"}])
def test_what_others_write_to_the_custom_stream_is_no_event(chunk: Any) -> None:
    assert event_in(chunk) is None


def test_the_log_says_in_one_line_what_happened(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="langchain_ctxcompress"):
        compressor = ContextCompressor(summariser(), config=LIMITS, session_id="s")
        compressor.compress(exchanges(30), background=True)
        compressor.background.of("s").future.exception(20)
        compressor.compress(exchanges(30), background=True)
    lines = [record.getMessage() for record in caplog.records]
    assert any("session s: at" in line and "starts in the background" in line for line in lines)
    assert any("session s: applied (compressed)" in line for line in lines)
    assert all("\n" not in line for line in lines)


@pytest.fixture
def spans() -> Iterator[Any]:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        yield exporter.get_finished_spans


@BACKGROUND
async def test_spans_by_the_conventions_for_generative_ai(spans: Any, background: bool) -> None:
    model = summariser().bind(model="gpt-4.1-mini")
    compressor = ContextCompressor(model, config=LIMITS, session_id="s")
    compressor.compress(exchanges(30), background=background)
    if background:
        compressor.background.of("s").future.exception(20)
    await compressor.acompress(exchanges(30), session_id="on the loop", background=background)
    if background:
        await compressor.background.of("on the loop").await_()
    found = spans()
    assert [span.name.split()[0] for span in found] == ["chat", "ctxcompress"] * 2
    for chat, whole in zip(found[::2], found[1::2], strict=True):
        assert chat.parent.span_id == whole.context.span_id
        assert chat.kind.name == "CLIENT"
        attributes = dict(chat.attributes)
        assert attributes["gen_ai.operation.name"] == "chat"
        assert (attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]) == (900, 30)
        assert attributes["gen_ai.request.max_tokens"] > 0
        assert SECRET not in str(attributes)
    assert [dict(span.attributes)["ctxcompress.session_id"] for span in found[1::2]] == ["s", "on the loop"]


def test_a_span_says_that_the_model_failed(spans: Any) -> None:
    compressor = ContextCompressor(ScriptedChatModel([RuntimeError("down")]), config=LIMITS, cooldown=CoolDown(1))
    compressor.summariser.retry_wait = 0.0
    compressor.compress(exchanges(30))
    chat = next(span for span in spans() if span.name.startswith("chat"))
    assert dict(chat.attributes)["error.type"] == "error"
    assert chat.status.status_code.name == "ERROR"


def test_without_opentelemetry_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_ctxcompress.summarize import tracing

    tracing._api.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry", None)
    try:
        assert ContextCompressor(summariser(), config=LIMITS).compress(exchanges(30)).outcome == "applied"
        assert tracing._api() is None
    finally:
        tracing._api.cache_clear()
