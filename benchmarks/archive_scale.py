"""Does a session get slower or larger in memory as it grows? One SQLite session of up to 1,000,000 messages.

A writer fills the session through the archive, with a summary checkpoint for every 1,000 messages, as a compressor
leaves them. At each size, new processes measure: an append of one message and of 100 by a writer that is at work, and
the opening: a new process that computes the view of the compressed list and then compresses it.

python benchmarks/archive_scale.py [--sizes 1000 10000 100000 1000000] [--file archive.db] [--json scale.json]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress import CheckpointSummary, ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import run, summary_message

SIZES = (1_000, 10_000, 100_000, 1_000_000)
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
        started = time.perf_counter()
        history.append(new)
        yield time.perf_counter() - started
        batch += new
        if (first + 100) % COVERED == 0:
            number = (first + 100) // COVERED
            run(history.put_checkpoint_steps(checkpoint(number, batch, f"m{first + 100}")), history.store)
            batch = []


def timed(work: Callable[[], Any]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000


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


def main() -> None:
    """Fill, measure in new processes, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--file", type=Path)
    parser.add_argument("--json", type=Path, default=Path("archive_scale.json"))
    parser.add_argument(
        "--measure", type=int, help="measure at this size, and print JSON (used by the benchmark itself)"
    )
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.file, given.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or Path(folder) / "archive.db"
        rows: list[dict[str, float]] = []
        done = 0
        print(f"{'messages':>9} {'view':>7} {'+back':>7} {'compress':>9} {'append 1':>9} {'100':>7} {'get':>6}", end="")
        print(f" {'RSS':>7} {'fill 100':>9} {'writer RSS':>11} {'file':>8}")
        for size in given.sizes:
            seconds = list(fill(path, done, size))
            done = size
            command = [sys.executable, __file__, "--measure", str(size), "--file", str(path)]
            row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            row["fill_100_ms"] = statistics.median(seconds[-200:]) * 1_000
            row["writer_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
            row["file_mb"] = path.stat().st_size / 1e6
            rows.append(row)
            print(
                f"{size:>9,} {row['view_ms']:>4.1f} ms {row['view_with_returned_ms']:>4.1f} ms"
                f" {row['compress_ms']:>6.1f} ms"
                f" {row['append_one_ms']:>6.2f} ms {row['append_100_ms']:>4.1f} ms {row['get_one_ms']:>3.1f} ms"
                f" {row['peak_rss_mb']:>4.0f} MB {row['fill_100_ms']:>6.1f} ms {row['writer_rss_mb']:>8.0f} MB"
                f" {row['file_mb']:>5.0f} MB",
                flush=True,
            )
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
