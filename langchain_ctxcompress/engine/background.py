"""Compressions that are worked out beside the conversation: at the soft limit the work starts, and the step goes on.

A job only writes a draft, in memory: nothing is archived and nothing is replaced before a later step takes it up. So
what a list reads as never depends on it, and a job that is lost with its process is no more than a later compression.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_ctxcompress.engine.job import EngineSteps
from langchain_ctxcompress.engine.sessions import Session
from langchain_ctxcompress.errors import CtxCompressError, log_failure
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest

if TYPE_CHECKING:
    import asyncio

    from langchain_ctxcompress.engine.drivers import Driver

T = TypeVar("T")
logger = logging.getLogger("langchain_ctxcompress.compressor")

MOST_JOBS = 16
"""Jobs under way at once in one compressor. Each mostly waits for the summariser; a step that finds no room goes on and
asks again."""

MOST_KEPT = 256
"""Drafts that are kept for a conversation that may never go on; the oldest is dropped."""

REST_SHARE = 8
"""After a job that freed nothing, the next one waits until the list has grown by this part of what lies between the
limits (law 5)."""


class StoppedError(Exception):
    """The job was told to stop."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A compression that was worked out for an earlier state of a list.

    Attributes:
        request: The list as it was then.
        draft: What became of it.
        session: Whose it is.
        epoch: How often that session had forgotten messages.
        seconds: Time it took.
    """

    request: CompressionRequest
    draft: CompressionDraft
    session: Session
    epoch: int
    seconds: float

    @property
    def current(self) -> bool:
        """Whether nothing was removed from the session for good since: a draft may repeat it."""
        return self.epoch == self.session.epoch


class Work:
    """A job that is under way or done.

    Args:
        request: The list it works on.
    """

    def __init__(self, request: CompressionRequest) -> None:
        self.request = request
        self.started = time.monotonic()
        self.stop = threading.Event()
        self.future: Future[Drafted] = Future()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.task: asyncio.Task[Drafted] | None = None

    @property
    def done(self) -> bool:
        """Whether it has ended, or its loop has."""
        return self.future.done() or (self.loop is not None and self.loop.is_closed())

    def wait(self) -> bool:
        """Wait for it where a blocking step can: `False` if it runs on a loop, which may be the one that is blocked."""
        if self.loop is not None:
            return self.done
        from concurrent.futures import wait

        wait([self.future])
        return True

    async def await_(self) -> bool:
        """Wait for it on the loop; `False` if it runs on another loop. A step that is cancelled does not cancel it."""
        import asyncio

        if self.loop is None or self.loop is asyncio.get_running_loop():
            await asyncio.wait([asyncio.wrap_future(self.future)])
        return self.done

    def cancel(self) -> None:
        """Stop it as soon as may be: a task at once, a thread when its model call returns. What it makes is dropped."""
        self.stop.set()
        if self.loop is not None and self.task is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.task.cancel)


class Background:
    """The jobs of one compressor: one a session, at most `most` under way. Safe to share between threads and loops.

    Args:
        most: Jobs under way at once.

    Attributes:
        counts: What became of jobs: `started`, `applied`, `partly` (of a list that had changed), `dropped`, `failed`,
            `lost`, `refused` (no room).
    """

    def __init__(self, most: int = MOST_JOBS) -> None:
        self.most = most
        self.counts: Counter[str] = Counter()
        self._works: OrderedDict[str, Work] = OrderedDict()
        self._rests: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session_id: str) -> Work | None:
        """The job of a session, under way or done."""
        return self._works.get(session_id)

    def start(self, session_id: str, work: Work, steps: EngineSteps[Drafted], driver: Driver) -> bool:
        """Start a job in a thread; `False` where the session has one, or there is no room."""
        if not self._admit(session_id, work):
            return False

        def run() -> None:
            try:
                drafted = driver.run(_until(work.stop, steps), None)
            except BaseException as error:  # noqa: BLE001 - law 4: it is told where the draft is asked for
                work.future.set_exception(error)
            else:
                work.future.set_result(drafted)

        # Nothing of the run that starts it is inherited: its callbacks and streams would be written to after its end.
        thread = threading.Thread(target=contextvars.Context().run, args=(run,), name="ctxcompress-job", daemon=True)
        return self._begun(session_id, work, thread.start)

    def astart(self, session_id: str, work: Work, steps: EngineSteps[Drafted], driver: Driver) -> bool:
        """Start a job on the running loop; as `start`."""
        import asyncio

        work.loop = asyncio.get_running_loop()
        if not self._admit(session_id, work):
            return False

        def end(task: asyncio.Task[Drafted]) -> None:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is not None:
                work.future.set_exception(error)
            else:
                work.future.set_result(task.result())

        loop = work.loop

        def begin() -> None:
            job = driver.arun(_until(work.stop, steps), None, offload=True)
            work.task = loop.create_task(job, name="ctxcompress-job", context=contextvars.Context())
            work.task.add_done_callback(end)

        return self._begun(session_id, work, begin)

    def take(self, session_id: str, work: Work) -> Drafted | None:
        """The draft of a job that is done, which is forgotten here; `None` if it failed or was lost."""
        self._forget(session_id, work)
        error = work.future.exception() if work.future.done() else None
        if work.future.done() and error is None:
            return work.future.result()
        if not isinstance(error, Exception):
            self.counts["lost"] += 1
            logger.info("session %s: the job in the background ended with its loop; it starts anew", session_id)
            return None
        self.counts["failed"] += 1
        self.rest(session_id, work.request)
        what = f"session {session_id}: the job in the background failed"
        log_failure(logger, what, error, level=logging.WARNING)
        return None

    def drop(self, session_id: str, work: Work, why: str) -> None:
        """Give up a job, or its draft."""
        work.cancel()
        self._forget(session_id, work)
        self.counts["dropped"] += 1
        logger.info("session %s: the compression in the background is dropped: %s", session_id, why)

    def rest(self, session_id: str, request: CompressionRequest) -> None:
        """Start no job of this session until its list has grown: the last one freed nothing."""
        config = request.config
        step = max(1, (config.hard_limit_tokens - config.soft_limit_tokens) // REST_SHARE)
        with self._lock:
            self._rests[session_id] = request.tokens + step
            if len(self._rests) > MOST_KEPT:
                self._rests.popitem(last=False)

    def rests(self, session_id: str, tokens: int) -> bool:
        """Whether the session's list is not yet larger than it was when a job freed nothing."""
        return tokens < self._rests.get(session_id, 0)

    def close(self) -> None:
        """Stop every job; what they have written so far is dropped."""
        with self._lock:
            works = list(self._works.values())
            self._works.clear()
        for work in works:
            work.cancel()

    def _admit(self, session_id: str, work: Work) -> bool:
        with self._lock:
            if session_id in self._works:
                return False
            if sum(1 for other in self._works.values() if not other.done) >= self.most:
                self.counts["refused"] += 1
                return False
            if len(self._works) >= MOST_KEPT:
                oldest = next(key for key, other in self._works.items() if other.done)
                del self._works[oldest]
            self._works[session_id] = work
            self._rests.pop(session_id, None)
            self.counts["started"] += 1
            return True

    def _begun(self, session_id: str, work: Work, begin: Callable[[], None]) -> bool:
        """Whether an admitted job could be begun. One that was not must not stand here: a step would wait for it."""
        try:
            begin()
        except BaseException as error:
            self._forget(session_id, work)
            if not isinstance(error, RuntimeError):
                raise
            self.counts["refused"] += 1  # no thread is to be had: the step goes on, and asks again
            logger.warning("session %s: no job can be started in the background: %s", session_id, error)
            return False
        return True

    def _forget(self, session_id: str, work: Work) -> None:
        with self._lock:
            if self._works.get(session_id) is work:
                del self._works[session_id]


def _until(stop: threading.Event, steps: EngineSteps[T]) -> EngineSteps[T]:
    """The same steps, left before the next call once a job is told to stop.

    Raises:
        StoppedError: It was.
    """
    answer: Any = None
    error: CtxCompressError | None = None
    while True:
        try:
            call = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            value: T = end.value
            return value
        if stop.is_set():
            steps.close()
            raise StoppedError
        answer, error = None, None
        try:
            answer = yield call
        except CtxCompressError as raised:
            error = raised
