"""A session as Markdown. What messages say stands in fences that it cannot close, so it cannot break the structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress.messages import block_text, kind_of
from langchain_ctxcompress.storage.records import CheckpointSummary, SessionInfo

_TICKS = re.compile("`+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")


def session_markdown(
    info: SessionInfo, messages: Iterable[BaseMessage], checkpoints: Iterable[CheckpointSummary]
) -> str:
    """The session as one text.

    Args:
        info: Its metadata.
        messages: Its messages, in order.
        checkpoints: Its summary checkpoints, oldest first.
    """
    return "\n\n".join([*_head(info), *_messages(messages), *_checkpoints(checkpoints)]) + "\n"


def _head(info: SessionInfo) -> Iterator[str]:
    yield f"# Session {inline(info.session_id)}"
    facts = [f"{info.compressions} compressions"]
    if info.started_at:
        facts.insert(0, f"started {info.started_at.isoformat(timespec='seconds')}")
    if info.updated_at:
        facts.insert(1, f"last written {info.updated_at.isoformat(timespec='seconds')}")
    yield "\n".join(f"- {fact}" for fact in facts)


def _messages(messages: Iterable[BaseMessage]) -> Iterator[str]:
    yield "## Messages"
    for number, message in enumerate(messages, 1):
        name = f" {inline(message.name)}" if message.name else ""
        yield f"### {number}. {kind_of(message)}{name} (id {inline(message.id or '')})"
        if isinstance(message, ToolMessage):
            yield f"Result of call {inline(message.tool_call_id)}, {inline(message.status)}:"
        yield from _content(message.content)
        if isinstance(message, AIMessage):
            for call in (*message.tool_calls, *message.invalid_tool_calls):
                yield f"Calls {inline(call['name'] or '')} (call {inline(call['id'] or '')}):"
                yield _json(call["args"])


def _content(content: str | list[Any]) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content:
        text = block_text(block)
        if text is None:
            yield _json(block)
        elif text:
            yield fence(text)


def _checkpoints(checkpoints: Iterable[CheckpointSummary]) -> Iterator[str]:
    heading = "## Summary checkpoints"
    for checkpoint in checkpoints:
        if heading:
            yield heading
            heading = ""
        yield f"### {inline(checkpoint.checkpoint_id)}: level {checkpoint.level}, {len(checkpoint.covered)} messages"
        facts = [f"{checkpoint.tokens_before} tokens before, {checkpoint.tokens_after} after"]
        if checkpoint.covered:
            first, *_, last = (*checkpoint.covered, *checkpoint.covered)
            facts.append(f"messages {inline(first)} to {inline(last)}")
        yield "\n".join(f"- {fact}" for fact in facts)
        if checkpoint.text:
            yield fence(checkpoint.text)


def _json(value: Any) -> str:
    return fence(json.dumps(value, ensure_ascii=False, indent=2, default=str), "json")


def fence(text: str, language: str = "text") -> str:
    """A text in a fence that is longer than any run of backticks in it."""
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{ticks}{language}\n{_encodable(text)}\n{ticks}"


def inline(text: str) -> str:
    """A text within a line: markup, HTML and line breaks in it are escaped."""
    plain = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\n", "\\n"))
    return _MARKUP.sub(r"\\\1", _encodable(plain))


def _encodable(text: str) -> str:
    """The text without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
