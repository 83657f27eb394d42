"""Writing one summary: with the chat model where there is one, else, and wherever it fails, with the extractive one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.strategies.base import CompressionRequest, Reason
from langchain_ctxcompress.summarize import (
    CompressionTask,
    SummaryBudget,
    TaskFailure,
    TaskResult,
    extract_summary,
    shorten_summary,
    split_transcript,
    summary_prompt,
)
from langchain_ctxcompress.summarize.prompts import PROMPT_TOKENS

SMALLEST_PART = 500
"""Tokens under which a part is not split further when the model says it is too long."""

TOLERANCE = 1.5
"""A summary this many times longer than it was asked for is shortened."""


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary and how it came about.

    Attributes:
        text: The summary.
        summariser: `model` or `extractive`.
        failure: Why it is not the model's, where a model was asked.
        detail: The error, in one line.
        calls: Attempts made on the model.
    """

    text: str
    summariser: str = "extractive"
    failure: Reason | None = None
    detail: str = ""
    calls: int = 0


WritingSteps = Generator[list[CompressionTask], list[TaskResult], WrittenSummary]


def write_summary(
    request: CompressionRequest, source: Sequence[BaseMessage], budget: SummaryBudget, earlier: str, quoted: str = ""
) -> WritingSteps:
    """Summarise `source`.

    Args:
        request: The request: whether a model may be asked, its window, instructions.
        source: What is summarised.
        budget: How long the summary should be.
        earlier: What earlier summaries say: an anchor for the model.
        quoted: What is quoted beside the summary: the extractive summariser does not repeat it.
    """
    if not request.summariser:
        return WrittenSummary(_extract(request, source, budget, earlier, quoted))
    text, failed, calls = yield from _ask(request, source, budget, earlier)
    room = sum(request.tools.count(source))
    if failed is None and request.tools.count_text(text) >= room:
        return WrittenSummary(
            _extract(request, source, budget, earlier, quoted), failure=Reason.NOT_SMALLER, calls=calls
        )
    if failed is not None:
        reason = Reason.COOLING_DOWN if failed.failure is TaskFailure.COOLING_DOWN else Reason.SUMMARISER_FAILED
        detail = failed.detail or str(failed.failure or "")
        return WrittenSummary(
            _extract(request, source, budget, earlier, quoted), failure=reason, detail=detail, calls=calls
        )
    if request.tools.count_text(text) > TOLERANCE * budget.most:
        text = shorten_summary(text, budget.most, count=request.tools.count_text)
    return WrittenSummary(text, "model", calls=calls)


def _extract(
    request: CompressionRequest, source: Sequence[BaseMessage], budget: SummaryBudget, earlier: str, quoted: str
) -> str:
    said = "\n".join(filter(None, (earlier, quoted)))
    return extract_summary(source, budget.most, count=request.tools.count_text, earlier=said)


def _ask(
    request: CompressionRequest, source: Sequence[BaseMessage], budget: SummaryBudget, earlier: str
) -> Generator[list[CompressionTask], list[TaskResult], tuple[str, TaskResult | None, int]]:
    """Ask the model, in parts where the source is larger than its window; twice then: the parts, and their union."""
    size = _part_size(request, budget, earlier)
    calls = 0
    while True:
        parts = split_transcript(source, size, request.tools.count_text, request.config.encoding_model)
        if not parts:
            return "", TaskResult(failure=TaskFailure.EMPTY, detail="there is no text to summarise"), calls
        results = yield [
            _task(request, part, budget, earlier, part=place, parts=len(parts)) for place, part in enumerate(parts, 1)
        ]
        calls += sum(result.attempts for result in results)
        failed = next((result for result in results if not result.ok), None)
        if failed is None:
            break
        largest = max(map(request.tools.count_text, parts))
        if failed.failure is not TaskFailure.OVERFLOW or largest <= SMALLEST_PART:
            return "", failed, calls
        size = max(SMALLEST_PART, largest // 2)  # the model's window is smaller than was thought
    if len(results) == 1:
        return results[0].text, None, calls
    union = "\n\n".join(result.text for result in results)
    if request.tools.count_text(union) <= budget.most:
        return union, None, calls
    final = (yield [_task(request, union, budget, earlier)])[0]
    calls += final.attempts
    if final.ok:
        return final.text, None, calls
    # The parts are good: shortening them loses less than the extractive summary of the source would.
    return shorten_summary(union, budget.most, count=request.tools.count_text), None, calls


def _task(
    request: CompressionRequest, text: str, budget: SummaryBudget, earlier: str, *, part: int = 0, parts: int = 0
) -> CompressionTask:
    whole = parts <= 1
    prompt = summary_prompt(
        text,
        budget,
        earlier=earlier,
        instructions=request.instructions,
        part=0 if whole else part,
        parts=0 if whole else parts,
    )
    return CompressionTask(prompt, budget.most)


def _part_size(request: CompressionRequest, budget: SummaryBudget, earlier: str) -> int | None:
    """How much of the conversation fits into one prompt, in tokens; `None` where the window is not known."""
    if request.summariser_window is None:
        return None
    around = PROMPT_TOKENS + request.tools.count_text(earlier) + request.tools.count_text(request.instructions)
    return max(SMALLEST_PART, request.summariser_window - around - 2 * budget.most)
