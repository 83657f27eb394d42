"""`--model` with `--base-url`: a server that speaks OpenAI's protocol, on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langchain_ctxcompress.cli import app
from langchain_ctxcompress.cli.settings import CompressorSettings
from tests.cli.sessions import LIMIT, exchanges, load, write

SUMMARY = "The user asked for the stock of items 1 to 9; all were counted."


class Server(ThreadingHTTPServer):
    """Answers each chat request with a summary, or with an error, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.headers["Authorization"], body))
        message = {"role": "assistant", "content": SUMMARY}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = {"id": "r", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        data = json.dumps(reply if self.server.status == 200 else {"error": {"message": "no such model"}}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def compress(server: Server, folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    path, out = write(folder / "in.jsonl", {"messages": exchanges(12)}), folder / "out.jsonl"
    own = ["--out", str(out), "--store", f"sqlite:{folder / 's'}", "--model", "tiny", "--base-url", server.url]
    done = CliRunner().invoke(app, ["compress", path, "--limit", str(LIMIT), *own, *options])
    assert done.exit_code == 0, done.output
    return done.stderr, load(out)[0]


def test_the_model_writes_the_summary_and_a_local_server_needs_no_key(server: Server, tmp_path: Path) -> None:
    _, record = compress(server, tmp_path)
    assert [body["model"] for _, body in server.asked] == ["tiny"]
    assert server.asked[0][0] == "Bearer none"
    assert any(SUMMARY in (message["content"] or "") for message in record["messages"])
    assert record["ctxcompress"]["outcome"] == "applied"


@pytest.mark.parametrize(
    ("variable", "options"), [("OPENAI_API_KEY", []), ("MY_KEY", ["--api-key-env", "MY_KEY"])], ids=["usual", "named"]
)
def test_the_key_comes_from_the_environment(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, options: list[str]
) -> None:
    monkeypatch.setenv(variable, "sk-secret")
    said, record = compress(server, tmp_path, *options)
    assert server.asked[0][0] == "Bearer sk-secret"
    assert "sk-secret" not in said + json.dumps(record) + repr(CompressorSettings(key_variable=variable))


def test_a_server_that_does_not_know_the_model_costs_nothing_but_the_summary(server: Server, tmp_path: Path) -> None:
    """Law 4."""
    server.status = 404
    said, record = compress(server, tmp_path)
    assert server.asked
    assert record["ctxcompress"]["outcome"] == "degraded"
    assert record["ctxcompress"]["tokens_after"] < LIMIT
    assert "Traceback" not in said


def test_compare_asks_the_model_where_a_strategy_does(server: Server, tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", {"messages": exchanges(12)})
    options = ["--limit", str(LIMIT), "--model", "tiny", "--base-url", server.url, "--json"]
    done = CliRunner().invoke(app, ["compare", path, *options])
    assert done.exit_code == 0, done.output
    calls = {row["strategy"]: row["model_calls"] for row in json.loads(done.stdout)["totals"]}
    assert sum(calls.values()) == len(server.asked)
    assert calls["middle-out"] >= 1
    assert calls["top-down-truncation"] == calls["clear-tools"] == calls["pack"] == 0
