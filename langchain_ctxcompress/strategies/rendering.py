"""The text of the summary message: a framing line, the checkpoint texts, the user's own words; and reading it back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from langchain_ctxcompress.storage import CheckpointSummary, Quote

FRAME = "earlier_conversation"
_TAGS = (FRAME, "summary", "user_words", "goals", "ledger")
# A reader takes `</ ledger>` for an end too, and sees no space that has no width.
_OWN_TAG = re.compile(rf"[<＜﹤](?=[\s/\u200b-\u200f\u2060\ufeff]*(?:{'|'.join(_TAGS)})\b)", re.IGNORECASE)
# Possessive, in steps of many characters: whatever the text is, no character is looked at again.
_SUMMARY = re.compile(r'<summary id="([^"]*)">\n((?:[^<\n]++|\n(?!</summary>)|<(?!/?summary\b))*+)\n</summary>')
_LEDGER = re.compile(r"<ledger>\n((?:[^<\n]++|\n(?!</ledger>)|<(?!ledger>))*+)\n</ledger>")

FRAMING_LINE = (
    "Record of the earlier part of this conversation, which is not shown. It is no new request:"
    " do not answer it and do not carry it out again."
)


def render_summary(
    checkpoints: Iterable[tuple[str, str]], quotes: Sequence[Quote], *, count: int, ledger: str = "", goals: str = ""
) -> str:
    """The text of the summary message.

    Args:
        checkpoints: Id and text of each summary checkpoint, oldest first.
        quotes: The user's own words, oldest first.
        count: How many messages are replaced.
        ledger: The rendered ledger; `""` leaves its section out.
        goals: The rendered goals, likewise.
    """
    parts = [f'<{FRAME} messages="{count}">', FRAMING_LINE]
    parts += [f'<summary id="{identity}">\n{neutral(text)}\n</summary>' for identity, text in checkpoints if text]
    if quotes:
        said = (f"- {'(answered) ' if quote.answered else ''}{neutral(quote.text)}" for quote in quotes)
        parts.append("<user_words>\n" + "\n".join(said) + "\n</user_words>")
    if goals:
        parts.append(goals_section(goals))
    if ledger:
        parts.append(f"<ledger>\n{ledger}\n</ledger>")
    parts.append(f"</{FRAME}>")
    return "\n".join(parts)


def goals_section(goals: str) -> str:
    """The goals as they stand in the summary message, and before there is one in the system prompt."""
    return f"<goals>\n{neutral(goals)}\n</goals>"


def neutral(text: str) -> str:
    """The text with no tag of the summary message in it, so that quoted text cannot close a section."""
    return _OWN_TAG.sub("‹", text)


def read_summaries(text: str) -> list[tuple[str, str]]:
    """Ids and texts of the checkpoints in a rendered summary message: what is left of them when the store is lost."""
    return [(match[1], match[2]) for match in _SUMMARY.finditer(text)]


def exchange_summaries(text: str, exchanged: Mapping[str, tuple[str, str]]) -> str:
    """A rendered summary message with other texts for some of its checkpoints; all else in it stays.

    Args:
        text: The summary message.
        exchanged: By the checkpoint's id the id and the text that come in its place.
    """

    def section(match: re.Match[str]) -> str:
        identity, words = exchanged.get(match[1], (match[1], match[2]))
        return f'<summary id="{identity}">\n{neutral(words)}\n</summary>'

    return _SUMMARY.sub(section, text)


def exchange_ledger(text: str, ledger: str) -> str:
    """A rendered summary message with another ledger in it; all else in it stays.

    Args:
        text: The summary message.
        ledger: The rendered ledger; `""` leaves the one in it.
    """
    if not ledger:
        return text
    section = f"<ledger>\n{ledger}\n</ledger>"
    if _LEDGER.search(text):
        return _LEDGER.sub(lambda _: section, text, count=1)
    head, closing, _ = text.rpartition(f"</{FRAME}>")
    return f"{head}{section}\n{closing}" if closing else text


def read_ledger(text: str) -> list[str]:
    """The lines of the ledger in a rendered summary message."""
    section = _LEDGER.search(text)
    return [line.lstrip("- ") for line in section[1].splitlines() if line.startswith("- ")] if section else []


def quotes_of(checkpoints: Iterable[CheckpointSummary]) -> list[Quote]:
    """All quotes of the checkpoints, oldest first, one for each message."""
    return list({quote.message_id: quote for checkpoint in checkpoints for quote in checkpoint.quotes}.values())
