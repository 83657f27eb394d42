"""The strategy `bands`: messages shortened where they stand, archived before, and known again."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, messages_from_dict, messages_to_dict
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressionBand,
    ConfigError,
    ContextCompressor,
    PrunerConfig,
    pin,
)
from langchain_ctxcompress.engine import CompressionResult
from langchain_ctxcompress.strategies import Bands, resolve_strategy, strategy_names
from tests.laws.judge import as_bytes, voice_lost
from tests.strategies.band_doors import said
from tests.strategies.test_band_tasks import text_of, without_text
from tests.support.conversations import agent_run, conversations, copied, exchanges
from tests.support.legality import mark_kind, protected_indices, violations
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens, text_tokens

CONFIG = PrunerConfig(soft_limit_tokens=3_000, hard_limit_tokens=50_000)
ALL = [CompressionBand(0, 100, "compress")]


def with_model(replies: Any, bands: Any = ALL, **options: Any) -> ContextCompressor:
    summariser = ChatModelSummariser(ScriptedChatModel(replies), retry_wait=0)
    return ContextCompressor(summariser, **{"config": CONFIG, "strategy": Bands(bands), "session_id": "s", **options})


def without_model(strategy: Any = "bands", **options: Any) -> ContextCompressor:
    return ContextCompressor(**{"config": CONFIG, "strategy": strategy, "session_id": "s", **options})


def changed(after: Sequence[BaseMessage], before: Sequence[BaseMessage]) -> list[int]:
    assert [message.id for message in after] == [message.id for message in before]
    return [place for place, pair in enumerate(zip(after, before, strict=True)) if pair[0] != pair[1]]


def unmarked(message: BaseMessage) -> dict[str, Any]:
    found = without_text(message)
    kwargs = {key: value for key, value in found["additional_kwargs"].items() if key != "ctxcompress"}
    return {**found, "additional_kwargs": kwargs}


def halved(prompt: Sequence[BaseMessage]) -> str:
    text = said(prompt)
    return text[: len(text) // 3]


def test_it_is_known_by_its_name() -> None:
    assert "bands" in strategy_names()
    assert isinstance(resolve_strategy("bands"), Bands)


def test_candidates_in_a_band_are_shortened_and_nothing_else() -> None:
    """Ten of 30 turns heavily, twelve lightly; prefix and last five turns verbatim; ids, order and all else stay."""
    messages = exchanges(30, words=40)
    result = without_model().compress(messages)
    assert (result.outcome, result.reason) == ("applied", "compressed")
    places = changed(result.messages, messages)
    assert places == list(range(2, 42))  # the prefix is turn 0; 70 % of 30 turns are 21
    for place in places:
        assert unmarked(result.messages[place]) == unmarked(messages[place])
        share = 0.2 if place < 18 else 0.5
        assert (
            0 < text_tokens(text_of(result.messages[place])) <= max(10, share * text_tokens(text_of(messages[place])))
        )
    assert result.tokens_after < result.tokens_before
    assert independent_tokens(result.messages) < independent_tokens(messages)


def test_the_band_decides_at_which_level_the_model_is_asked() -> None:
    compressor = with_model(
        lambda prompt: "light" if "Keep every fact" in prompt[0].text else "heavy",
        [CompressionBand(0, 50, "heavy-compress"), CompressionBand(50, 100, "compress")],
    )
    result = compressor.compress(exchanges(30, words=40), instructions="keep the ids")
    assert [text_of(message) for message in result.messages[2:50]] == ["heavy"] * 28 + ["light"] * 20
    assert result.model_calls == 48
    prompts = compressor.summariser.model.prompts
    assert all("Besides: keep the ids" in prompt[0].text for prompt in prompts)


def test_the_originals_are_archived_and_named_by_the_checkpoint() -> None:
    """Law 2."""
    messages = exchanges(30, words=40)
    compressor = without_model()
    result = compressor.compress(messages)
    places = changed(result.messages, messages)
    assert result.checkpoint is not None
    assert set(result.checkpoint.altered) == {messages[place].id for place in places}
    assert (result.checkpoint.level, result.checkpoint.strategy, result.checkpoint.covered) == (0, "bands", {})
    for message in messages:
        assert as_bytes(compressor.expand_message(message.id)) == as_bytes(message)
    assert list(map(as_bytes, compressor.history().messages())) == list(map(as_bytes, messages))


def test_a_shortened_message_is_never_archived_as_an_original() -> None:
    messages = exchanges(30, words=40)
    compressor = without_model()
    shorter = compressor.compress(messages).messages
    compressor.compress([*shorter, *exchanges(20, start=30, words=40)])
    compressor.history().append(shorter)
    for message in messages:
        assert as_bytes(compressor.expand_message(message.id)) == as_bytes(message)


@pytest.mark.parametrize("chained", [1, 3])
def test_the_view_is_rebuilt_from_the_store_by_another_process(chained: int) -> None:
    """Law 9: the originals are sent again, the shortened messages take their places."""
    store = InMemoryStore()
    originals, active = exchanges(30, words=40), exchanges(30, words=40)
    compressor = without_model(store=store)
    for number in range(chained):
        active = compressor.compress(active).messages
        assert mark_kind(active[2]) == "compressed"
        if number < chained - 1:
            more = exchanges(30, start=30 * (number + 1), words=40)
            originals, active = [*originals, *more], [*active, *more]
    again = without_model(store=store).view(copied(originals))
    assert list(map(as_bytes, again)) == list(map(as_bytes, active))


def test_a_message_that_is_edited_later_stays_as_its_user_wrote_it() -> None:
    """Law 8."""
    messages = exchanges(30, words=40)
    compressor = without_model()
    shorter = compressor.compress(messages).messages
    edited = [
        message.model_copy(update={"content": "Edited."}) if place == 4 else message
        for place, message in enumerate(shorter)
    ]
    assert compressor.view(edited)[4].content == "Edited."


def test_what_grew_older_is_shortened_once_more_and_what_was_heavily_shortened_stays() -> None:
    compressor = with_model(halved, [CompressionBand(0, 40, "heavy-compress"), CompressionBand(40, 80, "compress")])
    first = compressor.compress(exchanges(30, words=60)).messages
    second = compressor.compress([*first, *exchanges(60, start=30, words=60)]).messages
    levels = [message.additional_kwargs.get("ctxcompress", {}).get("level") for message in second]
    assert levels == [None] * 2 + ["heavy-compress"] * 70 + ["compress"] * 72 + [None] * 36
    assert second[2:24] == first[2:24]  # they were in the heavier band at once
    assert all(len(text_of(second[place])) < len(text_of(first[place])) for place in range(24, 48))
    for message in exchanges(30, words=60):
        assert as_bytes(compressor.expand_message(message.id)) == as_bytes(message)


def test_protected_messages_and_tool_results_are_never_touched() -> None:
    """Law 6."""
    messages = agent_run(40, words=60)
    messages = [pin(message) if place in (5, 30) else message for place, message in enumerate(messages)]
    messages = [
        message.model_copy(update={"content": message.text * 12}) if isinstance(message, AIMessage) else message
        for message in messages
    ]
    result = without_model(Bands(ALL)).compress(messages)
    places = changed(result.messages, messages)
    assert places
    assert all(isinstance(messages[place], AIMessage) for place in places)
    assert not set(places) & {0, 1, 5, 30}
    assert voice_lost(result.messages, messages) == []
    assert violations(result.messages, original=messages) == []
    for place in places:
        assert result.messages[place].tool_calls == messages[place].tool_calls


@pytest.mark.parametrize("failing", [0.3, 1.0])
def test_a_message_whose_task_fails_stays_as_it_was(failing: float) -> None:
    """B6, law 4."""
    rng = random.Random(7)
    messages = exchanges(30, words=40)
    broken = {text_of(message) for message in messages if rng.random() < failing}
    compressor = with_model(lambda prompt: RuntimeError("down") if said(prompt) in broken else "short")
    result = compressor.compress(messages)
    places = changed(result.messages, messages)
    assert places == [place for place in range(2, 50) if text_of(messages[place]) not in broken]
    assert (result.outcome, result.reason) == ("degraded" if places else "noop", "summariser_failed")
    assert f"{48 - len(places)} of 48 messages stay as they were" in result.detail
    assert "RuntimeError" in result.detail
    assert result.model_calls == len(places) + 3 * (48 - len(places))


def test_results_that_are_not_smaller_change_nothing() -> None:
    """Law 3."""
    messages = exchanges(30, words=40)
    result = with_model(lambda prompt: said(prompt) + " and more").compress(messages)
    assert (result.outcome, result.reason, result.checkpoint) == ("noop", "not_smaller", None)
    assert result.messages == messages


def test_a_failing_summariser_is_left_alone_for_a_while() -> None:
    """Law 4."""
    messages = exchanges(30, words=40)
    compressor = with_model(RuntimeError("down"))
    for _ in range(3):
        compressor.compress(messages)
    calls = compressor.summariser.model.calls
    result = compressor.compress(messages)
    assert (result.outcome, result.reason, result.messages) == ("noop", "cooling_down", messages)
    assert compressor.summariser.model.calls == calls


def test_the_second_run_on_its_own_output_does_nothing() -> None:
    """Law 5."""
    compressor = with_model(halved, config=PrunerConfig(soft_limit_tokens=500, hard_limit_tokens=50_000))
    first = compressor.compress(exchanges(30, words=40))
    calls = compressor.summariser.model.calls
    second = compressor.compress(first.messages)
    assert (second.outcome, second.reason) == ("noop", "protected_tail_over_trigger")
    assert second.messages == first.messages
    assert compressor.summariser.model.calls == calls


def test_no_model_call_a_step_while_the_bands_move_on() -> None:
    """Laws 5 and 7: one exchange more brings a message or two into a band, which is no reason to rewrite the prefix."""
    compressor = with_model(halved, config=PrunerConfig(soft_limit_tokens=4_000, hard_limit_tokens=50_000))
    messages = compressor.compress(exchanges(60, words=40)).messages
    runs = 0
    for number in range(60, 100):
        before = compressor.summariser.model.calls
        messages = compressor.compress([*messages, *exchanges(1, start=number, words=40)]).messages
        runs += compressor.summariser.model.calls > before
    assert 0 < runs < 20


def test_over_the_hard_limit_and_when_asked_to_every_token_counts() -> None:
    messages = [*exchanges(4, words=40), *exchanges(40, start=4, words=400)]
    bands = [CompressionBand(0, 5, "compress")]
    size = independent_tokens(messages)
    soft = PrunerConfig(soft_limit_tokens=size // 2, hard_limit_tokens=4 * size)
    hard = PrunerConfig(soft_limit_tokens=size // 4, hard_limit_tokens=size // 2)
    idle = PrunerConfig(soft_limit_tokens=4 * size, hard_limit_tokens=8 * size)
    assert not changed(with_model(halved, bands, config=soft).compress(messages).messages, messages)
    assert changed(with_model(halved, bands, config=hard).compress(messages).messages, messages)
    assert changed(with_model(halved, bands, config=idle).compress(messages, force=True).messages, messages)


def test_nothing_is_asked_below_the_soft_limit_or_where_no_band_is() -> None:
    messages = exchanges(30, words=40)
    for compressor in (with_model("short", []), with_model("short", config=PrunerConfig())):
        result = compressor.compress(messages)
        assert (result.outcome, result.messages) == ("noop", messages)
        assert compressor.summariser.model.calls == 0


def test_a_plan_tells_the_calls_and_makes_none() -> None:
    compressor = with_model("short")
    plan = compressor.plan(exchanges(30, words=40))
    assert plan.model_calls == 48
    assert plan.model_tokens > 0
    assert compressor.summariser.model.calls == 0


def test_messages_larger_than_the_summarisers_window_are_not_sent() -> None:
    messages = [AIMessage("A long remark. " * 2_000, id="big") if p == 3 else m for p, m in enumerate(exchanges(30))]
    model = ScriptedChatModel("short")
    compressor = without_model(Bands(ALL), model=ChatModelSummariser(model, window_tokens=2_000))
    result = compressor.compress(messages)
    assert result.messages[3] is messages[3]
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")
    assert "larger than the summariser's window" in result.detail
    assert max(len(prompt[-1].text) for prompt in model.prompts) < 4_000


def test_sync_and_async_do_the_same() -> None:
    messages = exchanges(30, words=40)

    def seen(result: CompressionResult) -> list[Any]:
        return [result.messages, result.outcome, result.reason, result.tokens_after, result.model_calls, result.detail]

    one = with_model(halved).compress(messages)
    other = asyncio.run(with_model(halved).acompress(messages))
    assert seen(one) == seen(other)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"bands": [*ALL, *ALL]}, "overlap"),
        ({"min_tokens": -1}, "min_tokens is -1"),
        ({"timeout": 0}, "timeout is 0"),
        ({"attempts": 0}, "attempts is 0"),
    ],
)
def test_settings_out_of_range_are_named_where_they_are_given(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Bands(**settings)


def test_the_mark_survives_a_checkpointer() -> None:
    """What a state holds goes through JSON: a shortened message is still known afterwards."""
    compressor = without_model(config=PrunerConfig(soft_limit_tokens=500, hard_limit_tokens=50_000))
    first = compressor.compress(exchanges(30, words=40)).messages
    back = messages_from_dict(json.loads(json.dumps(messages_to_dict(first))))
    assert compressor.compress(back).messages == first


@given(conversations(ids="all", duplicate_ids=False, max_words=60), st.integers(200, 3_000), st.booleans())
@settings(max_examples=30)
def test_on_any_conversation(messages: list[BaseMessage], limit: int, asks: bool) -> None:
    """Laws 1, 2, 3 and 6: the same messages in the same order, legal, not larger, protected ones byte for byte."""
    before = copied(messages)
    config = PrunerConfig.for_limit(limit)
    compressor = with_model(halved, config=config) if asks else without_model(Bands(ALL), config=config)
    result = compressor.compress(messages)
    assert messages == before
    assert violations(result.messages, original=messages) == []
    assert voice_lost(result.messages, messages) == []
    own = {message.id: message for message in result.messages}
    safe = {messages[place].id for place in protected_indices(messages)}
    for message in messages:
        now = own.get(message.id)
        if now is None or as_bytes(now) != as_bytes(message):
            assert as_bytes(compressor.expand_message(message.id)) == as_bytes(message)
            assert message.id not in safe or now is None
        if now is not None and mark_kind(now) == "compressed":
            assert isinstance(message, HumanMessage | AIMessage)
            assert unmarked(now) == unmarked(message)
            assert text_tokens(text_of(now)) < text_tokens(text_of(message))
    again = compressor.compress(result.messages)
    assert again.tokens_after <= result.tokens_after
    assert {m.id for m in again.messages} == {m.id for m in result.messages}
