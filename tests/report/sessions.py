"""A session that was compressed as it went, with the sizes its window had."""

from __future__ import annotations

from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress import CompressionResult, ContextCompressor, PrunerConfig
from tests.support.conversations import exchanges

LIMIT = 1_500


@dataclass
class Played:
    """A compressor and what it was given, step by step.

    Attributes:
        compressor: It.
        windows: The size of the window after each message that the model was asked behind, by the message's id.
        results: What each step gave.
    """

    compressor: ContextCompressor
    said: list[BaseMessage]
    windows: dict[str, int] = field(default_factory=dict)
    results: list[CompressionResult] = field(default_factory=list)


def play(turns: int = 60, *, session_id: str = "talk", odd: str = "") -> Played:
    """Compress a growing conversation before each of its questions is answered."""
    said = exchanges(turns)
    if odd:
        said[6] = HumanMessage(odd, id="odd")
    played = Played(ContextCompressor(config=PrunerConfig.for_limit(LIMIT), session_id=session_id), said)
    view: list[BaseMessage] = []
    for message in said:
        view = [*view, message]
        if message.type == "human":
            result = played.compressor.compress(view)
            played.windows[message.id or ""] = result.tokens_after
            played.results.append(result)
            view = result.messages
    played.compressor.history().append(view)
    return played
