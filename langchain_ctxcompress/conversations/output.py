"""`OutputFile`: JSONL that is there whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from langchain_ctxcompress.errors import ConversationFileError

STDOUT = "-"
"""The name that means standard output."""


class OutputFile:
    """A file that takes its name when everything is in it; until then it stands beside it under another.

    Left by an exception, or with nothing written, it leaves no trace, and an older file of the name stays as it was.
    Standard output and what is no regular file (a pipe, a device) are written to at once.

    Args:
        path: The file, or "-" for standard output.
        follow: Whether a link at that place is followed, so that the file it names is written; `False` puts the file in
            the place of the link, so that nothing is written outside the folder.

    Raises:
        ConversationFileError: It cannot be written.
    """

    def __init__(self, path: str, *, follow: bool = True) -> None:
        try:
            place = Path(os.path.realpath(path)) if follow else Path(path)
        except ValueError as error:  # NUL in it
            msg = f"{path!r}: cannot be written: {error}"
            raise ConversationFileError(msg) from error
        self.path = None if path == STDOUT else place
        self.name = path
        self._follow = follow
        self.written = 0
        self._beside: Path | None = None
        self._stream: BinaryIO | None = None

    def __enter__(self) -> OutputFile:
        """Open it."""
        if self.path is None:
            sys.stdout.flush()
            self._stream = sys.stdout.buffer
            return self
        try:
            if self.path.is_dir() and (self._follow or not self.path.is_symlink()):
                msg = f"{self.name}: is a directory: the output is one file"
                raise ConversationFileError(msg)
            if self._follow and self.path.exists() and not self.path.is_file():
                self._stream = self.path.open("wb")
            else:
                beside = self.path.with_name(f".{self.path.name[:200]}.{os.getpid()}.part")
                beside.unlink(missing_ok=True)  # of a process that was killed
                self._stream = beside.open("xb")  # a link that others put there is not followed
                self._beside = beside
        except OSError as error:
            msg = f"{self.name}: cannot be written: {error.strerror}"
            raise ConversationFileError(msg) from error
        return self

    def write(self, record: Mapping[str, Any]) -> None:
        """Write one conversation as one line.

        Raises:
            ConversationFileError: The disk is full, or the like.
        """
        try:
            line = json.dumps(record, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:  # a lone surrogate, which JSON can escape and UTF-8 cannot hold
            line = json.dumps(record).encode("ascii")
        self._put(line + b"\n")

    def write_text(self, text: str) -> None:
        """Write a text as it is, in UTF-8.

        Raises:
            ConversationFileError: As in `write`.
        """
        self._put(text.encode("utf-8", "backslashreplace"))

    def _put(self, data: bytes) -> None:
        if self._stream is None:
            msg = f"{self.name}: is not open"
            raise ConversationFileError(msg)
        try:
            self._stream.write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from error
        self.written += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, and give it its name if all went well."""
        stream, self._stream = self._stream, None
        if stream is None or self.path is None:
            if stream is not None and kind is None:
                stream.flush()
            return
        try:
            stream.close()
            if self._beside is not None and kind is None and self.written:
                self._beside.replace(self.path)
        except OSError as failure:
            if kind is None:
                raise self._failed(failure) from failure
        finally:
            if self._beside is not None:
                self._beside.unlink(missing_ok=True)

    def _failed(self, error: OSError) -> ConversationFileError:
        return ConversationFileError(f"{self.name}: cannot be written: {error.strerror}")
