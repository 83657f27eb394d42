"""Plan and apply at 800,000 tokens, without the model: what a compression costs besides the summariser's own time.

The messages were counted before, each when it came. planning: the list in order, candidates, the model's prompts.
applying: from the model's answers to the new list. validating: the check of it. archiving: originals into a store in
memory. Of planning and applying, reading is what the ledger takes to read what was said, each message once in a
session; in a graph that is done beside the conversation, with the summary.

Run: python -m benchmarks.plan_apply [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage

from benchmarks.conversations import agent, chat
from benchmarks.measuring import Ratios, arguments, clock, finish, settle, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine.checkpointing import finished
from langchain_ctxcompress.engine.stages import _prepare
from langchain_ctxcompress.engine.validation import validated
from langchain_ctxcompress.storage import run
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest
from langchain_ctxcompress.summarize import CompressionTask, TaskResult

T = TypeVar("T")
PARTS = ("planning", "applying", "reading", "validating", "archiving")
SUMMARY = "The customers asked for refunds ({}), and the labels had been printed twice. "
STATES = {"chat": "#W00040, #W00052", "agent run": "logs/7.txt, step 61"}
"""Values that the summary states and the conversation has: each is looked for in all that was said."""
STATED_MS, STATED_VALIDATING_MS = 50, 5


def parts(messages: Sequence[BaseMessage], summary: str, *, ledger: bool) -> dict[str, float]:
    """Milliseconds of each part of one compression, for which a model writes `summary`."""
    total = 2 * sum(counter.count(messages))
    config = PrunerConfig(soft_limit_tokens=total // 3, hard_limit_tokens=total, ledger=ledger)
    compressor = ContextCompressor(FakeListChatModel(responses=[summary]), config=config)
    messages = [message.model_copy() for message in messages]
    compressor.count(messages)
    settle()
    times: dict[str, float] = {}

    def timed(part: str, work: Callable[[], T]) -> T:
        start = clock()
        made = work()
        times[part] = times.get(part, 0.0) + (clock() - start) * 1_000
        return made

    job = compressor._job(messages, None)
    prepared = timed("planning", lambda: run(_prepare(job), job.store))
    draft = drafted(compressor, prepared.request, summary, timed)
    draft = timed("validating", lambda: validated(prepared.request, draft))
    assert draft.tokens < prepared.request.tokens / 2, draft.reason
    assert not any(record.flagged for record in draft.checkpoints), "the summary states what nobody said"
    records = job.session.record(prepared.view.originals, finished(draft, prepared), draft.actions)
    timed("archiving", lambda: run(records, job.store))
    return times


def drafted(
    compressor: ContextCompressor,
    request: CompressionRequest,
    summary: str,
    timed: Callable[[str, Callable[[], Any]], Any],
) -> CompressionDraft:
    """The draft of the compressor's strategy, to which a model answers at once."""
    steps = compressor.strategy.run(request)
    ended: list[CompressionDraft] = []

    def moved(results: list[TaskResult] | None) -> list[CompressionTask]:
        try:
            return next(steps) if results is None else steps.send(results)
        except StopIteration as stop:
            ended.append(stop.value)
            return []

    tasks = timed("planning", lambda: moved(None))
    while not ended:
        answers = [TaskResult(summary) for _ in tasks]
        tasks = timed("applying", lambda answers=answers: moved(answers))
    return ended[0]


counter = ContextCompressor(config=PrunerConfig())


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.WARNING)
    scale, runs = (10, 5) if options.quick else (1, 5)
    ratios, rows = Ratios(), dict[str, dict[str, float]]()
    for kind, make, size in (("chat", chat, 4_800), ("agent run", agent, 9_300)):
        lists = {length: make(length) for length in (size // scale // 4, size // scale)}
        rounds = []
        for _ in range(options.runs or runs):
            found = {}
            for length, own in lists.items():
                summary = 8 * SUMMARY.format(STATES[kind])
                read, bare = parts(own, summary, ledger=True), parts(own, summary, ledger=False)
                found[length] = {**bare, "reading": sum(read.values()) - sum(bare.values())}
            rounds.append(found)
        long, short = max(lists), min(lists)
        tokens = sum(counter.count(lists[long]))
        row = f"{kind}, {long:,} messages, {tokens:,} tokens"
        rows[row] = {part: statistics.median(taken[long].get(part, 0.0) for taken in rounds) for part in PARTS}
        each = [sum(t[long].values()) / sum(t[short].values()) / long * short for t in rounds]
        ratios.at_most(f"a message of {long:,} / of {short:,}, {kind}", statistics.median(each), 1.5)
    ratios.show()
    table(
        f"Milliseconds (stated: planning and applying {STATED_MS}, validating {STATED_VALIDATING_MS})",
        ("list", *PARTS),
        [[row, *(own[part] for part in PARTS)] for row, own in rows.items()],
    )
    finish(options, ratios, {"milliseconds": rows})


if __name__ == "__main__":
    main()
