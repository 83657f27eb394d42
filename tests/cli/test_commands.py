"""`count`, `plan`, `compress` and `demo` over real files: what is written, what is shown, and that nothing is lost."""

from __future__ import annotations

import json
import runpy
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages.utils import convert_to_messages, messages_from_dict
from typer.testing import CliRunner

from langchain_ctxcompress import ContextCompressor, SessionHistory
from langchain_ctxcompress.cli import app
from langchain_ctxcompress.cli.terminal import emit_table
from langchain_ctxcompress.messages import content_hash, is_summary
from tests.cli.conftest import RunMain
from tests.cli.sessions import LIMIT, ctxcompress, exchanges, langchain, load, tokens, write
from tests.support.legality import newest_human, order_violations, violations

runner = CliRunner()
WAREHOUSE = exchanges(12)


def run(*arguments: str, code: int = 0, stdin: str | None = None) -> str:
    done = runner.invoke(app, list(arguments), input=stdin)
    assert done.exit_code == code, done.output
    return done.stdout


def compress(path: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    out = folder / "out.jsonl"
    store = [] if "--store" in options else ["--store", f"sqlite:{folder / 'originals.sqlite'}"]
    run("compress", path, "--limit", str(LIMIT), "--out", str(out), *store, *options)
    return load(out)


def test_the_conversations_of_these_tests_are_too_large() -> None:
    assert tokens(WAREHOUSE) > 1.5 * LIMIT


def test_openai_conversations_come_out_as_they_went_in_but_smaller(tmp_path: Path) -> None:
    records = [
        {"id": "same", "reward": 1.0, "messages": WAREHOUSE, "tags": ["ä"]},
        {"id": "same", "messages": exchanges(12, "b")},
        {"id": "same", "messages": exchanges(1)},
    ]
    written = compress(write(tmp_path / "in.jsonl", *records), tmp_path)
    for record, before in zip(written, records, strict=True):
        assert list(record) == [*before, "ctxcompress"]
        assert {**record, "messages": 0, "ctxcompress": 0} == {**before, "messages": 0, "ctxcompress": 0}
        assert sum(message in before["messages"] for message in record["messages"]) >= len(record["messages"]) - 1
        messages, originals = (convert_to_messages(each["messages"]) for each in (record, before))
        assert violations(messages, original=originals) + order_violations(messages, originals) == []
        assert messages[0] == originals[0]
        assert messages[newest_human(messages)[-1]] == originals[newest_human(originals)[-1]]
        assert all("id" not in message for message in record["messages"])
    entries = [record["ctxcompress"] for record in written]
    assert [entry["outcome"] for entry in entries] == ["applied", "applied", "noop"]
    assert entries[0]["tokens_before"] == tokens(WAREHOUSE)
    assert entries[0]["tokens_after"] == tokens(written[0]["messages"]) <= LIMIT
    assert entries[2]["checkpoint_id"] is None
    assert len({entry["session_id"] for entry in entries}) == 3


@pytest.mark.parametrize("bare", [False, True], ids=["object", "list"])
def test_langchain_conversations_come_out_in_their_own_format(tmp_path: Path, bare: bool) -> None:
    dumped = langchain(WAREHOUSE)
    record = dumped if bare else {"thread": 5, "messages": dumped}
    (written,) = compress(write(tmp_path / "in.jsonl", record), tmp_path)
    assert written.get("thread") == (None if bare else 5)
    messages = messages_from_dict(written["messages"])
    assert all(message.id for message in messages)
    assert sum(map(is_summary, messages)) == 1
    said = {content_hash(message) for message in messages_from_dict(dumped)}
    assert all(is_summary(message) or content_hash(message) in said for message in messages)


@pytest.mark.parametrize("convert", [list, langchain], ids=["openai", "langchain"])
def test_every_original_comes_back_by_the_ids_that_are_written(tmp_path: Path, convert: Any) -> None:
    """Law 2, in another process's eyes: only the output file and the store are known."""
    (written,) = compress(write(tmp_path / "in.jsonl", {"id": "x", "messages": convert(WAREHOUSE)}), tmp_path)
    entry, store = written["ctxcompress"], tmp_path / "originals.sqlite"
    originals = convert_to_messages(WAREHOUSE)
    archived = SessionHistory(store, session_id=entry["session_id"]).messages()
    assert [content_hash(message) for message in archived] == [content_hash(message) for message in originals]
    covered = ContextCompressor(store=store).expand(entry["checkpoint_id"])
    assert covered
    read = convert_to_messages if convert is list else messages_from_dict
    left = {content_hash(message) for message in originals}
    left -= {content_hash(message) for message in read(written["messages"])}
    assert left <= {content_hash(message) for message in covered}


def test_the_same_command_twice_gives_the_same_and_archives_nothing_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    (first,) = compress(path, tmp_path)
    (second,) = compress(path, tmp_path)
    assert second["messages"] == first["messages"]
    ids = ("session_id", "checkpoint_id", "tokens_before", "tokens_after")
    assert [second["ctxcompress"][key] for key in ids] == [first["ctxcompress"][key] for key in ids]
    history = SessionHistory(tmp_path / "originals.sqlite", session_id=first["ctxcompress"]["session_id"])
    assert len(history.messages()) == len(WAREHOUSE)


def test_another_limit_is_not_answered_with_the_first_limits_result(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    compress(path, tmp_path)
    (written,) = compress(path, tmp_path, "--limit", "100000")
    assert written["messages"] == WAREHOUSE
    assert written["ctxcompress"]["outcome"] == "noop"


def test_a_compressed_langchain_file_that_grew_goes_on_with_its_session(tmp_path: Path) -> None:
    """Laws 8 and 9: the summary names its session, and stays the only one."""
    (first,) = compress(write(tmp_path / "in.jsonl", {"messages": langchain(exchanges(12))}), tmp_path)
    grown = {**first, "messages": first["messages"] + langchain(exchanges(12, "later")[1:])}
    (second,) = compress(write(tmp_path / "grown.jsonl", grown), tmp_path)
    assert second["ctxcompress"]["session_id"] == first["ctxcompress"]["session_id"]
    assert sum(map(is_summary, messages_from_dict(second["messages"]))) == 1
    history = SessionHistory(tmp_path / "originals.sqlite", session_id=second["ctxcompress"]["session_id"])
    wanted = convert_to_messages(exchanges(12) + exchanges(12, "later")[1:])
    assert [content_hash(message) for message in history.messages()] == [content_hash(message) for message in wanted]


def test_a_pinned_message_stays_in_both_formats(tmp_path: Path) -> None:
    pinned = {**WAREHOUSE[21], "ctxcompress": {"kind": "pin"}}
    messages = [*WAREHOUSE[:21], pinned, *WAREHOUSE[22:]]
    (plain,) = compress(write(tmp_path / "in.jsonl", {"messages": messages}), tmp_path)
    assert pinned in plain["messages"]
    assert WAREHOUSE[17] not in plain["messages"]
    (dumped,) = compress(write(tmp_path / "lc.jsonl", langchain(messages)), tmp_path)
    assert pinned["content"] in [message["data"]["content"] for message in dumped["messages"]]


def test_every_shape_of_file_in_one_run_keeps_its_order(tmp_path: Path) -> None:
    one_a_line = write(tmp_path / "m.jsonl", *WAREHOUSE)
    document = tmp_path / "d.json"
    document.write_text(json.dumps([{"id": n, "messages": exchanges(12, str(n))} for n in range(2)], indent=2))
    out = tmp_path / "out.jsonl"
    stdin = json.dumps({"id": "piped", "messages": exchanges(12, "p")})
    run("compress", one_a_line, "-", str(document), "--limit", str(LIMIT), "--out", str(out), stdin=stdin)
    records = load(out)
    assert [record.get("id") for record in records] == [None, "piped", 0, 1]
    names = [record["ctxcompress"]["session_id"].rsplit(":", 1)[0] for record in records]
    assert names == ["m.jsonl:1", "stdin:1:piped", "d.json:1:0", "d.json:2:1"]
    assert all(record["ctxcompress"]["outcome"] == "applied" for record in records)


def test_json_is_one_document_and_says_where_everything_is(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"id": "x", "messages": WAREHOUSE}, "oops", {"messages": exchanges(1)})
    out, store = tmp_path / "out.jsonl", f"sqlite:{tmp_path / 'o.sqlite'}"
    options = ("--limit", str(LIMIT), "--out", str(out), "--store", store, "--json")
    document = json.loads(run("compress", path, *options, code=2))
    assert (document["out"], document["store"]) == (str(out), store)
    assert document["outcomes"] == {"applied": 1, "noop": 1}
    assert document["totals"]["conversations"] == 2
    assert len(document["errors"]) == 1
    row, entry = document["results"][0], load(out)[0]["ctxcompress"]
    assert {key: row[key] for key in entry} == entry
    assert (row["line"], row["messages_before"], row["messages_after"]) == (1, 49, len(load(out)[0]["messages"]))


def test_without_out_nothing_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    assert "1 applied" in run("compress", path, "--limit", str(LIMIT))
    assert json.loads(run("compress", path, "--limit", str(LIMIT), "--json"))["store"] is None
    assert [child.name for child in tmp_path.iterdir()] == ["in.jsonl"]


def test_with_out_the_originals_are_in_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path, out = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE}), tmp_path / "out.jsonl"
    shown = run("compress", path, "--limit", str(LIMIT), "--out", str(out))
    store = tmp_path / "data" / "ctxcompress" / "originals.sqlite"
    assert f"1 conversations written to {out}; their originals are in sqlite:{store}" in shown
    assert ContextCompressor(store=store).expand(load(out)[0]["ctxcompress"]["checkpoint_id"])
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


def test_out_to_stdout_is_jsonl_and_nothing_else(tmp_path: Path, run_main: RunMain) -> None:
    path = write(tmp_path / "in.jsonl", {"id": "ü", "messages": WAREHOUSE}, {"messages": exchanges(1)})
    options = ("--limit", str(LIMIT), "--store", f"sqlite:{tmp_path / 's'}", "--out", "-")
    code, shown, told = run_main("compress", path, *options)
    assert code == 0
    assert [json.loads(line).get("id") for line in shown.splitlines()] == ["ü", None]
    assert told.startswith("ctxcompress: 2 conversations written to stdout")
    done = ctxcompress("compress", path, *options, env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)


def test_a_file_can_be_compressed_in_its_own_place(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", *({"id": n, "messages": exchanges(12, str(n))} for n in range(3)))
    run("compress", path, "--limit", str(LIMIT), "--out", path, "--store", f"sqlite:{tmp_path / 's'}")
    assert [(record["id"], record["ctxcompress"]["outcome"]) for record in load(Path(path))] == [
        (n, "applied") for n in range(3)
    ]


def test_strategies_are_found_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    (record,) = compress(path, tmp_path, "--strategy", "top-down-truncation")
    assert all(message in WAREHOUSE for message in record["messages"])
    assert len(record["messages"]) < len(WAREHOUSE)


def test_an_empty_conversation_is_one(tmp_path: Path) -> None:
    (record,) = compress(write(tmp_path / "in.jsonl", {"id": 1, "messages": []}), tmp_path)
    assert (record["messages"], record["ctxcompress"]["outcome"]) == ([], "noop")


def test_names_from_files_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    name = "[red]\x1b[2J\n" + "x" * 500
    shown = run("count", write(tmp_path / "in [bold].jsonl", {"id": name, "messages": WAREHOUSE}))
    assert "\x1b" not in shown
    assert "in [bold].jsonl:1" in shown
    assert "[red]\\x1b[2J\\n" in shown
    assert "x" * 100 not in shown


def test_a_narrow_terminal_is_spared_the_columns_that_do_not_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for width, there in (("80", False), ("150", True)):
        monkeypatch.setenv("COLUMNS", width)
        emit_table("title", ("name", "extra"), [("a", 1_000)], ("", "sum"), wide_only=("extra",))
        shown = capsys.readouterr().out
        assert ("1,000" in shown, "sum" in shown) == (there, there)


def test_the_bar_runs_in_a_terminal_on_stderr_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes stderr for a terminal
    monkeypatch.setenv("COLUMNS", "150")
    path = write(tmp_path / "in.jsonl", *[{"messages": exchanges(1)}] * 5, "oops")
    done = runner.invoke(app, ["count", path, "--json"])
    assert len(json.loads(done.stdout)["results"]) == 5
    assert "5 conversations" in done.stderr
    assert "in.jsonl:6: is no JSON" in done.stderr


@pytest.mark.parametrize("held", [True, False])
def test_the_demos_exit_code_says_whether_it_held(held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import langchain_ctxcompress.demo.run as room

    asked: list[Any] = []

    class Report:
        def __init__(self) -> None:
            self.held = held

    def run_demo(console: Any, **options: Any) -> Report:
        asked.append(options)
        return Report()

    monkeypatch.setattr(room, "run_demo", run_demo)
    run("demo", code=0 if held else 1)
    run("demo", "--limit", "9000", "--out", "some/folder", code=0 if held else 1)
    assert asked == [{"limit": 16_000, "out": None}, {"limit": 9_000, "out": Path("some/folder")}]


def test_version_and_help() -> None:
    assert run("--version").startswith("ctxcompress 0.")
    assert {"demo", "plan", "compress", "count"} <= set(run("--help").split())


def test_the_module_runs_as_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["cli", "--version"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("langchain_ctxcompress.cli", run_name="__main__")
    assert (stop.value.code, capsys.readouterr().out[:12]) == (0, "ctxcompress ")


def test_help_imports_nothing_heavy() -> None:
    heavy = "langgraph", "langchain_core.language_models", "openai", "tiktoken", "toktok", "jinja2", "langchain"
    code = f"import sys, langchain_ctxcompress.cli; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", *({"messages": exchanges(12, str(n))} for n in range(200)))
    for command in (
        ["count", path],
        ["count", path, "--json"],
        ["compress", path, "--out", "-", "--store", f"sqlite:{tmp_path / 's'}"],
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "langchain_ctxcompress.cli", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert process.wait(60) in (0, 1)
        assert b"Traceback" not in said
        assert b"Exception" not in said
