"""B6, B7, B8: the bands of a whole list, over any chat model and over the extractive summariser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import (
    ChatModelSummariser,
    ConfigError,
    compress_messages,
    pin,
)
from langchain_ctxcompress.errors import SummariserError
from langchain_ctxcompress.strategies import BandResult
from langchain_ctxcompress.summarize import TaskResult
from tests.strategies.band_doors import (
    ALL,
    BOTH,
    HEAVY,
    Door,
    doors,
    in_a_loop,
    in_turn,
    only_text_differs,
    quick,
    said,
)
from tests.strategies.test_band_tasks import text_of
from tests.support.conversations import conversations, copied, exchanges
from tests.support.legality import protected_indices, violations
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens, text_tokens


@doors
@pytest.mark.parametrize("model", [None, "ok"], ids=["extractive", "model"])
@pytest.mark.parametrize("bands", [[], (), None])
def test_no_bands(door: Door, model: str | None, bands: Any) -> None:
    """B7: the same messages, all stats 0."""
    messages = exchanges(10, words=40)
    scripted = ScriptedChatModel(model) if model else None
    result = door(messages, bands, scripted)
    assert all(one is other for one, other in zip(result.messages, messages, strict=True))
    stats = result.stats
    assert (stats.compressed, stats.skipped, stats.failed, stats.tokens_before, stats.tokens_after) == (0,) * 5
    assert stats.reduction_percent == 0
    assert result.tasks == ()
    assert not scripted or scripted.calls == 0


@doors
def test_no_messages(door: Door) -> None:
    assert door([], ALL).messages == []
    assert door([], ALL, ScriptedChatModel("ok")).stats.compressed == 0


@doors
def test_stats_over_a_model(door: Door) -> None:
    """B8: compressed, skipped, failed, tokens before and after, reduction."""
    system, short = SystemMessage("Be brief. " * 30), HumanMessage("8 chars.")
    messages = [system, *exchanges(2, words=40), short, AIMessage("ok"), pin(HumanMessage("x " * 90)), AIMessage("ok")]
    messages += [HumanMessage("The newest question, which is long enough to be a task, " * 3)]
    refused = text_of(messages[2])
    summariser = quick(lambda prompt: RuntimeError("down") if said(prompt) == refused else "Ten words at most.")
    result = door(messages, ALL, summariser)
    stats = result.stats
    assert (stats.compressed, stats.skipped, stats.failed) == (3, 5, 1)
    before = [text_of(messages[place]) for place in (1, 2, 3, 4)]
    assert stats.tokens_before == sum(map(text_tokens, before))
    assert stats.tokens_after == 3 * text_tokens("Ten words at most.") + text_tokens(refused)
    assert stats.reduction_percent == pytest.approx(100 - 100 * stats.tokens_after / stats.tokens_before)
    assert [text_of(result.messages[place]) for place in (1, 3, 4)] == ["Ten words at most."] * 3
    assert result.messages[2] is messages[2]
    assert only_text_differs(result, messages) == []


@doors
def test_the_result_goes_to_the_message_it_was_made_of(door: Door) -> None:
    """In whatever order the answers come."""
    messages = exchanges(12, words=40)
    result = door(messages, ALL, ScriptedChatModel(lambda prompt: f"In short: {said(prompt)[:11]}."))
    for now, was in list(zip(result.messages, messages, strict=True))[:-2]:
        assert text_of(now) == f"In short: {text_of(was)[:11]}."


@doors
def test_each_band_asks_at_its_level(door: Door) -> None:
    messages = [*exchanges(10, words=40)]
    model = ScriptedChatModel(lambda prompt: "light" if "Keep every fact" in prompt[0].text else "heavy")
    result = door(messages, BOTH, model)
    assert [text_of(message) for message in result.messages[:6]] == ["heavy"] * 6
    assert result.messages[6:10] == messages[6:10]
    assert [text_of(message) for message in result.messages[10:16]] == ["light"] * 6
    assert result.messages[16:] == messages[16:]


@doors
def test_blocks_calls_names_and_metadata_stay(door: Door) -> None:
    """B5."""
    picture = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    text = {"type": "text", "text": "A long remark. " * 20}
    call = {"name": "search", "args": {"q": "x " * 60}, "id": "call_1"}
    messages = [
        HumanMessage([picture, text, picture, text], id="h", name="alice"),
        AIMessage("A long remark. " * 20, id="a", tool_calls=[call], response_metadata={"model_name": "m"}),
        ToolMessage("A long result. " * 50, tool_call_id="call_1", id="t"),
        AIMessage("Done.", id="b"),
        HumanMessage("new", id="n"),
    ]
    result = door(messages, ALL, ScriptedChatModel("short"))
    assert result.messages[0].content == [picture, {"type": "text", "text": "short"}, picture]
    assert only_text_differs(result, messages) == []
    assert violations(result.messages, original=messages) == []
    assert result.messages[2:] == messages[2:]


@doors
@pytest.mark.parametrize("answer", ["", "   ", [], "x " * 4_000], ids=["empty", "blank", "no blocks", "longer"])
def test_a_result_that_is_empty_or_not_smaller_fails(door: Door, answer: Any) -> None:
    """B8."""
    messages = exchanges(3, words=40)
    result = door(messages, ALL, ScriptedChatModel(lambda _: AIMessage(answer)))
    assert all(one is other for one, other in zip(result.messages, messages, strict=True))
    assert (result.stats.compressed, result.stats.failed) == (0, 5)
    assert result.stats.tokens_after == result.stats.tokens_before > 0
    assert result.stats.reduction_percent == 0
    assert {str(task.failure) for task in result.tasks} <= {"empty", "not_smaller"}


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_result_fails_whoever_gives_it(text: str) -> None:
    """B8: also from a summariser that does not judge its own answers."""

    class Careless(ChatModelSummariser):
        def run(self, tasks: Any, **_: Any) -> Any:
            return [TaskResult(text) for _ in tasks]

    messages = exchanges(3, words=40)
    result = compress_messages(messages, ALL, Careless(ScriptedChatModel("ok")))
    assert result.messages == messages
    assert {str(task.failure) for task in result.tasks} == {"empty"}


@doors
def test_the_message_as_a_whole_must_be_smaller(door: Door) -> None:
    """Forty blocks of a word are smaller than the same words in one text with a newline after each."""
    messages = [
        HumanMessage([{"type": "text", "text": "word"} for _ in range(40)]),
        AIMessage("ok"),
        HumanMessage("new"),
    ]
    answer = "word " * 44
    assert independent_tokens(messages[:1]) < 4 + text_tokens(answer.strip()) < 4 + text_tokens(text_of(messages[0]))
    result = door(messages, ALL, ScriptedChatModel(answer))
    assert result.messages == messages
    assert (result.stats.compressed, result.stats.failed) == (0, 1)
    assert (str(result.tasks[0].failure), result.tasks[0].attempt) == ("not_smaller", 1)


@doors
def test_the_same_text_again_is_not_smaller(door: Door) -> None:
    messages = exchanges(3, words=40)
    result = door(messages, ALL, ScriptedChatModel(said))
    assert (result.stats.compressed, result.stats.failed) == (0, 5)
    assert {str(task.failure) for task in result.tasks} == {"not_smaller"}


@doors
@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (AIMessage("cut o", response_metadata={"finish_reason": "length"}), "incomplete"),
        (AIMessage("I'm sorry, I can't help with that."), "refusal"),
    ],
)
def test_half_answers_and_refusals_fail(door: Door, reply: AIMessage, failure: str) -> None:
    messages = exchanges(3, words=40)
    result = door(messages, ALL, ScriptedChatModel(lambda _: reply))
    assert result.messages == messages
    assert {str(task.failure) for task in result.tasks} == {failure}


@doors
def test_a_message_larger_than_the_models_window_is_not_sent(door: Door) -> None:
    messages = [AIMessage("A long remark. " * 2_000), AIMessage("A long remark. " * 20), HumanMessage("new")]
    model = ScriptedChatModel("short")
    heard: list[tuple[int, int]] = []
    result = door(
        messages,
        ALL,
        ChatModelSummariser(model, window_tokens=4_000),
        on_progress=lambda _, ended, total: heard.append((ended, total)),
    )
    assert model.calls == 1
    assert result.messages[0] is messages[0]
    assert [(task.status, task.attempt) for task in result.tasks] == [("failed", 0), ("succeeded", 1)]
    assert result.tasks[0].failure == "overflow"
    assert heard == [(1, 1)]


@doors
def test_an_overflow_is_not_tried_again(door: Door) -> None:
    model = ScriptedChatModel(ValueError("This model's maximum context length is 8192 tokens"))
    (task,) = door([AIMessage("A long remark. " * 20), HumanMessage("new")], ALL, model).tasks
    assert (task.failure, task.attempt, model.calls) == ("overflow", 1, 1)


@given(conversations(max_messages=60, max_words=60))
@settings(max_examples=40)
def test_the_extractive_summariser_needs_no_model(messages: list[BaseMessage]) -> None:
    before = copied(messages)
    result = compress_messages(messages, HEAVY)
    assert messages == before
    assert only_text_differs(result, messages) == []
    assert all(result.messages[place] is messages[place] for place in protected_indices(messages))
    assert independent_tokens(result.messages) <= independent_tokens(messages)
    assert violations(result.messages) == violations(messages)
    assert compress_messages(messages, HEAVY).messages == result.messages
    stats = result.stats
    assert stats.compressed + stats.failed == len(result.tasks)
    assert (stats.tokens_after < stats.tokens_before) == (stats.compressed > 0)
    assert 0 <= stats.reduction_percent < 100


@given(conversations(max_messages=40, max_words=60))
@settings(max_examples=25)
def test_sync_and_async_do_the_same(messages: list[BaseMessage]) -> None:
    def reply(prompt: Sequence[BaseMessage]) -> Any:
        text = said(prompt)
        return RuntimeError("down") if len(text) % 3 == 0 else text[: len(text) // 2]

    def run(door: Door) -> BandResult:
        return door(messages, BOTH, quick(reply), attempts=1)

    one, other = run(in_turn), run(in_a_loop)
    assert one == other
    assert only_text_differs(one, messages) == []


def test_the_extractive_summariser_keeps_to_the_share() -> None:
    text = " ".join(
        f"Server {number} answers in {7 * number} ms and serves region {number % 5}." for number in range(60)
    )
    messages = [AIMessage(text), HumanMessage("new")]
    for bands, share in ((ALL, 0.5), (HEAVY, 0.2)):
        stats = compress_messages(messages, bands).stats
        assert 0 < stats.tokens_after <= share * stats.tokens_before


def test_without_bands_of_its_own_a_call_takes_the_default() -> None:
    """The oldest 30 % heavily, up to 70 % lightly, the rest not at all."""
    result = compress_messages(exchanges(10, words=40))
    assert [(task.message_index, str(task.level)) for task in result.tasks] == [
        *((place, "heavy-compress") for place in range(6)),
        *((place, "compress") for place in range(6, 14)),
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attempts": 0}, "attempts is 0: it must be 1 or more"),
        ({"concurrency": 0}, "concurrency is 0: it must be 1 or more"),
        ({"min_tokens": -1}, "min_tokens is -1: it must be 0 or more"),
        ({"timeout": 0}, "timeout is 0: it must be over 0"),
        ({"bands": [*ALL, *HEAVY]}, "overlap"),
    ],
)
@doors
def test_settings_out_of_range_are_named(door: Door, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        door(exchanges(2), **{"bands": ALL, "model": ScriptedChatModel("ok"), **options})


def test_what_is_no_model_is_named() -> None:
    with pytest.raises(SummariserError, match="it must be a chat model"):
        compress_messages(exchanges(2), ALL, object())  # type: ignore[arg-type]
