"""Writing one summary: with the chat model where there is one, else, and wherever it fails, with the extractive one."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import UNVERIFIED, invented_values, remove_invented, render_goals, split_reply
from langchain_ctxcompress.limits import input_window
from langchain_ctxcompress.messages import kind_of
from langchain_ctxcompress.strategies.base import CompressionRequest
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.summarize import (
    CompressionTask,
    SummaryBudget,
    TaskFailure,
    TaskResult,
    Transcript,
    extract_summary,
    prefix_instruction,
    shorten_summary,
    summary_prompt,
)
from langchain_ctxcompress.summarize.prompts import PROMPT_TOKENS
from langchain_ctxcompress.summarize.transcript import render_message

SMALLEST_PART = 500
"""Tokens under which a part is not split further when the model says it is too long."""

TOLERANCE = 1.5
"""A summary this many times longer than it was asked for is shortened."""


_SENTENCE_END = re.compile(r"\n|(?<=[.!?…])\s|(?<=[。！？])")

SHOWN_LEDGER = 600
"""Tokens of the ledger that the model is shown at most: a small one reads some hundred tokens a second."""

SHOWN_CHARS = 80
"""Characters of a message that name it to a model that is shown the whole conversation."""

SHOWN_FLAGGED = 5
"""Made-up values that are named to people and to the model."""


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary and how it came about.

    Attributes:
        text: The summary.
        summariser: `model` or `extractive`.
        failure: Why it is not the model's, where a model was asked.
        detail: The error, in one line.
        calls: Attempts made on the model.
        flagged: Values that the model stated although they are in no source; they were taken out of `text`.
        report: All that the model wrote, where the summary is the model's: it may report progress and propose records.
    """

    text: str
    summariser: str = "extractive"
    failure: Reason | None = None
    detail: str = ""
    calls: int = 0
    flagged: tuple[str, ...] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked for, and shown besides the conversation.

    Attributes:
        budget: How long the summary should be.
        earlier: What earlier summaries say.
        kept: What of the ledger it is shown.
        goals: The goals.
        invented: At the second try: values of the first that are in no source.
    """

    budget: SummaryBudget
    earlier: str = ""
    kept: str = ""
    goals: str = ""
    invented: tuple[str, ...] = ()


WritingSteps = Generator[list[CompressionTask], list[TaskResult], WrittenSummary]


def write_summary(
    request: CompressionRequest,
    source: Sequence[BaseMessage],
    budget: SummaryBudget,
    earlier: str,
    *,
    quoted: str = "",
    kept: str = "",
) -> WritingSteps:
    """Summarise `source`.

    A model's summary is checked, not trusted: values that are in no source are taken out of it, and where that leaves
    little, it is asked for once more.

    Args:
        request: The request: whether a model may be asked, its window, goals, mode, instructions.
        source: What is summarised.
        budget: How long the summary should be.
        earlier: What earlier summaries say: an anchor for the model.
        quoted: What is quoted beside the summary: the extractive summariser does not repeat it.
        kept: The ledger as it is restated beside the summary.
    """
    if not request.summariser:
        return WrittenSummary(_extract(request, source, budget, earlier, quoted))
    asked = Asked(budget, earlier, _shortened(request, kept), render_goals(request.goals.now))
    told = Transcript(source)
    reply = yield from _ask(request, source, told, asked)
    calls, failed = reply.calls, reply.failed
    text, flagged = _checked(request, told, asked, reply)
    if flagged and 2 * _stands(text) < len(reply.text):
        again = yield from _ask(request, source, told, replace(asked, invented=flagged))
        calls += again.calls
        if again.failed is None:
            reply, (text, flagged) = again, _checked(request, told, asked, again)
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
    return WrittenSummary(text, "model", detail=_said_of(flagged), calls=calls, flagged=flagged, report=reply.report)


def _checked(request: CompressionRequest, told: Transcript, asked: Asked, reply: _Reply) -> tuple[str, tuple[str, ...]]:
    """The summary in a reply without what was made up, and the values that were."""
    if reply.failed is not None:
        return "", ()
    text, _ = split_reply(reply.text, markers=bool(request.goals.now))
    shown = Transcript(request.messages) if request.agent is not None else told
    invented = invented_values(text, _sources(request, shown, asked))
    return remove_invented(text, invented), tuple(invented)


def _sources(request: CompressionRequest, shown: Transcript, asked: Asked) -> Iterator[str]:
    """All that a summary may have its values from; read only where it states any."""
    yield from shown.whole
    yield from (asked.earlier, asked.kept, asked.goals, request.instructions)


def _stands(text: str) -> int:
    """How much of a summary stands, in characters: the lines and sentences in which nothing was made up."""
    return sum(len(part) for part in _SENTENCE_END.split(text) if UNVERIFIED not in part)


def _said_of(flagged: Sequence[str]) -> str:
    """What a report says of values that were taken out."""
    if not flagged:
        return ""
    more = f" and {len(flagged) - SHOWN_FLAGGED} more" if len(flagged) > SHOWN_FLAGGED else ""
    named = ", ".join(value[:60] for value in flagged[:SHOWN_FLAGGED])
    return f"the summary stated what is in no source, and it was taken out: {named}{more}"


def _shortened(request: CompressionRequest, kept: str) -> str:
    """What of the ledger the model is shown: what need not be said again, a tenth of its window at most."""
    window = request.summariser_window
    most = SHOWN_LEDGER if window is None else min(SHOWN_LEDGER, window // 10)
    if request.tools.count_text(kept) <= most:
        return kept
    return request.tools.truncate(kept, most).rpartition("\n")[0]


def _extract(
    request: CompressionRequest, source: Sequence[BaseMessage], budget: SummaryBudget, earlier: str, quoted: str
) -> str:
    said = "\n".join(filter(None, (earlier, quoted)))
    return extract_summary(source, budget.most, count=request.tools.count_text, earlier=said)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a model answered.

    Attributes:
        text: The summary as it wrote it.
        report: The same with what it wrote of each part.
        failed: The result that cannot be used; `None` where there is a summary.
        calls: Attempts made.
    """

    text: str = ""
    report: str = ""
    failed: TaskResult | None = None
    calls: int = 0


def _ask(
    request: CompressionRequest, source: Sequence[BaseMessage], told: Transcript, asked: Asked
) -> Generator[list[CompressionTask], list[TaskResult], _Reply]:
    """Ask the model, in parts where the source is larger than its window; twice then: the parts, and their union."""
    calls = 0
    if (task := _prefix_task(request, source, asked)) is not None:
        result = (yield [task])[0]
        if result.ok:
            return _Reply(result.text, result.text, calls=result.attempts)
        calls = result.attempts
        if result.failure is TaskFailure.COOLING_DOWN:
            return _Reply(failed=result, calls=calls)
    size = _part_size(request, asked)
    while True:
        count, model = request.tools.count_text, request.config.encoding_model
        parts = told.parts(size, count, model)
        if not parts:
            empty = TaskResult(failure=TaskFailure.EMPTY, detail="there is no text to summarise")
            return _Reply(failed=empty, calls=calls)
        results = yield [
            _task(request, part, asked, part=place, parts=len(parts)) for place, part in enumerate(parts, 1)
        ]
        calls += sum(result.attempts for result in results)
        failed = next((result for result in results if not result.ok), None)
        if failed is None:
            break
        largest = max(map(request.tools.count_text, parts))
        if failed.failure is not TaskFailure.OVERFLOW or largest <= SMALLEST_PART:
            return _Reply(failed=failed, calls=calls)
        size = max(SMALLEST_PART, largest // 2)  # the model's window is smaller than was thought
    report = "\n\n".join(result.text for result in results)
    if len(results) == 1 or request.tools.count_text(report) <= asked.budget.most:
        return _Reply(report, report, calls=calls)
    final = (yield [_task(request, report, asked)])[0]
    calls += final.attempts
    if final.ok:
        return _Reply(final.text, f"{report}\n{final.text}", calls=calls)
    # The parts are good: shortening them loses less than the extractive summary of the source would.
    text, _ = split_reply(report)
    return _Reply(shorten_summary(text, asked.budget.most, count=request.tools.count_text), report, calls=calls)


def _task(request: CompressionRequest, text: str, asked: Asked, *, part: int = 0, parts: int = 0) -> CompressionTask:
    whole = parts <= 1
    prompt = summary_prompt(
        text,
        asked.budget,
        earlier=asked.earlier,
        goals=asked.goals,
        ledger=asked.kept,
        mode=request.mode,
        instructions=request.instructions,
        rejected=_rejected(asked.invented),
        part=0 if whole else part,
        parts=0 if whole else parts,
    )
    return CompressionTask(prompt, asked.budget.most)


def _prefix_task(request: CompressionRequest, source: Sequence[BaseMessage], asked: Asked) -> CompressionTask | None:
    """The task that shows the conversation as the agent's model reads it; `None` where a transcript is to be shown.

    All that the model has read before, up to its last answer, is in the provider's cache.
    """
    agent = request.agent
    if agent is None or not source:
        return None
    instruction = prefix_instruction(
        asked.budget,
        first=_quoted(source[0], end=False) if request.messages[0] is not source[0] else "",
        last=_quoted(source[-1], end=True),
        earlier=bool(asked.earlier),
        goals=asked.goals,
        mode=request.mode,
        instructions="\n".join(filter(None, (request.instructions, AGAIN if asked.invented else ""))),
    )
    system = [agent.system] if agent.system is not None else []
    window = input_window(agent.model)
    around = request.overhead_tokens + sum(request.tools.count([*system, instruction]))
    if window is not None and around + sum(request.sizes) + asked.budget.most > window:
        return None
    read = max((place + 1 for place, message in enumerate(request.messages) if kind_of(message) == "ai"), default=0)
    held = sum(request.tools.count(system)) + sum(request.sizes[:read])
    prompt = (*system, *request.messages, instruction)
    return CompressionTask(prompt, asked.budget.most, cached_tokens=held, agent=agent)


def _quoted(message: BaseMessage, *, end: bool) -> str:
    """How a message begins or ends, by which a model finds it."""
    text = " ".join(render_message(message).split()) or "no text"
    return f"…{text[-SHOWN_CHARS:]}" if end else f"{text[:SHOWN_CHARS]}…"


AGAIN = "a first record stated values that are not in the conversation; state only what it says."
"""What is said at the second try where there are no markers to name the values between."""


def _rejected(invented: Sequence[str]) -> str:
    """What a first record made up, as the second try is shown it; a model wrote it, so it is data like the rest."""
    return ", ".join(value[:60] for value in invented[:SHOWN_FLAGGED])


def _part_size(request: CompressionRequest, asked: Asked) -> int | None:
    """How much of the conversation fits into one prompt, in tokens; `None` where the window is not known."""
    if request.summariser_window is None:
        return None
    texts = (asked.earlier, asked.kept, asked.goals, request.instructions, _rejected(asked.invented))
    around = PROMPT_TOKENS + sum(map(request.tools.count_text, texts))
    return max(SMALLEST_PART, request.summariser_window - around - 2 * asked.budget.most)
