"""What a call of the compressor hands on to the engine, and what the compressor itself is given."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    AgentCall,
    ChatModelSummariser,
    ContextCompressor,
    Goal,
    PrunerConfig,
)
from langchain_ctxcompress.compressor import _say_defaults
from langchain_ctxcompress.engine import Background, CoolDown
from langchain_ctxcompress.errors import ConfigError
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(1_500)


class Stopped(Exception):
    """The call has come as far as is looked at."""


CALL: dict[str, Any] = {
    "session_id": "whose",
    "config": PrunerConfig.for_limit(700),
    "store": InMemoryStore(),
    "force": True,
    "instructions": "keep the SQL",
    "overhead_tokens": 17,
    "background": True,
    "goal": Goal(description="ship it"),
    "mode": "debugger",
    "agent": AgentCall(ScriptedChatModel("unused")),
}


SIGNATURE = inspect.signature(ContextCompressor._job)


def handed(monkeypatch: pytest.MonkeyPatch, call: Callable[[ContextCompressor], Any]) -> dict[str, Any]:
    """What a call asks for, as a job."""
    seen: dict[str, Any] = {}

    def job(*args: Any, **fields: Any) -> Any:
        bound = SIGNATURE.bind(*args, **fields).arguments
        seen.update({name: value for name, value in bound.items() if name != "self"})
        raise Stopped

    monkeypatch.setattr(ContextCompressor, "_job", job)
    with pytest.raises(Stopped):
        call(ContextCompressor(config=CONFIG))
    return seen


def test_both_doors_hand_on_all_that_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = exchanges(2)
    given = {"messages": messages, **CALL}
    assert handed(monkeypatch, lambda own: own.compress(messages, **CALL)) == given
    assert handed(monkeypatch, lambda own: asyncio.run(own.acompress(messages, **CALL))) == given


def test_so_does_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = exchanges(2)
    asked = {name: value for name, value in CALL.items() if name != "background"}
    assert handed(monkeypatch, lambda own: own.plan(messages, **asked)) == {"messages": messages, **asked}
    assert handed(monkeypatch, lambda own: asyncio.run(own.aplan(messages, **asked))) == {"messages": messages, **asked}


def test_a_job_is_all_of_it() -> None:
    model = ScriptedChatModel("unused", profile={"max_input_tokens": 9_000})
    compressor = ContextCompressor(model, config=CONFIG, session_id="own", strategy="middle-out")
    messages = exchanges(2)
    job = compressor._job(messages, CALL["session_id"], **{k: v for k, v in CALL.items() if k != "session_id"})
    assert job.messages is messages
    assert (job.session_id, job.store) == ("whose", CALL["store"])
    assert (job.config, job.strategy, job.agent) == (CALL["config"], compressor.strategy, CALL["agent"])
    assert (job.overhead_tokens, job.force, job.instructions) == (17, True, "keep the SQL")
    assert job.mode.name == "debugger"
    assert [goal.description for goal in job.goals or ()] == ["ship it"]
    assert (job.summariser, job.model, job.summariser_window) == (True, model, 9_000)
    assert job.background is compressor.background
    assert job.tools.count(messages) == compressor.count(messages)


def test_a_job_of_nothing_else_is_the_compressor_s_own() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900, mode="planning"), session_id="own")
    job = compressor._job([], None)
    assert (job.session_id, job.config, job.store) == ("own", compressor.config, compressor.store)
    assert (job.overhead_tokens, job.force, job.instructions, job.agent) == (0, False, "", None)
    assert (job.goals, job.summariser, job.model, job.summariser_window, job.background) == (
        None,
        False,
        None,
        None,
        None,
    )
    assert job.mode.name == "planning"
    assert compressor._job([], None, goal=()).goals == ()
    assert compressor._job([], None, config=PrunerConfig.for_limit(900, mode="debugger")).mode.name == "debugger"
    own = ContextCompressor(config=compressor.config, mode="developer")
    assert own._job([], None).mode.name == "developer"
    assert own._job([], None, mode="assistant").mode.name == "assistant"


def test_a_store_of_a_graph_keeps_tenants_apart_and_what_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def redact(message: BaseMessage) -> BaseMessage:
        return message.model_copy(update={"content": "taken out"})

    brought = InMemoryStore()
    compressor = ContextCompressor(config=CONFIG, session_id="s", namespace=("acme",), redact=redact)
    compressor.compress(exchanges(40), store=brought)
    assert compressor.store is brought
    assert all("-acme" in space for space in brought.list_namespaces())
    original = compressor.expand_message("human-9")
    assert original is not None
    assert original.content == "taken out"
    sessions = compressor._sessions
    compressor.compress(exchanges(2), store=brought)
    assert compressor._sessions is sessions, "the same store again is no other"


def test_what_a_compressor_is_given_is_what_it_has() -> None:
    cooldown, seen = CoolDown(1, 5.0), []
    model = ChatModelSummariser(ScriptedChatModel("said"))
    compressor = ContextCompressor(
        model,
        config=CONFIG,
        session_id="s",
        cooldown=cooldown,
        mode="planning",
        on_event=seen.append,
        namespace=("a", "b"),
    )
    assert (compressor.summariser, compressor.cooldown, compressor.config_given) == (model, cooldown, True)
    assert (compressor.session_id, compressor.store_given, compressor.namespace) == ("s", False, ("a", "b"))
    assert compressor.mode is not None
    assert compressor.mode.name == "planning"
    compressor.compress(exchanges(40))
    assert [event.kind for event in seen]
    bare = ContextCompressor(store=InMemoryStore())
    assert (bare.config, bare.config_given, bare.store_given, bare.mode) == (PrunerConfig(), False, True, None)
    assert bare.session_id.startswith("session-")
    assert len(bare.session_id) == len("session-") + 32
    assert bare.strategy.name == "ladder"
    assert isinstance(bare.background, Background)


def test_what_is_no_config_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        ContextCompressor(config=8_000)  # type: ignore[arg-type]
    assert str(caught.value) == "config is 8000: it must be a PrunerConfig, such as PrunerConfig.for_limit(8000)"
    with pytest.raises(ConfigError, match=r"^session_id is 5: it must be a str\b"):
        ContextCompressor(config=CONFIG, session_id=5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="mode is 'nobody'"):
        ContextCompressor(config=PrunerConfig.for_limit(900, mode="nobody"))


def test_the_defaults_are_said_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    _say_defaults.cache_clear()
    with caplog.at_level(logging.INFO, logger="langchain_ctxcompress"):
        for _ in range(2):
            ContextCompressor(store=InMemoryStore())
    said = [record.getMessage() for record in caplog.records if "no config" in record.getMessage()]
    assert said == [
        "no config is given: soft limit 500000, hard limit 800000 tokens; PrunerConfig.for_model(model) fits yours"
    ]


def test_the_encoding_of_the_config_cuts_and_counts_alike() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_500, encoding_model="claude-sonnet-4-5"))
    text = "The order was refunded to the card, and nothing else was changed. " * 20
    tools = compressor._job([], None).tools
    cut = tools.truncate(text, 50)
    assert 40 < tools.count_text(cut) <= 50
    assert tools.count_text(text) > ContextCompressor(config=CONFIG).count_text(text)
    message = HumanMessage("x", id="m")
    assert tools.sizes_saying([message], [text]) == tools.count([HumanMessage(text, id="m")])


def test_a_list_is_left_alone_only_while_it_is_known_small_and_without_goals() -> None:
    messages = exchanges(3)
    compressor = ContextCompressor(config=CONFIG, session_id="s", store=InMemoryStore())
    assert not compressor.leaves_alone(messages)
    compressor.compress(messages)
    assert compressor.leaves_alone(messages)
    assert compressor.leaves_alone(messages, session_id="s")
    assert not compressor.leaves_alone(messages, session_id="other")
    assert compressor.leaves_alone(messages, store=InMemoryStore()), "it has a store of its own"
    size, soft = sum(compressor.count(messages)), CONFIG.soft_limit_tokens
    assert compressor.leaves_alone(messages, overhead_tokens=soft - size - 1)
    assert not compressor.leaves_alone(messages, overhead_tokens=soft - size)
    brought = ContextCompressor(config=CONFIG, session_id="s")
    brought.compress(messages)
    assert brought.leaves_alone(messages)
    assert brought.leaves_alone(messages, store=brought.store)
    assert not brought.leaves_alone(messages, store=InMemoryStore())
    for goal, alone in (((), True), (Goal(description="ship it"), False)):
        own = ContextCompressor(config=PrunerConfig.for_limit(4_000))
        short = own.compress(exchanges(90), goal=goal).messages
        own.compress(short)
        assert own.leaves_alone(short) is alone


def test_a_list_is_not_left_alone_where_it_is_switched_off_or_the_log_wants_to_know(
    caplog: pytest.LogCaptureFixture,
) -> None:
    messages = exchanges(3)
    off = ContextCompressor(config=PrunerConfig.for_limit(1_500, enabled=False))
    off.compress(messages)
    assert not off.leaves_alone(messages)
    compressor = ContextCompressor(config=CONFIG)
    compressor.compress(messages)
    with caplog.at_level(logging.DEBUG, logger="langchain_ctxcompress"):
        assert not compressor.leaves_alone(messages)
