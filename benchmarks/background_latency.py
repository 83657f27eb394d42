"""What a slow summariser costs the steps of an agent: compression in the background, in the step, and LangChain's own.

An agent of 50 steps crosses its soft limit about five times, with a summariser that takes two seconds. For each run it
prints what the steps took in all, the longest step, and how often the summariser was called.

    python benchmarks/background_latency.py [--steps 50] [--seconds 2.0] [--think 0.6]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig

SOFT, HARD, TARGET = 3_000, 12_000, 1_500


class SlowModel(BaseChatModel):
    """Takes its time, and says the same each time."""

    seconds: float
    says: str
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(self, *_prompt: Any, **_options: Any) -> ChatResult:
        self.calls += 1
        time.sleep(self.seconds)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.says))])


def measured(middleware: Callable[[SlowModel], Any], options: argparse.Namespace) -> tuple[float, float, int]:
    """Seconds waited besides the agent's own model in all, the longest wait of a step, calls of the summariser."""
    summariser = SlowModel(seconds=options.seconds, says="The user asks for the state of orders; all are on their way.")
    model = SlowModel(seconds=options.think, says="It is on its way to you, and will be there soon. " * 10)
    agent = create_agent(model, [], middleware=[middleware(summariser)], checkpointer=InMemorySaver())
    waits = []
    agent.invoke({"messages": [HumanMessage("hello")]}, {"configurable": {"thread_id": "warm up"}})
    for step in range(options.steps):
        started = time.perf_counter()
        question = HumanMessage(f"Question {step}: where is order A-{1000 + step}? " + "I have waited for long. " * 15)
        agent.invoke({"messages": [question]}, {"configurable": {"thread_id": "t"}})
        waits.append(time.perf_counter() - started - options.think)
    return sum(waits), max(waits), summariser.calls


def main() -> None:
    """Run the three, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=2.0, help="time of a summary")
    parser.add_argument("--think", type=float, default=0.6, help="time of the agent's own model in a step")
    options = parser.parse_args()
    config = PrunerConfig(soft_limit_tokens=SOFT, hard_limit_tokens=HARD, target_tokens=TARGET)

    def ours(*, background: bool) -> Callable[[SlowModel], Any]:
        return lambda model: CompressionMiddleware(ContextCompressor(model, config=config), background=background)

    def langchains(model: SlowModel) -> Any:
        return SummarizationMiddleware(model, trigger=("tokens", SOFT), keep=("messages", 10))

    runs = {
        "in the background": ours(background=True),
        "in the step": ours(background=False),
        "LangChain's": langchains,
    }
    print(f"{'compression':20} {'waited':>9} {'longest':>9} {'summaries':>9}")
    for name, middleware in runs.items():
        waited, longest, calls = measured(middleware, options)
        print(f"{name:20} {waited:8.2f}s {longest:8.2f}s {calls:9}")


if __name__ == "__main__":
    main()
