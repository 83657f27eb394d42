"""The demo from end to end: every number it shows is taken from the run."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from langchain_core.messages import convert_to_messages
from rich.console import Console

from langchain_ctxcompress import ConfigError
from langchain_ctxcompress.demo.recording import record_session, session_tokens
from langchain_ctxcompress.demo.replay import Replay, WatchedCompressor
from langchain_ctxcompress.demo.run import DemoReport, run_demo
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.messages import is_summary
from tests.support.legality import violations


def demo(
    *, terminal: bool = False, limit: int = 4_000, tasks: int = 3, out: Path | None = None
) -> tuple[DemoReport, str]:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=110)
    report = run_demo(console, limit=limit, tasks=tasks, out=out)
    return report, written.getvalue()


def test_the_whole_session_stays_in_its_window_and_nothing_is_lost() -> None:
    written = io.StringIO()
    report = run_demo(Console(file=written, width=110))
    assert report.held
    assert report.tokens_before >= 60_000
    assert report.largest_prompt <= report.limit == 16_000
    assert report.compressions >= 3
    assert report.model_calls == 0
    assert report.messages_fetched == report.messages_replaced > 100
    assert f"{report.tokens_before:,}" in written.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_shows_progress_table_and_an_original(terminal: bool) -> None:
    report, shown = demo(terminal=terminal)
    assert ("\x1b[" in shown) == terminal
    for value in (report.tokens_before, report.tokens_after, report.largest_prompt):
        assert f"{value:,}" in shown
    assert shown.count("turns replaced, ") == report.compressions > 0
    assert f"{report.messages_fetched} of {report.messages_replaced}" in shown
    assert "fetched back: demo-" in shown
    assert "equal to what was recorded" in shown
    assert "NOT equal" not in shown


def test_writes_the_session_and_the_window(tmp_path: Path) -> None:
    folder = tmp_path / "out put"
    report, shown = demo(out=folder)
    session, window = (
        json.loads((folder / name).read_text(encoding="utf-8")) for name in ("session.jsonl", "window.jsonl")
    )
    assert session["tokens"] == report.tokens_before
    assert window["tokens"] == report.tokens_after
    assert violations(convert_to_messages(window["messages"]), open_end=False) == []
    assert "window.jsonl" in shown


def test_a_session_that_fits_is_left_as_it_is() -> None:
    report, shown = demo(limit=200_000, tasks=1)
    assert (report.compressions, report.messages_replaced, report.turns_replaced) == (0, 0, 0)
    assert report.tokens_after == report.tokens_before
    assert "fits in the window" in shown


def test_a_limit_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError):
        demo(limit=-1)


def test_what_did_not_come_back_is_not_called_held() -> None:
    report, _ = demo(tasks=2)
    values = {name: getattr(report, name) for name in report.__dataclass_fields__}
    assert DemoReport(**values).held
    assert not DemoReport(**{**values, "messages_fetched": report.messages_fetched - 1}).held
    assert not DemoReport(**{**values, "largest_prompt": report.limit + 1}).held


def test_replay_sends_every_recorded_message_once_and_keeps_the_state_legal() -> None:
    session = record_session(tasks=3)
    replay = Replay(session, WatchedCompressor(config=PrunerConfig.for_limit(4_000), session_id="test"))
    for _ in replay.steps():
        assert violations(replay.window()) == []
    kept = [message.id for message in replay.window() if not is_summary(message)]
    gone = [message.id for message in replay.replaced()]
    assert sorted([*kept, *gone]) == [message.id for message in session]
    assert session_tokens(session) > 2 * replay.window_tokens()
