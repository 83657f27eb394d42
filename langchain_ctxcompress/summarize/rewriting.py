"""How one message is said in fewer words: two levels, each with its prompt and its target share (requirement B3)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress.summarize.prompts import seal_of
from langchain_ctxcompress.summarize.templating import template


class CompressionLevel(StrEnum):
    """How much a message is shortened where it stands."""

    COMPRESS = "compress"
    """Every fact and the reasoning stay, in fewer words."""
    HEAVY = "heavy-compress"
    """Only what somebody who goes on needs stays."""


TARGET_SHARE: Mapping[CompressionLevel, float] = {CompressionLevel.COMPRESS: 0.5, CompressionLevel.HEAVY: 0.2}
"""What is aimed at, as a share of the text's tokens. Half of a text is reached by dropping repetition and politeness,
without losing a fact; a fifth holds what a message asks, decides and names."""

LEAST_TOKENS = 10
"""Below so many tokens nothing can be said: the shortest text that is a task has 20."""

PROMPT_TOKENS = 400
"""Room for the prompt around the message; the template and the markers take about 300 tokens."""

_WRITER = {"human": "the user", "ai": "the assistant"}


def rewrite_budget(text_tokens: int, share: float) -> int:
    """How long the shortened text should be at most, in tokens.

    Args:
        text_tokens: Size of the text, in tokens.
        share: What share of it is aimed at.
    """
    return max(LEAST_TOKENS, int(share * text_tokens))


def rewrite_prompt(
    text: str, level: CompressionLevel, max_tokens: int, *, writer: str = "ai", instructions: str = ""
) -> tuple[BaseMessage, ...]:
    """The messages that ask for one message in fewer words.

    Args:
        text: What the message says. It is data: it stands between markers that it cannot contain.
        level: How much it is shortened.
        max_tokens: How long it should be at most, in tokens.
        writer: Whose message it is, `human` or `ai`.
        instructions: The caller's own, put into the task.
    """
    seal = seal_of(text)
    opening, closing = f"<message-{seal}>", f"</message-{seal}>"
    task = template("rewrite.j2").render(
        open=opening,
        close=closing,
        writer=_WRITER.get(writer, writer),
        heavy=level is CompressionLevel.HEAVY,
        most=max_tokens,
        instructions=instructions,
    )
    return (SystemMessage(task.strip()), HumanMessage(f"{opening}\n{text}\n{closing}\n\nWrite it in fewer words now."))
