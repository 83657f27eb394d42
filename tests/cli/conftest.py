"""The command line in this process: faster than another one, and its lines are counted."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from langchain_ctxcompress.cli import main

RunMain = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_main(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> RunMain:
    """Gives a function that runs the command line and returns exit code, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ctxcompress", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        code = stop.value.code
        assert isinstance(code, int)
        return code, *capfd.readouterr()

    return run
