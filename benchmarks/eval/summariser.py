"""The summariser that everybody is given: it keeps some sentences of what it is shown, and loses the rest."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from langchain_ctxcompress import count_tokens

ANSWER_TOKENS = 300
"""The longest summary, in tokens; a shorter one if the prompt asks for it."""

USER_ODDS = 3.0
"""How much likelier a sentence of the user is kept than another one."""

_SENTENCE = re.compile(r"[^.!?。\n]+(?:[.!?。](?!\s|$)[^.!?。\n]*)*[.!?。]?")
_ASKED = re.compile(r"(?:to|at most) (\d+) tokens")
_KNOWN = re.compile(r"<earlier-(\w+)>.*?</earlier-\1>", re.DOTALL)


class LossySummariser(BaseChatModel):
    """Answers with sentences of the session that stand in the prompt, drawn by chance, in their order.

    It neither reads nor invents: a prompt makes no difference but for what is in it, a length it asks for, and a part
    that it marks as known already.

    Attributes:
        seed: The same seed and prompt give the same answer.
    """

    seed: int

    _sentences: dict[str, float] = PrivateAttr(default_factory=dict)
    _usage: list[tuple[int, int]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "lossy"

    @property
    def usage(self) -> tuple[int, int, int]:
        """Calls so far, tokens read, tokens written."""
        return len(self._usage), sum(read for read, _ in self._usage), sum(wrote for _, wrote in self._usage)

    def learn(self, messages: Iterable[BaseMessage]) -> None:
        """Takes the sentences of a session to choose from.

        Args:
            messages: The session.
        """
        for message in messages:
            if message.type != "system":
                odds = USER_ODDS if message.type == "human" else 1.0
                self._sentences.update((sentence, odds) for sentence in sentences(message.text))

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_options: Any) -> ChatResult:
        prompt = html.unescape("\n".join(message.text for message in messages))
        asked = _ASKED.search(prompt)
        budget = min(ANSWER_TOKENS, int(asked[1])) if asked else ANSWER_TOKENS
        news = _KNOWN.sub("", prompt)
        rng = random.Random(f"{self.seed} {len(self._usage)}")
        found = [(place, text) for text in self._sentences if (place := news.find(text)) >= 0]
        drawn = sorted(found, key=lambda entry: rng.random() ** (1 / self._sentences[entry[1]]), reverse=True)
        kept: list[tuple[int, str]] = []
        for place, text in drawn:
            budget -= count_tokens(text) + 1
            if budget < 0:
                break
            kept.append((place, text))
        answer = "\n".join(text for _, text in sorted(kept)) or "The conversation went on."
        read, wrote = count_tokens(prompt), count_tokens(answer)
        self._usage.append((read, wrote))
        usage = UsageMetadata(input_tokens=read, output_tokens=wrote, total_tokens=read + wrote)
        message = AIMessage(answer, usage_metadata=usage, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])


def sentences(text: str) -> list[str]:
    """The sentences of a text that are worth a line, each without white space around it."""
    return [part for match in _SENTENCE.finditer(text) if 8 <= len(part := match[0].strip()) <= 400]
