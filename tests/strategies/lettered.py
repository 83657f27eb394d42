"""Lists whose tokens are letters, so that a test can work out each size by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)

from langchain_ctxcompress import (
    PrunerConfig,
)
from langchain_ctxcompress.ledger import Goal
from langchain_ctxcompress.storage import CheckpointSummary, summary_message
from langchain_ctxcompress.strategies import (
    CompressionDraft,
)
from langchain_ctxcompress.strategies.base import CompressionRequest
from langchain_ctxcompress.strategies.rendering import render_summary
from tests.strategies.requests import LETTERS, request_for

RULE = "Never send anything to the press office."
GOAL = Goal(description="ship the invoice page")


def talk(pairs: int, letters: int = 50) -> list[BaseMessage]:
    """Questions and answers of so many letters each."""
    return [
        kind(f"{sign}{number} ".ljust(letters, "o"), id=f"{sign}{number}")
        for number in range(pairs)
        for kind, sign in ((HumanMessage, "h"), (AIMessage, "a"))
    ]


def limits(soft: int, hard: int, target: int = 1, **fields: Any) -> PrunerConfig:
    return PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=hard, target_tokens=target, **fields)


def of(messages: Sequence[BaseMessage], config: PrunerConfig, **fields: Any) -> CompressionRequest:
    return request_for(messages, config=config, tools=LETTERS, **fields)


def ids(draft: CompressionDraft) -> list[str | None]:
    return [message.id for message in draft.messages]


def standing(*texts: str, ledger: str = "", goals: str = "") -> tuple[HumanMessage, dict[str, Any]]:
    """A summary message that shows these checkpoints, and what a request holds besides it."""
    shown = tuple(
        CheckpointSummary(checkpoint_id=f"c{n}", session_id="s", number=n, level=3, text=text, replaced_tokens=5_000)
        for n, text in enumerate(texts, 1)
    )
    rendered = render_summary([(one.checkpoint_id, one.text) for one in shown], (), count=4, ledger=ledger, goals=goals)
    head = shown[-1].model_copy(
        update={
            "rendered": rendered,
            "shown": tuple(one.checkpoint_id for one in shown),
            "first_id": "gone",
            "last_id": "last",
            "next_id": "h0",
            "count": 4,
        }
    )
    return summary_message(head), {"head": head, "shown": (*shown[:-1], head), "next_number": len(shown) + 1}


def look(number: int, output: str = "o" * 400, name: str = "look", **args: Any) -> list[BaseMessage]:
    """A step: a call and its result."""
    call = {"name": name, "args": args or {"n": number}, "id": f"c{number}"}
    return [
        AIMessage("", tool_calls=[call], id=f"a{number}"),
        ToolMessage(output, tool_call_id=f"c{number}", id=f"t{number}"),
    ]


def run(steps: int, output: str = "o" * 400, **args: Any) -> list[BaseMessage]:
    return [HumanMessage("Go.", id="task"), *(m for n in range(steps) for m in look(n, f"{n:03}{output[3:]}", **args))]
