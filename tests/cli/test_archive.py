"""The same commands on every store that outlives them, and on a session with branches."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_messages
from typer.testing import CliRunner

from langchain_ctxcompress import SessionHistory
from langchain_ctxcompress.cli import app
from tests.cli.sessions import LIMIT, exchanges, load, tokens, write
from tests.support.postgres import location

runner = CliRunner()


def run(*arguments: str) -> str:
    done = runner.invoke(app, list(arguments))
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(location(request.param, request, tmp_path))


def test_from_compress_to_a_restored_snapshot(store: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", {"id": "x", "messages": exchanges(12)}), tmp_path / "out.jsonl"
    run("compress", path, "--limit", str(LIMIT), "--out", str(out), "--store", store)
    session_id = load(out)[0]["ctxcompress"]["session_id"]
    (session,) = json.loads(run("history", "list", "--store", store, "--json"))["sessions"]
    assert (session["session_id"], session["tokens"]) == (session_id, tokens(exchanges(12)))
    assert (session["messages"], session["compressions"]) == (49, 1)
    found = json.loads(run("history", "search", "O-1003", "--store", store, "--json"))["results"]
    assert "O-1003" in found[0]["message"]["data"]["content"]
    made = json.loads(run("snapshot", "create", session_id, "--store", store, "--json"))["snapshot"]["snapshot_id"]
    again = tmp_path / "again.jsonl"
    run("snapshot", "restore", made, "--output", str(again), "--store", store)
    said = [message["data"]["content"] for message in load(again)[0]["messages"]]
    assert said == [message.content for message in convert_to_messages(exchanges(12))]


def test_looking_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "sessions.sqlite"
    history = SessionHistory(file, session_id="s")
    history.append([HumanMessage("hello", id="1")])
    before = history.info()
    for command in (["history", "list"], ["history", "show", "s"], ["history", "export", "s"], ["snapshot", "list"]):
        run(*command, "--store", str(file))
    assert SessionHistory(file, session_id="s").info() == before


@pytest.mark.parametrize(
    ("store_option", "told"),
    [
        ("redis:6379", "--store is 'redis:6379': it must be the path of a SQLite file"),
        ("mysql://user:secret@host/db", "--store is 'mysql://host/db': it must be"),
        ("user:secret@host/db", "--store is '…host/db': it must be"),
        (":memory:", "--store is ':memory:': nothing stays in memory"),
        ("sqlite:", "--store is 'sqlite:': it must be"),
        ("nowhere/x.db", "there is no file 'nowhere/x.db'"),
        ("letter.txt", "the SQLite file letter.txt cannot be used as a store"),
        ("other.db", "the file 'other.db' is no archive"),
        ("empty.db", "the file 'empty.db' is no archive"),
        ("postgresql://u:secret@127.0.0.1:1/db", "the PostgreSQL server cannot be used as a store"),
    ],
)
def test_a_wrong_store_is_one_line_and_nothing_is_made(
    store_option: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("letter.txt").write_text("Dear reader, " * 100)
    Path("empty.db").touch()
    with sqlite3.connect("other.db") as connection:
        connection.execute("CREATE TABLE own (x)")
    connection.close()
    before = {child.name: child.read_bytes() for child in tmp_path.iterdir()}
    for command in (["list"], ["show", "x"], ["search", "x"], ["export", "x"]):
        done = runner.invoke(app, ["history", *command, "--store", store_option])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        line = done.stderr.removeprefix("ctxcompress: ")
        assert line.startswith(told) or "langchain-ctxcompress[postgres]" in line
        assert "secret" not in line
    assert {child.name: child.read_bytes() for child in tmp_path.iterdir()} == before


class TestBranches:
    @pytest.fixture
    def store(self, tmp_path: Path) -> str:
        """A thread that was run again from its second message."""
        file = tmp_path / "sessions.sqlite"
        history = SessionHistory(file, session_id="s")
        start: list[BaseMessage] = [HumanMessage("begin", id="h1"), AIMessage("begun", id="a1")]
        history.append([*start, HumanMessage("left", id="left"), AIMessage("went left", id="a2")])
        history.append([*start, HumanMessage("right", id="right")])
        return str(file)

    def exported(self, store: str, folder: Path, *options: str) -> list[str]:
        out = folder / "out.jsonl"
        run("history", "export", "s", "--out", str(out), "--force", "--store", store, *options)
        return [message["data"]["id"] for message in load(out)[0]["messages"]]

    def test_they_are_shown(self, store: str) -> None:
        shown: Any = json.loads(run("history", "show", "s", "--store", store, "--json"))
        assert [(b["last_id"], b["forked_after"], b["messages"]) for b in shown["branches"]] == [
            ("right", "a1", 3),
            ("a2", "a1", 4),
        ]
        assert "forked after" in run("history", "show", "s", "--store", store)

    def test_one_is_exported(self, store: str, tmp_path: Path) -> None:
        assert self.exported(store, tmp_path, "--branch", "a2") == ["h1", "a1", "left", "a2"]
        assert self.exported(store, tmp_path, "--branch", "right") == ["h1", "a1", "right"]
        assert len(self.exported(store, tmp_path)) == 5

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["--branch", "nowhere"], "branch is 'nowhere': no message of that id is archived"),
            (["--branch", "a2", "--checkpoint", "c"], "--checkpoint and --branch: name one of them"),
        ],
    )
    def test_what_is_none_is_refused(self, store: str, options: list[str], told: str) -> None:
        done = runner.invoke(app, ["history", "export", "s", "--store", store, *options])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"ctxcompress: {told}")
