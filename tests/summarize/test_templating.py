"""The templates of prompts are read as modules are, so that a compressor can be made, and can compress, on a loop."""

from __future__ import annotations

import builtins
import io
import os
from pathlib import Path
from typing import Any

import pytest

import langchain_ctxcompress
from langchain_ctxcompress.summarize.templating import template

FOLDER = Path(langchain_ctxcompress.__file__).parent / "summarize" / "templates"
NAMES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.j2"))


def refused(*_args: Any, **_kwargs: Any) -> Any:
    raise AssertionError("a blocking call")


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_read_without_a_call_that_is_watched_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`langgraph dev` refuses these on its loop, but for those that are made in order to import a module."""
    import jinja2  # noqa: F401

    template.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refused)
        patch.setattr(builtins, "open", refused)
        patch.setattr(io, "open", refused)
        found = template(name)
    assert found.name == name
    assert template(name) is found


def test_there_is_one_for_each_prompt_and_mode() -> None:
    assert len(NAMES) == 7
