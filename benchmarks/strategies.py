"""Every strategy at 10,000 messages without a model, by part: where a compression spends its time.

counting: each message, for the first time. preparing: ids, checkpoints, repair. strategy: the strategy itself, turns
and boundaries included. validating: the check of what it made. archiving: originals into a store in memory; it is not a
part of the stated times, since it follows the store.

Run: python -m benchmarks.strategies [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

from benchmarks.conversations import agent, chat
from benchmarks.measuring import Ratios, arguments, finish, settle, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine.stages import _finished, _prepare
from langchain_ctxcompress.engine.validation import validated
from langchain_ctxcompress.storage import run

T = TypeVar("T")
MECHANICAL = ("clear-tools", "top-down-truncation", "pack")
WITH_TEXT = ("bands", "emergency", "middle-out", "ladder")
PARTS = ("counting", "preparing", "strategy", "validating", "archiving")
STATED_MS = 150


def parts(messages: list[BaseMessage], strategy: str, limit: int) -> dict[str, float]:
    """Milliseconds of each part of one compression, on objects that were never seen."""
    config = PrunerConfig.for_limit(limit)
    compressor = ContextCompressor(config=config, strategy=strategy)
    messages = [message.model_copy() for message in messages]
    settle()
    times: dict[str, float] = {}

    def timed(part: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        made = work()
        times[part] = (time.perf_counter() - start) * 1_000
        return made

    timed("counting", lambda: compressor.count(messages))
    job = compressor._job(messages, None)
    prepared = timed("preparing", lambda: run(_prepare(job), job.store))
    draft = timed("strategy", lambda: drafted(compressor, prepared.request))
    draft = timed("validating", lambda: validated(prepared.request, draft))
    records = job.session.record(prepared.view.originals, _finished(draft, prepared), draft.actions)
    timed("archiving", lambda: run(records, job.store))
    return times


def drafted(compressor: ContextCompressor, request: Any) -> Any:
    try:
        next(compressor.strategy.run(request))
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("a strategy asked for a model, though there is none")


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.INFO)
    size, runs, names = (2_000, 3, MECHANICAL) if options.quick else (10_000, 5, MECHANICAL + WITH_TEXT)
    ratios, figures = Ratios(), dict[int, dict[str, dict[str, float]]]()
    for length in (size // 4, size):
        figures[length] = {}
        for kind, messages in {"chat": chat(length, words=40), "agent run": agent(length, words=40)}.items():
            for name in names:
                taken = [parts(messages, name, 12 * length) for _ in range(options.runs or runs)]
                figures[length][f"{name}, {kind}"] = {p: statistics.median(t[p] for t in taken) for p in PARTS}
    for row, own in figures[size].items():
        grown = own["strategy"] / figures[size // 4][row]["strategy"] / 4
        ratios.at_most(f"a message at {size:,} / at {size // 4:,}, {row}", grown, 1.5)
    ratios.show()
    table(
        f"Milliseconds at {size:,} messages (stated for the mechanical ones at 10,000: {STATED_MS})",
        ("strategy", *PARTS),
        [[row, *(own[part] for part in PARTS)] for row, own in figures[size].items()],
    )
    finish(options, ratios, {"milliseconds": figures})


if __name__ == "__main__":
    main()
