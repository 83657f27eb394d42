"""Whatever a model server does, the agent goes on, the list is legal and fits, and nothing is lost (laws 2, 3, 4)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressionNode,
    CompressionResult,
    ContextCompressor,
    PrunerConfig,
)
from langchain_ctxcompress.engine import CoolDown
from tests.servers.faulty import (
    DRIP,
    FAULTS,
    GOOD,
    HANG,
    HUGE,
    INJECTED,
    INJECTION,
    LARGE,
    SECRET,
    SLOW,
    SUMMARY,
    Fault,
    ModelServer,
    model_server,
    random_script,
)
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.sizes import independent_tokens

LIMIT = 3_000
CONFIG = PrunerConfig.for_limit(LIMIT)


def compressor_of(
    server: ModelServer,
    *,
    seconds: float = 20.0,
    attempts: int = 1,
    cooldown: CoolDown | None = None,
    **settings: Any,
) -> ContextCompressor:
    summariser = ChatModelSummariser(
        server.client(**settings), timeout=seconds, attempts=attempts, retry_wait=0.01, window_tokens=100_000
    )
    return ContextCompressor(summariser, config=CONFIG, cooldown=cooldown)


def summary_text(messages: Sequence[BaseMessage]) -> str:
    return next(message.text for message in messages if is_summary(message))


def check(result: CompressionResult, given: list[BaseMessage], compressor: ContextCompressor) -> None:
    """The laws, by independent code: legal, small enough, nothing lost."""
    assert violations(result.messages) == []
    assert independent_tokens(result.messages) <= LIMIT
    left = {message.id for message in result.messages if not is_summary(message)}
    for message in given:
        if message.id not in left:
            assert compressor.expand_message(message.id or "") == message


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_costs_the_models_summary_and_nothing_else(fault: Fault) -> None:
    given = exchanges(120)
    with model_server(fault) as server:
        compressor = compressor_of(server)
        result = compressor.compress(given)
        assert server.asked
    assert result.outcome in ("applied", "degraded")
    check(result, given, compressor)
    if fault.name != "invalid-utf-8":  # what of it can be read is text, and may be taken
        assert result.outcome == "degraded"
        assert result.checkpoint is not None
        assert result.checkpoint.summariser == "extractive"


@pytest.mark.parametrize("fault", [GOOD, SLOW, *FAULTS[::4]], ids=lambda fault: fault.name)
async def test_the_same_on_the_loop(fault: Fault) -> None:
    given = exchanges(120)
    with model_server(fault) as server:
        compressor = compressor_of(server)
        result = await compressor.acompress(given)
    check(result, given, compressor)
    assert (SUMMARY in summary_text(result.messages)) is fault.usable


@pytest.mark.parametrize("fault", [HANG, DRIP], ids=lambda fault: fault.name)
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_server_that_never_ends_is_waited_for_as_long_as_was_said(fault: Fault, way: str) -> None:
    given = exchanges(120)
    with model_server(fault) as server:
        compressor = compressor_of(server, seconds=0.3)
        started = time.monotonic()
        result = compressor.compress(given) if way == "sync" else asyncio.run(compressor.acompress(given))
        waited = time.monotonic() - started
    check(result, given, compressor)
    assert result.reason in ("summariser_failed", "compressed", "emergency")
    assert result.outcome == "degraded"
    assert "no answer within" in result.detail or "Timeout" in result.detail
    assert waited < 15  # not the minute that the server would take: no aim of speed


@pytest.mark.parametrize("fault", [LARGE, pytest.param(HUGE, marks=pytest.mark.slow)], ids=lambda fault: fault.name)
def test_ten_and_a_hundred_megabytes_are_no_summary(fault: Fault) -> None:
    given = exchanges(120)
    with model_server(fault) as server:
        compressor = compressor_of(server, seconds=60.0, timeout=60.0)
        result = compressor.compress(given)
    check(result, given, compressor)
    assert result.outcome == "degraded"
    assert len(summary_text(result.messages)) < 20_000


def test_a_server_that_recovers_is_asked_again_in_the_same_compression() -> None:
    with model_server(FAULTS[4], GOOD) as server:
        result = compressor_of(server, attempts=2).compress(exchanges(120))
        assert len(server.asked) == 2
    assert result.outcome == "applied"
    assert SUMMARY in summary_text(result.messages)


def test_a_failing_server_is_left_alone_and_asked_again_when_the_time_is_over() -> None:
    now = [0.0]
    with model_server(FAULTS[4], FAULTS[4], FAULTS[4], GOOD) as server:
        compressor = compressor_of(server, cooldown=CoolDown(3, 60.0, clock=lambda: now[0]))
        for number in range(6):
            compressor.compress(exchanges(120, start=1_000 * number), session_id=str(number))
        assert len(server.asked) == 3
        now[0] = 61.0
        result = compressor.compress(exchanges(120), session_id="later")
        assert len(server.asked) == 4
    assert result.outcome == "applied"


def test_an_obeyed_injection_in_a_summary_stays_a_record(caplog: pytest.LogCaptureFixture) -> None:
    """The summary says what the model wrote; the frame around it says that it is no request."""
    given = exchanges(120)
    with model_server(INJECTED) as server:
        compressor = compressor_of(server)
        result = compressor.compress(given)
    check(result, given, compressor)
    text = summary_text(result.messages)
    assert text.index("no new request") < text.index(INJECTION[:30])


def test_no_key_and_no_conversation_stand_in_logs_and_results(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="langchain_ctxcompress")
    secret = [HumanMessage("my password is hunter2-XYZZY", id="pw"), AIMessage("ok", id="ok")]
    given = [*exchanges(30), *secret, *exchanges(30, start=500)]
    with model_server(*FAULTS) as server:
        compressor = compressor_of(server, cooldown=CoolDown(1_000, 60.0))
        results = [compressor.compress(given, session_id=str(number)) for number in range(len(FAULTS))]
        assert len(server.asked) >= len(FAULTS)
    said = caplog.text + " ".join(result.detail for result in results)
    assert "compress" in said
    assert SECRET not in said
    assert "XYZZY" not in said


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_long_conversation_through_a_server_that_fails_every_third_time(seed: int) -> None:
    """A real graph, the node before each step, a server whose answers are drawn: the thread never breaks."""
    script = random_script(seed, 200, share=0.33)
    with model_server(*script) as server:
        summariser = ChatModelSummariser(server.client(), timeout=20, attempts=2, retry_wait=0.01, window_tokens=50_000)
        compressor = ContextCompressor(summariser, config=CONFIG, cooldown=CoolDown(3, 0.05))
        prompts: list[list[BaseMessage]] = []

        def answer(state: MessagesState) -> dict[str, Any]:
            prompts.append(state["messages"])
            return {"messages": [AIMessage(f"Noted: {len(prompts)}. " + "word " * 60, id=f"ai-{len(prompts)}")]}

        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(compressor, background=False))
        graph.add_node("model", answer)
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        app = graph.compile()
        messages: list[BaseMessage] = []
        said: list[HumanMessage] = []
        for number in range(80):
            asked = f"Question {number}: where is order A-{number}? " + "please " * 40
            said.append(HumanMessage(asked, id=f"h-{number}"))
            messages = app.invoke({"messages": [*messages, said[-1]]}, {"configurable": {"thread_id": "t"}})["messages"]
        assert len(server.asked) > 5
    assert all(violations(prompt) == [] for prompt in prompts)
    assert max(independent_tokens(prompt) for prompt in prompts) <= LIMIT
    for message in said[:70]:
        assert compressor.expand_message(message.id or "", session_id="t") == message
