"""Does a session get slower or larger in memory as it grows? One SQLite session of up to 1,000,000 messages.

A writer fills the session through the archive, with a summary checkpoint for every 1,000 messages, as a compressor
leaves them. At each size, new processes measure: an append of one message and of 100 by a writer that is at work, and
the opening: a new process that computes the view of the compressed list and then compresses it.

Run: python -m benchmarks.archive_scale [--quick] [--check] [--sizes 1000 1000000] [--json FILE]
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.measuring import Ratios, arguments, clock, finish, table
from langchain_ctxcompress import CheckpointSummary, ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import run, summary_message

SIZES = (1_000, 10_000, 100_000)
QUICK = (1_000, 8_000)
COVERED = 1_000
"""Messages that one compression replaces."""

TAIL = 10
"""Messages behind the last compression."""

SESSION = "one session"


def message(number: int) -> BaseMessage:
    """The message of that number: some 100 tokens."""
    text = f"Message {number} on order A-{number % 997}. " + "It was sent on time, and the part has arrived. " * 6
    return (HumanMessage, AIMessage)[number % 2](text, id=f"m{number}")


def checkpoint(number: int, gone: list[BaseMessage], next_id: str) -> CheckpointSummary:
    """The checkpoint of one compression: it stands on the one before it, and shows the last three texts."""
    first = "m0"
    return CheckpointSummary(
        checkpoint_id=f"c{number}",
        session_id=SESSION,
        number=number,
        level=3,
        text=f"Summary {number}. " + "Orders were sent on time. " * 60,
        covered={str(m.id): content_hash(m) for m in gone},
        previous=f"c{number - 1}" if number > 1 else "",
        shown=tuple(f"c{n}" for n in range(max(1, number - 2), number + 1)),
        first_id=first,
        last_id=str(gone[-1].id),
        next_id=next_id,
        count=number * COVERED,
        strategy="middle-out",
        summariser="extractive",
        rendered=f"Summary {number}. " + "Orders were sent on time. " * 180,
    )


def fill(path: Path, start: int, end: int) -> Iterator[float]:
    """Append messages in hundreds, with a checkpoint for each thousand; yields the seconds of each append."""
    history = SessionHistory(path, session_id=SESSION)
    batch: list[BaseMessage] = []
    for first in range(start, end, 100):
        new = [message(n) for n in range(first, first + 100)]
        started = clock()
        history.append(new)
        yield clock() - started
        batch += new
        if (first + 100) % COVERED == 0:
            number = (first + 100) // COVERED
            run(history.put_checkpoint_steps(checkpoint(number, batch, f"m{first + 100}")), history.store)
            batch = []


def timed(work: Callable[[], Any]) -> float:
    """Milliseconds."""
    started = clock()
    work()
    return (clock() - started) * 1_000


def measure(path: Path, size: int) -> dict[str, float]:
    """What a process that starts now needs; run in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    number = size // COVERED
    history = SessionHistory(path, session_id=SESSION)
    head = run(history.checkpoint_steps(f"c{number}"), history.store)
    assert head is not None
    tail = [message(size + n) for n in range(TAIL)]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(4_000), store=history.store, session_id=SESSION)
    sent = [summary_message(head), *tail]
    view_ms = timed(lambda: compressor.view(sent))
    back = [*sent, message(size - 5), *(message(size + TAIL + n) for n in range(2))]
    back_ms = timed(lambda: compressor.view(back))
    assert len(compressor.view(back)) == len(back) - 1, "an original that came back is left out"
    ContextCompressor(config=PrunerConfig.for_limit(4_000)).compress(
        [message(n) for n in range(50)], force=True
    )  # warm
    fresh = ContextCompressor(config=PrunerConfig.for_limit(4_000), store=history.store, session_id=SESSION)
    results: list[Any] = []
    compress_ms = timed(lambda: results.append(fresh.compress([*sent, *(message(size + n) for n in range(TAIL, 60))])))
    assert results[0].changed
    one = [timed(lambda n=n: history.append([HumanMessage("one more", id=f"extra-{size}-{n}")])) for n in range(50)]  # type: ignore[misc]
    hundred = [
        timed(lambda n=n: history.append([HumanMessage("one more", id=f"batch-{size}-{n}-{i}") for i in range(100)]))  # type: ignore[misc]
        for n in range(5)
    ]
    get_ms = timed(lambda: history.get([f"m{size // 2}"]))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "messages": size,
        "view_ms": view_ms,
        "view_with_returned_ms": back_ms,
        "compress_ms": compress_ms,
        "append_one_ms": statistics.median(one),
        "append_100_ms": statistics.median(hundred),
        "get_one_ms": get_ms,
        "peak_rss_mb": after / 1_024,
        "added_rss_mb": (after - before) / 1_024,
    }


COLUMNS = {
    "view_ms": "view",
    "view_with_returned_ms": "with one that came back",
    "compress_ms": "compress",
    "append_one_ms": "append 1",
    "append_100_ms": "append 100",
    "get_one_ms": "get 1",
    "fill_100_ms": "the writer's 100",
    "peak_rss_mb": "MB, opening",
    "writer_rss_mb": "MB, writing",
    "file_mb": "MB, file",
}
GROWS = ("compress_ms", "append_100_ms")
"""What may not follow the length of the session. The view does until 16 checkpoints are read, and not from there on."""


def _own(parser: ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", help="messages at which it is measured")
    parser.add_argument("--file", type=Path, help="(used by the benchmark itself)")
    parser.add_argument("--measure", type=int, help="(used by the benchmark itself)")


def main() -> None:
    options = arguments(__doc__, _own)
    if options.measure:
        print(json.dumps(measure(options.file, options.measure)))
        return
    sizes = options.sizes or (QUICK if options.quick else SIZES)
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.db"
        done = 0
        for size in sizes:
            seconds = list(fill(path, done, size))
            done = size
            command = [sys.executable, "-m", "benchmarks.archive_scale", "--measure", str(size), "--file", str(path)]
            row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            row["fill_100_ms"] = statistics.median(seconds[-200:]) * 1_000
            row["writer_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
            row["file_mb"] = path.stat().st_size / 1e6
            rows.append(row)
    ratios = Ratios()
    for name in GROWS:
        grown = rows[-1][name] / rows[0][name]
        ratios.at_most(f"{COLUMNS[name]}, {sizes[-1]:,} messages / {sizes[0]:,}", grown, 2)
    ratios.show()
    table(
        "One SQLite session: milliseconds in a new process, and megabytes",
        ("messages", *COLUMNS.values()),
        [[f"{row['messages']:,}", *(row[name] for name in COLUMNS)] for row in rows],
    )
    finish(options, ratios, {"rows": rows})


if __name__ == "__main__":
    main()
