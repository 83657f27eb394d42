"""What a compressor holds beside the messages, for a list that needs nothing.

Measured are the bytes that Python allocates for the messages, and what is held more after the list was looked at:
sizes, fingerprints and the list itself. Texts count as the messages' own.

Run: python -m benchmarks.memory [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import gc
import tracemalloc

from benchmarks.conversations import agent, chat
from benchmarks.measuring import Ratios, arguments, finish, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig

LIMIT = 1_000_000_000


def held(kind: str, size: int) -> tuple[int, int]:
    """Bytes of the messages alone, and with what a compressor remembers of them."""
    make = chat if kind == "chat" else agent
    compressor = ContextCompressor(config=PrunerConfig(soft_limit_tokens=LIMIT, hard_limit_tokens=2 * LIMIT))
    compressor.compress(make(20))
    gc.collect()
    tracemalloc.start()
    messages = make(size)
    gc.collect()
    alone = tracemalloc.get_traced_memory()[0]
    compressor.compress(messages)
    gc.collect()
    both = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return alone, both


def main() -> None:
    options = arguments(__doc__)
    sizes = (5_000,) if options.quick else (10_000, 50_000)
    ratios = Ratios()
    rows = []
    for size in sizes:
        for kind in ("chat", "agent run"):
            alone, both = held(kind, size)
            ratios.at_most(f"with the compressor / messages alone, {kind}, {size:,}", both / alone, 1.1)
            rows.append([f"{kind}, {size:,}", both / alone, alone / 1e6, both / 1e6])
    ratios.show()
    table("Megabytes", ("messages", "ratio", "messages alone", "with the compressor"), rows)
    finish(options, ratios, {"megabytes": rows})


if __name__ == "__main__":
    main()
