"""A step of a LangGraph graph with the compression node, beside the same step with a node that does nothing.

A run of the graph takes the steps in a loop, one message each, so the message objects stay the same from step to step:
measured is the fastest of the steps after the first, since what else a machine does can only add to one, and of that
the median over the runs. With a checkpointer each run begins with new objects: measured is the time of a run divided by
its steps.

Run: python -m benchmarks.langgraph_step [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from benchmarks.conversations import chat
from benchmarks.measuring import Ratios, Rounds, arguments, clock, finish, table
from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig

STEPS = 20
SIZES = (100, 1_000, 4_000, 10_000)
LIMIT = 100_000_000


def runner(size: int, node: Any, *, checkpointer: bool) -> Callable[[], float]:
    """Milliseconds a step of a run of `STEPS` steps on a list of a size: the node, then one that says something."""
    said = iter(range(10**9))
    marks: list[float] = []

    def speak(_state: MessagesState) -> dict[str, Any]:
        marks.append(clock())
        return {"messages": [AIMessage("so", id=f"said{next(said)}")]}

    def again(state: MessagesState) -> str:
        return END if (len(state["messages"]) - size) % STEPS == 0 else "node"

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_node("speak", speak)
    graph.add_edge(START, "node")
    graph.add_edge("node", "speak")
    graph.add_conditional_edges("speak", again, ["node", END])
    app = graph.compile(checkpointer=InMemorySaver() if checkpointer else None)
    messages, config = chat(size, words=20), {"recursion_limit": 4 * STEPS, "configurable": {"thread_id": "t"}}
    if checkpointer:
        app.invoke({"messages": messages}, config, durability="exit")

    def run() -> float:
        marks.clear()
        start = clock()
        if checkpointer:
            app.invoke({"messages": []}, config, durability="exit")
            return (clock() - start) * 1_000 / STEPS
        app.invoke({"messages": messages}, config)
        return min(after - before for before, after in pairwise(marks)) * 1_000

    run()
    return run


def compression() -> CompressionNode:
    config = PrunerConfig(soft_limit_tokens=LIMIT, hard_limit_tokens=2 * LIMIT)
    return CompressionNode(ContextCompressor(config=config))


def nothing(_state: MessagesState) -> dict[str, Any]:
    return {}


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.INFO)
    sizes, runs = ((100, 4_000), 11) if options.quick else (SIZES, 15)
    ratios = Ratios()
    figures: dict[str, dict[int, dict[str, float]]] = {"same objects": {}, "new objects each run": {}}
    for size in sizes:
        for kind, own in figures.items():
            anew = kind != "same objects"
            rounds = Rounds(
                {
                    "nothing": runner(size, nothing, checkpointer=anew),
                    "compression": runner(size, compression(), checkpointer=anew),
                },
                options.runs or runs,
                taken=lambda run: float(run()),
            )
            ratio = rounds.ratio("compression", "nothing")
            own[size] = {"ratio": ratio, **rounds.medians}
            if not anew:
                ratios.at_most(f"step with the node / no-op node, {size:,}", ratio, 1.15)
    ratios.show()
    for kind, own in figures.items():
        table(
            f"Median milliseconds a step, {kind}",
            ("messages", "ratio", "no-op node", "compression node"),
            [[f"{n:,}", t["ratio"], t["nothing"], t["compression"]] for n, t in own.items()],
        )
    finish(options, ratios, {"milliseconds": figures})


if __name__ == "__main__":
    main()
