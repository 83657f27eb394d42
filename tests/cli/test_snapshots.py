"""`snapshot` over real SQLite files: saved, listed, given back, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages.utils import convert_to_messages, messages_from_dict
from typer.testing import CliRunner

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory, SnapshotStore
from langchain_ctxcompress.cli import app
from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.storage import open_store
from tests.cli.sessions import LIMIT, ctxcompress, exchanges, load

runner = CliRunner()
GOODS = convert_to_messages(exchanges(12, "goods"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "archive" / "sessions.sqlite"
    ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=path).compress(GOODS, session_id="goods")
    SessionHistory(path, session_id="other").append(GOODS[:5])
    return path


def run(*arguments: str, code: int = 0) -> str:
    done = runner.invoke(app, ["snapshot", *arguments])
    assert (done.exit_code, done.stderr) == (code, ""), done.output
    return done.stdout


def create(store: Path, *options: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(run("create", "goods", "--json", "--store", str(store), *options))["snapshot"]
    return made


def said(*arguments: str) -> str:
    done = runner.invoke(app, ["snapshot", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("ctxcompress: ").rstrip()


def test_a_snapshot_is_given_back_as_it_was(store: Path, tmp_path: Path) -> None:
    """S2: what comes later is not in it."""
    history = SessionHistory(store, session_id="goods")
    before, checkpoints = history.messages(), history.checkpoints()
    made = create(store, "--purpose", "rollback", "--note", "before the audit")
    assert (made["messages"], made["checkpoints"], made["purpose"]) == (len(GOODS), len(checkpoints), "rollback")
    history.append(convert_to_messages(exchanges(2, "later")))
    out = tmp_path / "out.jsonl"
    shown = run("restore", made["snapshot_id"], "--output", str(out), "--store", str(store))
    assert shown == f"{len(GOODS)} messages of snapshot {made['snapshot_id']} written to {out}\n"
    (record,) = load(out)
    assert messages_from_dict(record["messages"]) == before
    assert (record["id"], record["snapshot"]["metadata"]) == ("goods", {"note": "before the audit"})
    assert SnapshotStore(store, session_id="goods").restore(made["snapshot_id"]).checkpoints == checkpoints


def test_what_was_given_back_can_be_compressed(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    run("restore", create(store)["snapshot_id"], "--out", str(out), "--store", str(store))
    done = runner.invoke(app, ["compress", str(out), "--limit", str(LIMIT), "--json"])
    assert json.loads(done.stdout)["outcomes"] == {"applied": 1}


def test_a_snapshot_of_an_active_context_holds_its_summary(store: Path) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=store)
    context = compressor.compress(GOODS, session_id="goods").messages
    goals = [{"description": "count the screws"}]
    made = SnapshotStore(store, session_id="goods").create(context, compressor.history("goods").checkpoints(), goals)
    record = json.loads(run("restore", made.snapshot_id, "--format", "jsonl", "--store", str(store)))
    assert sum(map(is_summary, messages_from_dict(record["messages"]))) == 1
    assert record["snapshot"]["goals"] == goals
    text = run("restore", made.snapshot_id, "--session", "goods", "--store", str(store))
    assert text.startswith("# Session goods\n")
    assert "## Summary checkpoints" in text


def test_the_newest_is_listed_first(store: Path) -> None:
    assert run("list", "--store", str(store)).startswith(f"No snapshots in {store} yet")
    one, two = create(store), create(store, "--purpose", "emergency")
    own = run("create", "other", "--store", str(store))
    assert own.startswith("Snapshot s")
    listed = json.loads(run("list", "--store", str(store), "--json"))["snapshots"]
    assert [each["session_id"] for each in listed] == ["other", "goods", "goods"]
    assert [each["snapshot_id"] for each in listed[1:]] == [two["snapshot_id"], one["snapshot_id"]]
    shown = run("list", "goods", "--store", str(store))
    assert shown.index(two["snapshot_id"]) < shown.index(one["snapshot_id"])
    assert "other" not in shown


def test_a_file_that_is_there_is_replaced_only_by_force(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.md"
    out.write_text("older")
    arguments = ["restore", create(store)["snapshot_id"], "--output", str(out), "--store", str(store)]
    assert said(*arguments) == f"{out}: is there already; --force replaces it"
    assert out.read_text() == "older"
    run(*arguments, "--force")
    assert out.read_text().startswith("# Session goods")
    assert sorted(child.name for child in tmp_path.iterdir()) == ["archive", "out.md"]


def test_what_is_not_there_is_one_line(store: Path, tmp_path: Path) -> None:
    here = ["--store", str(store)]
    assert said("restore", "s0", *here).startswith(f"there is no snapshot 's0' in {store}: ")
    assert said("restore", "s0", "--session", "goods", *here).startswith("there is no snapshot 's0' in session 'goods'")
    made = create(store)["snapshot_id"]
    assert said("restore", made, "--session", "other", *here).startswith(f"there is no snapshot '{made}' in session")
    for command in (["list", "x"], ["create", "x"], ["restore", made, "--session", "x"]):
        assert said(*command, *here).startswith("there is no session 'x' in ")
    assert said("create", "goods", "--purpose", "fun", *here) == (
        "--purpose is 'fun': it is one of recovery, rollback, emergency"
    )
    assert said("list", "--store", str(tmp_path / "none.db")).startswith("there is no file ")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("part", ["record", "part", "message"])
def test_a_damaged_snapshot_is_one_line(store: Path, tmp_path: Path, part: str) -> None:
    """S5."""
    made, out = create(store)["snapshot_id"], tmp_path / "out.jsonl"
    opened = open_store(store)
    base = ("ctxcompress", "session", "goods")
    if part == "record":
        item = opened.get((*base, "snapshots"), made)
        assert item is not None
        record = {**json.loads(item.value["record"]), "messages": 3}
        opened.put(item.namespace, item.key, {**item.value, "record": json.dumps(record)})
    else:
        for item in opened.search((*base, "parts" if part == "part" else "log"), limit=100):
            opened.delete(item.namespace, item.key)
    line = said("restore", made, "--output", str(out), "--store", str(store))
    assert line.startswith("segment 0 of writer " if part == "message" else f"snapshot '{made}' ")
    assert not out.exists()


def test_a_record_that_cannot_be_read_is_said_and_costs_no_other(store: Path) -> None:
    one, two = create(store)["snapshot_id"], create(store)["snapshot_id"]
    open_store(store).put(("ctxcompress", "session", "goods", "snapshots"), one, {"schema_version": 99})
    done = runner.invoke(app, ["snapshot", "list", "--store", str(store)])
    assert done.exit_code == 2
    assert two in done.stdout
    assert one not in done.stdout
    assert done.stderr.startswith(f"ctxcompress: warning: snapshot '{one}' has schema_version 99")
    assert done.stderr.count("\n") == 1
    assert said("restore", one, "--store", str(store)).startswith(f"snapshot '{one}' has schema_version 99")


def test_another_process_gives_it_back(store: Path) -> None:
    made = create(store)["snapshot_id"]
    done = ctxcompress("snapshot", "restore", made, "--format", "jsonl", "--store", f"sqlite:{store}")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["messages"]) == len(GOODS)
