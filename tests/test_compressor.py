"""`ContextCompressor`: the engine behind every door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressionNode,
    CompressionPlan,
    ContextCompressor,
    CtxCompressError,
    Outcome,
    PrunerConfig,
    PruneUrgency,
    Reason,
    pin,
)
from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.errors import ConfigError, InvalidMessagesError, StorageError, TokenCountError
from tests.laws.judge import STRATEGIES, as_bytes
from tests.storage.stores import WatchedStore
from tests.support.conversations import conversations, exchanges, pinned
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(1_500)


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
    store = WatchedStore()
    compressor = ContextCompressor(config=PrunerConfig.for_limit(100, enabled=False), store=store)
    for force in (False, True):
        result = compressor.compress(messages, force=force)
        assert (result.outcome, result.reason) == ("noop", "disabled")
        assert result.messages == messages
    assert store.writes() == 0


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


def test_a_result_and_a_node_are_shown_in_a_line() -> None:
    compressor = ContextCompressor(config=CONFIG)
    result = compressor.compress(exchanges(40))
    shown = repr(result)
    assert shown.startswith(
        f"CompressionResult(outcome='applied', reason='compressed', tokens_before={result.tokens_before}"
    )
    assert shown.endswith(f"[{len(result.messages)} messages], checkpoint={result.checkpoint.checkpoint_id!r})")
    assert repr(CompressionNode(compressor, mode="view")) == f"CompressionNode({compressor!r}, mode='view')"
