"""What people read: lines on stderr, tables on stdout, and how a command that fails says so."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from langchain_ctxcompress.errors import CtxCompressError

PROGRAM = "ctxcompress"
OK, STILL_TOO_LARGE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""

WIDTH = 180
"""Columns of a table that goes into a file or a pipe, where no terminal says how wide it is."""

NARROW = 120
"""Columns below which a terminal is not shown the columns that only a wide one has room for."""

LONGEST_CELL = 40
"""Characters of a name in a table; a longer one is cut in its middle."""


def say(text: str) -> None:
    """One line on stderr, whatever is in the text."""
    stderr().print(f"{PROGRAM}: {one_line(text)}", markup=False, highlight=False, soft_wrap=True)


def one_line(text: str) -> str:
    """The text on one line, with what a terminal could take for a command written out."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text.strip())


def stderr() -> Console:
    """Standard error as it is now: a running progress bar moves out of the way of what is printed there."""
    return Console(stderr=True)


def emit_json(document: Any) -> None:
    """One JSON document on stdout, in UTF-8 whatever the locale says."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json.dumps(document, indent=2).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


def emit_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | int]],
    footer: Sequence[str],
    *,
    wide_only: Collection[str] = (),
) -> None:
    """A table on stdout: numbers to the right, with separators.

    Args:
        title: What it shows.
        columns: The headings.
        rows: The cells.
        footer: The last line; empty cells where there is nothing to say.
        wide_only: Headings of columns that are left out in a narrow terminal.
    """
    console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH)
    shown = [place for place, name in enumerate(columns) if console.width >= NARROW or name not in wide_only]
    table = Table(title=Text(title), title_justify="left", show_footer=True)
    body = list(rows)
    for place in shown:
        number = bool(body) and isinstance(body[0][place], int)
        table.add_column(
            columns[place], Text(footer[place]), justify="right" if number else "left", overflow="fold", no_wrap=number
        )
    for row in body:
        cells = (row[place] for place in shown)
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else _cell(cell)) for cell in cells))
    console.print(table)


def emit_line(text: str) -> None:
    """One line on stdout."""
    Console().print(one_line(text), markup=False, highlight=False, soft_wrap=True)


def _cell(text: str) -> str:
    text = one_line(text)
    half = LONGEST_CELL // 2
    return text if len(text) <= LONGEST_CELL else f"{text[:half]}...{text[-half:]}"


@contextmanager
def plain_errors() -> Iterator[None]:
    """Errors of this package, and of the system, become one line on stderr and exit code 2; so do its warnings.

    Raises:
        Exit: With that code.
    """
    with _plain_log():
        try:
            yield
        except BrokenPipeError:
            raise  # whoever read the output has enough: no error of the user's
        except (CtxCompressError, OSError) as error:
            say(str(error))
            raise typer.Exit(BAD_INPUT) from error


class _OneLine(logging.Handler):
    """Warnings of the package on stderr, one line each, without tracebacks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        say(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def _plain_log() -> Iterator[None]:
    logger = logging.getLogger("langchain_ctxcompress")
    handler, before = _OneLine(logging.WARNING), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
