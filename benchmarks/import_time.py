"""How much `from langchain_ctxcompress import …` adds to what a LangChain program imports anyway (stated: 60 ms).

Each figure is the median over fresh interpreters, the two programs in turn; milliseconds of the processor.

Run: python -m benchmarks.import_time [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.measuring import Ratios, arguments, finish, table

BASE = "import langchain_core.messages, langchain_core.language_models"
OURS = f"{BASE}\nfrom langchain_ctxcompress import ContextCompressor, PrunerConfig"
STATED_MS = 60


def milliseconds(program: str) -> float:
    """The time a fresh interpreter takes for the program's own lines."""
    timed = f"import time\nstart = time.process_time()\n{program}\nprint(time.process_time() - start)"
    run = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(run.stdout) * 1_000


def main() -> None:
    options = arguments(__doc__)
    milliseconds(OURS)  # writes the byte code
    pairs = [(milliseconds(BASE), milliseconds(OURS)) for _ in range(options.runs or (5 if options.quick else 15))]
    base, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    added = statistics.median(after - before for before, after in pairs)
    ratios = Ratios()
    ratios.at_most("with this package / langchain_core alone", statistics.median(b / a for a, b in pairs), 1.35)
    ratios.show()
    table(
        f"Milliseconds of an import (stated: at most {STATED_MS} more)",
        ("", "ms"),
        [["langchain_core alone", base], ["with this package", ours], ["added", added]],
    )
    finish(options, ratios, {"milliseconds": {"alone": base, "with": ours, "added": added}})


if __name__ == "__main__":
    main()
