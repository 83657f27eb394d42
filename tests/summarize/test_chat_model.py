"""The chat-model summariser: retries, timeouts, concurrency, order; what a model raises becomes a result (law 4)."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda

from langchain_ctxcompress import ContextCompressor
from langchain_ctxcompress.errors import SummariserError
from langchain_ctxcompress.summarize import (
    ChatModelSummariser,
    CompressionTask,
    TaskFailure,
    TaskResult,
    resolve_model,
)
from langchain_ctxcompress.summarize.chat_model import call_within
from tests.support.models import ScriptedChatModel


def task(text: str = "summarise", **options: Any) -> CompressionTask:
    return CompressionTask((SystemMessage("You write records."), HumanMessage(text)), 100, **options)


def summariser(model: Any, **options: Any) -> ChatModelSummariser:
    return ChatModelSummariser(model, **{"retry_wait": 0, **options})


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    """Runs tasks by either driver."""

    def carry_out(own: ChatModelSummariser, tasks: list[CompressionTask]) -> list[TaskResult]:
        return own.run(tasks) if request.param == "sync" else asyncio.run(own.arun(tasks))

    return carry_out


def test_an_answer_is_a_result(run: Any) -> None:
    usage = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    model = ScriptedChatModel(AIMessage("a summary", usage_metadata=usage))
    (result,) = run(summariser(model), [task("the text")])
    assert (result.text, result.failure, result.attempts) == ("a summary", None, 1)
    assert (result.input_tokens, result.output_tokens) == (12, 3)
    assert result.seconds >= 0
    assert model.prompts == [list(task("the text").prompt)]


def test_an_error_is_tried_again_and_then_a_result(run: Any) -> None:
    model = ScriptedChatModel([RuntimeError("once"), "then it worked"])
    (result,) = run(summariser(model), [task()])
    assert (result.text, result.attempts) == ("then it worked", 2)
    model = ScriptedChatModel(RuntimeError("always\n  down"))
    (result,) = run(summariser(model, attempts=3), [task()])
    assert (result.failure, result.attempts, result.text) == (TaskFailure.ERROR, 3, "")
    assert result.detail.startswith("RuntimeError: what it said is in the log"), "its words may quote the prompt"
    assert model.calls == 3


def test_a_long_error_is_one_short_line(run: Any) -> None:
    (result,) = run(summariser(ScriptedChatModel(RuntimeError("x" * 10_000)), attempts=1), [task()])
    assert len(result.detail) < 250
    assert "xx" not in result.detail


@pytest.mark.parametrize("error", [ContextOverflowError("too long"), ValueError("maximum context length is 10")])
def test_an_overflow_is_not_tried_again(run: Any, error: Exception) -> None:
    model = ScriptedChatModel(error)
    (result,) = run(summariser(model), [task()])
    assert (result.failure, model.calls) == (TaskFailure.OVERFLOW, 1)


def test_a_call_that_hangs_is_given_up_and_tried_again(run: Any) -> None:
    model = ScriptedChatModel("too late", delay=60)
    try:
        (result,) = run(summariser(model, timeout=0.02), [task()])
    finally:
        model.release()
    assert (result.failure, result.attempts) == (TaskFailure.TIMEOUT, 2)


def test_each_attempt_gets_twice_the_time_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def noted(seconds: float, call: Any) -> Any:
        given.append(seconds)
        raise TimeoutError

    monkeypatch.setattr("langchain_ctxcompress.summarize.chat_model.call_within", noted)
    own = summariser(ScriptedChatModel(), timeout=3, attempts=4)
    assert own.run([task()])[0].failure is TaskFailure.TIMEOUT
    assert given == [3, 6, 12, 24]
    given.clear()
    own.run([task(timeout=5.0, max_attempts=2)])
    assert given == [5, 10]


async def test_each_attempt_gets_twice_the_time_of_the_one_before_async(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    real = asyncio.timeout

    def noted(seconds: float) -> Any:
        given.append(seconds)
        return real(seconds)

    monkeypatch.setattr(asyncio, "timeout", noted)
    await summariser(ScriptedChatModel(RuntimeError("down")), timeout=3, attempts=3).arun([task()])
    assert given == [3, 6, 12]


def test_pauses_between_attempts_double_and_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float]] = []

    def drawn(low: float, high: float) -> float:
        asked.append((low, high))
        return 0.0

    monkeypatch.setattr("random.uniform", drawn)
    ChatModelSummariser(ScriptedChatModel(RuntimeError("down")), attempts=4, retry_wait=0.5).run([task()])
    assert asked[:3] == [(0, 0.5), (0, 1.0), (0, 2.0)]


def test_no_more_tasks_than_allowed_run_at_once_and_results_are_in_order(run: Any) -> None:
    model = ScriptedChatModel(lambda prompt: f"of {prompt[-1].text}", delay=0.05)
    results = run(summariser(model, concurrency=3), [task(str(number)) for number in range(9)])
    assert [result.text for result in results] == [f"of {number}" for number in range(9)]
    assert 2 <= model.peak <= 3


def test_tasks_really_run_at_the_same_time(run: Any) -> None:
    """Each waits until all have begun: one after the other they would never end."""
    all_there = threading.Barrier(4, timeout=30)

    class Meeting(ScriptedChatModel):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.to_thread(all_there.wait)
            return await super()._agenerate(*args, **kwargs)

        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            all_there.wait()
            return super()._generate(*args, **kwargs)

    assert [result.text for result in run(summariser(Meeting("ok")), [task()] * 4)] == ["ok"] * 4


def test_one_failing_task_costs_no_other(run: Any) -> None:
    def reply(prompt: list[BaseMessage]) -> str | Exception:
        return RuntimeError("no") if prompt[-1].text == "1" else "yes"

    results = run(summariser(ScriptedChatModel(reply), attempts=1), [task(str(number)) for number in range(3)])
    assert [result.failure for result in results] == [None, TaskFailure.ERROR, None]


def test_no_tasks_no_results(run: Any) -> None:
    assert run(summariser(ScriptedChatModel()), []) == []


async def test_a_cancellation_passes() -> None:
    model = ScriptedChatModel("never", delay=60)
    work = asyncio.create_task(summariser(model, concurrency=2).arun([task()] * 4))
    while model.calls < 2:
        await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert model.calls == model.cancelled == 2


def test_a_keyboard_interrupt_is_no_failed_task() -> None:
    with pytest.raises(KeyboardInterrupt):
        summariser(RunnableLambda(lambda _: (_ for _ in ()).throw(KeyboardInterrupt))).run([task()])


def test_a_keyboard_interrupt_waits_for_no_other_call() -> None:
    other = threading.Event()

    def call(prompt: list[BaseMessage]) -> str:
        if prompt[-1].text == "hang":
            other.wait(60)
            return "late"
        raise KeyboardInterrupt

    pressed = threading.Thread(target=lambda: ended.append(interrupted()), daemon=True)
    ended: list[bool] = []

    def interrupted() -> bool:
        with pytest.raises(KeyboardInterrupt):
            summariser(RunnableLambda(call)).run([task("stop"), task("hang")])
        return True

    pressed.start()
    pressed.join(30)
    other.set()
    assert ended == [True]


def test_a_chain_that_gives_a_text_is_a_model_too(run: Any) -> None:
    (result,) = run(summariser(ScriptedChatModel("plain text") | StrOutputParser()), [task()])
    assert (result.text, result.failure) == ("plain text", None)


def test_the_window_is_what_is_said_else_what_the_profile_says() -> None:
    model = ScriptedChatModel(profile={"max_input_tokens": 8_000})
    assert ChatModelSummariser(model).window_tokens == 8_000
    assert ChatModelSummariser(model, window_tokens=500).window_tokens == 500
    assert ChatModelSummariser(ScriptedChatModel()).window_tokens is None


@pytest.mark.parametrize("wrong", [7, object(), ["gpt-4o"], {"model": "gpt"}])
def test_what_is_no_model_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(SummariserError, match=type(wrong).__name__):
        ChatModelSummariser(wrong)
    with pytest.raises(SummariserError, match=type(wrong).__name__):
        ContextCompressor(wrong)


def test_resolving_gives_a_model_as_it_is() -> None:
    model = ScriptedChatModel()
    assert resolve_model(model) is model
    assert resolve_model(None) is None


@pytest.mark.parametrize("name", ["no-such-model-at-all", "nobody:model", ""])
def test_an_unknown_name_is_an_error_that_says_it(name: str) -> None:
    with pytest.raises(SummariserError, match="cannot be set up") as caught:
        resolve_model(name)
    assert repr(name) in str(caught.value)


def test_a_missing_key_is_an_error_that_says_it() -> None:
    with pytest.raises(SummariserError, match="openai:gpt-4o-mini"):
        ContextCompressor("openai:gpt-4o-mini")


def test_a_name_of_a_model_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    compressor = ContextCompressor("openai:gpt-4o-mini")
    assert compressor.summariser is not None
    assert type(compressor.summariser.model).__name__ == "ChatOpenAI"


def test_a_missing_extra_is_an_error_that_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(SummariserError, match=r"langchain-ctxcompress\[agents\]"):
        resolve_model("openai:gpt-4o-mini")


def test_a_blocking_call_within_a_time() -> None:
    assert call_within(30, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        call_within(30, lambda: 1 // 0)
    hold = threading.Event()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s"):
        call_within(0.01, hold.wait)
    hold.set()
