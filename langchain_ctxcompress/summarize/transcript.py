"""The conversation as the text a summariser is shown, and its parts where it is larger than the summariser's window.

Everything is shown: each message under its speaker, calls with their arguments, results under the tool's name (P6).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import Boundaries, Medium, extract_text_content, kind_of, medium_of
from langchain_ctxcompress.tokens import truncate_to_tokens

_SPEAKER = {"human": "user", "ai": "assistant", "system": "system", "other": "note"}
_SHOWN: dict[Medium, str] = {"image": "an image", "audio": "audio", "video": "a video", "file": "a file"}


CHARS_AHEAD = 16
"""Characters for each token that are looked at to cut the next piece; looking at all the rest would be quadratic."""


def transcript(messages: Sequence[BaseMessage]) -> str:
    """The messages as text, in order, one paragraph each."""
    return "\n\n".join(filter(None, map(render_message, messages)))


def render_message(message: BaseMessage) -> str:
    """One message as text: who speaks, what is said, what is called; `""` where there is nothing to read."""
    kind = kind_of(message)
    speaker = f"tool {message.name or ''}".rstrip() if kind == "tool" else _SPEAKER[kind]
    lines = []
    text = extract_text_content(message).strip()
    if text:
        lines.append(f"[{speaker}] {text}")
    if isinstance(message, AIMessage):
        lines += [
            f"[{speaker} calls {call['name']}] {json.dumps(call['args'], ensure_ascii=False, default=str)}"
            for call in message.tool_calls
        ]
        lines += [
            f"[{speaker} calls {call['name'] or ''}, malformed] {call['args'] or ''}"
            for call in message.invalid_tool_calls
        ]
    if isinstance(message.content, list):
        media = [medium_of(block) for block in message.content if isinstance(block, dict)]
        lines += [f"[{speaker} shows {_SHOWN[medium]}]" for medium in media if medium is not None]
    return "\n".join(lines)


def split_transcript(
    messages: Sequence[BaseMessage], max_tokens: int | None, count: Callable[[str], int], model: str | None = None
) -> list[str]:
    """The conversation in parts of at most `max_tokens`, cut at legal boundaries.

    Args:
        messages: What is summarised.
        max_tokens: The largest part, in tokens; `None` is one part.
        count: Counts a text.
        model: Whose tokens, where one message is larger than a part and has to be cut itself.

    Returns:
        The parts, in order; together they hold everything.
    """
    if max_tokens is None:
        return [text] if (text := transcript(messages)) else []
    parts: list[str] = []
    current: list[str] = []
    size = 0
    for start, end in Boundaries(messages).spans:
        text = transcript(messages[start:end])
        tokens = count(text) + 2  # the blank line in front
        if current and size + tokens > max_tokens:
            parts.append("\n\n".join(current))
            current, size = [], 0
        if tokens > max_tokens:
            parts += _pieces(text, max_tokens, model)
        elif text:
            current.append(text)
            size += tokens
    return [*parts, "\n\n".join(current)] if current else parts


def _pieces(text: str, max_tokens: int, model: str | None) -> list[str]:
    """A text that is larger than a part, cut by tokens."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        ahead = text[at : at + max_tokens * CHARS_AHEAD]
        pieces.append(truncate_to_tokens(ahead, max_tokens, model) or ahead[:1])
        at += len(pieces[-1])
    return pieces
