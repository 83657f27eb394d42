"""One compression's report, and the parts of a window."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import given, settings
from langchain_core.messages import BaseMessage, SystemMessage
from rich.console import Console

from langchain_ctxcompress import ContextCompressor, PrunerConfig, pin
from langchain_ctxcompress.report import COLORS, window_tiers
from langchain_ctxcompress.tokens import MessageCounter, count_tokens
from tests.support.conversations import conversations, exchanges


def parts(messages: list[BaseMessage]) -> dict[str, int]:
    tiers = window_tiers(messages, count=MessageCounter(), count_text=count_tokens)
    return {tier.label: tier.token_count for tier in tiers}


@settings(max_examples=40)
@given(conversations())
def test_the_parts_sum_up_to_the_window(messages: list[BaseMessage]) -> None:
    compressed = ContextCompressor(config=PrunerConfig.for_limit(400)).compress(messages).messages
    assert sum(parts(compressed).values()) == sum(MessageCounter()(compressed))


def test_each_part_is_told_apart_and_has_its_colour() -> None:
    said = exchanges(60)
    said = [SystemMessage("Be brief.", id="sys"), *said[:20], pin(said[20]), *said[21:]]
    result = ContextCompressor(config=PrunerConfig.for_limit(2_500)).compress(said)
    tiers = result.report().tiers
    assert [tier.label for tier in tiers] == list(COLORS)
    assert [tier.color for tier in tiers] == list(COLORS.values())
    assert tiers[0].content == "Be brief."
    assert "<ledger>" in next(tier.content for tier in tiers if tier.label == "ledger")


def test_a_list_that_was_not_compressed_has_no_summary() -> None:
    assert set(parts(exchanges(3))) == {"after the summary"}


def test_the_report_shows_what_the_result_says() -> None:
    result = ContextCompressor(config=PrunerConfig.for_limit(1_500)).compress(exchanges(60))
    report = result.report()
    out = io.StringIO()
    Console(file=out, width=80).print(report)
    for shown in (out.getvalue(), str(report), report._repr_html_()):
        assert f"{result.tokens_before:,}" in shown
        assert f"{result.tokens_after:,}" in shown
        assert "applied (compressed)" in shown
    assert "middle-out" in out.getvalue()


def test_text_of_the_conversation_is_escaped_in_a_notebook() -> None:
    said = exchanges(60)
    said = [m.model_copy(update={"content": f"<img src=x onerror=alert(1)> {m.content}"}) for m in said]
    snippet = ContextCompressor(config=PrunerConfig.for_limit(3_000)).compress(said).report()._repr_html_()
    assert "onerror" in snippet
    assert "<img" not in snippet


def test_plots_show_the_figures_of_the_result() -> None:
    result = ContextCompressor(config=PrunerConfig.for_limit(1_500)).compress(exchanges(60))
    rungs: Any = result.report().plot_rungs().axes[0]
    assert [bar.get_width() for bar in rungs.patches] == [rung.freed for rung in result.rungs]
    window: Any = result.report().plot_window().axes[0]
    assert sum(bar.get_width() for bar in window.patches) == result.tokens_after


def test_its_repr_is_a_line_without_the_conversation() -> None:
    result = ContextCompressor(config=PrunerConfig.for_limit(1_500)).compress(exchanges(60))
    assert (
        repr(result.report())
        == f"CompressionReport(applied, {result.tokens_before:,} -> {result.tokens_after:,} tokens)"
    )
