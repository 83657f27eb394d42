"""The one set of legal cuts in a message list.

A cut `i` stands before message `i`. Each rule is named after what a provider demands and says which cuts it forbids;
a cut is legal when no rule forbids it. Strategies choose among legal cuts only, so an illegal list cannot be made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages.calls import CallKey, answer_of, calls_of, open_calls, take
from langchain_ctxcompress.messages.content import block_text
from langchain_ctxcompress.messages.kinds import kind_of

BoundaryRule = Callable[[Sequence[BaseMessage]], Iterator[int]]
"""Takes the messages, yields the cuts it forbids."""

REASONING_BLOCKS = frozenset({"reasoning", "reasoning_content", "thinking", "redacted_thinking"})
"""Block types in which providers send reasoning (OpenAI, Bedrock, Anthropic)."""


def call_and_results_together(messages: Sequence[BaseMessage]) -> Iterator[int]:
    """A call is directly followed by its results, a parallel batch by all of them, in any order.

    OpenAI: "An assistant message with 'tool_calls' must be followed by tool messages responding to each
    'tool_call_id'". Anthropic asks the same of `tool_use` and `tool_result`.
    """
    pending: dict[CallKey, int] = {}
    for index, message in enumerate(messages):
        answer = answer_of(message)
        if answer is None:
            calls = calls_of(message)
            pending = open_calls(calls) if calls or pending else pending
        elif take(pending, answer):
            yield index


def tool_result_never_first(messages: Sequence[BaseMessage]) -> Iterator[int]:
    """No list starts with a result; OpenAI, Anthropic and Gemini refuse one without the call before it."""
    return (index for index, message in enumerate(messages) if kind_of(message) == "tool")


def reasoning_with_its_step(messages: Sequence[BaseMessage]) -> Iterator[int]:
    """An AI message that holds nothing but reasoning stays with the AI message after it.

    OpenAI's Responses API: a reasoning item must be followed by the item it led to. Anthropic: the thinking blocks of a
    step that used tools must be sent back with it.
    """
    for index, (before, message) in enumerate(pairwise(messages), 1):
        if type(before.content) is str or kind_of(message) != "ai":
            continue  # reasoning is in blocks
        if isinstance(before, AIMessage) and is_only_reasoning(before):
            yield index


def dividers(messages: Sequence[BaseMessage], kept: Collection[int], stand: int | None = None) -> set[int]:
    """The human messages that have to stay so that no kept call directly follows words of the model that it did not.

    Gemini: "Please ensure that function call turn comes immediately after a user turn or after a function response
    turn". What no human message parted in the list itself is left as it is.

    Args:
        messages: The list.
        kept: The places of what stays; whole spans.
        stand: The place at which a human message will stand instead of what leaves.
    """
    needed: set[int] = set()
    words, human = False, None  # whether the last kept message is the model's words; the last human one since, if gone
    for place, message in enumerate(messages):
        kind = kind_of(message)
        if place == stand:
            words = False
        if place not in kept:
            human = place if kind == "human" else human
        elif kind != "system":
            if words and human is not None and calls_of(message):
                needed.add(human)
            words, human = kind == "ai", None
    return needed


RULES: tuple[BoundaryRule, ...] = (call_and_results_together, tool_result_never_first, reasoning_with_its_step)
"""All rules; `Boundaries` works on what they leave."""


def is_only_reasoning(message: AIMessage) -> bool:
    """Whether an AI message holds reasoning blocks, and neither text nor a call."""
    if not isinstance(message.content, list) or calls_of(message):
        return False
    reasoning = False
    for block in message.content:
        if isinstance(block, dict) and block.get("type") in REASONING_BLOCKS:
            reasoning = True
        elif block_text(block) != "":
            return False
    return reasoning


class Boundaries:
    """The legal cuts of one message list; computed once, when first asked for.

    Args:
        messages: The list. It should be repaired (`repair_messages`): a broken list has legal cuts too, but what they
            leave may be as broken as it was.
        rules: The rules that forbid cuts.
    """

    def __init__(self, messages: Sequence[BaseMessage], rules: Sequence[BoundaryRule] = RULES) -> None:
        self._messages = messages
        self._rules = rules

    @cached_property
    def legal_cuts(self) -> frozenset[int]:
        """Every legal cut, from 0 to the number of messages, both included."""
        return frozenset(self._in_order)

    @cached_property
    def _in_order(self) -> list[int]:
        """The legal cuts, the first first."""
        forbidden = {index for rule in self._rules for index in rule(self._messages)}
        forbidden -= {0, len(self._messages)}  # the ends of the list are no cuts inside it
        return [cut for cut in range(len(self._messages) + 1) if cut not in forbidden]

    def is_legal(self, cut: int) -> bool:
        """Whether the list may be cut before message `cut`."""
        return cut in self.legal_cuts

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The smallest spans that no rule lets be split, as `(start, end)` with `end` excluded, in order."""
        return tuple(pairwise(self._in_order))

    @cached_property
    def span_of(self) -> tuple[int, ...]:
        """For each message the number of its span."""
        return tuple(number for number, (start, end) in enumerate(self.spans) for _ in range(start, end))

    def close(self, indices: Collection[int]) -> set[int]:
        """The messages of every span that `indices` touches: the smallest legal set that contains them."""
        touched = {self.span_of[index] for index in indices}
        return {index for number in touched for index in range(*self.spans[number])}

    def within(self, indices: set[int]) -> set[int]:
        """The messages of every span that lies wholly in `indices`: the largest legal set inside them."""
        partly = {self.span_of[index] for index in range(len(self.span_of)) if index not in indices}
        return indices - self.close({self.spans[number][0] for number in partly})
