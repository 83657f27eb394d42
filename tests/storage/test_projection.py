"""The view is a function of the log: history and checkpoints alone give back what was sent (law 9)."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.storage import encode_message, open_store, project

READER = """
import sys
from langchain_ctxcompress import SessionHistory
from langchain_ctxcompress.storage import encode_message, project

history = SessionHistory(sys.argv[1], session_id="s")
for message in project(history.messages(), history.checkpoints()):
    print(encode_message(message))
"""


def step(number: int, dice: random.Random) -> list[BaseMessage]:
    """A question and its answer, now and then by way of a tool."""
    asked = HumanMessage(f"Where is order A-{number}? " * dice.randrange(3, 12), id=f"h{number}")
    answered = AIMessage(f"Order A-{number} waits for part {number}. " * dice.randrange(3, 12), id=f"a{number}")
    if dice.random() < 0.7:
        return [asked, answered]
    call = AIMessage("", tool_calls=[{"name": "look", "args": {"n": number}, "id": f"c{number}"}], id=f"k{number}")
    found = ToolMessage(f"row {number}: sent " * dice.randrange(20, 120), tool_call_id=f"c{number}", id=f"t{number}")
    return [asked, call, found, answered]


@pytest.mark.parametrize("seed", range(6))
def test_it_gives_what_was_sent_after_any_compressions_and_edits(seed: int, tmp_path: Path) -> None:
    """Two workers take turns on one thread; newest messages are edited; both, and a new process, agree on the list."""
    dice = random.Random(seed)
    path = tmp_path / "archive.db"
    config = PrunerConfig.for_limit(1_800)
    workers = [ContextCompressor(config=config, store=open_store(path), session_id="s") for _ in range(2)]
    sent: list[BaseMessage] = []
    compressions = 0
    for number in range(40):
        sent = [*sent, *step(number, dice)]
        if dice.random() < 0.2:
            sent[-1] = sent[-1].model_copy(update={"content": f"Edited: order A-{number} is lost."})
        result = dice.choice(workers).compress(sent, force=dice.random() < 0.1)
        compressions += result.changed
        sent = result.messages
        if dice.random() < 0.3 or number == 39:
            dice.choice(workers).history().append(sent, after=None)
            views = [project(w.history().messages(), w.history().checkpoints()) for w in workers]
            assert views[0] == views[1] == sent
    assert compressions > 5
    run = subprocess.run([sys.executable, "-c", READER, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == list(map(encode_message, sent))


def test_without_checkpoints_it_is_the_history() -> None:
    history = SessionHistory(None, session_id="s")
    history.append([HumanMessage("a", id="1"), AIMessage("b", id="2")])
    assert project(history.messages(), history.checkpoints()) == history.messages()
    assert project([], []) == []
