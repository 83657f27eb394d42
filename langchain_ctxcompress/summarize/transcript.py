"""The conversation as the text a summariser is shown, and its parts where it is larger than the summariser's window.

Every message is shown under its speaker, calls with their arguments, results under the tool's name (P6). A long result
or argument may be shortened to its beginning and its end, with how much is left out: the middle of it would be most of
what the summariser is paid to read. What is checked afterwards is the whole, the ledger reads the originals, and they
are in the archive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import Boundaries, Medium, extract_text_content, kind_of, medium_of
from langchain_ctxcompress.tokens import truncate_to_tokens

_SPEAKER = {"human": "user", "ai": "assistant", "system": "system", "other": "note"}
_BREAKS = r"\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_OWN_LABEL = re.compile(
    rf"((?:^|[{_BREAKS}])[^\S\n{_BREAKS}]*+)\[(?=(?:user|assistant|system|tool|note)\b)", re.IGNORECASE | re.MULTILINE
)
_LABEL = re.compile(r"\[(?=(?:user|assistant|system|tool|note)\b)", re.IGNORECASE)
_NAME_SIGNS = re.compile(r"[^\w.\-:/]+")
_SHOWN: dict[Medium, str] = {"image": "an image", "audio": "audio", "video": "a video", "file": "a file"}


HEAD_CHARS, TAIL_CHARS = 400, 160
"""Characters of a shortened result: what it is, and how it ended (an error, a total, a verdict). Some 200 tokens, of
which a summary says a line or two. Of recorded agent runs a third remains, of recorded chats with tools three quarters;
with a beginning of 1,000 characters it would be a half and nine tenths."""

CHARS_AHEAD = 16
"""Characters for each token that are looked at to cut the next piece; looking at all the rest would be quadratic."""


class Transcript:
    """Messages as text, each of them rendered once for all that is done with it.

    Args:
        messages: The messages.
    """

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self._messages = messages

    @cached_property
    def _rendered(self) -> tuple[list[str], list[int]]:
        """Each message with long results and arguments shortened, and the places of those that lost something by it."""
        ends, texts, cut = _Ends(), list[str](), list[int]()
        for place, message in enumerate(self._messages):
            texts.append(_rendering(message, ends))
            if ends.cut:
                ends.cut = False
                cut.append(place)
        return texts, cut

    @property
    def shortened(self) -> list[str]:
        """Each message as text, of long tool results and arguments only the beginning and the end."""
        return self._rendered[0]

    @cached_property
    def whole(self) -> list[str]:
        """Each message as text."""
        texts, cut = self._rendered
        texts = list(texts)
        for place in cut:
            texts[place] = render_message(self._messages[place])
        return texts

    def parts(
        self, max_tokens: int | None, count: Callable[[str], int], model: str | None = None, *, shortened: bool = True
    ) -> list[str]:
        """The text in parts; as `split_transcript`."""
        texts = self.shortened if shortened else self.whole
        if max_tokens is None:
            return [text] if (text := _joined(texts)) else []
        parts: list[str] = []
        current: list[str] = []
        size = 0
        for start, end in Boundaries(self._messages).spans:
            text = _joined(texts[start:end])
            tokens = count(text) + 2  # the blank line in front
            if current and size + tokens > max_tokens:
                parts.append(_joined(current))
                current, size = [], 0
            if tokens > max_tokens:
                parts += _pieces(text, max_tokens, model)
            elif text:
                current.append(text)
                size += tokens
        return [*parts, _joined(current)] if current else parts


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts))


def transcript(messages: Sequence[BaseMessage], *, shortened: bool = False) -> str:
    """The messages as text, in order, one paragraph each.

    Args:
        messages: The messages.
        shortened: Whether of long tool results and arguments only the beginning and the end are shown.
    """
    return _joined(render_message(message, shortened=shortened) for message in messages)


def render_message(message: BaseMessage, *, shortened: bool = False) -> str:
    """One message as text: who speaks, what is said, what is called; `""` where there is nothing to read.

    Args:
        message: The message.
        shortened: Whether of long tool results and arguments only the beginning and the end are shown.
    """
    return _rendering(message, ends_of if shortened else str)


def _rendering(message: BaseMessage, ends: Callable[[str], str]) -> str:
    """One message as text, of results and arguments what `ends` leaves of them."""
    kind = kind_of(message)
    if type(message.content) is str and kind != "tool" and not (kind == "ai" and _calls(message)):
        said = message.content.strip()
        return f"[{_SPEAKER[kind]}] {_as_said(said)}" if said else ""
    speaker = f"tool {_name(message.name)}".rstrip() if kind == "tool" else _SPEAKER[kind]
    lines = []
    text = extract_text_content(message).strip()
    if kind == "tool":
        text = ends(text)
    if text:
        lines.append(f"[{speaker}] {_as_said(text)}")
    if isinstance(message, AIMessage):
        lines += [
            f"[{speaker} calls {_name(call['name'])}] {ends(_written(call['args']))}" for call in message.tool_calls
        ]
        lines += [
            f"[{speaker} calls {_name(call['name'])}, malformed] {_as_said(ends(call['args'] or ''))}"
            for call in message.invalid_tool_calls
        ]
    if isinstance(message.content, list):
        media = [medium_of(block) for block in message.content if isinstance(block, dict)]
        lines += [f"[{speaker} shows {_SHOWN[medium]}]" for medium in media if medium is not None]
    return "\n".join(lines)


def _calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def _as_said(text: str) -> str:
    """The text with no line in it that begins as if another speaker began: `[user]` is written with a stroke."""
    # Most texts hold no label at all, which is told twenty times as fast as where one stands.
    return _OWN_LABEL.sub(r"\1\\[", text) if _LABEL.search(text) else text


_written = json.JSONEncoder(ensure_ascii=False, default=str).encode
"""As `json.dumps`, which makes an encoder at each call with options."""


def _name(name: object) -> str:
    """A name without anything that could end the label it stands in."""
    return _signs(str(name)) if name else ""


@lru_cache(maxsize=256)
def _signs(name: str) -> str:
    return _NAME_SIGNS.sub("_", name)


def ends_of(text: str) -> str:
    """A text as it is, or where it is long its beginning and its end."""
    left_out = len(text) - HEAD_CHARS - TAIL_CHARS
    if left_out <= HEAD_CHARS // 4:  # the note of what is left out takes some room itself
        return text
    return f"{text[:HEAD_CHARS]}\n[… {left_out} characters left out …]\n{text[-TAIL_CHARS:]}"


class _Ends:
    """`ends_of`, and whether it left anything out."""

    def __init__(self) -> None:
        self.cut = False

    def __call__(self, text: str) -> str:
        shown = ends_of(text)
        self.cut = self.cut or shown is not text
        return shown


def split_transcript(
    messages: Sequence[BaseMessage],
    max_tokens: int | None,
    count: Callable[[str], int],
    model: str | None = None,
    *,
    shortened: bool = False,
) -> list[str]:
    """The conversation in parts of at most `max_tokens`, cut at legal boundaries.

    Args:
        messages: What is summarised.
        max_tokens: The largest part, in tokens; `None` is one part.
        count: Counts a text.
        model: Whose tokens, where one message is larger than a part and has to be cut itself.
        shortened: Whether of long tool results and arguments only the beginning and the end are shown.

    Returns:
        The parts, in order; together they hold everything that is shown.
    """
    return Transcript(messages).parts(max_tokens, count, model, shortened=shortened)


def _pieces(text: str, max_tokens: int, model: str | None) -> list[str]:
    """A text that is larger than a part, cut by tokens."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        ahead = text[at : at + max_tokens * CHARS_AHEAD]
        pieces.append(truncate_to_tokens(ahead, max_tokens, model) or ahead[:1])
        at += len(pieces[-1])
    return pieces
