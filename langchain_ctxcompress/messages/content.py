"""Text in and out of content blocks (requirements B4, B5)."""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_text
from langchain_ctxcompress.messages.checking import no_message

M = TypeVar("M", bound=BaseMessage)


def block_text(block: str | dict[str, Any]) -> str | None:
    """The text of one content block if it is a text block, else `None`."""
    if isinstance(block, str):
        return block
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        text: str = block["text"]
        return text
    return None


def extract_text_content(message: BaseMessage) -> str:
    r"""The text of a message: a string as it is, text blocks joined with `"\n"`, `""` where there is none (B4).

    Raises:
        InvalidMessagesError: It is no message.
    """
    try:
        content = message.content
    except AttributeError:
        raise no_message(message) from None
    if isinstance(content, str):
        return content
    texts = (block_text(block) for block in content)
    return "\n".join(text for text in texts if text is not None)


def apply_compressed_content(message: M, text: str) -> M:
    """A new message that says `text`; everything that is not text stays (B5).

    A string is replaced. In a list the new text block stands where the first text block stood (at the front if there
    was none), the other text blocks go, all other blocks stay in place. Id, tool calls, name and metadata stay.

    Raises:
        InvalidMessagesError: It is no message.
        ConfigError: The text is none.
    """
    if not isinstance(message, BaseMessage):
        raise no_message(message)
    check_text("text", text)
    content = message.content
    if isinstance(content, str):
        return message.model_copy(update={"content": text})
    blocks: list[str | dict[str, Any]] = []
    placed = False
    for block in content:
        if block_text(block) is None:
            blocks.append(block)
        elif not placed:
            blocks.append(_with_text(block, text))
            placed = True
    if not placed:
        blocks.insert(0, {"type": "text", "text": text})
    return message.model_copy(update={"content": blocks})


def _with_text(block: str | dict[str, Any], text: str) -> str | dict[str, Any]:
    """The block with other text. Its annotations point into the old text, so only its type and id stay."""
    if isinstance(block, str):
        return text
    return {key: value for key, value in block.items() if key in ("type", "id", "index", "cache_control")} | {
        "text": text
    }
