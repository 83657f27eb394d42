"""How long the inspector takes to open a session of 10,000 messages: `python benchmarks/inspector.py`.

Needs a Chromium on PATH (or named in CTXCOMPRESS_TEST_CHROMIUM) and playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from playwright.sync_api import sync_playwright

from langchain_ctxcompress import ContextCompressor, PrunerConfig

LIMIT = 16_000
READY = "() => document.querySelectorAll('#message-list article').length"


def played(messages: int) -> ContextCompressor:
    """A compressor that saw a conversation of so many messages, a thousand a step."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), session_id="large")
    view: list[BaseMessage] = []
    for start in range(0, messages, 1_000):
        for place in range(start, min(start + 1_000, messages), 2):
            asked = f"Question {place}: where is order A-{place}, and what did it cost? " + "please " * (place % 40)
            told = f"Order A-{place} is on its way and cost {place % 900} EUR. " + "indeed " * (place % 60)
            view += [HumanMessage(asked, id=f"m{place}"), AIMessage(told, id=f"m{place + 1}")]
        view = compressor.compress(view).messages
    return compressor


def main() -> None:
    """Print the time from the navigation until messages are drawn, the median of several."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    chromium = os.environ.get("CTXCOMPRESS_TEST_CHROMIUM") or shutil.which("chromium")
    compressor = played(options.messages)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        started = time.perf_counter()
        page = compressor.report().save_html(Path(folder) / "page.html")
        made = time.perf_counter() - started
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        seconds = []
        for _ in range(options.runs):
            tab = browser.new_page()
            started = time.perf_counter()
            tab.goto(page.as_uri())
            drawn = tab.evaluate(READY)
            seconds.append(time.perf_counter() - started)
            tab.close()
        browser.close()
        size = page.stat().st_size / 1e6
    print(f"{options.messages:,} messages, page of {size:.1f} MB, made in {made:.2f} s, {drawn} messages drawn at once")
    spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
    print(f"opened in {statistics.median(seconds):.2f} s (median of {options.runs}; {spread})")


if __name__ == "__main__":
    main()
