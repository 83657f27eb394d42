"""`inspect` over a real SQLite file: the table, the page, the live page, and what is refused."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from langchain_core.messages.utils import convert_to_messages

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.cli.conftest import RunMain
from tests.cli.sessions import LIMIT, exchanges


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "sessions.sqlite"
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=path)
    compressor.compress(convert_to_messages(exchanges(12, "goods")), session_id="goods: 1")
    return str(path)


def test_without_an_option_it_is_a_table(store: str, run_main: RunMain) -> None:
    code, shown, told = run_main("inspect", "goods", "--store", store)
    assert (code, told) == (0, "")
    assert "Session goods: 1" in shown
    assert re.search(rf"messages in the archive\W+{len(exchanges(12, 'goods'))}\b", shown)


def test_a_page_is_written_once_and_replaced_only_when_asked(store: str, tmp_path: Path, run_main: RunMain) -> None:
    page = tmp_path / "out.html"
    arguments = ("inspect", "goods: 1", "--store", store, "--html", str(page), "--limit", str(LIMIT))
    assert run_main(*arguments)[0] == 0
    first = page.read_text(encoding="utf-8")
    assert first.startswith("<!doctype html>")
    assert f'"limits":[{int(0.625 * LIMIT)},{LIMIT}]' in first
    code, _, told = run_main(*arguments)
    assert code == 2
    assert told == f"ctxcompress: {page}: is there already; --force replaces it\n"
    assert run_main(*arguments, "--force")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody"], "there is no session 'nobody'"),
        (["goods", "--html", "x.html", "--serve"], "--html and --serve: name one of them"),
        (["goods", "--html", "missing/folder/x.html"], "missing/folder/x.html: cannot be written"),
        (["goods", "--serve", "--port", "99999"], "Invalid value for '--port'"),
        (["goods", "--limit", "1"], "hard_limit_tokens"),
    ],
)
def test_what_is_wrong_is_one_line(store: str, run_main: RunMain, arguments: list[str], said: str) -> None:
    code, shown, told = run_main("inspect", *arguments, "--store", store)
    assert (code, shown) == (2, "")
    assert said in told
    assert told.count("\n") == 1


START = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    " runpy.run_module('langchain_ctxcompress.cli', run_name='__main__')"
)
"""What a shell starts in the background ignores Ctrl-C, and so would all that it starts."""


def test_the_live_page_is_served_until_it_is_interrupted(store: str) -> None:
    command = [sys.executable, "-c", START, "inspect", "goods", "--store", store, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert url is not None
            with urllib.request.urlopen(url[0], timeout=30) as answer:
                assert b"Session <span" in answer.read()
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            finally:
                process.kill()
        assert process.returncode == 0
