"""Makes the pictures of the documentation with the package's own plots: `make pictures`.

The session of `ctxcompress demo` is recorded and played through a window of 16,000 tokens; what is drawn is what its
archive holds afterwards. No model, no key and no network.
"""

from __future__ import annotations

import sys
from pathlib import Path

from langchain_ctxcompress import PrunerConfig
from langchain_ctxcompress.demo.recording import record_session
from langchain_ctxcompress.demo.replay import Replay, WatchedCompressor
from langchain_ctxcompress.demo.run import DEFAULT_LIMIT

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
MOST_BYTES = 80_000
"""A picture is part of the repository and of the README: it must stay small."""


def window_picture(path: Path) -> int:
    """Draw the tokens of the demo session, step by step.

    Args:
        path: Where the PNG is written.

    Returns:
        Its size in bytes.
    """
    compressor = WatchedCompressor(config=PrunerConfig.for_limit(DEFAULT_LIMIT))
    replay = Replay(record_session(), compressor)
    for _step in replay.steps():
        pass
    report = compressor.report("demo")
    report.plot_tokens(whole=True).savefig(path, dpi=100, metadata={"Software": ""})
    return path.stat().st_size


def main() -> int:
    """Write the pictures; 1 where one is too large."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    path = IMAGES / "window.png"
    size = window_picture(path)
    sys.stdout.write(f"{path.relative_to(IMAGES.parents[1])}: {size:,} bytes\n")
    return int(size > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
