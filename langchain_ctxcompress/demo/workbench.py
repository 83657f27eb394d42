"""The demo agent's tools: they list, read, search and outline Python's standard library, and run small programs.

Every tool takes and returns plain text, as a model would see it. Paths are relative to the library's folder, and
nothing in an output depends on the time, the user or the order of a set, so that two recordings are the same.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RUN_TIMEOUT_SECONDS = 30.0
"""Time a program of the agent gets; each of them needs well under a second."""

MAX_OUTPUT_LINES = 110
"""Longest output of a tool, in lines: a page of source. The agent asks for the next page, as it would with a model."""

MAX_LINE_CHARACTERS = 160

_SKIPPED_FOLDERS = frozenset({"__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3"})


class ToolError(Exception):
    """A tool could not do what it was asked; the message is what the agent is shown."""


class Workbench:
    """The tools of the demo agent.

    Args:
        root: The folder they see; by default that of the standard library this Python runs on.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or Path(sysconfig.get_path("stdlib"))).resolve()
        self._tools: dict[str, Callable[..., Iterator[str]]] = {
            "list_files": self._list_files,
            "count_lines": self._count_lines,
            "read_file": self._read_file,
            "search": self._search,
            "outline": self._outline,
            "run_python": self._run_python,
        }

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the tools, as the agent calls them."""
        return tuple(self._tools)

    def run(self, name: str, args: dict[str, Any]) -> str:
        """Run one tool.

        Args:
            name: One of `tool_names`.
            args: Its arguments by name.

        Returns:
            What the agent is shown.

        Raises:
            ToolError: There is no such file, or the pattern is not a regular expression.
        """
        return shorten(list(self._tools[name](**args)))

    def _list_files(self, folder: str) -> Iterator[str]:
        for path in self._sources(folder):
            yield f"{self._name(path)}  {path.stat().st_size} bytes"

    def _count_lines(self, path: str) -> Iterator[str]:
        lines = self._lines(path)
        blank = sum(not line.strip() for line in lines)
        comments = sum(line.lstrip().startswith("#") for line in lines)
        yield f"{path}: {len(lines)} lines, {blank} blank, {comments} of comments"

    def _read_file(self, path: str, first: int = 1, last: int = MAX_OUTPUT_LINES) -> Iterator[str]:
        lines = self._lines(path)
        for number, line in enumerate(lines[first - 1 : last], start=first):
            yield f"{number:5d}  {line}"
        if last < len(lines):
            yield f"({len(lines) - last} more lines)"

    def _search(self, pattern: str, where: str) -> Iterator[str]:
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            msg = f"error: {pattern!r} is no regular expression: {error}"
            raise ToolError(msg) from error
        found = False
        for path in self._sources(where):
            name = self._name(path)
            for number, line in enumerate(self._lines(name), start=1):
                if wanted.search(line):
                    found = True
                    yield f"{name}:{number}: {line.strip()}"
        if not found:
            yield f"no line in {where} matches {pattern!r}"

    def _outline(self, path: str) -> Iterator[str]:
        tree = ast.parse("\n".join(self._lines(path)))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                kind = "class" if isinstance(node, ast.ClassDef) else "def"
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                yield f"{path}:{node.lineno}: {kind} {node.name} ({length} lines)"

    def _run_python(self, code: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(  # noqa: S603 - the program is one of this script's own
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", code],
                cwd=folder,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=RUN_TIMEOUT_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        yield f"exit code {done.returncode}"
        yield from (done.stdout + done.stderr).replace(f"{self.root}/", "").splitlines()

    def _sources(self, where: str) -> list[Path]:
        """The Python files under a folder, or the one file, in the order of their names."""
        start = self._inside(where)
        if start.is_file():
            return [start]
        found = (
            path for path in start.rglob("*.py") if not _SKIPPED_FOLDERS.intersection(path.parts[len(start.parts) :])
        )
        return sorted(found)

    def _lines(self, path: str) -> list[str]:
        file = self._inside(path)
        if not file.is_file():
            msg = f"error: {path} is a folder, not a file"
            raise ToolError(msg)
        return file.read_text(encoding="utf-8", errors="replace").splitlines()

    def _inside(self, path: str) -> Path:
        full = (self.root / path).resolve()
        if not full.is_relative_to(self.root) or not full.exists():
            msg = f"error: no such file or folder: {path}"
            raise ToolError(msg)
        return full

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def shorten(lines: list[str]) -> str:
    """One page of an output: long lines are cut, and what is beyond the page is counted."""
    page = [line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]}…" for line in lines]
    if len(page) > MAX_OUTPUT_LINES:
        page = [*page[:MAX_OUTPUT_LINES], f"(output shortened: {len(page) - MAX_OUTPUT_LINES} lines left out)"]
    return "\n".join(page)
