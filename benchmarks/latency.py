"""How long an agent's user waits for summaries: an agent of 50 steps, and a summariser that takes 2 seconds.

The agent works at a pace of its own and crosses the soft limit about five times. A step's time is what passes between
one model call of the agent and the next; what a step takes beyond the agent's own work is time it waited. Beside it,
in the same run: this package with `background=False`, and LangChain's `SummarizationMiddleware`, which summarises
within the step.

Run: python -m benchmarks.latency [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import Field

from benchmarks.measuring import Ratios, arguments, finish, table
from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig

STEPS = 50
THINKING = 0.35
"""What the agent's own model takes for a step, in seconds: little for a model, so that a summary is never early."""

SUMMARISING = 2.0
SOFT = 4_600
HARD = 9_000
WAITED = 0.5
"""A step that took longer than the agent's own work by this share of a summary waited for it."""


class Slow(BaseChatModel):
    """A chat model that takes its time, and knows when it was called."""

    seconds: float
    reply: Callable[[int], AIMessage]
    called: list[float] = Field(default_factory=list)
    ended: list[float] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "slow"

    def bind_tools(self, tools: Any, **_options: Any) -> Any:
        return self.bind(tools=list(tools))

    def _generate(self, *_args: Any, **_options: Any) -> ChatResult:
        self.called.append(time.perf_counter())
        time.sleep(self.seconds)
        message = self.reply(len(self.called))
        self.ended.append(time.perf_counter())
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def read_page(number: int) -> str:
    """Read one page."""
    return f"Page {number}. " + f"On line {number} the parts arrive on time and are put in their place. " * 21


def act(steps: int) -> Callable[[int], AIMessage]:
    def reply(step: int) -> AIMessage:
        if step == steps:
            return AIMessage("All pages are read.")
        return AIMessage("", tool_calls=[{"name": "read_page", "args": {"number": step}, "id": f"call{step}"}])

    return reply


def played(middleware: Callable[[Slow], Any], steps: int, thinking: float, summarising: float) -> dict[str, Any]:
    """One session: seconds that its steps waited, how many did, and how many summaries were written."""
    agent_model = Slow(seconds=thinking, reply=act(steps))
    summariser = Slow(seconds=summarising, reply=lambda call: AIMessage(f"Pages were read, for the {call}. time."))
    agent = create_agent(agent_model, [read_page], middleware=[middleware(summariser)])
    task = HumanMessage("Read all pages, one after the other, then say so.")
    agent.invoke({"messages": [task]}, {"recursion_limit": 10 * steps})
    between = [start - end for start, end in zip(agent_model.called[1:], agent_model.ended[:-1], strict=True)]
    waits = [seconds for seconds in between if seconds > WAITED * summarising]
    return {
        "summaries": len(summariser.called),
        "steps_that_waited": len(waits),
        "waited_seconds": sum(waits),
        "longest_step_seconds": max(between),
        "seconds_between_steps": sum(between),
    }


def ours(background: bool) -> Callable[[Slow], Any]:
    config = PrunerConfig(soft_limit_tokens=SOFT, hard_limit_tokens=HARD, rungs=("middle-out", "ageing"))

    def middleware(summariser: Slow) -> CompressionMiddleware:
        return CompressionMiddleware(ContextCompressor(summariser, config=config), background=background)

    return middleware


def langchains(summariser: Slow) -> SummarizationMiddleware:
    return SummarizationMiddleware(summariser, trigger=("tokens", SOFT), keep=("messages", 10))


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.WARNING)
    scale = 0.1 if options.quick else 1.0
    peers = {
        "in the background": ours(background=True),
        "within the step": ours(background=False),
        "LangChain's SummarizationMiddleware": langchains,
    }
    found = {
        name: played(middleware, STEPS, THINKING * scale, SUMMARISING * scale) for name, middleware in peers.items()
    }
    here, inline, other = found.values()
    ratios = Ratios()
    ratios.at_most("seconds waited, of LangChain's", here["waited_seconds"] / other["waited_seconds"], 0.05)
    ratios.at_most("seconds waited, of those within the step", here["waited_seconds"] / inline["waited_seconds"], 0.05)
    ratios.at_most("longest step, in summaries", here["longest_step_seconds"] / (SUMMARISING * scale), 0.5)
    ratios.show()
    table(
        f"{STEPS} steps of {THINKING * scale:g} s, summaries of {SUMMARISING * scale:g} s,"
        f" soft limit {SOFT:,}, hard limit {HARD:,} tokens",
        ("", "summaries", "steps that waited", "seconds waited", "longest step, s", "between all steps, s"),
        [[name, *row.values()] for name, row in found.items()],
    )
    finish(options, ratios, {"sessions": found, "scale": scale})


if __name__ == "__main__":
    main()
