"""`compare`: every strategy on the same conversation; what it measures is measured again here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.utils import convert_to_messages
from typer.testing import CliRunner

from langchain_ctxcompress import ContextCompressor, register_strategy
from langchain_ctxcompress.cli import app
from langchain_ctxcompress.cli.kept import Kept
from langchain_ctxcompress.cli.options import STRATEGIES
from langchain_ctxcompress.errors import TokenCountError
from langchain_ctxcompress.messages import ensure_ids
from langchain_ctxcompress.strategies import (
    CompressionRequest,
    CompressionStrategy,
    Steps,
    registry,
    strategy_names,
)
from tests.cli.sessions import LIMIT, ctxcompress, exchanges, load, tokens, write
from tests.support import realdata
from tests.support.conversations import exchanges as talk
from tests.support.legality import violations

runner = CliRunner()
WAREHOUSE = exchanges(12)
OWN = {"ladder", "middle-out", "clear-tools", "bands", "pack", "top-down-truncation", "emergency"}


def compare(*arguments: str) -> Any:
    done = runner.invoke(app, ["compare", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return write(tmp_path / "in.jsonl", {"id": "x", "messages": WAREHOUSE})


def test_all_strategies_side_by_side(path: str, tmp_path: Path) -> None:
    document = compare(path, "--limit", str(LIMIT))
    (result,) = document["results"]
    rows = {row["strategy"]: row for row in result["strategies"]}
    assert set(rows) == set(strategy_names()) >= OWN
    assert next(iter(rows)) == "ladder"
    assert {row["tokens_before"] for row in rows.values()} == {tokens(WAREHOUSE)} == {result["tokens"]}
    assert (result["messages"], result["id"]) == (len(WAREHOUSE), "x")
    for row in rows.values():
        turns = row["turns_verbatim"] + row["turns_shortened"] + row["turns_replaced"]
        assert turns == 24  # a question with its call and result, then the answer
        assert row["originals_back"] == row["originals"]
        assert row["tokens_after"] <= row["tokens_before"]
        assert 0 <= row["user_words_kept"] <= row["user_words"]
        assert row["model_calls"] == 0
    assert rows["ladder"]["tokens_after"] < LIMIT
    assert rows["top-down-truncation"]["turns_replaced"] > 0 < rows["top-down-truncation"]["originals"]
    assert rows["clear-tools"]["turns_replaced"] == rows["bands"]["turns_replaced"] == 0
    assert rows["ladder"]["user_words_kept"] > rows["top-down-truncation"]["user_words_kept"]
    assert document["limits"] == {"soft": 500, "hard": LIMIT}
    assert [total["strategy"] for total in document["totals"]] == list(rows)
    assert [child.name for child in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_totals_are_the_sums(tmp_path: Path) -> None:
    records = [{"messages": exchanges(n, "b")} for n in (1, 12, 15)]
    document = compare(write(tmp_path / "in.jsonl", *records), "--limit", str(LIMIT), "--strategy", "pack")
    (total,) = document["totals"]
    rows = [result["strategies"][0] for result in document["results"]]
    for key in ("tokens_before", "tokens_after", "turns_replaced", "originals", "user_words_kept"):
        assert total[key] == sum(row[key] for row in rows)
    assert sum(total["outcomes"].values()) == 3
    assert total["reasons"]["below_soft_limit"] == 1


def test_the_tables_fit_80_columns(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = runner.invoke(app, ["compare", path, path, "--limit", str(LIMIT)])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert f"2 conversations: {2 * tokens(WAREHOUSE):,} tokens in 98 messages; soft limit 500, hard 800" in lines
    for name in OWN:
        assert sum(line.startswith(f"{name} ") for line in lines) == 2
    assert "2 applied" in done.stdout


def test_a_pipe_gets_plain_text(path: str) -> None:
    done = ctxcompress("compare", path, "--limit", str(LIMIT))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    assert done.stdout.splitlines()[1].split() == [
        "strategy",
        "tokens",
        "left",
        "calls",
        "seconds",
        "outcome",
        "reason",
    ]


def test_where_nothing_is_due_it_says_which_limit_to_try(path: str) -> None:
    done = runner.invoke(app, ["compare", path])
    assert done.exit_code == 0
    assert done.stderr.count("\n") == 1
    limit = int(done.stderr.rsplit("--limit ", 1)[1])
    rows = compare(path, "--limit", str(limit))["results"][0]["strategies"]
    assert "below_soft_limit" not in {row["reason"] for row in rows}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--strategy", "magic"], "there is no strategy 'magic'; there are: "),
        (["--limit", "1"], "--limit is 1"),
        (["--base-url", "http://localhost:1"], "--base-url goes with --model"),
    ],
)
def test_a_wrong_option_is_one_line(path: str, options: list[str], told: str) -> None:
    done = runner.invoke(app, ["compare", path, *options])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ctxcompress: {told}")
    assert done.stderr.count("\n") == 1


def test_a_broken_line_is_named_and_the_others_are_compared(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", "oops", {"messages": WAREHOUSE})
    done = runner.invoke(app, ["compare", path, "--limit", str(LIMIT), "--json"])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"ctxcompress: {path}:1: is no JSON")
    assert len(json.loads(done.stdout)["results"]) == 1


class _Broken(CompressionStrategy):
    name = "broken"

    def run(self, request: CompressionRequest) -> Steps:
        raise RuntimeError("it fell over\nbadly")
        yield  # a strategy is a generator


def test_a_registered_strategy_is_among_them_and_may_fail(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    register_strategy(_Broken)
    done = runner.invoke(app, ["compare", path, "--limit", str(LIMIT), "--json"])
    assert done.exit_code == 0
    rows = {row["strategy"]: row for row in json.loads(done.stdout)["results"][0]["strategies"]}
    assert set(rows) >= {*OWN, "broken"}
    assert (rows["broken"]["outcome"], rows["broken"]["turns_replaced"]) == ("failed", 0)
    assert "Traceback" not in done.stderr


def test_a_strategy_that_cannot_be_loaded_is_one_line(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(strategy: object) -> object:
        raise ModuleNotFoundError("No module named 'elsewhere'")

    monkeypatch.setattr("langchain_ctxcompress.strategies.resolve_strategy", missing)
    done = runner.invoke(app, ["compare", path])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "ctxcompress: strategy 'ladder' cannot be loaded: No module named 'elsewhere'\n"


def test_a_conversation_that_cannot_be_counted_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": exchanges(12, "b")}, {"messages": WAREHOUSE})
    compress = ContextCompressor.compress

    def failing(self: ContextCompressor, messages: list[BaseMessage], **options: Any) -> Any:
        if "b: how" in str(messages[1].content):
            raise TokenCountError("message 'm' cannot be counted")
        return compress(self, messages, **options)

    monkeypatch.setattr(ContextCompressor, "compress", failing)
    done = runner.invoke(app, ["compare", path, "--limit", str(LIMIT), "--json"])
    assert (done.exit_code, done.stderr) == (2, f"ctxcompress: {path}:1: message 'm' cannot be counted\n")
    document = json.loads(done.stdout)
    assert [result["line"] for result in document["results"]] == [2]
    assert document["totals"][0]["tokens_before"] == tokens(WAREHOUSE)
    done = runner.invoke(
        app, ["compare", write(tmp_path / "b.jsonl", {"messages": exchanges(12, "b")}), "--limit", "9"]
    )
    assert (done.exit_code, done.stdout) == (2, "")


def test_the_help_names_every_strategy_of_the_package() -> None:
    assert set(STRATEGIES.split(", ")) == OWN <= set(strategy_names())


@pytest.mark.parametrize("name", sorted(OWN))
def test_compress_takes_every_strategy_by_its_name(name: str, path: str, tmp_path: Path) -> None:
    out, store = tmp_path / "out.jsonl", tmp_path / "originals.sqlite"
    options = ["--limit", "1800", "--out", str(out), "--store", str(store), "--strategy", name]
    done = runner.invoke(app, ["compress", path, *options])
    (record,) = load(out)
    assert done.exit_code == (1 if record["ctxcompress"]["outcome"] == "failed" else 0), done.output
    assert violations(convert_to_messages(record["messages"]), original=convert_to_messages(WAREHOUSE)) == []
    assert record["ctxcompress"]["tokens_after"] == tokens(record["messages"])


@realdata.needs_recordings
def test_a_recorded_conversation(tmp_path: Path) -> None:
    """What the strategies promise each, on a real run of an agent with tools."""
    (recording, *_) = [r for r in realdata.records(realdata.files()[0]) if len(r["messages"]) > 20]
    path = write(tmp_path / "in.jsonl", recording)
    size = tokens(recording["messages"])
    rows = {row["strategy"]: row for row in compare(path, "--limit", str(size * 3 // 4))["results"][0]["strategies"]}
    assert all(row["originals_back"] == row["originals"] for row in rows.values())
    assert rows["ladder"]["tokens_after"] < size * 3 // 4


class TestKept:
    """The measure itself, on lists made by hand."""

    def given(self) -> list[BaseMessage]:
        return ensure_ids([SystemMessage("rules"), *talk(4, ids=False)], "s")

    def test_the_same_list_keeps_all(self) -> None:
        given = self.given()
        kept = Kept.of(given, given, lambda ids: [])
        assert (kept.turns_verbatim, kept.turns_shortened, kept.turns_replaced) == (4, 0, 0)
        assert (kept.user_share, kept.originals, kept.originals_back) == (100, 0, 0)

    def test_equal_copies_count_as_they_were(self) -> None:
        given = self.given()
        kept = Kept.of(given, [message.model_copy() for message in given], lambda ids: [])
        assert (kept.turns_verbatim, kept.originals) == (4, 0)

    def test_what_is_gone_shortened_or_lost_is_told_apart(self) -> None:
        given = self.given()
        cut = given[3].model_copy(update={"content": "…"})
        context = [given[0], cut, *given[4:5], *given[7:]]  # turn 0 gone, turn 1 shortened, turn 2 gone
        archived = {message.id: message for message in given}
        del archived[given[1].id]
        archived[given[2].id] = given[2].model_copy(update={"content": "something else"})

        def fetch(ids: Any) -> list[BaseMessage]:
            return [archived[i] for i in ids if i in archived]

        kept = Kept.of(given, context, fetch)
        assert (kept.turns_verbatim, kept.turns_shortened, kept.turns_replaced) == (1, 1, 2)
        assert (kept.originals, kept.originals_back) == (5, 3)

    def test_the_users_words_count_where_a_summary_quotes_them(self) -> None:
        mark = {"ctxcompress": {"kind": "summary", "checkpoint_ids": ["c"]}}
        given = [HumanMessage("keep the SQL\nand 漢字", id="1"), HumanMessage("SQ", id="2")]
        summary = HumanMessage(
            "<user_words>\n- (answered)  keep  the SQL\n</user_words>", id="1", additional_kwargs=mark
        )
        kept = Kept.of(given, [summary], lambda ids: [])
        assert (kept.user_words, kept.user_words_kept) == (10 + 5 + 2, 10)
        assert kept.user_share == 58
        assert Kept.of([], [], lambda ids: []).user_share == 100
