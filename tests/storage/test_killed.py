"""A process that is killed at any moment loses nothing that it was told is stored (law 2)."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest

from langchain_ctxcompress.storage import SessionHistory, encode_message, open_store
from tests.storage.worker import compressor, processes, said, stream
from tests.support.legality import violations

SEED = 20_240_515
KILLS_PER_SESSION = 25
AT_ONCE = 5
"""Every so many kills one comes without waiting for the first append: it may hit the opening, too."""


def killed(place: str, session_id: str, acknowledged: Path, moment: float, *, at_once: bool) -> None:
    """Start a process that writes, and kill it."""
    before = len(lines(acknowledged))
    process = processes.Process(target=stream, args=(place, session_id, str(acknowledged)), daemon=True)
    process.start()
    end = time.monotonic() + 60
    while not at_once and len(lines(acknowledged)) == before:
        assert process.is_alive(), "the process ended by itself before its first append"
        assert time.monotonic() < end, "the session does not go on"
        time.sleep(0.002)
    time.sleep(moment)
    assert process.is_alive(), "the process ended by itself"
    process.kill()
    process.join()


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def check(place: str, session_id: str, acknowledged: Path) -> tuple[int, int]:
    """What a process started anew finds; returns how many messages and checkpoints."""
    store = open_store(place)
    history = SessionHistory(store, session_id=session_id)
    found = {str(message.id): message for message in history.messages()}
    ids = [str(message.id) for message in history.messages()]
    assert set(lines(acknowledged)) <= set(ids), "an append had returned, and its message is gone"
    assert ids == [f"m{number}" for number in range(len(ids))], "a message is missing, twice or out of order"
    assert [str(message.id) for message in history.iter(page=50)] == ids
    assert all(encode_message(found[i]) == encode_message(said(number)) for number, i in enumerate(ids))
    returned = lines(acknowledged)
    assert [m.id for m in history.get(returned)] == returned, "the index has lost a message"
    checkpoints = history.checkpoints()
    for checkpoint in checkpoints:
        assert set(checkpoint.covered) <= set(ids), "a checkpoint refers to a message that is missing"
        assert not checkpoint.previous or checkpoint.previous in {c.checkpoint_id for c in checkpoints}
    again = compressor(store, session_id)
    if checkpoints:
        originals = again.expand(checkpoints[-1].checkpoint_id, session_id=session_id)
        assert originals is not None
        assert all(message == found[str(message.id)] for message in originals)
    view = again.view(history.messages())
    assert violations(view, original=history.messages()) == []
    assert max(Counter(message.id for message in view).values(), default=1) == 1
    return len(ids), len(checkpoints)


def run(place: str, folder: Path, kills: int, longest: float) -> tuple[int, int]:
    chance = random.Random(SEED)
    messages = checkpoints = 0
    for number in range(kills):
        session_id = f"session {number // KILLS_PER_SESSION}"
        acknowledged = folder / f"acknowledged-{number // KILLS_PER_SESSION}"
        moment = chance.uniform(0, longest)
        killed(place, session_id, acknowledged, moment, at_once=number % AT_ONCE == AT_ONCE - 1)
        found = check(place, session_id, acknowledged)
        if number % KILLS_PER_SESSION == KILLS_PER_SESSION - 1 or number == kills - 1:
            messages, checkpoints = messages + found[0], checkpoints + found[1]
    print(f"{kills} kills: {messages} messages, {checkpoints} checkpoints, nothing lost")
    return messages, checkpoints


def test_ten_kills(place: str, tmp_path: Path) -> None:
    messages, checkpoints = run(place, tmp_path, 10, longest=0.4)
    assert messages > 20
    assert checkpoints > 0


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_two_hundred_kills(place: str, tmp_path: Path) -> None:
    messages, checkpoints = run(place, tmp_path, 200, longest=1.0)
    assert messages > 2_000
    assert checkpoints > 50
