"""The cool-down: a summariser that keeps failing is left alone for a while (law 4)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from langchain_ctxcompress.summarize import TaskFailure, TaskResult

logger = logging.getLogger("langchain_ctxcompress.compressor")

FAILURES = 3
"""Failed compressions in a row until the summariser is left alone."""

SECONDS = 60.0
"""How long it is left alone."""


class CoolDown:
    """Counts failures in a row. Safe to share between threads.

    Args:
        failures: How many in a row start a cool-down.
        seconds: How long it lasts.
        clock: Seconds of a monotonic clock; a test can set its own.
    """

    def __init__(
        self, failures: int = FAILURES, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.failures = failures
        self.seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._until = 0.0

    @property
    def active(self) -> bool:
        """Whether the summariser is to be left alone now."""
        with self._lock:
            return self._clock() < self._until

    def note(self, results: Iterable[TaskResult]) -> None:
        """Take notice of a compression by its last round of results: it failed if any of them did.

        Of several rounds only the last counts: an overflow that smaller parts cured is no failure.
        """
        asked = [result for result in results if result.failure is not TaskFailure.COOLING_DOWN]
        if not asked:
            return
        failure = next((result.failure for result in asked if result.failure is not None), None)
        with self._lock:
            self._in_a_row = in_a_row = self._in_a_row + 1 if failure else 0
            alone = in_a_row >= self.failures
            if alone:
                self._until = self._clock() + self.seconds
                self._in_a_row = 0
        if alone:
            logger.warning(
                "the summariser failed %d times in a row (%s): it is left alone for %g s; the extractive one writes",
                in_a_row,
                failure,
                self.seconds,
            )
        elif in_a_row == 1:
            logger.warning(
                "the summariser failed (%s), and the extractive one took its place: see result.detail or the events",
                failure,
            )
