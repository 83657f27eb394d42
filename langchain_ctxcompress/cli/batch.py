"""`Batch`: the conversations of all files in order, with a progress bar, and the errors found on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from langchain_ctxcompress.cli.terminal import BAD_INPUT, OK, one_line, say, stderr
from langchain_ctxcompress.conversations import Conversation, ConversationFile
from langchain_ctxcompress.errors import ConversationFileError


class Batch:
    """Reads every file. A conversation that cannot be read is said on stderr and left out; the others are done.

    Attributes:
        errors: What was said, in order.
        conversations: How many conversations were given out.

    Args:
        paths: The files, "-" for standard input.

    Raises:
        Exit: A file is not there, or is no file: then nothing is done at all.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.errors: list[str] = []
        self.conversations = 0
        self._files: list[ConversationFile] = []
        for path in paths:
            try:
                self._files.append(ConversationFile(path))
            except ConversationFileError as error:
                self.refuse(str(error))
        if self.errors:
            raise typer.Exit(BAD_INPUT)

    @property
    def exit_code(self) -> int:
        """2 if anything could not be read, else 0."""
        return BAD_INPUT if self.errors else OK

    def refuse(self, error: str) -> None:
        """Say what is wrong, and keep it."""
        self.errors.append(one_line(error))
        say(error)

    def __iter__(self) -> Iterator[Conversation]:
        """Each conversation that can be read; the bar shows how far the files are read, in a terminal."""
        console = stderr()
        columns = (
            TextColumn("{task.fields[count]} conversations"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        total = sum(file.size for file in self._files) or None
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            bar = progress.add_task("", total=total, count=0)
            done = 0
            for file in self._files:
                for item in file:
                    if isinstance(item, ConversationFileError):
                        self.refuse(str(item))
                        continue
                    yield item
                    self.conversations += 1
                    progress.update(bar, completed=done + file.position, count=self.conversations)
                    progress.update(bar, description=one_line(Path(file.name).name))
                done += file.size
