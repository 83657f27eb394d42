"""`bands`: old messages are shortened where they stand, the more the older they are (requirement B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.limits import PruneUrgency
from langchain_ctxcompress.messages import apply_compressed_content
from langchain_ctxcompress.strategies.band_mapping import (
    DEFAULT_BANDS,
    CompressionBand,
    check_bands,
    map_turns_to_bands,
)
from langchain_ctxcompress.strategies.band_runner import ATTEMPTS, BandWork
from langchain_ctxcompress.strategies.band_tasks import (
    MIN_TOKENS,
    TIMEOUT_SECONDS,
    BandTask,
    check_settings,
    create_compression_tasks,
    mark_compressed,
    places_of,
)
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    RungReport,
    Steps,
)
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.replacing import altered
from langchain_ctxcompress.summarize import TaskFailure, TaskStatus

LEAST_GAIN = 0.05
"""Share of the soft limit that a run must promise to free. With each new turn the bands move on by a message or two:
shortening those at once would be a model call a step, and change the prefix each time (laws 5 and 7)."""


class Bands(CompressionStrategy):
    """Shortens the candidates that lie in a band, each by itself; the turns stay, prefix and last turns verbatim.

    Args:
        bands: Which part of the conversation is shortened, and how much.
        min_tokens: The least size of a text that is shortened, by `estimate_tokens`.
        timeout: Seconds for the first attempt of a task; each further one gets twice as long.
        attempts: Attempts for each task.

    Raises:
        ConfigError: Bands overlap, or a number is out of range.
    """

    name = "bands"

    def __init__(
        self,
        bands: Sequence[CompressionBand] = DEFAULT_BANDS,
        *,
        min_tokens: int = MIN_TOKENS,
        timeout: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
    ) -> None:
        check_settings(min_tokens=min_tokens, timeout=timeout, attempts=attempts)
        self.bands = check_bands(bands)
        self.min_tokens = min_tokens
        self.timeout = timeout
        self.attempts = attempts

    def run(self, request: CompressionRequest) -> Steps:
        """Shorten what lies in a band; a message whose task fails stays as it was (B6)."""
        work = BandWork(
            tuple(self._tasks(request)),
            request.tools.count_text,
            request.instructions,
            request.summariser_window,
            self.attempts,
        )
        if not work.tasks or not self._worth(request, work.tasks):
            return request.unchanged(_why_none(request), self.name)
        if not request.summariser:
            finished = work.finished(list(work.extracts()), request.messages, request.tools.count)
            return self._draft(request, finished)
        requests = work.requests()
        results = (yield requests) if requests else []
        finished = work.finished(results, request.messages, request.tools.count)
        return self._draft(request, finished, sum(result.attempts for result in results))

    def _tasks(self, request: CompressionRequest) -> Iterator[BandTask]:
        turns = request.window.turns
        tasks = create_compression_tasks(
            request.messages, turns, map_turns_to_bands(turns, self.bands), self.min_tokens, timeout=self.timeout
        )
        return (task for task in tasks if task.message_index in request.candidates)

    def _worth(self, request: CompressionRequest, tasks: Sequence[BandTask]) -> bool:
        """Whether enough would be freed; anything is over the hard limit, and where somebody wants it done now."""
        soft = request.config.soft_limit_tokens
        if request.urgency is not PruneUrgency.SOFT or request.tokens < soft:
            return True
        promised = sum((1 - task.target_share) * request.tools.count_text(task.text) for task in tasks)
        return promised >= LEAST_GAIN * soft

    def _draft(self, request: CompressionRequest, finished: Sequence[BandTask], calls: int = 0) -> CompressionDraft:
        changes: dict[int, BaseMessage] = {
            place: mark_compressed(apply_compressed_content(request.messages[place], task.result), task.level)
            for place, task in places_of(request.messages, finished)
        }
        failed = [task for task in finished if task.status is TaskStatus.FAILED]
        broken = [task for task in failed if task.failure is not TaskFailure.NOT_SMALLER]
        reason = _reason(broken) if broken else Reason.COMPRESSED if changes else Reason.NOT_SMALLER
        detail = f"{len(failed)} of {len(finished)} messages stay as they were ({_causes(failed)})" if failed else ""
        draft = altered(request, changes, strategy=self.name, reason=reason)
        freed = sum(request.sizes) - draft.tokens
        report = RungReport(self.name, freed, reason, detail)
        return replace(draft, degraded=bool(broken), rungs=(report,), model_calls=calls)


def _why_none(request: CompressionRequest) -> Reason:
    """Nothing to shorten: candidates that do not weigh in all that is too much are short, or lie in no band."""
    why = request.why_none
    return Reason.NOT_ENOUGH if why is Reason.TOO_FEW_CANDIDATES and request.candidates else why


def _reason(broken: Sequence[BandTask]) -> Reason:
    resting = all(task.failure is TaskFailure.COOLING_DOWN for task in broken)
    return Reason.COOLING_DOWN if resting else Reason.SUMMARISER_FAILED


def _causes(failed: Sequence[BandTask]) -> str:
    causes = dict.fromkeys(task.detail or str(task.failure) for task in failed)
    return "; ".join(list(causes)[:3])
