"""The output is there whole or not at all."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from langchain_ctxcompress.conversations import OutputFile
from langchain_ctxcompress.errors import ConversationFileError

RECORDS = [{"id": 1, "text": "grüße 日本"}, {"id": 2, "text": "\ud800 alone"}, {"id": 3, "text": "a\u2028b\nc"}]


def write(path: Path, records: list[dict[str, Any]]) -> None:
    with OutputFile(str(path)) as out:
        for record in records:
            out.write(record)
            assert not path.exists() or path.read_text() == "older"


@pytest.mark.parametrize("older", [None, "older"])
def test_it_takes_its_name_at_the_end(tmp_path: Path, older: str | None) -> None:
    path = tmp_path / "out.jsonl"
    if older:
        path.write_text(older)
    write(path, RECORDS)
    assert [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] == RECORDS
    assert "日本".encode() in path.read_bytes()
    assert [child.name for child in tmp_path.iterdir()] == ["out.jsonl"]


def test_an_interruption_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("older")
    with pytest.raises(KeyboardInterrupt), OutputFile(str(path)) as out:
        out.write(RECORDS[0])
        raise KeyboardInterrupt
    assert path.read_text() == "older"
    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_written_is_no_file(tmp_path: Path) -> None:
    write(tmp_path / "out.jsonl", [])
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", RECORDS)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").exists()


def test_a_long_name_has_room_beside_it(tmp_path: Path) -> None:
    write(tmp_path / ("n" * 250), RECORDS)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with OutputFile(str(pipe)) as out:
            out.write(RECORDS[0])
        assert json.loads(os.read(end, 1_000)) == RECORDS[0]
    finally:
        os.close(end)
    assert pipe.is_fifo()


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "out"):
        with pytest.raises(ConversationFileError), OutputFile(str(path)):
            pass
    with pytest.raises(ConversationFileError, match="is not open"):
        OutputFile(str(tmp_path / "x")).write({})


class Full:
    """A disk that is full when `at` is reached."""

    def __init__(self, stream: BinaryIO, at: str) -> None:
        self.stream, self.at = stream, at

    def write(self, data: bytes) -> None:
        if self.at == "write":
            raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        self.stream.close()
        if self.at == "close":
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("at", ["write", "close"])
def test_a_full_disk_is_said_and_leaves_no_trace(tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, mode: Full(opened(self, mode), at))
    path = tmp_path / "out.jsonl"
    with pytest.raises(ConversationFileError, match="No space left on device"), OutputFile(str(path)) as out:
        out.write(RECORDS[0])
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_caller_is_not_hidden_by_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, mode: Full(opened(self, mode), "close"))
    with pytest.raises(KeyError), OutputFile(str(tmp_path / "out.jsonl")):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
