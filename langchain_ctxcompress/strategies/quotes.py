"""The user's own words: the newest replaced human messages, quoted verbatim up to a budget."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import extract_text_content, kind_of
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.strategies.tools import Tools

ELLIPSIS = " […]"
SMALLEST_CUT = 24
"""Tokens under which a cut quote says nothing: then the message is left to the summary."""


def quote_humans(messages: Sequence[BaseMessage], places: Sequence[int]) -> list[Quote]:
    """The human messages among `places`, whole, oldest first.

    Args:
        messages: The whole list; a human message with an AI message anywhere behind it has been answered.
        places: The replaced messages.
    """
    last_ai = max((place for place, message in enumerate(messages) if kind_of(message) == "ai"), default=-1)
    return [
        Quote(message_id=messages[place].id or "", text=text, answered=place < last_ai)
        for place in places
        if kind_of(messages[place]) == "human" and (text := extract_text_content(messages[place]).strip())
    ]


def newest_within(quotes: Sequence[Quote], budget: int, tools: Tools) -> list[Quote]:
    """The newest quotes that fit the budget, oldest first; the last that does not fit is cut where that leaves sense.

    Args:
        quotes: Quotes, oldest first.
        budget: Tokens.
        tools: Counting and cutting.
    """
    kept: list[Quote] = []
    for quote in reversed(quotes):
        size = tools.count_text(quote.text)
        if size <= budget:
            kept.append(quote)
            budget -= size
            continue
        if budget >= SMALLEST_CUT:
            front = tools.truncate(quote.text, budget - tools.count_text(ELLIPSIS)).rstrip()
            kept.append(quote.model_copy(update={"text": front + ELLIPSIS}))
        break
    return kept[::-1]
