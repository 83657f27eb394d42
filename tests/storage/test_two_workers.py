"""Two processes on one session: nothing is lost, the order is stable, and all see one active context (laws 2 and 9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langchain_ctxcompress.storage import SessionHistory, encode_message, open_store
from tests.storage.worker import processes, said, seen, share

NAMES = ("ann", "bob")


def run(place: str, folder: Path, count: int) -> None:
    reports = {who: folder / f"{who}.json" for who in NAMES}
    workers = [
        processes.Process(target=share, args=(place, who, count, str(folder), str(reports[who])), daemon=True)
        for who in NAMES
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(900)
        assert worker.exitcode == 0
    saw = {who: json.loads(report.read_text()) for who, report in reports.items()}
    history = SessionHistory(open_store(place), session_id="shared")
    messages = {str(message.id): message for message in history.messages()}
    ids = [str(message.id) for message in history.messages()]
    both = [f"both{number}" for number in range(0, count, 10)]
    assert sorted(ids) == sorted([*both, *(f"{who}{number}" for who in NAMES for number in range(count))])
    for who in NAMES:
        assert [i for i in ids if i.startswith(who)] == [f"{who}{number}" for number in range(count)]
        assert all(
            encode_message(messages[f"{who}{number}"]) == encode_message(said(number, who)) for number in range(count)
        )
        assert saw[who]["ids"] == ids, "the order is another one for each process"
        assert any(outcome.startswith("applied") for outcome in saw[who]["outcomes"])
    assert [message.id for message in history.iter()] == ids
    assert saw["ann"]["view"] == saw["bob"]["view"] == seen(place)
    assert len(seen(place)) < len(ids)
    checkpoints = history.checkpoints()
    assert all(set(checkpoint.covered) <= set(ids) for checkpoint in checkpoints)
    print(f"2 × {count} appends: {len(ids)} messages, {len(checkpoints)} checkpoints, view of {len(seen(place))}")


def test_sixty_appends_each(place: str, tmp_path: Path) -> None:
    run(place, tmp_path, 60)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_five_hundred_appends_each(place: str, tmp_path: Path) -> None:
    run(place, tmp_path, 500)
