"""B6, B7, B8: the bands of a whole list, over any chat model and over the extractive summariser."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from benchmarks.bands_concurrency import measure
from langchain_ctxcompress import (
    BandTask,
    ChatModelSummariser,
    CompressionBand,
    ConfigError,
    acompress_messages,
    compress_messages,
    pin,
)
from langchain_ctxcompress.errors import SummariserError
from langchain_ctxcompress.strategies import BandResult
from langchain_ctxcompress.summarize import TaskResult
from tests.strategies.test_band_tasks import text_of, without_text
from tests.support.conversations import conversations, copied, exchanges
from tests.support.legality import protected_indices, violations
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens, text_tokens

ALL = [CompressionBand(0, 100, "compress")]
HEAVY = [CompressionBand(0, 100, "heavy-compress")]
BOTH = [CompressionBand(0, 30, "heavy-compress"), CompressionBand(50, 80, "compress")]


def _sync(*args: Any, **options: Any) -> BandResult:
    return compress_messages(*args, **options)


def _async(*args: Any, **options: Any) -> BandResult:
    return asyncio.run(acompress_messages(*args, **options))


Door = Callable[..., BandResult]
doors = pytest.mark.parametrize("door", [_sync, _async], ids=["sync", "async"])


def quick(replies: Any, **fields: Any) -> ChatModelSummariser:
    """A summariser that does not wait between attempts."""
    return ChatModelSummariser(ScriptedChatModel(replies, **fields), retry_wait=0)


def said(prompt: Sequence[BaseMessage]) -> str:
    """The message that a prompt is about."""
    return prompt[-1].text.split("\n", 1)[1].rsplit("\n</message-", 1)[0]


def only_text_differs(after: BandResult, before: Sequence[BaseMessage]) -> list[str]:
    """Names every message that differs in more than the text, or though its task did not succeed."""
    done = {task.message_index for task in after.tasks if task.status == "succeeded"}
    found = [] if len(after.messages) == len(before) else ["another number of messages"]
    for place, (now, was) in enumerate(zip(after.messages, before, strict=False)):
        if place not in done and now is not was:
            found.append(f"message {place} changed without a task")
        if place in done and without_text(now) != without_text(was):
            found.append(f"message {place} changed in more than its text")
        if place in done and not 0 < text_tokens(text_of(now)) < text_tokens(text_of(was)):
            found.append(f"message {place} is not smaller")
    return found


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
@pytest.mark.parametrize(("errors", "status", "attempts"), [(1, "succeeded", 2), (2, "succeeded", 3), (9, "failed", 3)])
def test_an_error_is_tried_again_up_to_three_times(door: Door, errors: int, status: str, attempts: int) -> None:
    """B8."""
    messages = [AIMessage("A long remark. " * 20), HumanMessage("new")]
    replies = [*[RuntimeError("down")] * errors, "short"]
    summariser = quick(replies)
    (task,) = door(messages, ALL, summariser).tasks
    assert (task.status, task.attempt) == (status, attempts)
    assert summariser.model.calls == attempts
    if status == "failed":
        assert task.failure == "error"
        assert "RuntimeError" in task.detail


@doors
def test_a_call_that_hangs_is_given_up_and_tried_again_with_more_time(door: Door) -> None:
    """B8: the timeout grows with each attempt."""
    messages = [AIMessage("A long remark. " * 20), HumanMessage("new")]
    given: list[float] = []

    class Watched(ChatModelSummariser):
        def _seconds(self, task: Any, number: int) -> float:
            given.append(super()._seconds(task, number))
            return given[-1]

    model = ScriptedChatModel("short", delay=30)
    try:
        (task,) = door(messages, ALL, Watched(model, retry_wait=0), timeout=0.02).tasks
    finally:
        model.release()
    assert (task.status, task.failure, task.attempt) == ("failed", "timeout", 3)
    assert given == [0.02, 0.04, 0.08]


def test_a_task_has_5_seconds_and_3_attempts_whatever_the_summariser_does_elsewhere() -> None:
    """B8."""
    given: list[tuple[float | None, int | None]] = []

    class Watched(ChatModelSummariser):
        def run(self, tasks: Any, **options: Any) -> Any:
            given.extend((task.timeout, task.max_attempts) for task in tasks)
            return super().run(tasks, **options)

    compress_messages(exchanges(2, words=40), ALL, Watched(ScriptedChatModel("short"), timeout=60, attempts=1))
    assert set(given) == {(5.0, 3)}


@pytest.mark.parametrize(("concurrency", "delay"), [(1, 0.02), (4, 0.5), (8, 0.5)])
def test_tasks_run_at_once_and_not_more_of_them_than_allowed(concurrency: int, delay: float) -> None:
    """B8, with the benchmark's own model."""
    for run in measure(tasks=8, delay=delay, concurrency=concurrency):
        assert (run.tasks, run.peak) == (8, concurrency)


@doors
def test_ten_at_once_by_default(door: Door) -> None:
    """B8."""
    model = ScriptedChatModel("short", delay=0.5)
    assert door(exchanges(12, words=40), ALL, model).stats.compressed == 23
    assert model.peak == 10


@doors
@pytest.mark.parametrize("model", [None, "short"], ids=["extractive", "model"])
def test_progress_is_reported_as_tasks_end(door: Door, model: str | None) -> None:
    """B8."""
    messages = exchanges(6, words=40)
    heard: list[tuple[BandTask, int, int]] = []
    threads: set[int] = set()

    def on_progress(task: BandTask, ended: int, total: int) -> None:
        threads.add(threading.get_ident())
        heard.append((task, ended, total))

    scripted = ScriptedChatModel(model) if model else None
    result = door(messages, ALL, scripted, on_progress=on_progress)
    assert [(ended, total) for _, ended, total in heard] == [(number, 11) for number in range(1, 12)]
    assert sorted((task for task, *_ in heard), key=lambda task: task.message_index) == list(result.tasks)
    assert threads == {threading.get_ident()}


def test_progress_does_not_wait_for_the_last_task() -> None:
    """The first task that ends is heard of while another is still under way."""
    heard = threading.Event()
    slow = exchanges(1, words=40)[0].text

    def reply(prompt: Sequence[BaseMessage]) -> str:
        if said(prompt) == slow:
            assert heard.wait(20), "nothing was heard of the task that ended"
        return "short"

    messages = exchanges(2, words=40)
    result = compress_messages(
        messages, ALL, ScriptedChatModel(reply), timeout=30, attempts=1, on_progress=lambda *_: heard.set()
    )
    assert result.stats.compressed == 3


@doors
@pytest.mark.parametrize("model", [None, "short"], ids=["extractive", "model"])
def test_a_progress_callback_that_raises_costs_nothing(
    door: Door, model: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    def on_progress(*_: Any) -> None:
        raise RuntimeError("the bar is closed")

    scripted = ScriptedChatModel(model) if model else None
    result = door(exchanges(3, words=40), HEAVY, scripted, on_progress=on_progress)
    assert result.stats.compressed == 5
    assert "progress callback failed" in caplog.text


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

    one, other = run(_sync), run(_async)
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
