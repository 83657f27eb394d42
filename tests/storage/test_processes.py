"""Two processes on one SQLite file: no message is lost, and what one wrote the other reads (law 9)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress.storage import SessionHistory

WRITER = """
import sys
from pathlib import Path
from langchain_core.messages import HumanMessage
from langchain_ctxcompress import SessionHistory

path, name, count = sys.argv[1:]
history = SessionHistory(path, session_id="shared")
Path(path + "." + name).touch()
while len(list(Path(path).parent.glob("*.ready*"))) < 2:
    pass
for number in range(int(count)):
    own = HumanMessage(f"{name} says {number} \\ud800", id=f"{name}-{number}")
    history.append([own, HumanMessage("said by both", id="both"), HumanMessage(f"in {name}'s words", id="revised")])
assert len(history.get([f"{name}-{number}" for number in range(int(count))])) == int(count)
"""


def start(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_two_processes_append_to_one_session_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    SessionHistory(path, session_id="shared").append([AIMessage("first", id="first")])
    writers = [start(path, name, 25) for name in ("ann.ready", "bob.ready")]
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert writer.returncode == 0, said
    history = SessionHistory(path, session_id="shared")
    texts = {message.id: message.text for message in history.messages()}
    expected = {f"{name}-{number}" for name in ("ann.ready", "bob.ready") for number in range(25)}
    assert set(texts) == {"first", "both", "revised"} | expected
    assert texts["ann.ready-7"] == "ann.ready says 7 \ud800"
    for name in ("ann.ready", "bob.ready"):
        own = [message_id for message_id in texts if message_id and message_id.startswith(name)]
        assert own == [f"{name}-{number}" for number in range(25)]
    assert texts["revised"] in {"in ann.ready's words", "in bob.ready's words"}


def test_what_a_process_wrote_before_it_was_killed_is_there(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from langchain_core.messages import HumanMessage\n"
        "from langchain_ctxcompress import SessionHistory\n"
        "SessionHistory(sys.argv[1], session_id='s').append([HumanMessage('kept', id='1')])\n"
        "os._exit(9)"
    )
    path = tmp_path / "history.db"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    assert SessionHistory(path, session_id="s").messages() == [HumanMessage("kept", id="1")]


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_reads_the_same_bytes(tmp_path: Path, hash_seed: str) -> None:
    code = (
        "import sys\n"
        "from langchain_ctxcompress import SessionHistory\n"
        "from langchain_ctxcompress.storage import encode_message\n"
        "for message in SessionHistory(sys.argv[1], session_id='s').messages(): print(encode_message(message))"
    )
    from langchain_ctxcompress.storage import encode_message

    message = HumanMessage(["\x00\ud800", {"type": "odd", "b": 1, "a": (2, b"x")}], id="1")
    SessionHistory(tmp_path / "history.db", session_id="s").append([message])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "history.db")],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": hash_seed},
    )
    assert done.stdout == encode_message(message) + "\n"
