"""`ConversationFile`: the conversations of a file, one after the other, and an error for each that cannot be read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from langchain_ctxcompress.conversations.conversation import Conversation, Place
from langchain_ctxcompress.conversations.formats import format_of
from langchain_ctxcompress.errors import ConversationFileError

STDIN = "-"
"""The name that means standard input."""

GIVE_UP_AFTER = 20
"""Broken lines at the start after which a file is taken for something else; with a good line before, all are named."""

_BOM = b"\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
Item = Conversation | ConversationFileError


class ConversationFile:
    """A file of conversations. Lines are read when they are asked for, so that it may be larger than memory.

    It may be JSONL (one conversation a line, or one message a line, which is one conversation) or one JSON document
    (a conversation, a list of them, or a list of messages).

    Attributes:
        name: What it is called in errors: the path as it was given, or "stdin".
        size: Its size in bytes; 0 where that is not known.
        position: How far it is read, in bytes.

    Raises:
        ConversationFileError: There is no such file, or it cannot be a conversation file.
    """

    def __init__(self, path: str) -> None:
        self.path = None if path == STDIN else Path(path)
        self.name = path if self.path else "stdin"
        self.size = 0
        self.position = 0
        if self.path is not None:
            if self.path.is_dir():
                msg = f"{path}: is a directory: name the files in it"
                raise ConversationFileError(msg)
            try:
                with self.path.open("rb"):
                    self.size = self.path.stat().st_size
            except OSError as error:
                msg = f"{path}: {'there is no such file' if isinstance(error, FileNotFoundError) else error.strerror}"
                raise ConversationFileError(msg) from error

    def __iter__(self) -> Iterator[Item]:
        """Each conversation in order; in place of one that cannot be read, the error that says why."""
        held: list[ConversationFileError] = []
        good = False
        for item in self._items():
            if isinstance(item, ConversationFileError) and not good:
                held.append(item)
                if len(held) == GIVE_UP_AFTER:
                    break
                continue
            good = True
            yield from held
            held.clear()
            yield item
        no_text = next((error for error in held if isinstance(error.__cause__, UnicodeDecodeError)), None)
        if no_text is not None:
            yield ConversationFileError(f"{no_text}: it is no conversation file")
            return
        if len(held) == GIVE_UP_AFTER:
            msg = f"{held[0]}; given up: none of the first {GIVE_UP_AFTER} lines can be read"
            yield ConversationFileError(msg)
            return
        yield from held

    def _items(self) -> Iterator[Item]:
        try:
            with self.path.open("rb") if self.path else nullcontext(sys.stdin.buffer) as stream:
                yield from self._read(stream)
        except OSError as error:
            yield ConversationFileError(f"{self.name}: cannot be read: {error.strerror}")

    def _read(self, stream: BinaryIO) -> Iterator[Item]:
        """Lines or one document: what the first two lines show decides."""
        lines = self._counted(stream)
        head: list[bytes] = []
        told: list[bytes] = []
        for line in lines:
            head.append(line)
            if line.strip():
                told.append(line)
            if len(told) == 2:
                break
        if not told:
            yield ConversationFileError(f"{self.name}: is empty")
        elif len(told) == 2 and _is_open(told[0]) and not _is_whole(told[1]):
            yield from self._document(b"".join(chain(head, lines)))
        else:
            yield from self._lines(chain(head, lines))

    def _counted(self, stream: BinaryIO) -> Iterator[bytes]:
        for number, line in enumerate(stream):
            self.position += len(line)
            yield line.removeprefix(_BOM) if number == 0 else line

    def _document(self, text: bytes) -> Iterator[Item]:
        try:
            value = _parsed(text)
        except ValueError as error:
            if self.name.lower().endswith(_LINES):
                yield from self._lines(BytesIO(text))
            else:
                line = error.lineno if isinstance(error, json.JSONDecodeError) else None
                yield _no_json(Place(self.name, line), error)
            return
        yield from self._values(value, None)

    def _lines(self, lines: Iterable[bytes]) -> Iterator[Item]:
        """One conversation a line, or one message a line: the first that can be read decides."""
        messages: list[Any] = []
        conversations = whole = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = Place(self.name, number)
            whole += 1
            try:
                value = _parsed(line.rstrip())
            except ValueError as error:
                yield _no_json(place, error)
                continue
            if not conversations and format_of(value) and "messages" not in value:
                messages.append(value)
            elif messages:
                yield ConversationFileError(f"{place}: is no single message, as the lines before it are")
            else:
                conversations += 1
                yield from self._values(value, number)
        if messages and len(messages) < whole:
            msg = f"{self.name}: is skipped: it holds one conversation, a message a line, and not all can be read"
            yield ConversationFileError(msg)
        elif messages:
            yield _read(messages, Place(self.name))

    def _values(self, value: Any, line: int | None) -> Iterator[Item]:
        """The conversation that a value is, or the conversations that it lists."""
        if not isinstance(value, list) or not value or not _holds_messages(value[0]):
            yield _read(value, Place(self.name, line))
            return
        end = self.position
        for part, one in enumerate(value, 1):
            if line is None:
                self.position = end * part // len(value)  # read at once, worked on one by one
            yield _read(one, Place(self.name, line, part))


def _read(value: Any, place: Place) -> Item:
    try:
        return Conversation.read(value, place)
    except ConversationFileError as error:
        return error


def _parsed(text: bytes) -> Any:
    """The value that a text is.

    Raises:
        ValueError: It is no UTF-8, no JSON, or nested deeper than can be read.
    """
    try:
        return json.loads(text.decode("utf-8"))
    except RecursionError as error:
        msg = "it is nested too deeply"
        raise ValueError(msg) from error


def _no_json(place: Place, error: ValueError) -> ConversationFileError:
    if isinstance(error, json.JSONDecodeError):
        told = ConversationFileError(f"{place}: is no JSON: {error.msg} (column {error.colno})")
    elif isinstance(error, UnicodeDecodeError):
        told = ConversationFileError(f"{place}: is not UTF-8 text (byte {error.object[error.start]:#04x})")
    else:
        told = ConversationFileError(f"{place}: cannot be read: {error}")
    told.__cause__ = error
    return told


def _is_open(line: bytes) -> bool:
    """Whether a line is the beginning of a JSON value that goes on behind it."""
    try:
        _parsed(line.rstrip())
    except json.JSONDecodeError as error:
        return error.pos >= len(error.doc)
    except ValueError:
        return False
    return False


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(_parsed(line), dict | list)
    except ValueError:
        return False


def _holds_messages(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and "messages" in value)
