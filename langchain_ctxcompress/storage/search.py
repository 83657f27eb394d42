"""Keyword search with a ranking a reader would expect: rare words count more, long messages do not win by length."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import extract_text_content

_WORD = re.compile(r"\w+(?:[-./:@]\w+)*")
_SCRIPT_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza, 2009)."""


def rank(messages: Sequence[BaseMessage], query: str, limit: int) -> list[BaseMessage]:
    """The messages that match any word of the query, ranked by BM25; equal ones newest first.

    Args:
        messages: What is searched, oldest first.
        query: Words, in any order and case.
        limit: The most messages to return.
    """
    wanted = set(words(query))
    if not wanted or limit < 1:
        return []
    documents = [Counter(words(searchable_text(message))) for message in messages]
    lengths = [sum(document.values()) for document in documents]
    mean = (sum(lengths) / len(lengths)) if lengths else 0.0
    weight = {
        word: math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for word in wanted
        if (having := sum(1 for document in documents if word in document))
    }
    scored = [
        (sum(weight[w] * _share(d[w], length, mean) for w in weight if d[w]), place)
        for place, (d, length) in enumerate(zip(documents, lengths, strict=True))
    ]
    best = sorted((entry for entry in scored if entry[0] > 0), reverse=True)[:limit]
    return [messages[place] for _, place in best]


def _share(times: int, length: int, mean: float) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean))


def searchable_text(message: BaseMessage) -> str:
    """What of a message is searched: its text, its name, its calls."""
    parts = [extract_text_content(message), message.name or ""]
    if isinstance(message, AIMessage):
        parts += [f"{call['name']} {call['args']}" for call in message.tool_calls]
    return "\n".join(parts)


def words(text: str) -> list[str]:
    """The words of a text without case: a compound (a path, an id, an address) whole and in its parts.

    In scripts that put no spaces, each pair of neighbouring characters is a word.
    """
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        found.append(word)
        parts = re.split(r"[-./:@_]", word)
        if len(parts) > 1:
            found += [part for part in parts if part]
        if _SCRIPT_WITHOUT_SPACES.search(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
    return found
