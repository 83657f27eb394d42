"""How large does a LangGraph checkpoint database get, with and without compression? After 60 turns and after 600.

The same chat runs twice on a SQLite checkpointer. Without compression every checkpoint holds the whole list. The
archive, which keeps every message once, is measured beside it.

python benchmarks/checkpoint_size.py [--turns 60 600] [--limit 8000]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig, SessionHistory

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
    """Run both, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, nargs="+", default=[60, 600])
    parser.add_argument("--limit", type=int, default=8_000, help="the model's window, in tokens")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(given.turns, given.limit, Path(folder))
    print(f"{'turns':>6}{'without':>12}{'with':>12}{'share':>8}{'archive':>12}")
    for row in rows:
        share = row["with_mb"] / row["without_mb"]
        archive = f"{row['archive_mb']:.2f} MB" if row["archive_mb"] == row["archive_mb"] else ""
        print(f"{row['turns']:>6}{row['without_mb']:>9.2f} MB{row['with_mb']:>9.2f} MB{share:>8.0%}{archive:>12}")


if __name__ == "__main__":
    main()
