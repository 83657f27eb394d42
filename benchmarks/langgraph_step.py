"""A step of a LangGraph graph with the compression node, beside the same step with a node that does nothing.

A run of the graph takes the steps in a loop, one message each, so the message objects stay the same from step to step.
With a checkpointer each run begins with new ones. Both are the time of a run divided by its steps.

Run: python -m benchmarks.langgraph_step [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from benchmarks.conversations import chat
from benchmarks.measuring import Ratios, arguments, finish, medians, table
from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig

STEPS = 20
SIZES = (100, 1_000, 4_000, 10_000)
LIMIT = 100_000_000


def runner(size: int, node: Any, *, checkpointer: bool) -> Callable[[], Any]:
    """A run of `STEPS` steps on a list of a size: the node, then one that says something."""
    said = iter(range(10**9))

    def speak(_state: MessagesState) -> dict[str, Any]:
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
    if not checkpointer:
        return lambda: app.invoke({"messages": messages}, config)
    app.invoke({"messages": messages}, config, durability="exit")
    return lambda: app.invoke({"messages": []}, config, durability="exit")


def compression() -> CompressionNode:
    config = PrunerConfig(soft_limit_tokens=LIMIT, hard_limit_tokens=2 * LIMIT)
    return CompressionNode(ContextCompressor(config=config))


def nothing(_state: MessagesState) -> dict[str, Any]:
    return {}


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.INFO)
    sizes, runs = ((4_000,), 7) if options.quick else (SIZES, 9)
    ratios = Ratios()
    figures: dict[str, dict[int, dict[str, float]]] = {"same objects": {}, "new objects each run": {}}
    for size in sizes:
        for kind, own in figures.items():
            anew = kind != "same objects"
            times = medians(
                {
                    "nothing": runner(size, nothing, checkpointer=anew),
                    "compression": runner(size, compression(), checkpointer=anew),
                },
                options.runs or runs,
            )
            own[size] = {name: took / STEPS for name, took in times.items()}
            if not anew:
                ratios.at_most(
                    f"step with the node / no-op node, {size:,}", times["compression"] / times["nothing"], 1.15
                )
    ratios.show()
    for kind, own in figures.items():
        table(
            f"Median milliseconds a step, {kind}",
            ("messages", "ratio", "no-op node", "compression node"),
            [[f"{n:,}", t["compression"] / t["nothing"], t["nothing"], t["compression"]] for n, t in own.items()],
        )
    finish(options, ratios, {"milliseconds": figures})


if __name__ == "__main__":
    main()
