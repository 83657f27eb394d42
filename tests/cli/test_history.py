"""`history` over real SQLite files: what is listed, shown, found and exported, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import convert_to_messages, messages_from_dict
from langgraph.store.base import BaseStore
from typer.testing import CliRunner

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.cli import app
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import SnapshotStore, open_store
from tests.cli.sessions import LIMIT, ctxcompress, exchanges, load, tokens, write
from tests.support.sizes import independent_tokens

runner = CliRunner()
GOODS = convert_to_messages(exchanges(12, "goods"))
TOOLS = convert_to_messages(exchanges(3, "tools"))
GOODS_SIZE, TOOLS_SIZE = tokens(exchanges(12, "goods")), tokens(exchanges(3, "tools"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A file with two sessions; that of the goods was compressed, and written to last."""
    path = tmp_path / "archive" / "sessions.sqlite"
    SessionHistory(path, session_id="tools/1").append(TOOLS)  # no one counts here
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=path)
    result = compressor.compress(GOODS, session_id="goods: 1")
    assert result.outcome == "applied"
    return path


def run(*arguments: str, code: int = 0) -> str:
    done = runner.invoke(app, ["history", *arguments])
    assert done.exit_code == code, done.output
    assert (done.stderr == "") is (code == 0)
    return done.stdout


def document(*arguments: str, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code))


def said(*arguments: str) -> str:
    """What is said of bad input: one line, exit code 2, nothing on stdout."""
    done = runner.invoke(app, ["history", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("ctxcompress: ")
    return done.stderr.removeprefix("ctxcompress: ").rstrip()


def damage(path: Path, namespace: tuple[str, ...], key: str | None = None) -> None:
    """Break every record of a namespace, or the one under the key."""
    opened = open_store(path)
    for item in opened.search(namespace, limit=1_000):
        if key in (None, item.key):
            opened.put(item.namespace, item.key, {"schema_version": 1, "messages": "many"})


class TestList:
    def test_sessions_by_their_last_update(self, store: Path) -> None:
        """S3."""
        listed = document("list", "--store", str(store))
        assert listed["store"] == str(store)
        goods, tools = listed["sessions"]
        history = SessionHistory(store, session_id="goods: 1")
        info = history.info()
        assert goods == {
            "session_id": "goods: 1",
            "messages": len(GOODS),
            "tokens": GOODS_SIZE,
            "compressions": len(history.checkpoints()),
            "started_at": goods["started_at"],
            "updated_at": goods["updated_at"],
        }
        assert info.started_at is not None
        assert goods["started_at"].startswith(info.started_at.strftime("%Y-%m-%dT%H:%M:%S"))
        assert goods["started_at"] <= goods["updated_at"]
        assert (tools["session_id"], tools["messages"], tools["compressions"]) == ("tools/1", len(TOOLS), 0)

    def test_what_was_not_counted_is_counted_now(self, store: Path) -> None:
        assert SessionHistory(store, session_id="tools/1").info().tokens == 0
        assert document("list", "--store", str(store))["sessions"][1]["tokens"] == TOOLS_SIZE

    def test_the_table_holds_whole_ids(self, store: Path) -> None:
        name = "a long name of a session, " * 6
        SessionHistory(store, session_id=name).append(TOOLS)
        shown = run("list", "--store", f"sqlite:{store}")
        assert shown.splitlines()[0] == f"3 sessions in sqlite:{store}"
        assert name.strip() in shown
        assert f"{GOODS_SIZE:,}" in shown

    def test_without_an_archive_there_are_none_and_none_is_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        file = tmp_path / "data" / "ctxcompress" / "originals.sqlite"
        assert run("list").startswith(f"No sessions in sqlite:{file} yet")
        assert document("list") == {"store": f"sqlite:{file}", "sessions": [], "errors": []}
        assert "there are none" in said("show", "x")
        assert list(tmp_path.iterdir()) == []

    def test_what_compress_archives_is_listed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        path, out = write(tmp_path / "in.jsonl", {"id": "x", "messages": exchanges(12)}), tmp_path / "out.jsonl"
        assert runner.invoke(app, ["compress", path, "--limit", str(LIMIT), "--out", str(out)]).exit_code == 0
        entry = load(out)[0]["ctxcompress"]
        (session,) = document("list")["sessions"]
        assert (session["session_id"], session["tokens"]) == (entry["session_id"], entry["tokens_before"])
        assert session["compressions"] == 1

    def test_a_damaged_session_costs_no_other(self, store: Path) -> None:
        """S5."""
        damage(store, ("ctxcompress", "session", "tools~2f1", "writers"))
        done = runner.invoke(app, ["history", "list", "--store", str(store), "--json"])
        assert done.exit_code == 2
        assert done.stderr.startswith("ctxcompress: the head of a writer of session 'tools/1' is damaged: ")
        assert done.stderr.count("\n") == 1
        listed = json.loads(done.stdout)
        assert [session["session_id"] for session in listed["sessions"]] == ["goods: 1"]
        assert len(listed["errors"]) == 1


class TestShow:
    def test_facts_checkpoints_and_the_last_messages(self, store: Path) -> None:
        shown = run("show", "goods: 1", "--store", str(store))
        (checkpoint,) = SessionHistory(store, session_id="goods: 1").checkpoints()
        assert f"{len(GOODS)} messages, {GOODS_SIZE:,} tokens" in shown
        assert checkpoint.checkpoint_id in shown
        assert f"Messages {len(GOODS) - 19} to {len(GOODS)}" in shown
        assert 'calls stock {"n": 11}' in shown
        assert "goods: how much of item 11 is there?" in shown
        assert "goods: how much of item 6 is there?" not in shown
        assert "Messages 48 to 49" in run("show", "goods: 1", "--last", "2", "--store", str(store))

    def test_json_holds_every_message(self, store: Path) -> None:
        shown = document("show", "goods: 1", "--store", str(store))
        assert list(map(content_hash, messages_from_dict(shown["messages"]))) == list(map(content_hash, GOODS))
        (checkpoint,) = shown["checkpoints"]
        assert checkpoint["tokens_before"] == GOODS_SIZE
        assert 1.0 <= GOODS_SIZE / independent_tokens(GOODS) < 1.15
        assert {"text", "covered", "created_at", "checkpoint_id", "level"} < set(checkpoint)
        assert len(document("show", "goods: 1", "--last", "3", "--store", str(store))["messages"]) == 3

    def test_the_beginning_of_an_id_is_enough_if_only_one_begins_so(self, store: Path) -> None:
        assert document("show", "goo", "--store", str(store))["session"]["session_id"] == "goods: 1"
        SessionHistory(store, session_id="goods: 10").append(TOOLS)
        assert document("show", "goods: 1", "--store", str(store))["session"]["session_id"] == "goods: 1"
        assert said("show", "goods", "--store", str(store)) == "2 sessions begin with 'goods': 'goods: 1', 'goods: 10'"

    def test_what_messages_say_cannot_speak_to_the_terminal(self, store: Path) -> None:
        odd: list[BaseMessage] = [
            HumanMessage("[red]\x1b[2J\nnext", id="\x1b[1m"),
            AIMessage([{"type": "image", "url": "x"}], id="2"),
            HumanMessage("", id="3"),
        ]
        SessionHistory(store, session_id="odd\x1b").append(odd)
        for arguments in (["show", "odd"], ["list"], ["search", "next"]):
            shown = run(*arguments, "--store", str(store))
            assert "\x1b" not in shown
            assert "odd\\x1b" in shown
        assert "[image]" in run("show", "odd", "--store", str(store))
        assert "[red]" in run("show", "odd", "--store", str(store))

    def test_a_damaged_segment_costs_no_other_message(self, store: Path) -> None:
        """S5: what can be read is shown, exported and saved; what cannot is named, once."""
        SessionHistory(store, session_id="two").append([HumanMessage("the lost one", id="1")])
        opened = open_store(store)
        for item in opened.search(("ctxcompress", "session", "two", "log"), limit=10):
            opened.put(item.namespace, item.key, {**item.value, "entries": "{"})
        SessionHistory(store, session_id="two").append([HumanMessage("the one that is left", id="2")])
        for command in (["history", "show"], ["history", "export"], ["snapshot", "create"]):
            done = runner.invoke(app, [*command, "two", "--store", str(store)])
            assert done.exit_code == 2
            (line,) = done.stderr.splitlines()
            assert line.startswith("ctxcompress: warning: session two: segment 0 of writer ")
            assert "is damaged" in line
            assert "the lost one" not in done.stdout
            assert ("the one that is left" in done.stdout) == (command[0] == "history")
        (made,) = SnapshotStore(store, session_id="two").list()
        restored = SnapshotStore(store, session_id="two").restore(made)
        assert [message.id for message in restored.messages] == ["2"]

    def test_a_damaged_checkpoint_is_said_and_costs_nothing_else(self, store: Path) -> None:
        damage(store, ("ctxcompress", "session", "goods~3a~201", "checkpoints"))
        done = runner.invoke(app, ["history", "show", "goods", "--store", str(store)])
        assert done.exit_code == 2
        assert "goods: how much of item 11 is there?" in done.stdout
        assert all(line.startswith("ctxcompress: warning: ") for line in done.stderr.splitlines())


class TestSearch:
    def test_in_all_sessions_or_in_one(self, store: Path) -> None:
        found = document("search", "order O-1002", "--store", str(store))["results"]
        assert {one["session_id"] for one in found} == {"goods: 1", "tools/1"}
        assert "O-1002" in found[0]["message"]["data"]["content"]
        only = document("search", "order O-1002", "--session", "tools", "--most", "1", "--store", str(store))
        assert [one["session_id"] for one in only["results"]] == ["tools/1"]

    def test_the_best_match_of_all_sessions_comes_first(self, store: Path) -> None:
        SessionHistory(store, session_id="z").append([HumanMessage("the lost zeppelin order", id="1")])
        found = document("search", "zeppelin order", "--most", "3", "--store", str(store))["results"]
        assert (len(found), found[0]["session_id"]) == (3, "z")
        assert run("search", "zeppelin order", "--store", str(store)).splitlines()[0] == "z"

    def test_a_damaged_session_costs_no_other(self, store: Path) -> None:
        opened = open_store(store)
        for item in opened.search(("ctxcompress", "session", "tools~2f1", "log"), limit=10):
            opened.put(item.namespace, item.key, {**item.value, "entries": "{"})
        done = runner.invoke(app, ["history", "search", "O-1002", "--store", str(store)])
        assert done.exit_code == 2
        assert done.stdout.startswith("goods: 1\n")
        assert done.stderr.startswith("ctxcompress: warning: session tools/1: segment 0 of writer ")
        assert done.stderr.count("\n") == 1

    def test_the_table_shows_the_place_that_was_looked_for(self, store: Path) -> None:
        SessionHistory(store, session_id="far").append([HumanMessage("word " * 300 + "needle here", id="1")])
        shown = run("search", "needle", "--session", "far", "--store", str(store))
        assert "needle here" in shown
        assert len(max(shown.splitlines(), key=len)) < 160

    def test_nothing_found_is_no_error(self, store: Path) -> None:
        assert run("search", "zeppelin", "--store", str(store)).startswith("Nothing found for 'zeppelin' in ")
        assert document("search", "zeppelin", "--store", str(store)) == {"results": [], "errors": []}


class TestExport:
    def test_markdown_on_stdout(self, store: Path) -> None:
        assert run("export", "goods", "--store", str(store)) == (
            SessionHistory(store, session_id="goods: 1").export_markdown()
        )

    def test_a_conversation_file_is_read_back_by_compress(self, store: Path, tmp_path: Path) -> None:
        out, again = tmp_path / "goods.jsonl", tmp_path / "again.jsonl"
        shown = run("export", "goods", "--output", str(out), "--store", str(store))
        assert shown == f"{len(GOODS)} messages of session goods: 1 written to {out}\n"
        (record,) = load(out)
        assert record["id"] == "goods: 1"
        assert messages_from_dict(record["messages"]) == SessionHistory(store, session_id="goods: 1").messages()
        options = ["--limit", str(LIMIT), "--out", str(again), "--store", str(tmp_path / "s")]
        assert runner.invoke(app, ["compress", str(out), *options]).exit_code == 0
        entry = load(again)[0]["ctxcompress"]
        assert (entry["outcome"], entry["tokens_before"]) == ("applied", GOODS_SIZE)

    def test_results_without_a_call_are_left_out_and_said(self, store: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        orphan = ToolMessage("lost", tool_call_id="none", id="lost")
        SessionHistory(store, session_id="broken").append([*TOOLS[:5], orphan, *TOOLS[5:]])
        done = runner.invoke(app, ["history", "export", "broken", "--out", str(out), "--store", str(store)])
        assert done.exit_code == 0
        assert done.stderr.startswith("ctxcompress: 1 tool results answer no call and are left out")
        assert runner.invoke(app, ["count", str(out)]).exit_code == 0
        assert [each["data"]["content"] for each in load(out)[0]["messages"]] == [m.content for m in TOOLS]

    def test_what_json_cannot_hold_is_named(self, store: Path, tmp_path: Path) -> None:
        call = {"name": "t", "args": {"n": 10**5_000, "x": 2**70}, "id": "c"}
        messages = [
            HumanMessage("lone \ud800", id="1"),
            AIMessage("", tool_calls=[call], id="2"),
            ToolMessage("", tool_call_id="c", artifact=b"\x00\x01", id="3"),
        ]
        SessionHistory(store, session_id="odd").append(messages)
        out = tmp_path / "out.jsonl"
        run("export", "odd", "--out", str(out), "--store", str(store))
        one, two, three = (message["data"] for message in load(out)[0]["messages"])
        assert one["content"] == "lone \ud800"
        assert two["tool_calls"][0]["args"] == {"n": "[int, which a conversation file cannot hold]", "x": 2**70}
        assert three["artifact"] == "[bytes, which a conversation file cannot hold]"

    @pytest.mark.parametrize("form", ["jsonl", "markdown"])
    def test_the_originals_of_a_checkpoint(self, store: Path, tmp_path: Path, form: str) -> None:
        """Law 2."""
        (checkpoint,) = SessionHistory(store, session_id="goods: 1").checkpoints()
        out = tmp_path / "part"
        options = ["--checkpoint", checkpoint.checkpoint_id, "--format", form, "--output", str(out)]
        run("export", "goods", *options, "--store", str(store))
        text = out.read_text()
        if form == "jsonl":
            assert [m["data"]["id"] for m in load(out)[0]["messages"]] == list(checkpoint.covered)
        assert "how much of item 2 is there" in text
        assert "how much of item 11 is there" not in text

    def test_a_file_that_is_there_is_replaced_only_by_force(self, store: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.md"
        out.write_text("older")
        arguments = ["export", "goods", "--output", str(out), "--store", str(store)]
        assert said(*arguments) == f"{out}: is there already; --force replaces it"
        assert out.read_text() == "older"
        run(*arguments, "--force")
        assert out.read_text().startswith("# Session goods")
        assert sorted(child.name for child in tmp_path.iterdir()) == ["archive", "out.md"]

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (["--output", "x.bin"], "the name 'x.bin' does not say what to write"),
            (["--format", "pdf"], "--format is 'pdf': it is markdown or jsonl"),
            (["--checkpoint", "c0"], "session 'goods: 1' has no summary checkpoint 'c0'"),
            (["--output", "no/such/folder/x.md"], "no/such/folder/x.md: cannot be written"),
        ],
    )
    def test_bad_options(self, store: Path, options: list[str], told: str) -> None:
        assert said("export", "goods", *options, "--store", str(store)).startswith(told)


def test_a_session_that_is_not_there(store: Path) -> None:
    for command in (["show", "x"], ["export", "x"], ["search", "y", "--session", "x"], ["show", ""]):
        line = said(*command, "--store", str(store))
        assert line.startswith(f"there is no session '{'x' if 'x' in command else ''}' in {store}: ")


def test_another_process_reads_what_was_written(store: Path) -> None:
    done = ctxcompress("history", "list", "--store", str(store))
    assert (done.returncode, done.stderr) == (0, "")
    assert "goods: 1" in done.stdout
    assert done.stdout.isascii()
    done = ctxcompress("history", "show", "nope", "--store", str(store))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_stores_of_postgres_are_opened_by_their_url(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    """The URL goes to the one function that opens stores, whole; what is shown has no password."""
    asked: list[str] = []
    opened: BaseStore = open_store(store)

    def fake(given: str) -> BaseStore:
        asked.append(given)
        return opened

    monkeypatch.setattr("langchain_ctxcompress.storage.open_store", fake)
    listed = document("list", "--store", "postgresql://user:secret@host/db?password=secret")
    assert asked == ["postgresql://user:secret@host/db?password=secret"]
    assert listed["store"] == "postgresql://host/db"
    assert len(listed["sessions"]) == 2
