"""Who said what: a conversation, or an earlier summary of one, as a list of utterances with a speaker each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress.messages import extract_text_content, is_summary, kind_of
from langchain_ctxcompress.summarize.sentences import clean_text, one_line

Voice = Literal["user", "assistant", "call", "tool", "quoted", "note"]
"""Whose words: `call` is a tool call, `quoted` what a user only shows, `note` a line of a summary without a speaker."""

ARGUMENT_CHARS = 80
"""The most characters of one argument in the note of a tool call, about 20 tokens."""

_ARGUMENTS = 6
_NAME_SIGNS = re.compile(r"[^\w.\-]+")
_SPEAKER = re.compile(
    r"((?:user|system)(?: quoted)?|assistant(?: called [\w.\-]{1,40})?|tool(?: [\w.\-]{1,40})?|other):(?: |$)"
)
_VOICE_OF_SPEAKER: Mapping[str, Voice] = {
    "user quoted": "quoted",
    "system quoted": "quoted",
    "user": "user",
    "system": "user",
    "assistant": "assistant",
    "other": "note",
}


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one speaker said at one point.

    Attributes:
        speaker: How the summary names who speaks; `""` for a line of a summary that names nobody.
        voice: How much it weighs.
        text: What was said.
        message: Index of the message, or of the summary's line, it is from.
    """

    speaker: str
    voice: Voice
    text: str
    message: int


def utterances_of(messages: Sequence[BaseMessage]) -> list[Utterance]:
    """The utterances of a conversation: the text of each message, and one for each tool call."""
    found: list[Utterance] = []
    called: dict[str | None, str] = {}
    for index, message in enumerate(messages):
        text = clean_text(extract_text_content(message))
        if is_summary(message):
            found.extend(Utterance(line.speaker, line.voice, line.text, index) for line in utterances_of_summary(text))
            continue
        if text.strip():
            speaker, voice = _speaker(message, called)
            found.append(Utterance(speaker, voice, text, index))
        if isinstance(message, AIMessage):
            called = {}  # a result answers a call of the AI message before it: ids are used again later
            for call in (*message.tool_calls, *message.invalid_tool_calls):
                name = called[call.get("id")] = _safe_name(call.get("name"))
                found.append(Utterance(f"assistant called {name}", "call", _arguments(call.get("args")), index))
    return found


def utterances_of_summary(text: str) -> list[Utterance]:
    """The lines of a summary as utterances; a line that names its speaker is his, any other is a note."""
    found: list[Utterance] = []
    for index, line in enumerate(clean_text(text).splitlines()):
        bare = line.strip()
        if not bare:
            continue
        match = _SPEAKER.match(bare)
        if match is None:
            found.append(Utterance("", "note", bare, index))
            continue
        speaker = match[1]
        voice = _VOICE_OF_SPEAKER.get(speaker) or ("call" if speaker.startswith("assistant called") else "tool")
        found.append(Utterance(speaker, voice, bare[match.end() :], index))
    return found


def _speaker(message: BaseMessage, called: Mapping[str | None, str]) -> tuple[str, Voice]:
    kind = kind_of(message)
    if kind == "human":
        return "user", "user"
    if kind == "ai":
        return "assistant", "assistant"
    if kind == "system":
        return "system", "user"
    if kind == "tool":
        name = message.name or (called.get(message.tool_call_id) if isinstance(message, ToolMessage) else None)
        return f"tool {_safe_name(name)}" if name else "tool", "tool"
    return "other", "note"


def _safe_name(name: object) -> str:
    """A tool's name without anything that could be read as another speaker's line."""
    return _NAME_SIGNS.sub("_", str(name or "tool"))[:40]


def _arguments(arguments: object) -> str:
    """The arguments of a call on one line: short ones first, since they name what it is about; long ones cut."""
    if not isinstance(arguments, Mapping):
        return _cut(str(arguments or ""))
    pairs = [(str(key), value) for key, value in arguments.items() if value not in (None, "", [], {})]
    texts = [(key, _value(value)) for key, value in pairs]
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place][1]) > ARGUMENT_CHARS, place))
    return "; ".join(f"{one_line(clean_text(texts[place][0]))}={_cut(texts[place][1])}" for place in order[:_ARGUMENTS])


def _value(value: Any) -> str:
    """An argument as text; of a list or a mapping, the scalars in it."""
    if isinstance(value, str):
        return value
    return ", ".join(str(scalar) for scalar in _scalars(value))


def _scalars(value: Any) -> Iterator[Any]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            pending.extend(reversed(item))
        elif item is not None:
            yield item


def _cut(text: str) -> str:
    """The first `ARGUMENT_CHARS` characters on one line."""
    line = one_line(clean_text(text[: 4 * ARGUMENT_CHARS]))
    if len(line) <= ARGUMENT_CHARS and len(text) <= 4 * ARGUMENT_CHARS:
        return line
    return line[:ARGUMENT_CHARS].rstrip() + "…"
