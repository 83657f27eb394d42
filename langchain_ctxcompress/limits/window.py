"""`ContextWindow`: the turns with their sizes, and what is sent besides them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_kind
from langchain_ctxcompress.messages import ConversationTurn, split_turns


@dataclass(frozen=True, init=False)
class ContextWindow:
    """A message list seen as turns, with sizes in tokens.

    Attributes:
        turns: The turns, each with its `token_count`.
        total_token_estimate: Size of all that is sent. Unless given: the turns' tokens and the overhead.
        overhead_tokens: Size of what is sent besides the turns: leading system messages, system prompt, tool schemas.

    Raises:
        ConfigError: Something in `turns` is none.
    """

    turns: tuple[ConversationTurn, ...]
    total_token_estimate: int
    overhead_tokens: int

    def __init__(
        self,
        turns: Iterable[ConversationTurn] = (),
        total_token_estimate: int | None = None,
        *,
        overhead_tokens: int = 0,
    ) -> None:
        own = tuple(turns)
        if total_token_estimate is None:
            try:
                total_token_estimate = overhead_tokens + sum(turn.token_count for turn in own)
            except AttributeError:
                for place, turn in enumerate(own):
                    check_kind(
                        f"item {place} of turns", turn, ConversationTurn, "a ConversationTurn, as of split_turns"
                    )
                raise
        object.__setattr__(self, "turns", own)
        object.__setattr__(self, "overhead_tokens", overhead_tokens)
        object.__setattr__(self, "total_token_estimate", total_token_estimate)

    @classmethod
    def of(
        cls,
        messages: Sequence[BaseMessage],
        count: Callable[[Sequence[BaseMessage]], list[int]],
        *,
        overhead_tokens: int = 0,
    ) -> ContextWindow:
        """The window of a message list.

        Args:
            messages: The list.
            count: Sizes of messages, in tokens, such as a `MessageCounter`.
            overhead_tokens: Size of what is sent besides the list.
        """
        sizes = count(messages)
        turns = split_turns(messages, sizes)
        outside = sum(sizes) - sum(turn.token_count for turn in turns)
        return cls(turns, overhead_tokens=overhead_tokens + outside)
