"""The examples are imported as a user's script is run: with their own folder on the path."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from tests.support.legality import is_summary, violations
from tests.support.sizes import independent_tokens

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Watched:
    """What the examples' models were sent, without the summariser's prompts."""

    def __init__(self) -> None:
        self.prompts: list[list[BaseMessage]] = []

    def check(self, limit: int) -> None:
        """Each prompt is legal and within its limit, and the last ones stand on a summary."""
        assert self.prompts
        assert [found for prompt in self.prompts for found in violations(prompt, open_end=False)] == []
        assert max(map(independent_tokens, self.prompts)) < limit
        assert sum(map(is_summary, self.prompts[-1])) == 1


@pytest.fixture
def load() -> Iterator[Callable[[str], ModuleType]]:
    """Imports an example by name; it is forgotten behind the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield importlib.import_module
    for name in [name for name, module in sys.modules.items() if str(EXAMPLES) in str(getattr(module, "__file__", ""))]:
        del sys.modules[name]


@pytest.fixture
def watched(load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Keeps every prompt that an example's own model is sent."""
    model = load("_model").DemoModel
    answer, seen = model._generate, Watched()

    def generate(self: Any, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        if self.reply.__module__ != "_model":  # the summariser's is there
            seen.prompts.append(list(messages))
        return answer(self, messages, *args, **options)

    monkeypatch.setattr(model, "_generate", generate)
    return seen
