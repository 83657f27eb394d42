"""`ctxcompress count` and `plan`: they say what would be, and write nothing."""

from __future__ import annotations

import json
from pathlib import Path

from langchain_core.messages.utils import convert_to_messages

from langchain_ctxcompress.tokens import count_message
from tests.cli.sessions import LIMIT, exchanges, tokens, write
from tests.cli.test_commands import WAREHOUSE, run


def test_count_is_the_sum_of_the_messages(tmp_path: Path) -> None:
    """C8: the same numbers as the API's."""
    path = write(tmp_path / "in.jsonl", {"id": "x", "messages": WAREHOUSE}, {"id": 2, "messages": exchanges(2)})
    document = json.loads(run("count", path, "--json"))
    wanted = [sum(map(count_message, convert_to_messages(each))) for each in (WAREHOUSE, exchanges(2))]
    assert [row["tokens"] for row in document["results"]] == wanted
    assert [(row["file"], row["line"], row["id"]) for row in document["results"]] == [(path, 1, "x"), (path, 2, 2)]
    assert document["totals"] == {"conversations": 2, "messages": 49 + 9, "tokens": sum(wanted)}
    assert document["encoding"] == {"name": "o200k_base", "margin_percent": 0}
    table = run("count", path)
    assert all(f"{number:,}" in table for number in (*wanted, sum(wanted)))


def test_count_for_a_model_of_unknown_encoding_adds_a_margin(tmp_path: Path) -> None:
    """C1."""
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    plain, other = (json.loads(run("count", path, "--json", *o)) for o in ((), ("--model", "claude-sonnet-9")))
    assert other["encoding"] == {"name": "o200k_base", "margin_percent": 15}
    assert 1.0 < other["totals"]["tokens"] / plain["totals"]["tokens"] <= 1.16
    assert "a margin of 15 %" in run("count", path, "--model", "claude-sonnet-9")


def test_plan_says_what_compress_would_do_and_writes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE}, {"messages": exchanges(1)})
    document = json.loads(run("plan", path, "--limit", str(LIMIT), "--json"))
    large, small = document["results"]
    assert (large["urgency"], large["reason"], large["tokens"]) == ("hard", "compressed", tokens(WAREHOUSE))
    assert large["candidate_turns"] > 3
    assert (small["urgency"], small["reason"], small["candidate_turns"]) == ("none", "below_soft_limit", 0)
    assert document["limits"] == {"soft": int(0.625 * LIMIT), "hard": LIMIT}
    assert "Soft limit 500 tokens, hard limit 800" in run("plan", path, "--limit", str(LIMIT))
    assert [child.name for child in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_default_limits_are_those_of_the_package(tmp_path: Path) -> None:
    """T4."""
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    assert json.loads(run("plan", path, "--json"))["limits"] == {"soft": 500_000, "hard": 800_000}
    soft = json.loads(run("plan", path, "--soft-limit", "400", "--json"))
    assert soft["limits"] == {"soft": 400, "hard": 800_000}
    assert soft["results"][0]["urgency"] == "soft"


def test_plan_with_a_model_counts_its_calls_and_makes_none(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": WAREHOUSE})
    options = ("--limit", str(LIMIT), "--model", "m", "--base-url", "http://localhost:1/v1", "--json")
    (row,) = json.loads(run("plan", path, *options))["results"]
    assert row["model_calls"] >= 1
    assert row["model_tokens"] > 100
    assert 0 < row["tokens_after"] < row["tokens"]
    assert row["cost"] > row["model_tokens"]
    assert row["saving"] > 0
