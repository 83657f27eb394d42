"""Nothing that a session is called, and nothing that lies in the folder, makes a command write elsewhere."""

from __future__ import annotations

import inspect
import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from langchain_core.messages.utils import convert_to_messages

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory, SnapshotStore
from langchain_ctxcompress.cli.app import app
from langchain_ctxcompress.conversations import OutputFile
from langchain_ctxcompress.demo.recording import write_session
from langchain_ctxcompress.errors import ConversationFileError
from langchain_ctxcompress.report.serving import InspectorServer
from langchain_ctxcompress.storage import open_store
from tests.cli.conftest import RunMain
from tests.cli.sessions import LIMIT, exchanges, langchain, write

NAMES = {
    "above": "../../secret",
    "absolute": "{outside}/secret",
    "absolute with an ending": "{outside}/secret.jsonl",
    "backslashes": "..\\..\\secret",
    "drive": "C:\\secret",
    "home": "~/secret",
    "home of root": "~root/secret",
    "link": "link/secret",
    "NUL": "a\x00/../../secret",
    "line": "a\n../../secret",
    "surrogate": "\ud800/../../secret",
    "very long": "../" * 2_000 + "secret",
    "long name": "s" * 5_000,
    "dot": ".",
    "dots": "..",
    "slash": "/",
    "variable": "$HOME/secret",
    "percent": "%2e%2e%2fsecret",
    "URL": "file:///tmp/secret",
    "option": "--output=../secret",
    "SQL": "'; ATTACH DATABASE '../secret' AS a; --",
    "SQLite's": "file:../secret?mode=rwc",
}


class Folder:
    """A folder that is given to commands, between others that nobody may touch."""

    def __init__(self, root: Path) -> None:
        self.root, self.outside, self.given = root, root / "outside", root / "a" / "given"
        self.outside.mkdir()
        self.given.mkdir(parents=True)
        (self.outside / "secret").write_text("not yours", encoding="utf-8")
        (self.given / "link").symlink_to(self.outside)
        (self.given / "file.jsonl").symlink_to(self.outside / "secret")
        (self.given / "gone.jsonl").symlink_to(self.outside / "new.jsonl")
        self.before = self.elsewhere()

    def elsewhere(self) -> dict[str, bytes | str]:
        """Everything under the root but what is in the given folder: names, contents, where links point."""
        found: dict[str, bytes | str] = {}
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if Path(folder, name) != self.given]
            for name in [*folders, *files]:
                path = Path(folder, name)
                found[str(path)] = str(path.readlink()) if path.is_symlink() else path.is_dir() or path.read_bytes()
        return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    made = Folder(tmp_path)
    for variable in ("HOME", "XDG_DATA_HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(made.given / "home"))
    monkeypatch.chdir(made.given)
    yield made
    assert made.elsewhere() == made.before, "something was written outside of the given folder"


@pytest.mark.parametrize("kind", NAMES)
def test_a_session_by_any_name_stays_in_the_folder(kind: str, folder: Folder, run_main: RunMain) -> None:
    name = NAMES[kind].format(outside=folder.outside)
    talk = exchanges(8)
    ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store="sqlite:archive.sqlite", session_id=name).compress(
        convert_to_messages(talk)
    )
    store = ("--store", "archive.sqlite")
    ends = {
        "list": run_main("history", "list", *store),
        "show": run_main("history", "show", *store, "--", name),
        "search": run_main("history", "search", *store, "--", "item 3"),
        "markdown": run_main("history", "export", "--output", "one.md", *store, "--", name),
        "jsonl": run_main("history", "export", "--output", "one.jsonl", *store, "--", name),
        "table": run_main("inspect", *store, "--", name),
        "page": run_main("inspect", "--html", "page.html", *store, "--", name),
        "snapshot": run_main("snapshot", "create", *store, "--", name),
        "snapshots": run_main("snapshot", "list", *store, "--", name),
        "again": run_main("compress", "one.jsonl", "--limit", str(LIMIT), "--out", "out.jsonl", *store),
    }
    assert {command: end for command, end in ends.items() if end[0] != 0} == {}
    made = {path.name for path in folder.given.iterdir()} - {"link", "file.jsonl", "gone.jsonl", "home"}
    made = {found for found in made if not found.startswith("archive.sqlite-")}
    assert made == {"out.jsonl", "archive.sqlite", "one.md", "one.jsonl", "page.html"}
    kept = SessionHistory(open_store("sqlite:archive.sqlite"), session_id=name).messages()
    assert len(kept) == len(talk)


WRITES = {
    "history export": ("history", "export", "s", "--output"),
    "inspect": ("inspect", "s", "--html"),
    "snapshot restore": ("snapshot", "restore", "{snapshot}", "--output"),
}
BAD_PLACES = {
    "a link to a file": "file.jsonl",
    "a link to nothing": "gone.jsonl",
    "NUL": "a\x00.jsonl",
    "too long": "x" * 5_000 + ".jsonl",
    "a folder": "link",
    "nowhere": "none/of/these.jsonl",
}


@pytest.mark.parametrize("place", BAD_PLACES)
@pytest.mark.parametrize("command", WRITES)
def test_what_is_written_replaces_nothing_and_follows_no_link(
    command: str, place: str, folder: Folder, run_main: RunMain
) -> None:
    messages = convert_to_messages(exchanges(8))
    SessionHistory("sqlite:archive.sqlite", session_id="s").append(messages)
    snapshot = SnapshotStore("sqlite:archive.sqlite", session_id="s").create(messages)
    store = ("--store", "archive.sqlite")
    words = [word.format(snapshot=snapshot.snapshot_id) for word in WRITES[command]]
    form = () if command == "inspect" else ("--format", "jsonl")
    code, out, err = run_main(*words, BAD_PLACES[place], *form, *store)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert any(said in err for said in ("cannot be written", "already", "is a link to", "is a directory"))


@pytest.mark.parametrize("place", ["a\x00.jsonl", "x" * 5_000, "link", "none/of/these.jsonl", ""])
def test_compress_says_where_it_cannot_write(place: str, folder: Folder, run_main: RunMain) -> None:
    given = write(folder.given / "in.jsonl", json.dumps({"id": "s", "messages": langchain(exchanges(2))}))
    code, out, err = run_main("compress", given, "--limit", str(LIMIT), "--out", place, "--store", "archive.sqlite")
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert any(said in err for said in ("cannot be written", "is a directory"))


@pytest.mark.parametrize("store", ["a\x00.sqlite", "x" * 5_000, "link", "sqlite:link/secret"])
def test_a_store_that_is_no_archive_is_left_as_it_is(store: str, folder: Folder, run_main: RunMain) -> None:
    code, out, err = run_main("history", "list", "--store", store)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_a_link_that_waits_for_the_file_beside_is_not_followed(folder: Folder) -> None:
    waiting = folder.given / f".out.jsonl.{os.getpid()}.part"
    waiting.symlink_to(folder.outside / "secret")
    with OutputFile(str(folder.given / "out.jsonl")) as file:
        file.write({"a": 1})
    assert (folder.given / "out.jsonl").read_text(encoding="utf-8") == '{"a": 1}\n'
    assert not waiting.is_symlink()


@pytest.mark.parametrize("target", ["secret", "new.jsonl", ""])
def test_the_demo_writes_into_its_folder_alone(target: str, folder: Folder) -> None:
    (folder.given / "session.jsonl").symlink_to(folder.outside / target)
    write_session([], folder.given / "session.jsonl")
    assert not (folder.given / "session.jsonl").is_symlink()
    assert json.loads((folder.given / "session.jsonl").read_text(encoding="utf-8"))["messages"] == []


def test_the_demo_says_where_it_cannot_write(folder: Folder) -> None:
    (folder.given / "session.jsonl").mkdir()
    with pytest.raises(ConversationFileError, match="is a directory"):
        write_session([], folder.given / "session.jsonl")


@pytest.mark.parametrize(
    "asked", ["/../outside/secret", "/../../../../etc/passwd", "//etc/passwd", "/%2e%2e/outside/secret", "/./", "*"]
)
def test_the_live_page_serves_no_file(asked: str, folder: Folder) -> None:
    with InspectorServer(lambda: "<p>the page</p>") as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with socket.create_connection(("127.0.0.1", server.server_port), 10) as line:
            line.sendall(f"GET {asked} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode())
            answer = b"".join(iter(lambda: line.recv(65_536), b""))
        server.shutdown()
        thread.join(10)
    assert b" 404 " in answer.splitlines()[0]
    assert b"not yours" not in answer
    assert b"root:" not in answer


def _options(command: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every command with the names of its options for files and folders."""
    if subs := getattr(command, "commands", None):
        for name, sub in subs.items():
            yield from _options(sub, f"{path} {name}".strip())
        return
    for parameter in command.params:
        if parameter.param_type_name == "option" and re.search("FILE|DIR|PATH|STORE", str(parameter.metavar)):
            yield path, parameter.opts[0]


def test_every_option_that_names_a_place_is_tried_here() -> None:
    found = {f"{path} {option}" for path, option in _options(typer.main.get_command(app))}
    tried = {"compress --out", "compress --store", "demo --out", "inspect --html", "history export --output"}
    tried |= {"snapshot restore --output"}
    assert found - {one for one in found if one.endswith("--store")} == tried - {"compress --store"}
    assert "compress --store" in found
    assert inspect.signature(write_session).parameters.keys() == {"messages", "path"}
