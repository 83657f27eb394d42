"""Every code block of the README and of the documentation is run, page by page, in the order in which it stands there.

A page is read from its top: its blocks share one set of names and one empty folder, so that nothing is run that it
does not show. `ctxcompress` commands are run, `make` goals must be there. A block behind `<!-- not run: reason -->`
(it needs a key, a server, another library) is compiled, or its options are checked. Where a page says what a block
prints, that is what it prints.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

import langchain_ctxcompress
from langchain_ctxcompress.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^( *)```([a-z]*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*$")
PRINTS = re.compile(r"prints[^\n`]*:\s*$")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
MADE_BY_A_COMMAND = {"evaluation.md", "evaluation-realmodel.md"}
"""Pages that a command writes anew."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: What stands behind the fence.
        source: The text.
        line: Where it begins.
        runs: Whether it is run, or only read.
        printed: Whether it is what the block before it prints.
    """

    language: str
    source: str
    line: int
    runs: bool
    printed: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        source = re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)
        line = before.count("\n") + 2
        found.append(Block(match[2], source, line, not NOT_RUN.search(before), bool(PRINTS.search(before))))
    return found


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def run_python(page: Path, block: Block, names: dict[str, Any]) -> str:
    """What the block prints; a fault in it is shown with its line on the page."""
    source = "\n" * (block.line - 1) + block.source
    code = compile(source, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    printed = io.StringIO()
    if not block.runs:
        return ""
    # LangChain shows its own notices of deprecation whatever the filters say: they are taken up and left.
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True):
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, names))
        else:
            exec(code, names)
    return printed.getvalue()


def commands(block: Block) -> list[list[str]]:
    lines = block.source.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def check_command(words: list[str], *, runs: bool) -> None:
    if words[0] == "make":
        goals = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        assert {word for word in words[1:] if "=" not in word} <= goals
    if words[0] != "ctxcompress":
        return
    if runs:
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, f"{shlex.join(words)}: {done.output}"
        return
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    command.make_context(words[1], rest, resilient_parsing=True)  # an unknown option raises


@pytest.mark.filterwarnings("ignore:The (class|function) `:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:`?RunnableWithMessageHistory:DeprecationWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_code_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    names: dict[str, Any] = {"__name__": "example"}
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            printed = run_python(page, block, names)
        elif block.language == "sh":
            for words in commands(block):
                check_command(words, runs=block.runs)
        elif block.printed:
            assert printed == block.source, f"{name_of(page)}, line {block.line}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for match in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = (match[1] or match[2]).partition("#")[0]
        if target and "://" not in target:
            assert (page.parent / target).exists(), f"{name_of(page)} links {target}"


def test_every_page_is_in_the_navigation() -> None:
    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        return [page for part in (entry.values() if isinstance(entry, dict) else entry) for page in pages(part)]

    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = pages(settings["nav"])
    assert len(listed) == len(set(listed))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert set(listed) <= there
    assert there - set(listed) <= MADE_BY_A_COMMAND


def test_the_site_loads_nothing_from_a_network() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert settings["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript"} & set(settings)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the site is built by `make docs`, which installs what it needs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, re.findall("WARNING|ERROR", done.stderr)) == (0, []), done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]+)', page.read_text("utf-8"))
        assert loaded == [], page.name


def test_the_reference_has_every_public_name() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    described = set(re.findall(r"^::: langchain_ctxcompress\.(\w+)$", text, re.MULTILINE))
    assert set(langchain_ctxcompress.__all__) <= described


def test_the_picture_of_the_readme_is_small() -> None:
    assert (DOCS / "images" / "window.png").stat().st_size < 80_000
