"""Band tasks carried out: over a chat model or the extractive summariser, and over a whole list (requirement B8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import apply_compressed_content, require_messages, split_turns
from langchain_ctxcompress.strategies.band_mapping import DEFAULT_BANDS, CompressionBand, map_turns_to_bands
from langchain_ctxcompress.strategies.band_tasks import (
    MIN_TOKENS,
    TIMEOUT_SECONDS,
    BandTask,
    apply_compression_results,
    check_settings,
    create_compression_tasks,
    places_in_bands,
)
from langchain_ctxcompress.summarize import (
    ChatModelSummariser,
    CompressionTask,
    TaskFailure,
    TaskResult,
    TaskStatus,
    rewrite_budget,
    rewrite_prompt,
    shorten_summary,
    summariser_of,
)
from langchain_ctxcompress.summarize.chat_model import tell
from langchain_ctxcompress.summarize.rewriting import PROMPT_TOKENS
from langchain_ctxcompress.tokens import MessageCounter, count_tokens

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

ATTEMPTS = 3
"""For each task (B8). Tasks are small, so a third attempt costs little, and a failed one leaves its message long."""

CONCURRENCY = 10
"""Tasks at once (B8)."""

Progress = Callable[[BandTask, int, int], None]
"""Takes the task that ended, how many have ended, and how many were begun."""


@dataclass(frozen=True, slots=True)
class BandStats:
    """What became of the messages in the bands.

    Attributes:
        compressed: Messages that were shortened.
        skipped: Human and AI messages in a band that no task was made for: too short, pinned, newest human.
        failed: Messages whose task failed; they are as they were.
        tokens_before: Size of the texts of all tasks, in tokens.
        tokens_after: Size of what stands in their place, in tokens.
    """

    compressed: int = 0
    skipped: int = 0
    failed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def reduction_percent(self) -> float:
        """What was saved of the tokens before, in percent."""
        return 100 * (1 - self.tokens_after / self.tokens_before) if self.tokens_before else 0.0


@dataclass(frozen=True, slots=True)
class BandResult:
    """A list whose messages were shortened where they stand.

    Attributes:
        messages: The new list; messages that were not shortened are the same objects.
        stats: What became of the messages in the bands.
        tasks: The finished tasks, in the order of their messages.
    """

    messages: list[BaseMessage]
    stats: BandStats = field(default_factory=BandStats)
    tasks: tuple[BandTask, ...] = ()


@dataclass(frozen=True, slots=True)
class BandWork:
    """Tasks, and how their texts are asked for and judged.

    Attributes:
        tasks: What is to be done.
        count: Counts the tokens of a text.
        instructions: The caller's own, for the model.
        window_tokens: The model's input window; a message that is larger is not sent, since some runtimes would cut it
            off in silence. `None` where it is not known.
        max_attempts: Attempts for each task.
    """

    tasks: tuple[BandTask, ...]
    count: Callable[[str], int] = count_tokens
    instructions: str = ""
    window_tokens: int | None = None
    max_attempts: int = ATTEMPTS

    def asked(self) -> list[BandTask]:
        """The tasks that the model is asked for, in order."""
        return [task for task in self.tasks if self._fits(task)]

    def requests(self) -> list[CompressionTask]:
        """The model calls of those tasks, in the same order."""
        return [
            CompressionTask(
                rewrite_prompt(
                    task.text,
                    task.level,
                    self._budget(task),
                    writer=task.message_type,
                    instructions=self.instructions,
                ),
                self._budget(task),
                timeout=task.timeout,
                max_attempts=self.max_attempts,
            )
            for task in self.asked()
        ]

    def finished(
        self,
        results: Sequence[TaskResult],
        messages: Sequence[BaseMessage],
        count: Callable[[Sequence[BaseMessage]], list[int]],
    ) -> list[BandTask]:
        """All tasks as they ended.

        Args:
            results: What came of the requests, in their order.
            messages: The list that the tasks were made for.
            count: Sizes of messages, in tokens.
        """
        answers = iter(results)
        ended = [self.judged(task, next(answers)) if self._fits(task) else _too_large(task) for task in self.tasks]
        # Text in several blocks is a little smaller than the same text in one: the message as a whole decides.
        before = count([messages[task.message_index] for task in ended])
        after = count([apply_compressed_content(messages[task.message_index], task.result) for task in ended])
        return [
            task if task.status is not TaskStatus.SUCCEEDED or now < was else _not_smaller(task, was, now)
            for task, was, now in zip(ended, before, after, strict=True)
        ]

    def judged(self, task: BandTask, result: TaskResult) -> BandTask:
        """A task as it ended: a result that is empty or not smaller is none (B8)."""
        text = result.text.strip()
        if not result.ok:
            return task.failed(result.failure or TaskFailure.ERROR, result.detail, result.attempts)
        if not text:
            return task.failed(TaskFailure.EMPTY, attempts=result.attempts)
        before, after = self.count(task.text), self.count(text)
        if after >= before:
            return _not_smaller(task, before, after, result.attempts)
        return task.succeeded(text, result.attempts)

    def extracts(self) -> Iterator[TaskResult]:
        """What the extractive summariser makes of the tasks, in order; the text itself where it finds nothing in it."""
        for task in self.asked():
            yield TaskResult(shorten_summary(task.text, self._budget(task), count=self.count) or task.text)

    def _budget(self, task: BandTask) -> int:
        return rewrite_budget(self.count(task.text), task.target_share)

    def _fits(self, task: BandTask) -> bool:
        if self.window_tokens is None:
            return True
        around = PROMPT_TOKENS + self.count(self.instructions) + self._budget(task)
        return self.count(task.text) + around <= self.window_tokens


def compress_messages(
    messages: Sequence[BaseMessage],
    bands: Sequence[CompressionBand] | None = DEFAULT_BANDS,
    model: Runnable[Any, Any] | ChatModelSummariser | str | None = None,
    *,
    min_tokens: int = MIN_TOKENS,
    timeout: float = TIMEOUT_SECONDS,
    attempts: int = ATTEMPTS,
    concurrency: int = CONCURRENCY,
    instructions: str = "",
    on_progress: Progress | None = None,
) -> BandResult:
    """Shorten the messages in the bands where they stand (B6).

    Nothing but texts changes, and only where a task succeeds. The originals are not archived: the strategy `bands` of a
    `ContextCompressor` does that.

    Args:
        messages: The conversation; it is not changed.
        bands: Which part of it is shortened, and how much; none: nothing is.
        model: A chat model, a name for `init_chat_model`, a `ChatModelSummariser` (whose own concurrency holds), or
            `None` for the extractive summariser.
        min_tokens: The least size of a text that is shortened, by `estimate_tokens`.
        timeout: Seconds for the first attempt of a task; each further one gets twice as long.
        attempts: Attempts for each task.
        concurrency: Tasks at once.
        instructions: A wish for the model, such as "keep the SQL".
        on_progress: Told of each task as it ends, in the calling thread.

    Raises:
        ConfigError: Bands overlap, or a number is out of range.
        InvalidMessagesError: Something in the list is no message.
        SummariserError: The model cannot be set up.
    """
    check_settings(concurrency=concurrency)
    job = _Job(
        messages,
        bands or (),
        summariser_of(model, concurrency=concurrency),
        min_tokens=min_tokens,
        timeout=timeout,
        attempts=attempts,
        instructions=instructions,
        on_progress=on_progress,
    )
    if job.summariser is None:
        return job.result(job.extracts())
    return job.result(job.summariser.run(job.work.requests(), on_done=job.told))


async def acompress_messages(
    messages: Sequence[BaseMessage],
    bands: Sequence[CompressionBand] | None = DEFAULT_BANDS,
    model: Runnable[Any, Any] | ChatModelSummariser | str | None = None,
    *,
    min_tokens: int = MIN_TOKENS,
    timeout: float = TIMEOUT_SECONDS,
    attempts: int = ATTEMPTS,
    concurrency: int = CONCURRENCY,
    instructions: str = "",
    on_progress: Progress | None = None,
) -> BandResult:
    """As `compress_messages`, without blocking the loop while the model writes."""
    check_settings(concurrency=concurrency)
    job = _Job(
        messages,
        bands or (),
        summariser_of(model, concurrency=concurrency),
        min_tokens=min_tokens,
        timeout=timeout,
        attempts=attempts,
        instructions=instructions,
        on_progress=on_progress,
    )
    if job.summariser is None:
        return job.result(job.extracts())
    return job.result(await job.summariser.arun(job.work.requests(), on_done=job.told))


class _Job:
    """One call of `compress_messages`: all of it but the waiting for the model."""

    def __init__(
        self,
        messages: Sequence[BaseMessage],
        bands: Sequence[CompressionBand],
        summariser: ChatModelSummariser | None,
        *,
        min_tokens: int,
        timeout: float,
        attempts: int,
        instructions: str,
        on_progress: Progress | None,
    ) -> None:
        check_settings(attempts=attempts)
        require_messages(messages)
        turns = split_turns(messages)
        mapping = map_turns_to_bands(turns, bands)
        tasks = create_compression_tasks(messages, turns, mapping, min_tokens, timeout=timeout)
        self.messages = messages
        self.skipped = sum(1 for _ in places_in_bands(messages, turns, mapping)) - len(tasks)
        self.summariser = summariser
        window = summariser.window_tokens if summariser else None
        self.work = BandWork(tuple(tasks), instructions=instructions, window_tokens=window, max_attempts=attempts)
        self._asked = self.work.asked()
        self._on_progress = on_progress
        self._ended = 0

    def told(self, place: int, result: TaskResult) -> None:
        """A task ended."""
        self._ended += 1
        if self._on_progress is not None:
            self._on_progress(self.work.judged(self._asked[place], result), self._ended, len(self._asked))

    def extracts(self) -> list[TaskResult]:
        """What comes of the tasks where no model is asked."""
        return [tell(self.told, place, result) for place, result in enumerate(self.work.extracts())]

    def result(self, results: Sequence[TaskResult]) -> BandResult:
        """The list with the results in place."""
        finished = self.work.finished(results, self.messages, MessageCounter())
        count = self.work.count
        done = sum(1 for task in finished if task.status is TaskStatus.SUCCEEDED)
        stats = BandStats(
            done,
            self.skipped,
            len(finished) - done,
            sum(count(task.text) for task in finished),
            sum(count(task.result or task.text) for task in finished),
        )
        return BandResult(apply_compression_results(self.messages, finished), stats, tuple(finished))


def _not_smaller(task: BandTask, before: int, after: int, attempts: int | None = None) -> BandTask:
    detail = f"{after} tokens in place of {before}"
    return task.failed(TaskFailure.NOT_SMALLER, detail, task.attempt if attempts is None else attempts)


def _too_large(task: BandTask) -> BandTask:
    return task.failed(TaskFailure.OVERFLOW, "the message is larger than the summariser's window", attempts=0)
