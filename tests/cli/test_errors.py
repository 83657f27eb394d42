"""Bad input: exit code 2, one clear line on stderr, no traceback, no partial output file."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.store.memory import InMemoryStore
from typer.testing import CliRunner

from langchain_ctxcompress import ContextCompressor
from langchain_ctxcompress.cli import app
from langchain_ctxcompress.errors import TokenCountError
from tests.cli.conftest import RunMain
from tests.cli.sessions import LIMIT, ctxcompress, exchanges, load, write

runner = CliRunner()


@pytest.fixture
def good(tmp_path: Path) -> str:
    return write(tmp_path / "good.jsonl", {"id": 1, "messages": exchanges(12)})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--limit", "-5"], "--limit is -5"),
        (["--limit", "0"], "--limit is 0"),
        (["--limit", "1"], "--limit is 1"),
        (["--limit", "many"], "Invalid value for '--limit'"),
        (["--limit", "800", "--soft-limit", "800"], "--soft-limit 800 must be below --limit 800"),
        (["--soft-limit", "900000"], "--soft-limit 900000 must be below --limit 800000 (the default)"),
        (["--soft-limit", "0"], "--soft-limit is 0"),
        (["--strategy", "magic"], "there is no strategy 'magic'; there are: "),
        (["--model", "no-such-model"], "model='no-such-model' cannot be set up"),
        (["--base-url", "http://localhost:1"], "--base-url goes with --model"),
        (["--model", "m", "--base-url", "localhost:1"], "--base-url is 'localhost:1'"),
        (["--model", "m", "--api-key-env", "K"], "--api-key-env goes with --base-url"),
        (["--model", "m", "--base-url", "http://localhost:1", "--api-key-env", "NOT_SET"], "--api-key-env NOT_SET"),
        (["--store", "mysql://user:secret@host/db"], "--store is 'mysql://host/db'"),
        (["--store", "sqlite:"], "--store is 'sqlite:'"),
        (["--store", "sqlite:/dev/null/x"], "the SQLite file "),
        (["--json", "--out", "-"], "--json and --out -"),
        (["--frobnicate"], "No such option: --frobnicate"),
    ],
)
def test_a_wrong_option_is_one_line(
    good: str, tmp_path: Path, options: list[str], said: str, run_main: RunMain
) -> None:
    out = tmp_path / "out.jsonl"
    asked = options if "--out" in options else [*options, "--out", str(out)]
    code, shown, told = run_main("compress", good, *asked)
    assert (code, shown) == (2, "")
    assert told.startswith(f"ctxcompress: {said}")
    assert told.count("\n") == 1
    assert "secret" not in told
    assert sorted(child.name for child in tmp_path.iterdir()) == ["good.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compress"], "Missing argument 'FILE...'"),
        (["shrink"], "No such command 'shrink'"),
        (["demo", "--limit", "-1"], "--limit is -1"),
        (["plan", "no.jsonl", "--limit", "9"], "no.jsonl: there is no such file"),
        (["count", "/"], "/: is a directory"),
    ],
)
def test_a_wrong_command_is_one_line(arguments: list[str], said: str, run_main: RunMain) -> None:
    code, shown, told = run_main(*arguments)
    assert (code, shown) == (2, "")
    assert told.startswith(f"ctxcompress: {said}")
    assert told.count("\n") == 1


def test_another_process_says_the_same() -> None:
    for arguments in (["compress", "none.jsonl", "--limit", "9"], ["compress", "none.jsonl", "--limit", "x"]):
        done = ctxcompress(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "cut", "messages": [{"role": "us', "is no JSON: Unterminated string"),
        ('{"messages": [{"role": "robot", "content": "x"}]}', "message 1 has the unknown role 'robot'"),
        ('{"messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}', "message 1 answers call 'x' that no"),
        ('{"messages": [{"role": "user\\u001b[2J\\n", "content": "x"}]}', "message 1 has the unknown role"),
        ('{"text": 1}', "is no conversation"),
        ('{"messages": [{"type": "ai", "data": {"content": 3}}]}', "message 1 cannot be read: content"),
        (
            '{"messages": [{"role": "user", "content": "", "additional_kwargs": 3}]}',
            "message 1 cannot be read: TypeErr",
        ),
    ],
)
@pytest.mark.parametrize("command", ["compress", "plan", "count"])
def test_a_broken_line_is_named_and_the_others_are_done(
    tmp_path: Path, command: str, line: str, said: str, run_main: RunMain
) -> None:
    out = tmp_path / "out.jsonl"
    records = {"id": "first", "messages": exchanges(12)}, line, {"id": "last", "messages": exchanges(12, "c")}
    path = write(tmp_path / "in.jsonl", *records)
    options = ["--limit", str(LIMIT), "--out", str(out)] if command == "compress" else []
    code, shown, told = run_main(command, path, *options)
    assert code == 2
    assert told.startswith(f"ctxcompress: {path}:2: {said}")
    assert told.count("\n") == 1
    assert "\x1b" not in told
    assert "in.jsonl:1" in shown
    assert "in.jsonl:3" in shown
    if command == "compress":
        assert [record["id"] for record in load(out)] == ["first", "last"]
        assert sorted(child.name for child in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("command", ["count", "plan", "compress"])
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00binary\n\x00\n", b"# Notes\n", b'{"messages": [\n', b"[1, 2]", b'{"messages": 5}'],
    ids=["empty", "binary", "text", "cut off", "numbers", "no list"],
)
def test_a_file_with_no_conversation_leaves_no_output(tmp_path: Path, content: bytes, command: str) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(content)
    out.write_text("older")
    done = runner.invoke(app, [command, str(path), *(["--out", str(out)] if command == "compress" else [])])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ctxcompress: {path}:")
    assert done.stderr.count("\n") == 1
    assert out.read_text() == "older"
    assert len(list(tmp_path.iterdir())) == 2


def test_with_a_file_that_is_not_there_nothing_is_done(good: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = runner.invoke(app, ["compress", good, "none.jsonl", str(tmp_path), "--out", str(out)])
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "ctxcompress: none.jsonl: there is no such file",
        f"ctxcompress: {tmp_path}: is a directory: name the files in it",
    ]
    assert not out.exists()


@pytest.mark.parametrize("name", ["", "no/such/folder/out.jsonl"])
def test_an_output_that_cannot_be_written_is_said_at_once(good: str, tmp_path: Path, name: str) -> None:
    done = runner.invoke(app, ["compress", good, "--out", str(tmp_path / name)])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"ctxcompress: {tmp_path / name}: ")
    assert done.stderr.count("\n") == 1


def test_a_message_that_cannot_be_counted_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = write(tmp_path / "in.jsonl", *({"messages": exchanges(12, c)} for c in "abc")), tmp_path / "out.jsonl"

    def failing(self: ContextCompressor, messages: list[object], **options: object) -> object:
        if "b: how" in str(messages[1]):
            raise TokenCountError("message 'm' cannot be counted", message_id="m")
        return method(self, messages, **options)

    for command, name in (("compress", "compress"), ("plan", "plan")):
        method = getattr(ContextCompressor, name)
        monkeypatch.setattr(ContextCompressor, name, failing)
        options = ["--limit", str(LIMIT), *(["--out", str(out)] if command == "compress" else [])]
        done = runner.invoke(app, [command, path, *options])
        assert (done.exit_code, done.stderr) == (2, f"ctxcompress: {path}:2: message 'm' cannot be counted\n")
        monkeypatch.undo()
    assert len(load(out)) == 2


def test_count_says_what_cannot_be_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: object, messages: object) -> list[int]:
        raise TokenCountError("message 'm' cannot be counted", message_id="m")

    monkeypatch.setattr("langchain_ctxcompress.tokens.MessageCounter.__call__", failing)
    path = write(tmp_path / "in.jsonl", {"messages": exchanges(1)})
    done = runner.invoke(app, ["count", path])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"ctxcompress: {path}:1: message 'm' cannot be counted\n"


def test_an_archive_that_fails_replaces_nothing_and_is_exit_code_1(
    good: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 2. The warning of the engine is one line, too."""

    class Full(InMemoryStore):
        def batch(self, ops: object) -> list[object]:
            raise OSError("the disk is full")

    monkeypatch.setattr("langchain_ctxcompress.storage.open_store", lambda given: Full())
    out = tmp_path / "out.jsonl"
    done = runner.invoke(app, ["compress", good, "--limit", str(LIMIT), "--out", str(out)])
    assert done.exit_code == 1
    assert "archive_unavailable" in done.stderr
    assert "Traceback" not in done.stderr
    assert all(line.startswith("ctxcompress: ") for line in done.stderr.splitlines())
    assert load(out)[0]["messages"] == exchanges(12)


def test_an_interruption_leaves_no_output_and_is_exit_code_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = write(tmp_path / "in.jsonl", *({"messages": exchanges(12, c)} for c in "ab")), tmp_path / "out.jsonl"
    method = ContextCompressor.compress

    def interrupted(self: ContextCompressor, messages: list[object], **options: object) -> object:
        if "b: how" in str(messages[1]):
            raise KeyboardInterrupt
        return method(self, messages, **options)

    monkeypatch.setattr(ContextCompressor, "compress", interrupted)
    done = runner.invoke(app, ["compress", path, "--limit", str(LIMIT), "--out", str(out)])
    assert done.exit_code == 130
    assert [child.name for child in tmp_path.iterdir()] == ["in.jsonl"]


def test_what_must_stay_over_the_limit_is_exit_code_1_and_is_written(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", {"messages": exchanges(12)}), tmp_path / "out.jsonl"
    done = runner.invoke(app, ["compress", path, "--limit", "20", "--out", str(out)])
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"ctxcompress: 1 of 1 conversations failed; the first: {path}:1: protected_set")
    (record,) = load(out)
    assert record["ctxcompress"]["outcome"] == "failed"
    assert record["messages"][-1]["role"] in ("user", "assistant")
    assert len(record["messages"]) < len(exchanges(12))
