"""Every fault, injected on purpose in a conversation: what the user sees of it, and what is lost.

    python -m benchmarks.faults --write docs/reliability.md       # the page, with the records of soak and state machine
    python -m benchmarks.faults --only hang                       # one fault

Faults of the model come from a real server on loopback, with `ChatOpenAI` as its client.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph import START, MessagesState, StateGraph

from benchmarks.reliability_page import page
from langchain_ctxcompress import ChatModelSummariser, CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.storage import open_store
from tests.servers.faulty import DRIP, FAULTS, GOOD, HANG, HUGE, INJECTED, SLOW, Fault, ModelServer, model_server
from tests.storage.test_killed import check as check_after_kill
from tests.storage.test_killed import killed
from tests.support.archive import RawArchive, plain
from tests.support.conversations import exchanges
from tests.support.faults import STORE_FAULTS, FaultyStore
from tests.support.legality import is_summary, violations

QUESTIONS = 70
LIMIT = 3_000
KILLS = 20


@dataclass
class Row:
    """A fault, and what came of it.

    Attributes:
        name: The fault.
        where: `model`, `store` or `process`.
        injected: How often it was met.
        answered: Questions that were answered, and all that were asked.
        events: What the package said of its compressions, by outcome and reason.
        lost: Messages that are neither in the list nor in the file, as they were.
        seconds: The longest step.
    """

    name: str
    where: str
    injected: int = 0
    answered: tuple[int, int] = (0, 0)
    events: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    seconds: float = 0.0


def talk(row: Row, path: Path, compressor: ContextCompressor, questions: int) -> Row:
    """One conversation through a node in a graph; the row is filled in."""
    said: dict[str, BaseMessage] = {}
    answers: Iterator[BaseMessage] = (m for m in exchanges(questions, words=30) if m.type == "ai")

    def answer(state: MessagesState) -> dict[str, Any]:
        found = violations(state["messages"])
        if found:
            raise AssertionError(found)
        return {"messages": [next(answers)]}

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor, background=False))
    graph.add_node("model", answer)
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    app: Any = graph.compile()
    messages: list[BaseMessage] = []
    answered = 0
    for question in [m for m in exchanges(questions, words=30) if m.type == "human"]:
        started = time.monotonic()
        messages = app.invoke({"messages": [*messages, question]}, {"configurable": {"thread_id": "talk"}})["messages"]
        row.seconds = max(row.seconds, time.monotonic() - started)
        said |= {question.id or "": question, messages[-1].id or "": messages[-1]}
        answered += isinstance(messages[-1], AIMessage)
    there = {m.id: plain(m) for m in messages if not is_summary(m)}
    archived = RawArchive(path, "talk").revisions()
    row.lost = sum(1 for i, m in said.items() if there.get(i) != plain(m) and plain(m) not in archived.get(i, []))
    row.answered = (answered, questions)
    return row


@contextmanager
def archive() -> Iterator[tuple[Path, Any]]:
    with tempfile.TemporaryDirectory(prefix="faults") as folder:
        path = Path(folder) / "archive.db"
        store: Any = open_store(path)
        try:
            yield path, store
        finally:
            store.conn.close()


def of_model(fault: Fault) -> Row:
    """A server that answers each request with this fault."""
    patient = fault in (HUGE, SLOW)
    row = Row(fault.name, "model")
    script = (HUGE, HUGE, GOOD) if fault is HUGE else (fault,)  # 100 MB each are enough
    with model_server(*script) as server, archive() as (path, store):
        compressor = _compressor(server, store, row.events, 60.0 if patient else 0.4)
        talk(row, path, compressor, QUESTIONS)
        row.injected = min(len(server.asked), 2) if fault is HUGE else len(server.asked)
    return row


def of_store(fault: str) -> Row:
    """A store half of whose batches meet this fault, drawn by seed."""
    row = Row(fault, "store")
    with model_server(GOOD) as server, archive() as (path, working):
        store = HalfFaulty(working, fault)
        talk(row, path, _compressor(server, store, row.events, 20.0), QUESTIONS)
        row.injected = store.seen[fault]
    return row


def of_process(_: str) -> Row:
    """A process that writes is killed, again and again; what it was told is stored is looked for in a new one."""
    row = Row("killed while it writes", "process")
    rng = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="faults") as folder:
        place, acknowledged = str(Path(folder) / "archive.db"), Path(folder) / "acknowledged"
        for number in range(KILLS):
            killed(place, "s", acknowledged, rng.uniform(0, 0.4), at_once=number % 5 == 4)
            row.injected += 1
        stored, checkpoints = check_after_kill(place, "s", acknowledged)  # raises where one is missing
        row.answered = (stored, stored)
        row.events["checkpoints read back"] = checkpoints
    return row


class HalfFaulty(FaultyStore):
    """A store half of whose batches meet one fault."""

    def __init__(self, inner: Any, fault: str) -> None:
        super().__init__(inner)
        self._fault, self._rng = fault, random.Random(fault)

    def due(self) -> str:
        return self._fault if self._rng.random() < 0.5 else ""


def _compressor(server: ModelServer, store: Any, events: Counter[str], seconds: float) -> ContextCompressor:
    def noted(event: Any) -> None:
        if event.kind != "started":
            events[f"{event.kind}: {event.reason}"] += 1

    return ContextCompressor(
        ChatModelSummariser(server.client(timeout=60.0), timeout=seconds, attempts=1, window_tokens=50_000),
        config=PrunerConfig.for_limit(LIMIT),
        store=store,
        cooldown=CoolDown(1_000, 0.0),
        on_event=noted,
    )


def cases() -> dict[str, Callable[[], Row]]:
    """Every fault by its name."""
    made: dict[str, Callable[[], Row]] = {
        fault.name: lambda fault=fault: of_model(fault)  # type: ignore[misc]
        for fault in (GOOD, SLOW, HANG, DRIP, *FAULTS, INJECTED, HUGE)
    }
    made |= {f"store: {fault}": lambda fault=fault: of_store(fault) for fault in STORE_FAULTS}  # type: ignore[misc]
    return {**made, "process: killed": lambda: of_process("")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", help="one fault, by its name")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page")
    parser.add_argument("--records", type=Path, default=Path("benchmarks/records"), help="of soak and state machine")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # faults are told of in the log, as they should be
    rows = []
    for name, case in cases().items():
        if options.only in (None, name):
            rows.append(case())
            print(json.dumps({**vars(rows[-1]), "seconds": round(rows[-1].seconds, 2)}), flush=True)
    if options.write:
        options.write.write_text(page(rows, options.records), encoding="utf-8")
    if any(row.lost or row.answered[0] != row.answered[1] for row in rows):
        raise SystemExit("something was lost, or a question was not answered")


if __name__ == "__main__":
    main()
