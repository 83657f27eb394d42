"""`Tools`: counting and cutting, as a strategy is given them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.tokens import MessageCounter, count_tokens, truncate_to_tokens


@dataclass(frozen=True, slots=True)
class Tools:
    """What a strategy may call: pure functions, given by the engine so that a test can give its own.

    Attributes:
        count: Sizes of messages in tokens.
        count_text: Size of a text in tokens.
        truncate: Cuts a text to a number of tokens.
        count_saying: Sizes that messages would have if they said other texts, in tokens; by default copies are counted.
    """

    count: Callable[[Sequence[BaseMessage]], list[int]]
    count_text: Callable[[str], int]
    truncate: Callable[[str, int], str]
    count_saying: Callable[[Sequence[BaseMessage], Sequence[str]], list[int]] | None = None

    @classmethod
    def of(cls, counter: MessageCounter) -> Tools:
        """Counting and cutting by the tokens that a counter counts.

        Args:
            counter: Counts messages; each of them once.
        """
        model = counter.model
        return cls(
            counter, partial(count_tokens, model=model), partial(truncate_to_tokens, model=model), counter.saying
        )

    def sizes_saying(self, messages: Sequence[BaseMessage], texts: Sequence[str]) -> list[int]:
        """What each message would take if its content were another text, in tokens.

        Args:
            messages: The messages.
            texts: A text for each.
        """
        if self.count_saying is not None:
            return self.count_saying(messages, texts)
        said = zip(messages, texts, strict=True)
        return self.count([message.model_copy(update={"content": text}) for message, text in said])
