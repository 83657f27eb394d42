"""The chat-model summariser: the only place where a model is called. Two thin drivers, of threads and of asyncio."""

from __future__ import annotations

import contextvars
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.errors import SummariserError, describe, log_failure
from langchain_ctxcompress.limits import input_window
from langchain_ctxcompress.limits.models import model_name
from langchain_ctxcompress.storage import guard_prompt
from langchain_ctxcompress.summarize.guards import is_overflow, judge_reply, usage_of
from langchain_ctxcompress.summarize.secrets import without_secrets
from langchain_ctxcompress.summarize.tasks import CompressionTask, TaskFailure, TaskResult
from langchain_ctxcompress.summarize.tracing import Span, span

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable, RunnableConfig
    from tenacity import RetryCallState

T = TypeVar("T")

TaskDone = Callable[[int, TaskResult], None]
"""Takes the place of a task among those that were given, and its result."""

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 60.0
"""For the first attempt. A summary of 500 tokens takes a hosted model some 10 s; a hung one must not hold an agent."""

ATTEMPTS = 2
"""An error is often gone at the second try; a third would make the user wait once more for a model that is down."""

CONCURRENCY = 10
"""Parts of a long input that are summarised at once."""

RETRY_WAIT_SECONDS = 0.5
"""Longest first pause before another attempt; it doubles, and a random part of it is waited."""

RUN_NAME = "ctxcompress_summarise"


class ChatModelSummariser:
    """Runs summary tasks on a chat model, with timeout, retries and concurrency.

    Args:
        model: Any chat model, bound or not.
        window_tokens: Its input window; by default what its profile says. Where neither is known, an input is sent
            whole, and in smaller parts when the model says it was too long.
        timeout: Seconds for the first attempt of a task; each further one gets twice as long.
        attempts: Attempts for each task.
        concurrency: Tasks at once.
        retry_wait: Seconds of the longest first pause between attempts.

    Raises:
        SummariserError: `model` is no chat model.
    """

    def __init__(
        self,
        model: Runnable[Any, Any],
        *,
        window_tokens: int | None = None,
        timeout: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
        concurrency: int = CONCURRENCY,
        retry_wait: float = RETRY_WAIT_SECONDS,
    ) -> None:
        from langchain_core.runnables import Runnable

        if not isinstance(model, Runnable):
            msg = f"model is a {type(model).__name__}: it must be a chat model, a model name, or None"
            raise SummariserError(msg)
        self.model = model
        self.window_tokens = window_tokens or input_window(model)
        self.timeout = timeout
        self.attempts = attempts
        self.concurrency = concurrency
        self.retry_wait = retry_wait

    def run(self, tasks: Sequence[CompressionTask], *, on_done: TaskDone | None = None) -> list[TaskResult]:
        """Run the tasks in threads; a result for each, in order. Never raises what a model raises.

        Args:
            tasks: The tasks.
            on_done: Told of each task as it ends, in the calling thread.

        Raises:
            StorageBoundaryError: A prompt holds what is kept and never sent (S4).
        """
        _guard(tasks)
        if len(tasks) <= 1:
            return [tell(on_done, place, self._run_one(task)) for place, task in enumerate(tasks)]
        from concurrent.futures import ThreadPoolExecutor, as_completed

        pool = ThreadPoolExecutor(min(self.concurrency, len(tasks)), "ctxcompress")
        try:
            running = [pool.submit(contextvars.copy_context().run, self._run_one, task) for task in tasks]
            if on_done is not None:
                places = {future: place for place, future in enumerate(running)}
                for future in as_completed(running):
                    tell(on_done, places[future], future.result())
            return [future.result() for future in running]
        finally:  # after Ctrl-C nobody waits for the calls that are under way, and no other is made
            pool.shutdown(wait=False, cancel_futures=True)

    async def arun(self, tasks: Sequence[CompressionTask], *, on_done: TaskDone | None = None) -> list[TaskResult]:
        """As `run`, on the loop."""
        _guard(tasks)
        import asyncio

        limit = asyncio.Semaphore(self.concurrency)

        async def one(place: int, task: CompressionTask) -> TaskResult:
            async with limit:
                return tell(on_done, place, await self._arun_one(task))

        return list(await asyncio.gather(*(one(place, task) for place, task in enumerate(tasks))))

    def _run_one(self, task: CompressionTask) -> TaskResult:
        from tenacity import Retrying

        started = time.monotonic()
        number = 0
        with self._span(task) as opened:
            try:
                for attempt in Retrying(**self._policy(task)):
                    number += 1
                    with attempt:
                        seconds = self._seconds(task, number)
                        reply = call_within(seconds, lambda: self._asked(task).invoke(list(task.prompt), _config()))
            except Exception as error:  # noqa: BLE001 - law 4: whatever a model raises becomes a result
                return _noted(opened, _failed(error, number, started, self.model))
            return _noted(opened, _read(reply, number, started, task), reply)

    async def _arun_one(self, task: CompressionTask) -> TaskResult:
        import asyncio

        from tenacity import AsyncRetrying

        started = time.monotonic()
        number = 0
        with self._span(task) as opened:
            try:
                async for attempt in AsyncRetrying(**self._policy(task)):
                    number += 1
                    with attempt:
                        async with asyncio.timeout(self._seconds(task, number)):
                            reply = await self._asked(task).ainvoke(list(task.prompt), _config())
            except Exception as error:  # noqa: BLE001 - as in _run_one; a cancellation is no Exception and passes
                return _noted(opened, _failed(error, number, started, self.model))
            return _noted(opened, _read(reply, number, started, task), reply)

    def _asked(self, task: CompressionTask) -> Runnable[Any, Any]:
        """The model that a task is for."""
        return self.model if task.agent is None else task.agent.bound()

    def _span(self, task: CompressionTask) -> AbstractContextManager[Span]:
        """A span of the model call with all its attempts, by the conventions for generative AI."""
        name = model_name(self.model)
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": name,
            "gen_ai.request.max_tokens": task.max_tokens,
        }
        return span(f"chat {name}".rstrip(), about, client=True)

    def _policy(self, task: CompressionTask) -> dict[str, Any]:
        """How attempts are repeated: any error but an overflow, which would only overflow again."""
        from tenacity import retry_if_exception, stop_after_attempt

        def wait(state: RetryCallState) -> float:
            longest: float = self.retry_wait * 2 ** (state.attempt_number - 1)
            return random.uniform(0, longest)  # noqa: S311 - spreads retries, protects nothing

        return {
            "stop": stop_after_attempt(task.max_attempts or self.attempts),
            "wait": wait,
            "retry": retry_if_exception(lambda error: isinstance(error, Exception) and not is_overflow(error)),
            "reraise": True,
        }

    def _seconds(self, task: CompressionTask, number: int) -> float:
        first = self.timeout if task.timeout is None else task.timeout
        return float(first * 2 ** (number - 1))


def _guard(tasks: Sequence[CompressionTask]) -> None:
    """Every prompt to a summariser passes here, whoever made it."""
    for task in tasks:
        guard_prompt(task.prompt)


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Run a blocking call for at most so long.

    A thread cannot be stopped, so a call that hangs goes on in a daemon thread, which holds up neither the caller nor
    the end of the process.

    Raises:
        TimeoutError: The call took longer.
    """
    outcome: list[tuple[T | None, BaseException | None]] = []
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome.append((context.run(call), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where the caller waits
            outcome.append((None, error))

    thread = threading.Thread(target=work, name="ctxcompress-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        msg = f"no answer within {seconds:g} s"
        raise TimeoutError(msg)
    value, error = outcome[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # None only if `call` returns None


def _config() -> RunnableConfig:
    """Marks the call as internal: its tokens do not appear in a graph's `messages` stream (law 10).

    The metadata are those of LangChain's own summarisation: what filters traces or events by them finds this, too.
    """
    from langgraph.constants import TAG_NOSTREAM

    return {"tags": [TAG_NOSTREAM, "ctxcompress"], "metadata": {"lc_source": "summarization"}, "run_name": RUN_NAME}


def tell(on_done: TaskDone | None, place: int, result: TaskResult) -> TaskResult:
    """The result, after whoever waits for it was told. What the callback raises must not cost the other tasks."""
    if on_done is not None:
        try:
            on_done(place, result)
        except Exception as error:  # noqa: BLE001 - law 4
            log_failure(logger, "the progress callback failed; the work goes on", error)
    return result


def _noted(opened: Span, result: TaskResult, reply: BaseMessage | str = "") -> TaskResult:
    """The result, after the span was told of it."""
    metadata = getattr(reply, "response_metadata", None) or {}
    opened.note(
        {
            "gen_ai.response.model": metadata.get("model_name") or metadata.get("model"),
            "gen_ai.usage.input_tokens": result.input_tokens or None,
            "gen_ai.usage.output_tokens": result.output_tokens or None,
            "ctxcompress.attempts": result.attempts,
        }
    )
    if result.failure is not None:
        opened.failed(str(result.failure), result.detail)
    return result


def _read(reply: BaseMessage | str, attempts: int, started: float, task: CompressionTask) -> TaskResult:
    if not isinstance(reply, BaseMessage):  # a chain that ends in a parser
        reply = AIMessage(str(reply))
    text, failure = judge_reply(reply)
    if task.agent is not None and isinstance(reply, AIMessage) and (reply.tool_calls or reply.invalid_tool_calls):
        failure = TaskFailure.TOOL_CALL  # it went on with the work, whatever it says beside the call
    read, written, cached = usage_of(reply)
    return TaskResult(text, failure, "", attempts, time.monotonic() - started, read, written, cached)


def _failed(error: Exception, attempts: int, started: float, model: Any) -> TaskResult:
    failure = TaskFailure.ERROR
    if is_overflow(error):
        failure = TaskFailure.OVERFLOW
    elif isinstance(error, TimeoutError):
        failure = TaskFailure.TIMEOUT
    detail = describe(error, mask=lambda text: without_secrets(text, model))
    return TaskResult("", failure, detail, attempts, time.monotonic() - started)
