"""How big a message is (requirement C8): everything of it that is sent, media by their kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress.errors import TokenCountError, describe
from langchain_ctxcompress.messages import Medium, medium_of
from langchain_ctxcompress.tokens.text import count_batch

Content = str | list[str | dict[str, Any]]
"""What LangChain takes for the content of a message."""

MESSAGE_OVERHEAD = 4
"""Tokens around each message: OpenAI's chat format takes 3, and 1 more where it has a name."""

CALL_OVERHEAD = 8
"""Tokens around each tool call, besides its name, id and arguments: the JSON that frames them."""

MEDIA_TOKENS: Mapping[Medium, int] = {"image": 1_600, "audio": 1_500, "video": 6_000, "file": 3_000}
"""Tokens of one medium whose true size only the provider knows.

An image: Anthropic scales to at most about 1,600 tokens (width x height / 750), OpenAI takes 765 for 1024 x 1024. Audio
and video: Gemini takes 32 and 258 tokens a second; here 45 s and 23 s. A file: one to two pages of a PDF at Anthropic's
1,500 to 3,000 tokens a page.
"""

LOW_DETAIL_IMAGE = 85
"""Tokens of an image that OpenAI is asked to read at low detail."""

_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta"})
"""Blocks that say again what `tool_calls` says; they are counted there, and here only where it is empty."""
_OPAQUE_KEYS = frozenset({"type", "id", "index", "signature", "data", "base64", "encrypted_content", "cache_control"})


def count_message(message: BaseMessage, model: str | None = None) -> int:
    """The size of one message in tokens, counted anew.

    Raises:
        TokenCountError: The message cannot be counted.
    """
    return count_messages((message,), model)[0]


def count_messages(messages: Sequence[BaseMessage], model: str | None) -> list[int]:
    """Count a batch in one call; where it fails, one by one, so that the error names the message that made it fail.

    Raises:
        TokenCountError: A message cannot be counted.
    """
    return count_saying(messages, [message.content for message in messages], model)


def count_saying(messages: Sequence[BaseMessage], contents: Sequence[Content], model: str | None) -> list[int]:
    """As `count_messages`, where each message is taken to have another content.

    Args:
        messages: The messages.
        contents: For each what it is taken to say.
        model: Whose tokens are counted.

    Raises:
        TokenCountError: A message cannot be counted.
    """
    texts: list[str] = []
    parts: list[tuple[int, int]] = []
    for message, content in zip(messages, contents, strict=True):
        try:
            own, fixed = message_parts(message, content)
        except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
            raise _uncountable(message, error) from error
        texts += own
        parts.append((len(own), fixed))
    try:
        counts = count_batch(texts, model)
    except (TypeError, ValueError) as error:
        if len(messages) == 1:
            raise _uncountable(messages[0], error) from error
        each = zip(messages, contents, strict=True)
        return [size for message, content in each for size in count_saying((message,), (content,), model)]
    sizes: list[int] = []
    start = 0
    for length, fixed in parts:
        sizes.append(sum(counts[start : start + length]) + fixed)
        start += length
    return sizes


def _uncountable(message: BaseMessage, error: Exception) -> TokenCountError:
    msg = f"message {message.id!r} ({type(message).__name__}) cannot be counted: {describe(error)}"
    return TokenCountError(msg, message_id=message.id)


def message_parts(message: BaseMessage, content: Content) -> tuple[list[str], int]:
    """What of a message is sent: its texts, and the tokens of what is no text.

    Args:
        message: The message.
        content: What it says, or is taken to say.

    Returns:
        The texts (content, reasoning, name, calls with their arguments and ids) and a fixed number of tokens (overhead
        and media).
    """
    texts: list[str] = []
    fixed = MESSAGE_OVERHEAD
    if isinstance(content, str):
        if content:
            texts.append(content)
    else:
        calls = isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)
        for block in content:
            fixed += _block(block, texts, calls_counted=calls)
    if message.name:
        texts.append(message.name)
    if isinstance(message, AIMessage):
        for call in (*message.tool_calls, *message.invalid_tool_calls):
            fixed += CALL_OVERHEAD
            texts += (call.get("name") or "", _as_json(call.get("args")), call.get("id") or "")
    elif isinstance(message, ToolMessage):
        texts.append(message.tool_call_id)
    if message.additional_kwargs:
        texts += _extra_texts(message.additional_kwargs)
    return texts, fixed


def _block(block: str | dict[str, Any], texts: list[str], *, calls_counted: bool) -> int:
    """Add a block's texts; return the tokens of what in it is no text."""
    if isinstance(block, str):
        texts.append(block)
        return 0
    kind = str(block.get("type"))
    if kind == "text":
        texts.append(str(block.get("text") or ""))
        return 0
    if kind in _CALL_BLOCKS:
        if not calls_counted:
            texts.append(_as_json(block))
        return 0
    medium = medium_of(block)
    if medium is None:
        texts += _strings(block)
        return 0
    return _media_tokens(medium, block)


def _media_tokens(medium: Medium, block: Mapping[str, Any]) -> int:
    url = block.get("image_url")
    detail = url.get("detail") if isinstance(url, Mapping) else block.get("detail")
    return LOW_DETAIL_IMAGE if medium == "image" and detail == "low" else MEDIA_TOKENS[medium]


def _strings(value: Any) -> Iterator[str]:
    """Every text in a block of a kind not known here; signatures, base64 and data URLs are no text."""
    if isinstance(value, str):
        if not value.startswith("data:"):
            yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _OPAQUE_KEYS:
                yield from _strings(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in value:
            yield from _strings(inner)


def _extra_texts(extra: Mapping[str, Any]) -> Iterator[str]:
    """What providers keep beside the content and send again: reasoning as text, and the old function call."""
    reasoning = extra.get("reasoning_content")
    if isinstance(reasoning, str):
        yield reasoning
    legacy = extra.get("function_call")
    if isinstance(legacy, Mapping):
        yield from _strings(legacy)


def _as_json(args: Any) -> str:
    if isinstance(args, str):
        return args
    return _encode(args)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
"""As `json.dumps`, which makes an encoder at each call with options."""
