"""How long do 40 band tasks take on a summariser that needs 2 s for each, 10 at once? Near 8 s, not 80.

python benchmarks/bands_concurrency.py [--tasks 40] [--delay 2.0] [--concurrency 10]
"""

from __future__ import annotations

import argparse
import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from langchain_ctxcompress import CompressionBand, acompress_messages, compress_messages

LONG = "The build takes long because the cache key holds the time of day, so that no two runs share a cache. "


class SlowModel(BaseChatModel):
    """Answers each prompt after `delay` seconds, and counts how many it answers at once."""

    delay: float

    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _running: int = PrivateAttr(default=0)
    _peak: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "slow"

    @property
    def peak(self) -> int:
        """The most prompts that were under way at the same time."""
        return self._peak

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
            self._peak = max(self._peak, self._running)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    def _generate(self, *_args: Any, **_options: Any) -> ChatResult:
        with self._counted():
            time.sleep(self.delay)
        return _reply()

    async def _agenerate(self, *_args: Any, **_options: Any) -> ChatResult:
        with self._counted():
            await asyncio.sleep(self.delay)
        return _reply()


@dataclass(frozen=True, slots=True)
class Measured:
    """One run.

    Attributes:
        door: `compress_messages` or `acompress_messages`.
        tasks: Tasks that ended well.
        seconds: Wall time.
        peak: The most model calls under way at the same time.
    """

    door: str
    tasks: int
    seconds: float
    peak: int


def conversation(tasks: int) -> list[BaseMessage]:
    """A conversation with so many messages that are long enough for a task; the newest human message is none."""
    kinds = (HumanMessage, AIMessage)
    messages: list[BaseMessage] = [kinds[n % 2](f"Message {n}. {LONG * 3}", id=f"m{n}") for n in range(tasks)]
    return [*messages, AIMessage("Done.", id="done"), HumanMessage("Thanks.", id="thanks")]


def measure(tasks: int = 40, delay: float = 2.0, concurrency: int = 10) -> list[Measured]:
    """Run the tasks through both doors.

    Args:
        tasks: How many.
        delay: Seconds that the model needs for each.
        concurrency: Tasks at once.
    """
    messages, bands = conversation(tasks), [CompressionBand(0, 100, "compress")]
    timeout = max(5.0, 2 * delay)
    runs: list[Measured] = []
    for door in ("compress_messages", "acompress_messages"):
        model = SlowModel(delay=delay)
        started = time.monotonic()
        if door == "compress_messages":
            result = compress_messages(messages, bands, model, concurrency=concurrency, timeout=timeout)
        else:
            result = asyncio.run(acompress_messages(messages, bands, model, concurrency=concurrency, timeout=timeout))
        runs.append(Measured(door, result.stats.compressed, time.monotonic() - started, model.peak))
    return runs


def main() -> None:
    """Print a table of the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--delay", type=float, default=2.0, help="seconds the model needs for each task")
    parser.add_argument("--concurrency", type=int, default=10)
    given = parser.parse_args()
    least = ceil(given.tasks / given.concurrency) * given.delay
    print(f"{given.tasks} tasks of {given.delay:g} s, {given.concurrency} at once")
    print(f"one after the other {given.tasks * given.delay:.1f} s, at best {least:.1f} s\n")
    print(f"{'door':<20}{'tasks':>6}{'seconds':>9}{'at once':>9}")
    for run in measure(given.tasks, given.delay, given.concurrency):
        print(f"{run.door:<20}{run.tasks:>6}{run.seconds:>9.2f}{run.peak:>9}")


def _reply() -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=AIMessage("The cache key holds the time of day."))])


if __name__ == "__main__":
    main()
