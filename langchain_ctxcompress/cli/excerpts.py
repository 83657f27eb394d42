"""Messages as rows of a table: who, and the beginning of what was said, or the place that was looked for."""

from __future__ import annotations

import json
import re

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress.messages import extract_text_content, kind_of

LONGEST = 100
"""Characters of an excerpt."""

BEFORE = 30
"""Characters that an excerpt shows before the word that was looked for."""


def speaker(message: BaseMessage) -> str:
    """Who said it: the kind of the message, of a tool its name."""
    name = message.name if isinstance(message, ToolMessage) else None
    return f"{kind_of(message)} {name}" if name else kind_of(message)


def excerpt(message: BaseMessage, query: str = "") -> str:
    """Some of what it says, on one line.

    Args:
        message: The message.
        query: What was looked for: the excerpt shows its first word that is found, and what stands around it.
    """
    text = " ".join(_said(message).split())
    start = 0
    for word in query.split():
        if found := re.search(re.escape(word), text, re.IGNORECASE):
            start = max(0, found.start() - BEFORE)
            break
    start = 0 if start + LONGEST > len(text) and len(text) <= LONGEST else start
    shown = text[start : start + LONGEST]
    return f"{'…' * bool(start)}{shown}{'…' * (start + LONGEST < len(text))}"


def _said(message: BaseMessage) -> str:
    """Its text; of a message that only calls tools, the calls; of one that holds only media, what they are."""
    if text := extract_text_content(message).strip():
        return text
    if isinstance(message, AIMessage) and message.tool_calls:
        return "; ".join(f"calls {call['name']} {json.dumps(call['args'], default=str)}" for call in message.tool_calls)
    blocks = [block for block in message.content if isinstance(block, dict)]
    return ", ".join(f"[{block.get('type', 'block')}]" for block in blocks)
