"""The examples that run from start to end: what they print, and what their models are sent."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.examples.conftest import EXAMPLES, Watched

Load = Callable[[str], ModuleType]

# The most tokens a prompt may hold, and what is printed. A chain sends the found text and the question on top.
SCRIPTS = {
    "agent_with_tools": (2_500, "The first question, from the archive: Where are the orders of customer 0?"),
    "chat": (1_500, "About “Question 39: how does it”: it is like this."),
    "rag_chain": (1_200 + 100, "The last answer: Our text says: Accounts are closed on request"),
    "supervisor": (2_000, "It is found out and written down."),
    "human_in_the_loop": (2_000, "Done: The money for A-19 was sent back."),
    "functional_api": (1_500, "To “Question 29:” I say: it depends."),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_says_what_it_shows(
    name: str, load: Load, watched: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    limit, said = SCRIPTS[name]
    load(name).main()
    printed = capsys.readouterr().out
    assert said in printed
    watched.check(limit)
    counts = next(line for line in printed.splitlines() if "messages are" in line)
    numbers = [int(number) for number in re.findall(r"(\d+)(?: messages)? (?:are|is) ", counts)]
    assert numbers[-1] < 40, "the list that is kept is short"
    if len(numbers) > 1:
        assert numbers[0] > 2 * numbers[1], "and the archive holds far more"


def test_the_refused_refunds_were_refused(load: Load, watched: Watched) -> None:
    load("human_in_the_loop").main()
    answers = {m.text for prompt in watched.prompts for m in prompt if m.type == "tool"}
    assert any("Not this one." in text for text in answers)
    assert any(text.startswith("The money for A-0 ") for text in answers)
    assert not [text for text in answers if text.startswith("The money for A-2 ")]


def test_an_example_runs_from_the_command_line() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / "chat.py")], capture_output=True, text=True, check=True
    )
    assert "messages are in the context" in run.stdout


def test_every_example_is_named_in_the_readme() -> None:
    named = set(re.findall(r"`(\w+\.py)`", (EXAMPLES / "README.md").read_text(encoding="utf-8")))
    assert named == {path.name for path in EXAMPLES.glob("*.py") if not path.name.startswith("_")}
