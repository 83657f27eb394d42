"""What people read: tables in a terminal and in a pipe, and help where no command is named."""

from __future__ import annotations

import re
import sys

import pytest

from langchain_ctxcompress.cli.terminal import emit_table
from tests.cli.conftest import RunMain
from tests.cli.sessions import ctxcompress

COLUMNS = ("session", "messages", "share", "text")
ROWS = [("s" * 60, 1_234_567, "4 %", "one two three " * 20), ("short", 8, "100 %", "[bold]x[/bold]")]


def shown(width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    emit_table("A [title]\nof two lines", COLUMNS, ROWS, whole=("session",), excerpts=("text",))
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()


@pytest.mark.parametrize("width", [60, 80, 130])
def test_a_table_is_no_wider_than_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    lines = shown(width, capsys, monkeypatch)
    assert max(map(len, lines)) <= width
    assert lines[0] == "A [title]\\nof two lines"
    assert any(set(line.strip()) == {"─"} for line in lines)
    text = "".join(line.split(" ")[0] for line in lines[3:])
    assert text == "s" * 60 + "short"  # folded, never cut: it is there to be copied
    assert any("1,234,567" in line and "…" in line for line in lines)
    assert any("[bold]x[/bold]" in line for line in lines)


def test_a_pipe_has_a_line_for_each_row(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    emit_table("title", COLUMNS, ROWS, whole=("session", "text"))
    title, head, first, second = capsys.readouterr().out.splitlines()
    assert (title, head.split()) == ("title", list(COLUMNS))
    assert first == f"{'s' * 60}  1,234,567    4 %  {'one two three ' * 20}".rstrip()
    assert second == f"{'short':60}  {'8':>9}  100 %  [bold]x[/bold]"
    assert (head.index("messages") + 8, head.index("share") + 5) == (60 + 2 + 9, 60 + 2 + 9 + 2 + 5)


def test_an_empty_table_is_its_title_and_headings(capsys: pytest.CaptureFixture[str]) -> None:
    emit_table("title", ("a", "b"), [])
    assert capsys.readouterr().out == "title\na  b\n"


@pytest.mark.parametrize("command", [[], ["history"], ["snapshot"]])
def test_without_a_command_there_is_help(command: list[str], run_main: RunMain) -> None:
    code, out, told = run_main(*command)
    assert (code, told) == (0, "")
    assert f"Usage: ctxcompress {' '.join(command)}".rstrip() in out
    assert "list" in out if command else "compare" in out
    assert all(char.isascii() for char in out)  # no boxes in a pipe


@pytest.mark.parametrize("command", ["history", "snapshot"])
def test_a_wrong_command_of_a_group_is_one_line(command: str, run_main: RunMain) -> None:
    code, out, told = run_main(command, "frobnicate")
    assert (code, out) == (2, "")
    assert told == "ctxcompress: No such command 'frobnicate'.\n"


def test_what_the_locale_cannot_show_is_spelt_out() -> None:
    record = '{"id": "h\u00e4", "messages": [{"role": "user", "content": "x"}]}'
    done = ctxcompress("count", "-", stdin=record, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "h\\xe4" in done.stdout
