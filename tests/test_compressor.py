"""`ContextCompressor`: the engine behind every door."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    AgentCall,
    ChatModelSummariser,
    CompressionPlan,
    ContextCompressor,
    CtxCompressError,
    Goal,
    Outcome,
    PrunerConfig,
    PruneUrgency,
    Reason,
    pin,
)
from langchain_ctxcompress.compressor import _say_defaults
from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.errors import ConfigError, InvalidMessagesError, StorageError, TokenCountError
from tests.laws.judge import STRATEGIES, as_bytes
from tests.support.conversations import conversations, exchanges, pinned
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(1_500)


class Watched(InMemoryStore):
    """A store that counts what is written."""

    writes = 0

    def batch(self, ops: Any) -> list[Any]:
        ops = list(ops)
        self.writes += sum(isinstance(op, PutOp) for op in ops)
        return super().batch(ops)


# compress


def test_the_result_says_what_was_done() -> None:
    messages = exchanges(40)
    compressor = ContextCompressor(config=CONFIG)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason, result.changed) == (Outcome.APPLIED, Reason.COMPRESSED, True)
    assert result.tokens_before == sum(compressor.count(messages))
    assert result.tokens_after == sum(compressor.count(result.messages)) < 1_500
    assert result.tokens_freed == result.tokens_before - result.tokens_after
    assert result.checkpoint == result.checkpoints[-1]
    assert result.checkpoint.tokens_before == result.tokens_before
    assert result.checkpoint.tokens_after == result.tokens_after
    assert compressor.history().checkpoints()[-1] == result.checkpoint
    assert sum(rung.freed for rung in result.rungs) == result.tokens_freed
    assert result.seconds >= 0
    assert (result.turns_kept + result.turns_replaced, result.model_calls) == (40, 0)


def test_below_the_soft_limit_the_same_list_comes_back() -> None:
    messages = exchanges(3)
    result = ContextCompressor(config=CONFIG).compress(messages)
    assert (result.outcome, result.reason) == ("noop", "below_soft_limit")
    assert [id(message) for message in result.messages] == [id(message) for message in messages]
    assert result.messages is not messages
    assert (result.checkpoint, result.checkpoints, result.changed) == (None, (), False)


@pytest.mark.parametrize(("tokens", "reason"), [(-1, "below_soft_limit"), (0, "compressed")])
def test_the_soft_limit_itself_is_where_it_starts(tokens: int, reason: str) -> None:
    messages = exchanges(40)
    size = sum(ContextCompressor(config=CONFIG).count(messages))
    config = PrunerConfig(soft_limit_tokens=size - tokens, hard_limit_tokens=10**6, target_tokens=500)
    assert ContextCompressor(config=config, strategy="middle-out").compress(messages).reason == reason


def test_overhead_counts_for_the_limits_and_in_the_sizes() -> None:
    messages = exchanges(30)
    size = sum(ContextCompressor(config=CONFIG).count(messages))
    config = PrunerConfig(soft_limit_tokens=size + 2_000, hard_limit_tokens=10**6)
    compressor = ContextCompressor(config=config)
    assert compressor.compress(messages, overhead_tokens=1_999).outcome == "noop"
    result = compressor.compress(messages, overhead_tokens=2_500)
    assert result.outcome == "applied"
    assert result.tokens_before == sum(compressor.count(messages)) + 2_500
    assert result.tokens_after == sum(compressor.count(result.messages)) + 2_500
    assert compressor.plan(result.messages, overhead_tokens=2_500).tokens == result.tokens_after


def test_switched_off_every_list_stays_as_it_is() -> None:
    messages = [*exchanges(60), AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}]), HumanMessage("?")]
    store = Watched()
    compressor = ContextCompressor(config=PrunerConfig.for_limit(100, enabled=False), store=store)
    for force in (False, True):
        result = compressor.compress(messages, force=force)
        assert (result.outcome, result.reason) == ("noop", "disabled")
        assert result.messages == messages
    assert store.writes == 0


def test_force_compresses_whatever_the_limits_say() -> None:
    compressor = ContextCompressor(config=PrunerConfig())
    result = compressor.compress(exchanges(40), force=True)
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert compressor.compress(result.messages, force=True).outcome == "noop", "nothing is left to compress"


def test_force_takes_a_single_candidate() -> None:
    messages = [*exchanges(1), *exchanges(1, start=1, words=200), *exchanges(5, start=2)]
    compressor = ContextCompressor(config=PrunerConfig())
    assert compressor.compress(messages, force=True).turns_replaced == 1


def test_limits_of_one_call() -> None:
    compressor = ContextCompressor(config=PrunerConfig())
    messages = exchanges(40)
    assert compressor.compress(messages).outcome == "noop"
    assert compressor.compress(messages, config=CONFIG).outcome == "applied"


def test_the_encoding_of_the_config_counts() -> None:
    plain = ContextCompressor(config=CONFIG)
    unknown = ContextCompressor(config=PrunerConfig.for_limit(1_500, encoding_model="nobody's-model"))
    assert unknown.count_text("hello world, how are you") > plain.count_text("hello world, how are you")


def test_an_empty_list() -> None:
    result = ContextCompressor(config=CONFIG).compress([], force=True)
    assert (result.outcome, result.messages, result.tokens_before) == ("noop", [], 0)


@pytest.mark.parametrize("wrong", ["hi", ("user", "hi"), {"role": "user", "content": "hi"}, None, 7])
@pytest.mark.parametrize("call", ["compress", "plan", "view"])
def test_what_is_no_message_is_named_by_its_place(call: str, wrong: Any) -> None:
    compressor = ContextCompressor(config=CONFIG)
    with pytest.raises(InvalidMessagesError, match=f"item 1 of messages is a {type(wrong).__name__}") as caught:
        getattr(compressor, call)([HumanMessage("ok"), wrong])
    assert isinstance(caught.value, ValueError)
    assert "convert_to_messages" in str(caught.value)


async def test_what_is_no_message_is_named_async() -> None:
    with pytest.raises(InvalidMessagesError, match="item 0"):
        await ContextCompressor(config=CONFIG).acompress(["hi"])  # type: ignore[list-item]


def test_what_cannot_be_counted_is_named_by_its_id() -> None:
    broken = HumanMessage("x", id="broken")
    broken.content = [{"type": "text", "text": "ok"}, 7]  # type: ignore[list-item]
    with pytest.raises(TokenCountError, match="broken"):
        ContextCompressor(config=CONFIG).compress([broken])


@pytest.mark.parametrize("store", [7, object(), {"a": 1}])
def test_what_is_no_store_is_refused(store: Any) -> None:
    with pytest.raises(ConfigError, match=type(store).__name__):
        ContextCompressor(config=CONFIG, store=store)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 100)
    with pytest.raises(StorageError, match=r"notes\.txt"):
        ContextCompressor(config=CONFIG, store=tmp_path / "notes.txt")


def test_every_error_is_one_of_this_package() -> None:
    for make in (lambda: ContextCompressor(strategy="no"), lambda: ContextCompressor(7), lambda: ContextCompressor("")):
        with pytest.raises(CtxCompressError):
            make()


# sync and async


@settings(max_examples=15)
@given(conversations(max_messages=60), st.integers(60, 2_000))
def test_sync_and_async_do_the_same(messages: list[BaseMessage], limit: int) -> None:
    def compressor() -> ContextCompressor:
        own = ChatModelSummariser(ScriptedChatModel("order #W1 was refunded"), retry_wait=0)
        return ContextCompressor(own, config=PrunerConfig.for_limit(limit), session_id="s")

    one = compressor().compress(messages)
    two = asyncio.run(compressor().acompress(messages))
    assert [as_bytes(message) for message in one.messages] == [as_bytes(message) for message in two.messages]
    assert (one.outcome, one.reason, one.rungs) == (two.outcome, two.reason, two.rungs)


async def test_the_async_twins(tmp_path: Path) -> None:
    compressor = ContextCompressor(config=CONFIG, store=tmp_path / "s.sqlite")
    messages = exchanges(40)
    result = await compressor.acompress(messages)
    assert result.checkpoint is not None
    assert await compressor.aexpand(result.checkpoint.checkpoint_id) == compressor.expand(
        result.checkpoint.checkpoint_id
    )
    assert await compressor.aexpand_message("human-9") == messages[18]
    assert await compressor.aview(messages) == compressor.view(messages) == result.messages
    assert await compressor.aforget_messages(["human-9"]) == 1
    assert await compressor.aexpand_message("human-9") is None
    await compressor.aforget()
    assert await compressor.aexpand_message("human-10") is None
    assert compressor.history().messages() == []


def test_a_forgotten_message_is_gone_from_archive_and_checkpoints() -> None:
    compressor = ContextCompressor(config=CONFIG)
    result = compressor.compress(exchanges(40))
    assert result.checkpoint is not None
    assert compressor.forget_messages(["human-9", "never-seen"]) == 1
    assert compressor.expand_message("human-9") is None
    left = compressor.expand(result.checkpoint.checkpoint_id)
    assert left
    assert "human-9" not in [message.id for message in left]


def test_the_cool_down_is_the_one_that_was_given() -> None:
    cooldown = CoolDown(1, 5.0)
    assert ContextCompressor(config=CONFIG, cooldown=cooldown).cooldown is cooldown


def test_a_forgotten_session_is_gone_and_another_stays() -> None:
    compressor = ContextCompressor(config=CONFIG)
    for name in ("one", "two"):
        compressor.compress(exchanges(40), session_id=name)
    compressor.forget("one")
    assert compressor.expand_message("human-9", session_id="one") is None
    assert compressor.expand_message("human-9", session_id="two") == exchanges(40)[18]
    assert compressor.compress(exchanges(40), session_id="one").reason == "compressed"


def test_results_and_plans_are_records() -> None:
    plan = ContextCompressor(config=CONFIG).plan(exchanges(2))
    assert plan == CompressionPlan(PruneUrgency.NONE, plan.tokens, Reason.BELOW_SOFT_LIMIT, turns=plan.turns)
    result = ContextCompressor(config=CONFIG).compress([pinned(message) for message in exchanges(2)])
    for change in (lambda: setattr(result, "reason", "x"), lambda: setattr(plan, "tokens", 1)):
        with pytest.raises(AttributeError):
            _call(change)


def _call(change: Callable[[], Any]) -> None:
    change()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_results_and_nothing_else_stay_as_they_are(strategy: str) -> None:
    """D6: without a call none of them is legal, and no list at all is worse for a model."""
    compressor = ContextCompressor(strategy=strategy)
    messages: list[BaseMessage] = [ToolMessage("x", tool_call_id=str(i), id=f"t{i}") for i in range(3)]
    result = compressor.compress(messages)
    assert (result.outcome, result.messages) == ("noop", messages)
    assert compressor.view(messages) == messages


@pytest.mark.parametrize("wrong", [None, "hello", 5, {"messages": []}])
def test_what_is_no_list_is_refused(wrong: Any) -> None:
    compressor = ContextCompressor()
    for call in (compressor.compress, compressor.plan, compressor.view):
        with pytest.raises(InvalidMessagesError, match=type(wrong).__name__):
            call(wrong)


def test_arguments_of_the_wrong_kind_are_named() -> None:
    with pytest.raises(ConfigError, match="namespace is 'acme'"):
        ContextCompressor(namespace="acme")
    compressor = ContextCompressor(session_id="s")
    with pytest.raises(ConfigError, match="session_id is 5"):
        compressor.compress([], session_id=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidMessagesError, match="str cannot be pinned"):
        pin("x")  # type: ignore[type-var]


def test_a_compressor_says_what_it_is_set_to() -> None:
    compressor = ContextCompressor(session_id="s", config=PrunerConfig.for_limit(8_000))
    assert repr(compressor).startswith("ContextCompressor(session_id='s', soft_limit_tokens=")
    assert "hard_limit_tokens=8000, store=InMemoryStore)" in repr(compressor)


# what a call hands on


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


def test_so_do_plan_and_view(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = exchanges(2)
    asked = {name: CALL[name] for name in ("session_id", "force", "overhead_tokens")}
    assert handed(monkeypatch, lambda own: own.plan(messages, **asked)) == {"messages": messages, **asked}
    view = {"messages": messages, "session_id": "whose"}
    assert handed(monkeypatch, lambda own: own.view(messages, session_id="whose")) == view
    assert handed(monkeypatch, lambda own: asyncio.run(own.aview(messages, session_id="whose"))) == view


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


def test_what_is_no_config_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        ContextCompressor(config=8_000)  # type: ignore[arg-type]
    assert str(caught.value) == "config is a int: pass a PrunerConfig, such as PrunerConfig.for_limit(8000)"
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
    with caplog.at_level(logging.DEBUG, logger="langchain_ctxcompress.compressor"):
        assert not compressor.leaves_alone(messages)
