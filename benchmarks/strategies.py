"""Every strategy at 10,000 messages without a model, by part: where a compression spends its time.

counting: each message, for the first time. preparing: ids, checkpoints, repair. strategy: the strategy itself, turns
and boundaries included. validating: the check of what it made. archiving: originals into a store in memory; it is not a
part of the stated times, since it follows the store.

Run: python -m benchmarks.strategies [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

from benchmarks.conversations import agent, chat
from benchmarks.measuring import Ratios, arguments, clock, finish, settle, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine.checkpointing import finished
from langchain_ctxcompress.engine.stages import _prepare
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
        start = clock()
        made = work()
        times[part] = (clock() - start) * 1_000
        return made

    timed("counting", lambda: compressor.count(messages))
    job = compressor._job(messages, None)
    prepared = timed("preparing", lambda: run(_prepare(job), job.store))
    draft = timed("strategy", lambda: drafted(compressor, prepared.request))
    draft = timed("validating", lambda: validated(prepared.request, draft))
    records = job.session.record(prepared.view.originals, finished(draft, prepared), draft.actions)
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
    size, runs, names = (2_000, 5, MECHANICAL) if options.quick else (10_000, 5, MECHANICAL + WITH_TEXT)
    ratios, figures = Ratios(), {size // 4: dict[str, dict[str, float]](), size: dict[str, dict[str, float]]()}
    for kind, make in {"chat": chat, "agent run": agent}.items():
        lists = {length: make(length, words=40) for length in figures}
        for name in names:
            row = f"{name}, {kind}"
            rounds = [{n: parts(own, name, 12 * n) for n, own in lists.items()} for _ in range(options.runs or runs)]
            for length, own in figures.items():
                own[row] = {part: statistics.median(taken[length][part] for taken in rounds) for part in PARTS}
            grown = statistics.median(taken[size]["strategy"] / taken[size // 4]["strategy"] / 4 for taken in rounds)
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
