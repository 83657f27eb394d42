"""The conversations that the benchmarks measure: chats and agent runs of a given length, the same each time."""

from __future__ import annotations

import random
from functools import cache

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

PROSE = """
the order was shipped on friday and the customer asked for a refund of the second item because it arrived damaged so we
opened a ticket with the carrier checked the warehouse log compared the invoice with the payment looked at the address
again and found that the label had been printed twice which explains why the parcel went to the wrong depot
"""
WORDS = PROSE.split()
USAGE_BESIDES = 3_000
"""Tokens of a system prompt and tools that the reported sizes include."""


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def chat(messages: int, *, words: int = 150) -> list[BaseMessage]:
    """Questions and answers; some 172 tokens a message, 690,000 in 4,000, with the ids that a graph gives."""
    rng = random.Random(messages)
    made: list[BaseMessage] = []
    for number in range(messages // 2):
        made.append(HumanMessage(f"Question {number} on #W{number:05d}: {_prose(rng, words)}?", id=f"h{number}"))
        made.append(AIMessage(f"Answer {number}: {_prose(rng, words)}.", id=f"a{number}"))
    return made


def agent(messages: int, *, words: int = 100) -> list[BaseMessage]:
    """One task, then steps of a call and its result."""
    rng = random.Random(messages)
    made: list[BaseMessage] = [HumanMessage("Find out why parcels go astray. Never phone a customer.", id="task")]
    for step in range((messages - 1) // 2):
        call = {
            "name": "run_shell",
            "args": {"command": f"grep -n pattern{step} logs/{step % 40}.txt"},
            "id": f"c{step}",
        }
        made.append(AIMessage(f"Step {step}.", tool_calls=[call], id=f"s{step}"))
        text = f"logs/{step % 40}.txt:{step}: {_prose(rng, words)}"
        made.append(ToolMessage(text, tool_call_id=f"c{step}", name="run_shell", id=f"r{step}"))
    return made


def with_usage(messages: list[BaseMessage], sizes: list[int]) -> list[BaseMessage]:
    """The same, with what a provider would have reported at each answer."""
    made: list[BaseMessage] = []
    read = USAGE_BESIDES
    for message, size in zip(messages, sizes, strict=True):
        usage = {"input_tokens": read, "output_tokens": size, "total_tokens": read + size}
        made.append(message.model_copy(update={"usage_metadata": usage}) if isinstance(message, AIMessage) else message)
        read += size
    return made


@cache
def _stored(messages: int) -> list[dict[str, object]]:
    return messages_to_dict(chat(messages))


def loaded(messages: int) -> list[BaseMessage]:
    """`chat` as other objects, as a checkpointer loads it."""
    return messages_from_dict(_stored(messages))
