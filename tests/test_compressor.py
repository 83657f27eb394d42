"""`ContextCompressor`: the engine behind every door."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    ChatModelSummariser,
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
from tests.laws.judge import STRATEGIES, as_bytes, illegal, lost, voice_lost
from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens

CONFIG = PrunerConfig.for_limit(1_500)


class Watched(InMemoryStore):
    """A store that counts what is written."""

    writes = 0

    def batch(self, ops: Any) -> list[Any]:
        ops = list(ops)
        self.writes += sum(isinstance(op, PutOp) for op in ops)
        return super().batch(ops)


# plan


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("messages", [exchanges(2), exchanges(60), [], agent_run(30)], ids=["few", "many", "no", "run"])
def test_a_plan_calls_no_model_and_writes_nothing(messages: list[BaseMessage], force: bool) -> None:
    model, store = ScriptedChatModel("a summary"), Watched()
    compressor = ContextCompressor(model, config=CONFIG, store=store)
    compressor.plan(messages, force=force)
    assert (model.calls, store.writes) == (0, 0)
    assert compressor.history().checkpoints() == []


def test_a_plan_predicts_what_a_compression_does() -> None:
    model = ScriptedChatModel("a summary of it")
    compressor = ContextCompressor(model, config=CONFIG, strategy="middle-out")
    messages = exchanges(40)
    plan = compressor.plan(messages)
    result = compressor.compress(messages)
    assert plan.reason == result.reason == "compressed"
    assert plan.urgency is PruneUrgency.HARD
    assert plan.tokens == result.tokens_before
    assert plan.candidate_turns == result.turns_replaced == 34
    assert plan.turns == result.turns_kept + result.turns_replaced == 40
    assert plan.model_calls == model.calls == 1
    assert plan.candidate_tokens < plan.tokens
    assert plan.candidate_tokens < plan.model_tokens < plan.candidate_tokens + 1_500
    assert independent_tokens(model.prompts[0]) <= plan.model_tokens


@settings(max_examples=25)
@given(conversations(max_messages=60), st.integers(30, 3_000), st.booleans())
def test_a_plan_without_a_model_gives_the_reason_of_the_result(
    messages: list[BaseMessage], limit: int, force: bool
) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy="middle-out")
    plan = compressor.plan(messages, force=force)
    result = compressor.compress(messages, force=force)
    if result.reason not in (Reason.STILL_OVER_HARD_LIMIT, Reason.PROTECTED_SET_OVER_HARD_LIMIT, Reason.REPAIRED):
        assert plan.reason == result.reason
    assert plan.model_calls == 0


def test_a_plan_below_the_limit_and_one_that_is_switched_off() -> None:
    assert ContextCompressor(config=CONFIG).plan(exchanges(2)).reason == "below_soft_limit"
    off = ContextCompressor(config=PrunerConfig.for_limit(1_500, enabled=False)).plan(exchanges(60))
    assert (off.urgency, off.reason) == (PruneUrgency.NONE, "disabled")
    assert off.tokens > 1_500


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


# sessions


def test_two_sessions_of_one_compressor_do_not_mix() -> None:
    compressor = ContextCompressor(config=CONFIG)
    one = compressor.compress(exchanges(40), session_id="one")
    two = compressor.compress(exchanges(40, start=100), session_id="two")
    assert one.checkpoint is not None
    assert two.checkpoint is not None
    for result, name, other in ((one, "one", "two"), (two, "two", "one")):
        record = result.checkpoint
        assert record is not None
        assert record.session_id == name
        found = compressor.expand(record.checkpoint_id, session_id=name)
        assert found
        assert compressor.expand(record.checkpoint_id) == found
        assert compressor.expand(record.checkpoint_id, session_id=other) is None
    assert compressor.expand_message("human-9", session_id="one") == exchanges(40)[18]
    assert compressor.expand_message("human-9", session_id="two") is None
    assert compressor.expand_message("human-109") == exchanges(40, start=100)[18]
    again = compressor.compress([*two.messages, *exchanges(40, start=140)], session_id="two")
    summary = next(message.text for message in again.messages if is_summary(message))
    assert "#W10010" not in summary


@pytest.mark.parametrize("session_id", ["", "a.b/c:d", "ä 漢 \x00 \ud800", "x" * 3_000])
def test_any_text_is_a_session_id(session_id: str) -> None:
    compressor = ContextCompressor(config=CONFIG, session_id=session_id or None)
    result = compressor.compress(exchanges(40), session_id=session_id or None)
    assert result.checkpoint is not None
    assert compressor.expand(result.checkpoint.checkpoint_id)
    assert compressor.expand_message("human-9") is not None


def test_a_compressor_s_own_session_is_its_own() -> None:
    store = InMemoryStore()
    one, two = (ContextCompressor(config=CONFIG, store=store) for _ in range(2))
    assert one.session_id != two.session_id
    one.compress(exchanges(40))
    assert two.history().messages() == []
    assert two.expand_message("human-9") == exchanges(40)[18], "found in every session of the store"


def test_tenants_do_not_see_each_other() -> None:
    store = InMemoryStore()
    one, two = (ContextCompressor(config=CONFIG, store=store, namespace=(name,), session_id="s") for name in "ab")
    result = one.compress(exchanges(40))
    assert result.checkpoint is not None
    assert two.expand_message("human-9") is None
    assert two.expand(result.checkpoint.checkpoint_id) is None
    assert two.history().messages() == []


@pytest.mark.parametrize("session_id", [None, "s", "never used"])
def test_unknown_ids_give_none(session_id: str | None) -> None:
    compressor = ContextCompressor(config=CONFIG, session_id="s")
    assert compressor.expand("c123", session_id=session_id) is None
    assert compressor.expand_message("m1", session_id=session_id) is None
    compressor.compress(exchanges(40))
    assert compressor.expand("c123", session_id=session_id) is None
    assert compressor.expand_message("m1", session_id=session_id) is None


def test_a_store_that_a_graph_brings_is_taken_where_none_was_given() -> None:
    brought = InMemoryStore()
    compressor = ContextCompressor(config=CONFIG, session_id="s")
    compressor.compress(exchanges(40), store=brought)
    assert compressor.store is brought
    assert compressor.expand_message("human-9") == exchanges(40)[18]
    own = ContextCompressor(config=CONFIG, store=InMemoryStore(), session_id="s")
    own.compress(exchanges(40), store=brought)
    assert own.store is not brought


# threads


def test_eight_threads_on_one_compressor(tmp_path: Path) -> None:
    model = ScriptedChatModel("the talk goes well")
    compressor = ContextCompressor(model, config=CONFIG, store=tmp_path / "s.sqlite")
    start = threading.Barrier(8)

    def talk(number: int) -> list[str]:
        name = f"session-{number}"
        start.wait(30)
        view: list[BaseMessage] = [SystemMessage(f"You are number {number}.", id=f"sys-{number}")]
        whole = list(view)
        found: list[str] = []
        for step in range(0, 60, 20):
            new = [m.model_copy(update={"id": f"{number}-{m.id}"}) for m in exchanges(20, start=step)]
            whole += new
            given = [*view, *new]
            view = compressor.compress(given, session_id=name).messages
            found += illegal(compressor, view, given) + voice_lost(view, given)
        return found + lost(compressor, view, whole, session_id=name)

    with ThreadPoolExecutor(8) as pool:
        assert [found for found in pool.map(talk, range(8)) if found] == []
    assert model.calls >= 8
    for number in range(8):
        ids = [message.id for message in compressor.history(f"session-{number}").messages()]
        assert len(ids) == len(set(ids)) == 121


def test_threads_on_one_session_lose_nothing() -> None:
    """Two workers on one thread of conversation: each compresses a list of its own; no original is lost."""
    compressor = ContextCompressor(config=CONFIG, session_id="s")

    def talk(number: int) -> list[str]:
        messages = exchanges(40, start=100 * number)
        output = compressor.compress(messages).messages
        return illegal(compressor, output, messages) + voice_lost(output, messages)

    with ThreadPoolExecutor(8) as pool:
        assert [found for found in pool.map(talk, range(8)) if found] == []
    for number in range(8):
        for message in exchanges(40, start=100 * number)[::9]:
            assert compressor.expand_message(message.id or "") == message


def test_results_and_plans_are_records() -> None:
    plan = ContextCompressor(config=CONFIG).plan(exchanges(2))
    assert plan == CompressionPlan(PruneUrgency.NONE, plan.tokens, Reason.BELOW_SOFT_LIMIT, turns=plan.turns)
    result = ContextCompressor(config=CONFIG).compress([pinned(message) for message in exchanges(2)])
    for change in (lambda: setattr(result, "reason", "x"), lambda: setattr(plan, "tokens", 1)):
        with pytest.raises(AttributeError):
            _call(change)


def _call(change: Callable[[], Any]) -> None:
    change()


# leaves_alone


def test_a_step_that_is_left_alone_is_one_that_compress_would_leave_as_it_is() -> None:
    talk = exchanges(40)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(3_000), session_id="a")
    grown: list[BaseMessage] = []
    left: list[bool] = []
    for message in talk:
        grown = [*grown, message]
        left.append(compressor.leaves_alone(grown))
        result = compressor.compress(grown)
        if left[-1]:
            assert (result.outcome, [m.id for m in result.messages]) == ("noop", [m.id for m in grown])
        grown = list(result.messages)
    assert not left[0], "nothing is known of it yet"
    assert left.count(True) > len(left) // 2
    assert not all(left[1:]), "some steps compress"
    assert not compressor.leaves_alone(grown, session_id="b")
    assert not compressor.leaves_alone(grown, store=InMemoryStore())
    assert not compressor.leaves_alone(grown, overhead_tokens=5_000)
    for background in (False, True):
        compressor.compress(grown)
        assert compressor.leaves_alone(grown, background=background)


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
