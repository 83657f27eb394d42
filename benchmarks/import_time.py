"""How much `from langchain_ctxcompress import …` adds to what a LangChain program imports anyway (target: under 60 ms).

Each figure is the median over fresh interpreters, the two programs in turn.

Run: python benchmarks/import_time.py [runs]
"""

from __future__ import annotations

import statistics
import subprocess
import sys

BASE = "import langchain_core.messages, langchain_core.language_models"
OURS = f"{BASE}\nfrom langchain_ctxcompress import ContextCompressor, PrunerConfig"


def seconds(program: str) -> float:
    """The time a fresh interpreter takes for the program's own lines."""
    timed = f"import time\nstart = time.perf_counter()\n{program}\nprint(time.perf_counter() - start)"
    run = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(run.stdout)


def main(runs: int = 15) -> None:
    seconds(OURS)  # writes the byte code
    pairs = [(seconds(BASE), seconds(OURS)) for _ in range(runs)]
    base, ours = (statistics.median(column) * 1_000 for column in zip(*pairs, strict=True))
    added = statistics.median(after - before for before, after in pairs) * 1_000
    print(f"langchain_core alone {base:6.1f} ms")
    print(f"with this package    {ours:6.1f} ms")
    print(f"added                {added:6.1f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
