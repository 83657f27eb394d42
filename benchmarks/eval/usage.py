"""What a real model was used for."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, LLMResult


class UsageCounter(BaseCallbackHandler):
    """Adds up what a model says that it read and wrote.

    Attributes:
        usage: Calls so far, tokens read, tokens written.
    """

    def __init__(self) -> None:
        self.usage = (0, 0, 0)

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Takes the usage of one answer."""
        calls, read, written = self.usage
        for generation in (each for group in response.generations for each in group):
            message = generation.message if isinstance(generation, ChatGeneration) else None
            used = message.usage_metadata if isinstance(message, AIMessage) else None
            if used is not None:
                read, written = read + used["input_tokens"], written + used["output_tokens"]
        self.usage = (calls + 1, read, written)
