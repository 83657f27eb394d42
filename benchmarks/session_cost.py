"""A session of n steps costs O(n) in all: the time of whole sessions, compressions and archive included.

Each step adds a message and looks at the list. A step of four times as long a session that takes longer shows in the
ratio, which is 1 where the cost is linear and 4 where it is quadratic.

Run: python -m benchmarks.session_cost [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import time

from benchmarks.conversations import chat
from benchmarks.measuring import Ratios, arguments, finish, settle, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig

LIMIT = 20_000


def session(steps: int) -> tuple[float, int]:
    """Seconds of a session, and how often it was compressed."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    messages, compressions = [], 0
    came = chat(steps, words=40)
    settle()
    start = time.perf_counter()
    for message in came:
        messages = [*messages, message]
        result = compressor.compress(messages)
        messages = result.messages
        compressions += result.changed
    return time.perf_counter() - start, compressions


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.INFO)
    sizes = (500, 2_000) if options.quick else (1_000, 4_000, 16_000)
    session(200)
    taken = {size: session(size) for size in sizes}
    each = {size: seconds * 1_000 / size for size, (seconds, _) in taken.items()}
    ratios = Ratios()
    ratios.at_most(f"a step of {sizes[-1]:,} / a step of {sizes[0]:,}", each[sizes[-1]] / each[sizes[0]], 1.5)
    ratios.show()
    table(
        f"Sessions under a hard limit of {LIMIT:,} tokens, without a model",
        ("steps", "seconds", "ms a step", "compressions"),
        [[f"{size:,}", seconds, each[size], number] for size, (seconds, number) in taken.items()],
    )
    finish(options, ratios, {"seconds": {size: seconds for size, (seconds, _) in taken.items()}})


if __name__ == "__main__":
    main()
