"""The recordings are all there, legal as they are, and the reason is given where they are not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import realdata
from tests.support.legality import call_ids, violations


@realdata.needs_recordings
def test_every_recording_is_legal_and_has_its_own_name() -> None:
    for path in realdata.files():
        recordings = realdata.load(path)
        assert recordings
        assert len({recording.name for recording in recordings}) == len(recordings)
        for recording in recordings:
            assert violations(recording.messages, original=recording.messages) == [], recording.name
            assert {message.id for message in recording.messages} == {None}


@realdata.needs_recordings
def test_ids_are_added_to_copies() -> None:
    recording = realdata.load(realdata.files()[0])[0]
    copies = recording.with_ids()
    assert len({message.id for message in copies}) == len(copies)
    assert {message.id for message in recording.messages} == {None}


@realdata.needs_recordings
def test_call_ids_are_reused_in_real_conversations() -> None:
    """What the generator imitates: one id serves different calls of one conversation."""
    asked = [
        [call for message in recording.messages for call in call_ids(message)]
        for path in realdata.files()
        for recording in realdata.load(path)
    ]
    assert any(len(set(ids)) < len(ids) for ids in asked)


def test_the_folder_can_be_given_and_may_be_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(realdata.VARIABLE, str(tmp_path))
    assert realdata.folder() is None
    assert realdata.files() == []
    line = '{"id": "a", "messages": [{"role": "user", "content": "hi"}]}\n'
    (tmp_path / "own.jsonl").write_text(line + line.replace('"a"', '"b"'), encoding="utf-8")
    assert [recording.name for recording in realdata.load(realdata.files()[0])] == ["own:1:a", "own:2:b"]
