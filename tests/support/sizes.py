"""How many tokens is a list of messages? Counted with `o200k_base` and with no line of the package under test.

It is a lower bound that any honest count is at or over: each piece of text that is sent, counted on its own, and 4
tokens for each message. A picture counts 85, the least that any provider takes for one; other media count nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

MESSAGE_OVERHEAD = 4
IMAGE_TOKENS = 85
RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def ranks_folder() -> Path | None:
    """Gives the folder that holds tiktoken's ranks for `o200k_base`; `None` if they are not at hand."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data" / "tiktoken"
    given = os.environ.get("TIKTOKEN_CACHE_DIR")
    name = hashlib.sha1(RANKS_URL.encode()).hexdigest()
    return next((folder for folder in [*([Path(given)] if given else []), beside] if (folder / name).is_file()), None)


@cache
def counter() -> tuple[str, Callable[[str], int]]:
    """Gives the counter's name, "tiktoken" or "toktok", and the counter.

    The encoding is built apart from tiktoken's own registry and the environment is put back: what the package under
    test finds when it asks tiktoken itself must not depend on whether a test has counted something.
    """
    folder = ranks_folder()
    if folder is None:
        import toktok

        return "toktok", lambda text: int(toktok.batch_count([text], "o200k_base")[0])
    import tiktoken
    from tiktoken_ext.openai_public import o200k_base

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.Encoding(**o200k_base())
    return "tiktoken", lambda text: len(encoding.encode(text, disallowed_special=()))


@lru_cache(maxsize=20_000)
def text_tokens(text: str) -> int:
    """Counts one text, in tokens."""
    # A lone surrogate has no bytes: what is sent in its place is the replacement character.
    sendable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return counter()[1](sendable) if sendable else 0


def independent_tokens(messages: Sequence[BaseMessage]) -> int:
    """Counts a list of messages, in tokens."""
    return sum(independent_message_tokens(message) for message in messages)


def independent_message_tokens(message: BaseMessage) -> int:
    """Counts one message, in tokens: its content, its calls with their ids and arguments, its name, the overhead."""
    total = MESSAGE_OVERHEAD
    blocks = [message.content] if isinstance(message.content, str) else message.content
    calls = isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)
    total += sum(_block_tokens(block, calls=calls) for block in blocks)
    if message.name:
        total += text_tokens(message.name)
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            arguments = json.dumps(call["args"], separators=(",", ":"), ensure_ascii=False)
            total += sum(text_tokens(text) for text in (call["name"], arguments, call["id"] or ""))
        for broken in message.invalid_tool_calls:
            total += sum(text_tokens(broken[part] or "") for part in ("name", "args", "id"))
    return total


def _block_tokens(block: str | dict, *, calls: bool) -> int:
    if isinstance(block, str):
        return text_tokens(block)
    kind = block.get("type")
    if kind == "text":
        return text_tokens(block.get("text") or "")
    if kind in {"reasoning", "thinking"}:
        summary = [part.get("text") or "" for part in block.get("summary") or [] if isinstance(part, dict)]
        return sum(text_tokens(text) for text in [block.get("reasoning") or block.get("thinking") or "", *summary])
    if kind in {"image", "image_url"}:
        return IMAGE_TOKENS
    if kind == "tool_use" and not calls:  # else the same call is counted as a call
        return text_tokens(json.dumps(block.get("input") or {}, separators=(",", ":"), ensure_ascii=False))
    return 0
