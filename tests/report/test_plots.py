"""Pictures show what happened; without matplotlib the error says what to install."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from langchain_ctxcompress.errors import CtxCompressError, MissingExtraError
from tests.report.sessions import play


def test_the_window_is_drawn_with_its_limits_and_compressions() -> None:
    played = play()
    report = played.compressor.report()
    axes: Any = report.plot_tokens().axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    drops = [result.tokens_after for result in played.results if result.checkpoint]
    assert list(lines[f"{len(drops)} compressions"].get_ydata()) == drops
    assert set(lines["soft limit"].get_ydata()) == {played.compressor.config.soft_limit_tokens}
    assert set(lines["hard limit"].get_ydata()) == {played.compressor.config.hard_limit_tokens}
    assert max(lines["window"].get_ydata()) == max(result.tokens_before for result in played.results)


def test_what_the_session_would_have_grown_to_is_said_or_drawn() -> None:
    report = play().compressor.report()
    window: Any = report.plot_tokens().axes[0]
    assert window.get_ylim()[1] < report.tokens
    assert [text.get_text() for text in window.texts] == [f"to {report.tokens:,} \u2192"]
    whole: Any = report.plot_tokens(whole=True).axes[0]
    assert whole.get_ylim()[1] > report.tokens
    assert list(whole.texts) == []


def test_the_ledger_is_drawn_from_compression_to_compression() -> None:
    report = play().compressor.report()
    axes: Any = report.plot_ledger().axes[0]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert len(lines["its ledger"]) == len(report.compressions)
    assert all(part <= whole for part, whole in zip(lines["its ledger"], lines["summary message"], strict=True))
    assert max(lines["its ledger"]) > 0


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "langchain_ctxcompress.report.picture", raising=False)
    with pytest.raises(MissingExtraError, match=r"langchain-ctxcompress\[report\]") as raised:
        play(5).compressor.report().plot_window()
    assert isinstance(raised.value, CtxCompressError)


def test_a_notebook_shows_it_as_a_picture() -> None:
    picture: Any = play(20).compressor.report().plot_window()
    assert picture._repr_png_().startswith(b"\x89PNG")
