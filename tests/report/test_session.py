"""What a report says of a session is what the session was."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from langchain_ctxcompress import ContextCompressor
from langchain_ctxcompress.report import SessionReport
from tests.report.sessions import LIMIT, Played, play
from tests.support.legality import is_summary


@pytest.fixture(scope="module")
def played() -> Played:
    return play()


@pytest.fixture(scope="module")
def report(played: Played) -> SessionReport:
    return played.compressor.report()


def test_every_message_of_the_session_is_in_its_report(played: Played, report: SessionReport) -> None:
    assert [message.id for message in report.messages] == [message.id for message in played.said]
    assert len(report.sizes) == len(played.said)


def test_the_curve_is_what_the_window_was_at_every_step(played: Played, report: SessionReport) -> None:
    there = {report.messages[point.place].id: point for point in report.curve}
    assert len(report.curve) == len(played.said)
    assert {identity: there[identity].tokens for identity in played.windows} == played.windows


def test_each_compression_is_marked_where_it_was(played: Played, report: SessionReport) -> None:
    drops = [(point.before, point.tokens) for point in report.curve if point.before is not None]
    made = [(result.tokens_before, result.tokens_after) for result in played.results if result.checkpoint]
    assert len(made) > 3
    assert drops == made


def test_what_left_the_window_names_the_compression_that_replaced_it(played: Played, report: SessionReport) -> None:
    in_window = {message.id for message in report.window}
    gone = {place for place, message in enumerate(played.said) if message.id not in in_window}
    first = next(m.id for m in report.window if is_summary(m))  # it bears the id of the first that it replaces
    assert set(report.replaced_by) == gone | {report.places[first or ""]}
    for place, checkpoint in report.replaced_by.items():
        assert report.messages[place].id in checkpoint.covered


def test_the_window_is_the_one_of_the_last_step(played: Played, report: SessionReport) -> None:
    last = played.results[-1].messages
    assert [message.id for message in report.window[: len(last)]] == [message.id for message in last]


def test_a_session_that_nobody_knows_is_empty_and_still_shown() -> None:
    report = ContextCompressor().report("nobody")
    assert report.messages == []
    assert report.curve == []
    assert "nobody" in report.to_html()
    assert "messages in the archive" in report._repr_html_()


def test_the_terminal_shows_totals_compressions_and_parts(report: SessionReport) -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(report)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    for word in ("Session talk", "messages in the archive", "Compressions", "ledger", "after the summary"):
        assert word in text


def test_limits_come_from_the_compressor(report: SessionReport) -> None:
    assert report.hard_limit_tokens == LIMIT


def test_the_page_is_written_whatever_is_in_the_text(tmp_path: Path) -> None:
    played = play(12, odd="\ud800 and \x00")
    file = played.compressor.report().save_html(tmp_path / "page.html")
    assert "and" in file.read_text(encoding="utf-8")
