"""`pack`: fills the window by priority, without a model; and `pack_messages`, which builds a prompt the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress.arguments import check_least, check_text
from langchain_ctxcompress.errors import ConfigError, ContextLimitError
from langchain_ctxcompress.limits import (
    PRIORITY_HISTORY,
    PRIORITY_LONG_TERM,
    PRIORITY_OUTLINE,
    PRIORITY_RECENT,
    PrunerConfig,
    PruneUrgency,
    create_context_tier,
    pack_context,
)
from langchain_ctxcompress.messages import is_summary, kind_of, repair_messages, require_list, require_messages
from langchain_ctxcompress.storage import guard_prompt
from langchain_ctxcompress.strategies.base import CompressionRequest, CompressionStrategy, Steps
from langchain_ctxcompress.strategies.emergency import Emergency
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.rendering import FRAME, FRAMING_LINE, neutral
from langchain_ctxcompress.strategies.replacing import dropped, nothing_read
from langchain_ctxcompress.strategies.tools import Tools
from langchain_ctxcompress.strategies.top_down import (
    Span,
    droppable,
    ends,
    opening,
    places_to_drop,
    places_under_hard_limit,
    tokens_without,
)
from langchain_ctxcompress.tokens import MessageCounter

_REMOTE = ("long_term", "outline")
"""The kinds of text that are told before the summaries."""


class Pack(CompressionStrategy):
    """Drops what has the lowest priority first, and of one priority the oldest; what is protected stays.

    The priorities are those of a prompt's tiers (C7): recent turns 90, the prefix, which says what it is all about, 70,
    the summary message 50, the turns in the middle 30. The middle is dropped until the list is at its target; the other
    tiers are touched only over the hard limit. Where one exchange alone is over it, `emergency` takes over.
    """

    name = "pack"

    def run(self, request: CompressionRequest) -> Steps:
        """Drop what is needed, and no more; unchanged where the list is under its target or nothing may go."""
        config = request.config
        gone = places_to_drop(request, config.target_tokens, _middle(request))
        if tokens_without(request, gone) >= config.hard_limit_tokens:
            gone = _below_hard_limit(request)
        if gone:
            draft = dropped(request, gone, strategy=self.name, reason=Reason.COMPRESSED, ledger=nothing_read(request))
        else:
            draft = request.unchanged(_why_none(request), self.name)
        step = request.after(draft)
        if step.tokens < config.hard_limit_tokens:
            return draft
        return draft.then((yield from Emergency().run(step)))


def pack_messages(
    system: str = "",
    *,
    recent: Sequence[BaseMessage] = (),
    outline: str = "",
    summaries: Sequence[str] = (),
    long_term: str = "",
    max_tokens: int,
    model: str | None = None,
) -> list[BaseMessage]:
    """Build a prompt from tiers within a budget.

    The prompt is the system message, one human message that tells of the earlier conversation (long-term summary,
    outline, summaries), and the recent messages. Where not all of it fits, the lowest priority goes first (C7): the
    long-term summary is trimmed, then summaries from the oldest on, then the outline, then recent messages are left out
    from the oldest on, at legal cuts; what room they leave that way goes to the others. The system message, pinned and
    newest human messages, with what must stay with them, are never cut.

    Args:
        system: The system prompt; `""` for none.
        recent: The recent messages, in order; they are not changed. Results without a call are left out, and calls
            in the middle that nothing answered get an error result.
        outline: What the conversation is about.
        summaries: Summaries of its earlier parts, oldest first.
        long_term: What is known from earlier conversations.
        max_tokens: The budget for all messages, in tokens, their overhead included.
        model: Whose tokens are counted, as in `count_tokens`.

    Returns:
        The messages; at most `max_tokens`.

    Raises:
        ConfigError: The budget is negative, or a part is of the wrong kind.
        InvalidMessagesError: Something in `recent` is no message.
        ContextLimitError: What is never cut is over the budget.
        StorageBoundaryError: A part is a record of the archive, which is never sent (S4).
        TokenCountError: A message cannot be counted.
    """
    check_least("max_tokens", max_tokens)
    require_list(recent, "recent")
    if isinstance(summaries, str):
        msg = "summaries is one text: it must be a list of texts, oldest first"
        raise ConfigError(msg)
    guard_prompt((system, outline, tuple(summaries), long_term, tuple(recent)))
    require_messages(recent, "recent")
    for name, text in (("system", system), ("outline", outline), ("long_term", long_term)):
        check_text(name, text)
    count = MessageCounter(model)
    opened: list[BaseMessage] = [SystemMessage(system)] if system else []
    spoken = [*opened, *_newest_that_fit(recent, max_tokens - sum(count(opened)), max_tokens, count)]
    told = _told(outline, summaries, long_term, max_tokens - sum(count(spoken)), count)
    # Behind every system message in front: Anthropic takes none that a human message parts from the others.
    place = next((place for place, message in enumerate(spoken) if kind_of(message) != "system"), len(spoken))
    return [*spoken[:place], *told, *spoken[place:]]


def _middle(request: CompressionRequest) -> list[Span]:
    """The candidates' spans, oldest first, without a human message that has to stay in front of the rest."""
    stays = set(range(len(request.messages))) - request.candidates
    return droppable(request, stays | opening(request, stays))


def _below_hard_limit(request: CompressionRequest) -> list[int]:
    """What goes, lowest tier first, for the list to be under the hard limit; the last exchange stays."""

    def priority(span: Span) -> int:
        places = set(range(*span))
        if places & request.recent:
            return PRIORITY_RECENT
        if places & request.prefix:
            return PRIORITY_OUTLINE
        return PRIORITY_HISTORY if any(is_summary(request.messages[place]) for place in places) else PRIORITY_LONG_TERM

    return places_under_hard_limit(request, sorted(droppable(request, ends(request)), key=priority))


def _why_none(request: CompressionRequest) -> Reason:
    config = request.config
    if request.tokens <= config.target_tokens:
        return Reason.BELOW_SOFT_LIMIT
    return request.why_none


def _newest_that_fit(
    recent: Sequence[BaseMessage], room: int, max_tokens: int, count: MessageCounter
) -> list[BaseMessage]:
    """The recent messages without the oldest spans that have no room; system, pinned and newest human ones stay.

    Raises:
        ContextLimitError: These alone have no room.
    """
    messages = tuple(repair_messages(recent).messages)
    tools = Tools.of(count)
    request = CompressionRequest(messages, tuple(count(messages)), PrunerConfig(), PruneUrgency.HARD, tools)
    gone = set(places_to_drop(request, room, droppable(request, opening(request, set()))))
    over = tokens_without(request, gone) - room
    if over > 0:
        msg = (
            f"the system prompt and what must stay of the recent messages take {max_tokens + over} tokens, max_tokens"
            f" is {max_tokens}: raise it, shorten the system prompt, or unpin messages"
        )
        raise ContextLimitError(msg, tokens=max_tokens + over, limit=max_tokens)
    return [message for place, message in enumerate(messages) if place not in gone]


def _told(
    outline: str, summaries: Sequence[str], long_term: str, room: int, count: MessageCounter
) -> list[HumanMessage]:
    """The message that tells of the earlier conversation, as much of it as has room; none where nothing has.

    Each summary is a tier of its own, the newest first, so that of one priority the oldest goes first.
    """
    texts = [("outline", outline, PRIORITY_OUTLINE), ("long_term", long_term, PRIORITY_LONG_TERM)]
    texts += [(f"summary {number}", summaries[number], PRIORITY_HISTORY) for number in range(len(summaries))][::-1]
    tiers = [create_context_tier(label, neutral(text), priority) for label, text, priority in texts if text]
    budget = room
    while budget > 0 and (packed := pack_context(tiers, budget, model=count.model).packed):
        message = HumanMessage(_rendered({tier.label: tier.content for tier in packed}, len(summaries)))
        size = count([message])[0]
        if size <= room:
            return [message]
        budget -= size - room  # what frames the texts takes room too
    return []


def _rendered(texts: Mapping[str, str], summaries: int) -> str:
    """The texts that are left, the most remote first."""
    parts = [f"<{FRAME}>", FRAMING_LINE]
    parts += [f'<summary kind="{label}">\n{texts[label]}\n</summary>' for label in _REMOTE if label in texts]
    labels = (f"summary {number}" for number in range(summaries))
    parts += [f"<summary>\n{texts[label]}\n</summary>" for label in labels if label in texts]
    return "\n".join([*parts, f"</{FRAME}>"])
