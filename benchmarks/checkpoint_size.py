"""How large does a LangGraph checkpoint database get, with and without compression? After 60 turns and after 600.

The same chat runs twice on a SQLite checkpointer. Without compression every checkpoint holds the whole list. The
archive, which keeps every message once, is measured beside it.

Run: python -m benchmarks.checkpoint_size [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from benchmarks.measuring import Ratios, arguments, finish, table
from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig, SessionHistory

LIMIT = 8_000
"""The model's window, in tokens."""

ANSWER = "The order was sent on time, and the part it waited for has arrived; the customer was told so. "


def answer(state: MessagesState) -> dict[str, Any]:
    number = str(state["messages"][-1].id)
    return {"messages": [AIMessage(f"Answer to {number}: {ANSWER * 10}", id=f"a-{number}")]}


def nothing(_state: MessagesState) -> dict[str, Any]:
    return {}


def run(folder: Path, turns: list[int], compressor: ContextCompressor | None) -> dict[int, int]:
    """Bytes of the checkpoint database after each of these numbers of turns."""
    name = "with" if compressor else "without"
    path = folder / f"{name}.db"
    sizes: dict[int, int] = {}
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(compressor) if compressor else nothing)
        graph.add_node("model", answer)
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        graph.add_edge("model", END)
        app = graph.compile(checkpointer=saver)
        for turn in range(1, max(turns) + 1):
            question = HumanMessage(f"Question {turn} on order A-{turn}: {ANSWER * 4}", id=f"q{turn}")
            app.invoke({"messages": [question]}, {"configurable": {"thread_id": "t"}})
            if turn in turns:
                sizes[turn] = sum(file.stat().st_size for file in folder.glob(f"{name}.db*"))
    return sizes


def measure(turns: list[int], limit: int, folder: Path) -> list[dict[str, float]]:
    """Sizes in megabytes, one row for each number of turns."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), store=folder / "archive.db")
    with_it, without = run(folder, turns, compressor), run(folder, turns, None)
    history = SessionHistory(compressor.store, session_id="t")
    archive = sum(file.stat().st_size for file in folder.glob("archive.db*"))
    kept = len(history.messages())
    return [
        {
            "turns": turn,
            "without_mb": without[turn] / 1e6,
            "with_mb": with_it[turn] / 1e6,
            "archive_mb": archive / 1e6 if turn == max(turns) else float("nan"),
            "archived_messages": kept,
        }
        for turn in turns
    ]


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.WARNING)
    turns = [40, 160] if options.quick else [60, 600]
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(turns, LIMIT, Path(folder))
    few, many = rows
    ratios = Ratios()
    share = many["with_mb"] / many["without_mb"]
    ratios.at_most(f"with compression / without, {turns[-1]} turns", share, 0.5 if options.quick else 0.15)
    growth = many["with_mb"] / few["with_mb"] * turns[0] / turns[-1]
    ratios.at_most(f"a turn of {turns[-1]} / a turn of {turns[0]}", growth, 1.5)
    ratios.show()
    table(
        f"Megabytes of a SQLite checkpoint database, a window of {LIMIT:,} tokens",
        ("turns", "without", "with", "share", "the archive"),
        [
            [
                f"{row['turns']:,}",
                row["without_mb"],
                row["with_mb"],
                row["with_mb"] / row["without_mb"],
                row["archive_mb"] if row is many else "",
            ]
            for row in rows
        ],
    )
    finish(options, ratios, {"megabytes": {row["turns"]: row for row in rows}})


if __name__ == "__main__":
    main()
