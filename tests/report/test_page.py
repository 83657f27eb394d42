"""The inspector's page: self-contained, escaped, and what it holds is what the archive holds."""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from langchain_ctxcompress.errors import StorageError
from langchain_ctxcompress.report.serving import InspectorServer
from tests.report.sessions import Played, play

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)> <!-- ]]> \u2028 {{ 7*7 }}"


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == ("script", {"type": "application/json", "id": "data"}):
            self.data += data

    @property
    def session(self) -> Any:
        return json.loads(self.data)


@pytest.fixture(scope="module")
def played() -> Played:
    return play(40, session_id=ATTACK, odd=ATTACK)


@pytest.fixture(scope="module")
def text(played: Played) -> str:
    return played.compressor.report().to_html()


def test_text_of_a_conversation_never_becomes_markup(text: str) -> None:
    page = Page(text)
    assert [attributes for tag, attributes in page.tags if tag == "script"] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert "img" not in [tag for tag, _ in page.tags]
    assert [message["t"] for message in page.session["messages"] if message["id"] == "odd"] == [ATTACK]


def test_the_page_asks_for_nothing_from_outside(text: str) -> None:
    page = Page(text)
    assert not [attributes for _, attributes in page.tags if {"src", "srcset"} & set(attributes)]
    assert all((dict(a).get("href") or "#").startswith("#") for _, a in page.tags)
    style = text[text.index("<style>") : text.index("</style>")]
    assert not re.search(r"url\(|@import", style)
    assert "default-src 'none'" in text


def test_the_page_holds_every_message_and_every_compression(played: Played, text: str) -> None:
    session = Page(text).session
    assert [message["t"] for message in session["messages"]] == [message.text for message in played.said]
    made = [checkpoint for result in played.results for checkpoint in result.checkpoints]
    assert [entry["id"] for entry in session["checkpoints"]] == [checkpoint.checkpoint_id for checkpoint in made]
    for entry, checkpoint in zip(session["checkpoints"], made, strict=True):
        assert [session["messages"][place]["id"] for place in entry["covered"]] == list(checkpoint.covered)


def test_ledger_records_lead_to_the_messages_they_came_from(text: str) -> None:
    session = Page(text).session
    records = [record for kind in session["ledger"].values() for record in kind]
    assert records
    assert all(session["messages"][place]["id"] for record in records for place in record["from"])
    assert any(record["from"] for record in records)


@pytest.fixture
def server(played: Played) -> Iterator[InspectorServer]:
    with InspectorServer(lambda: played.compressor.report().to_html()) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def status(url: str, host: str | None = None) -> int:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_the_live_page_is_made_anew_at_each_load(server: InspectorServer, played: Played) -> None:
    with urllib.request.urlopen(server.url, timeout=30) as answer:
        first = Page(answer.read().decode())
        assert answer.headers["Cache-Control"] == "no-store"
    played.compressor.history().append([played.said[0].model_copy(update={"id": "late"})])
    with urllib.request.urlopen(server.url, timeout=30) as answer:
        second = Page(answer.read().decode())
    assert len(second.session["messages"]) == len(first.session["messages"]) + 1


def test_the_live_page_is_for_this_machine_only(server: InspectorServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert status(server.url, host="evil.example") == HTTPStatus.FORBIDDEN
    assert status(server.url + "etc/passwd") == HTTPStatus.NOT_FOUND
    assert status(server.url, host=f"localhost:{server.server_port}") == HTTPStatus.OK


def test_a_store_that_fails_is_an_error_page_and_no_crash() -> None:
    def failing() -> str:
        raise StorageError("the disk is gone")

    with InspectorServer(failing) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        try:
            assert status(serving.url) == HTTPStatus.INTERNAL_SERVER_ERROR
        finally:
            serving.shutdown()
            thread.join()


def test_long_messages_are_cut_in_the_page_and_counted(tmp_path: Path) -> None:
    long = play(12, odd="x" * 30_000)
    entry = next(m for m in Page(long.compressor.report().to_html()).session["messages"] if m["id"] == "odd")
    assert (len(entry["t"]), entry["more"]) == (20_000, 10_000)
