"""Many conversations at once in one process, for long, while model and store fail: does it grow, hang or lose?

    python -m benchmarks.soak --steps 20000 --threads 50 --json benchmarks/records/soak.json

Each conversation is read back at its end from the rows of the SQLite file, without the package.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph.message import add_messages

from langchain_ctxcompress import ChatModelSummariser, CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.storage import open_store
from tests.support.archive import RawArchive, plain
from tests.support.conversations import WORDS
from tests.support.faults import RandomFaults, RandomSummariser
from tests.support.legality import is_summary, mark_kind, violations

LIMITS = PrunerConfig(soft_limit_tokens=1_000, hard_limit_tokens=2_000)
STEPS = 6
"""Steps of a conversation: with the default numbers, there are three times as many as a compressor remembers."""


class Soak:
    """One process, one store, one compressor.

    Args:
        folder: Where the store lies.
        steps: How many steps there are, of all conversations together.
        threads: How many of them go on at once.
        share: Which share of store batches and model calls fails.
        seed: Decides what is said and what fails.
    """

    def __init__(self, folder: Path, steps: int, threads: int, share: float, seed: int) -> None:
        self.path = folder / "archive.db"
        self.steps, self.threads, self.share, self.seed = steps, threads, share, seed
        self.working = open_store(self.path)
        self.store = RandomFaults(self.working, share, seed)
        self.summariser = RandomSummariser(share=share, seed=seed)
        model = ChatModelSummariser(self.summariser, attempts=2, retry_wait=0, timeout=2.0)
        self.compressor = ContextCompressor(model, config=LIMITS, store=self.store, cooldown=CoolDown(50, 0.05))
        self.nodes = [CompressionNode(self.compressor, background=background) for background in (True, False)]
        self.outcomes: Counter[str] = Counter()
        self.done = 0
        self.messages = 0
        self.lost: list[str] = []
        self.broken: list[str] = []
        self.quarters: list[dict[str, float]] = []
        self._lock = threading.Lock()

    def run(self) -> dict[str, Any]:
        """All of it; what was measured and found."""
        before = {thread.ident for thread in threading.enumerate()}
        started = time.monotonic()
        for quarter in range(4):
            count = self.steps // STEPS // 4
            with ThreadPoolExecutor(self.threads, "soak") as pool:
                for _ in pool.map(self.conversation, range(quarter * count, (quarter + 1) * count)):
                    pass
            self.quarters.append(self.measured())
        seconds = time.monotonic() - started
        self.compressor.close()
        left = self.ended(before)
        self.working.conn.close()  # type: ignore[attr-defined]
        return {
            "steps": self.done,
            "conversations": self.done // STEPS,
            "threads": self.threads,
            "share": self.share,
            "seed": self.seed,
            "seconds": round(seconds),
            "messages": self.messages,
            "lost": self.lost,
            "broken": self.broken,
            "model_faults": dict(sorted(self.summariser.seen.items())),
            "store_faults": dict(sorted(self.store.seen.items())),
            "model_calls": self.summariser.calls_made,
            "store_batches": self.store.batches,
            "outcomes": dict(self.outcomes.most_common()),
            "jobs": dict(self.compressor.background.counts),
            "quarters": self.quarters,
            "threads_left": left,
            "locks_held": held_locks(),
        }

    def conversation(self, number: int) -> None:
        """One conversation: an agent's steps through a node, every other one on a loop of its own."""
        rng = random.Random(f"{self.seed}-{number}")
        session, node = f"s{number}", self.nodes[number % 4 // 2]
        config: Any = {"configurable": {"thread_id": session}}
        said: dict[str, BaseMessage] = {}

        async def on_loop() -> list[BaseMessage]:
            state: list[BaseMessage] = []
            for step in range(STEPS):
                state = grown(state, turns(rng, session, step), said)
                state = self.judged(state, await node.ainvoke({"messages": state}, config))
            return state

        def in_thread() -> list[BaseMessage]:
            state: list[BaseMessage] = []
            for step in range(STEPS):
                state = grown(state, turns(rng, session, step), said)
                state = self.judged(state, node.invoke({"messages": state}, config))
            return state

        self.account(session, said, asyncio.run(on_loop()) if number % 2 else in_thread())

    def judged(self, given: list[BaseMessage], update: dict[str, Any]) -> list[BaseMessage]:
        """The state after a step, as LangGraph would have it."""
        state = list(add_messages(given, update.get("messages", [])))  # type: ignore[arg-type]
        found = violations(state)
        with self._lock:
            self.done += 1
            self.broken += found
        return state

    def account(self, session: str, said: dict[str, BaseMessage], state: list[BaseMessage]) -> None:
        """Every message is in the list as it was, or in the file as it was."""
        there = {m.id: plain(m) for m in state if not is_summary(m) and mark_kind(m) is None}
        gone = {i: m for i, m in said.items() if there.get(i) != plain(m)}
        archive = RawArchive(self.path, session)
        revisions, covered = (archive.revisions(), archive.covered()) if gone else ({}, set())
        lost = [i for i, m in gone.items() if plain(m) not in revisions.get(i, []) or i not in covered | there.keys()]
        with self._lock:
            self.messages += len(said)
            self.lost += lost
            self.outcomes["summarised" if any(map(is_summary, state)) else "not summarised"] += 1

    def measured(self) -> dict[str, float]:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
        return {
            "steps": self.done,
            "rss_mb": round(pages * 4096 / 1e6, 1),
            "objects": len(gc.get_objects()),
            "threads": threading.active_count(),
        }

    def ended(self, before: set[int | None]) -> list[str]:
        """The threads that are still there although they had time to end."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            left = [thread.name for thread in threading.enumerate() if thread.ident not in before]
            if not left:
                return []
            time.sleep(0.05)
        return left


def turns(rng: random.Random, session: str, step: int) -> Iterator[BaseMessage]:
    """A question, two rounds of parallel tool calls, an answer."""
    text = lambda words: " ".join(rng.choices(WORDS, k=words))  # noqa: E731
    yield HumanMessage(text(12), id=f"{session}-{step}-h")
    for place in range(2):
        calls = [{"name": "look", "args": {"q": text(3)}, "id": f"c{step}-{place}-{n}"} for n in range(2)]
        yield AIMessage("", tool_calls=calls, id=f"{session}-{step}-c{place}")
        for call in calls:
            yield ToolMessage(text(30), tool_call_id=call["id"], id=f"{session}-{step}-{call['id']}")
    yield AIMessage(text(15), id=f"{session}-{step}-a")


def grown(state: list[BaseMessage], new: Iterator[BaseMessage], said: dict[str, BaseMessage]) -> list[BaseMessage]:
    added = list(new)
    said.update({message.id or "": message for message in added})
    return [*state, *added]


def held_locks() -> list[str]:
    """The locks of the package's objects that somebody holds although nothing is at work."""
    held = []
    for thing in gc.get_objects():
        if str(type(thing).__module__).startswith("langchain_ctxcompress") and hasattr(thing, "__dict__"):
            for name, value in list(vars(thing).items()):
                if hasattr(value, "acquire") and hasattr(value, "release"):
                    if value.acquire(False):
                        value.release()
                    else:
                        held.append(f"{type(thing).__name__}.{name}")
    return held


def soak(steps: int, threads: int, share: float, seed: int) -> dict[str, Any]:
    """Runs it in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        return Soak(Path(folder), steps, threads, share, seed).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=50)
    parser.add_argument("--share", type=float, default=0.05, help="of model calls and store batches that fail")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record to a file")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # faults are told of in the log, as they should be
    record = soak(options.steps, options.threads, options.share, options.seed)
    record["command"] = f"python -m benchmarks.soak --steps {options.steps} --threads {options.threads}"
    print(json.dumps(record, indent=2))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    found = [name for name in ("lost", "broken", "threads_left", "locks_held") if record[name]]
    if found:
        raise SystemExit(f"not sound: {', '.join(found)}")


if __name__ == "__main__":
    main()
