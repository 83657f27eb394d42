"""What people read: lines on stderr, tables on stdout, and how a command that fails says so."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from langchain_ctxcompress.errors import CtxCompressError

PROGRAM = "ctxcompress"
OK, STILL_TOO_LARGE, BAD_INPUT = 0, 1, 2
"""Exit codes; typer gives 130 where a command is interrupted."""

WIDTH = 1_000
"""Columns of a table that goes into a file or a pipe: no terminal says how wide it is, and a row is one line."""

NARROW = 120
"""Columns below which a terminal is not shown the columns that only a wide one has room for."""

LONGEST_WORD = 20
"""Characters of a word that is not broken over two lines of a narrow table."""

GAP = 2
"""Blanks between two columns."""

_NUMBER = re.compile(r"[0-9][0-9.,]*( %)?")

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


def help_without_command(context: typer.Context) -> None:
    """Show the help of a group of commands where none of them is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(OK)


def emit_json(document: Any) -> None:
    """One JSON document on stdout, in UTF-8 whatever the locale says."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json.dumps(document, indent=2).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()


def emit_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | int]],
    footer: Sequence[str] = (),
    *,
    wide_only: Collection[str] = (),
    whole: Collection[str] = (),
    excerpts: Collection[str] = (),
) -> None:
    """A table on stdout: numbers to the right, with separators. In a pipe it is plain text, a line for each row.

    Args:
        title: What it shows.
        columns: The headings.
        rows: The cells.
        footer: The last line; empty cells where there is nothing to say.
        wide_only: Headings of columns that are left out in a narrow terminal.
        whole: Headings of columns that are never cut, such as ids: they are there to be copied.
        excerpts: Headings of columns that are cut at the end of the line in a narrow terminal.
    """
    plain = not sys.stdout.isatty()
    console = Console(width=WIDTH if plain and "COLUMNS" not in os.environ else None)
    shown = [place for place, name in enumerate(columns) if console.width >= NARROW or name not in wide_only]
    table = Table(box=None if plain else SIMPLE, show_edge=False, show_footer=bool(footer), pad_edge=False)
    table.padding = (0, GAP if plain else GAP - 1, 0, 0)  # a box adds one
    body = [[_cell(row[place], columns[place] in (*whole, *excerpts)) for place in shown] for row in rows]
    heads = [Text(columns[place]) for place in shown]
    feet = [Text(footer[place] if footer else "") for place in shown]
    cells = [[*column] for column in zip(heads, feet, *body, strict=True)]
    numbers = [bool(body) and all(_NUMBER.fullmatch(cell.plain) for cell in column[2:]) for column in cells]
    short = [columns[place] in excerpts for place in shown]
    widths = _widths(cells, numbers, short, console.width)
    for head, foot, number, cut, width in zip(heads, feet, numbers, short, widths, strict=True):
        table.add_column(
            head,
            foot,
            justify="right" if number else "left",
            overflow="ellipsis" if cut else "fold",
            no_wrap=number or cut,
            width=width,
        )
    for row in body:
        table.add_row(*row)
    if plain:
        with console.capture() as capture:
            console.print(table)
        lines = [one_line(title), *(line.rstrip() for line in capture.get().splitlines())]
        console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    else:
        console.print(Text(one_line(title), style="bold"))
        console.print(table)


def _widths(cells: Sequence[Sequence[Text]], numbers: Sequence[bool], short: Sequence[bool], room: int) -> list[int]:
    """The width of each column: the widest gives way until all fit, but a word is broken only if it is very long."""
    widths = [max(cell.cell_len for cell in column) for column in cells]
    least = [
        width
        if number
        else 12
        if cut
        else min(LONGEST_WORD, max(len(w) for cell in column for w in cell.plain.split()))
        for column, number, cut, width in zip(cells, numbers, short, widths, strict=True)
    ]
    room -= GAP * (len(cells) - 1)
    while sum(widths) > room and (free := [place for place in range(len(widths)) if widths[place] > least[place]]):
        widths[max(free, key=widths.__getitem__)] -= 1
    return widths


def emit_line(text: str) -> None:
    """One line on stdout."""
    Console().print(one_line(text), markup=False, highlight=False, soft_wrap=True)


def _cell(value: str | int, whole: bool) -> Text:
    if isinstance(value, int):
        return Text(f"{value:,}")
    text = one_line(value)
    half = LONGEST_CELL // 2
    return Text(text if whole or len(text) <= LONGEST_CELL else f"{text[:half]}...{text[-half:]}")


@contextmanager
def plain_errors() -> Iterator[list[str]]:
    """Errors of this package, and of the system, become one line on stderr and exit code 2; warnings become a line.

    Yields:
        The warnings so far.

    Raises:
        Exit: With that code.
    """
    with _plain_log() as warnings:
        try:
            yield warnings
        except BrokenPipeError:
            raise  # whoever read the output has enough: no error of the user's
        except (CtxCompressError, OSError) as error:
            say(str(error))
            raise typer.Exit(BAD_INPUT) from error


class _OneLine(logging.Handler):
    """Warnings of the package on stderr, one line each, without tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Say it, once: several readers of one damaged record warn of it alike."""
        if (line := one_line(record.getMessage())) in self.said:
            return
        self.said.append(line)
        say(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def _plain_log() -> Iterator[list[str]]:
    logger = logging.getLogger("langchain_ctxcompress")
    handler, before = _OneLine(), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler.said
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
