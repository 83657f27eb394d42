"""M2: how far summaries can be trusted, said at the right count; P1, P9: the validation of a result."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import CompressionResult, ContextCompressor, PrunerConfig
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(2_000)


class NamedModel(ScriptedChatModel):
    """A scripted model that says which one it is, as models on a local runtime do."""

    model_name: str = ""


def results(compressor: ContextCompressor, number: int) -> list[CompressionResult]:
    found: list[CompressionResult] = []
    messages: list[BaseMessage] = []
    for i in range(number):
        found.append(compressor.compress([*messages, *exchanges(20, start=20 * i)], force=True))
        messages = found[-1].messages
    return found


@pytest.mark.parametrize(
    ("name", "base", "after"), [("qwen2.5-1.5b", 0.3, 3), ("llama3:7b", 0.5, 5), ("phi-13b", 0.7, 7)]
)
def test_m2_score_and_warning_come_at_the_count_of_the_model_s_size(
    name: str, base: float, after: int, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[Any] = []
    model = NamedModel("went on", model_name=name)
    with caplog.at_level(logging.WARNING, "langchain_ctxcompress"):
        found = results(ContextCompressor(model, config=CONFIG, on_event=events.append), after + 2)
    assert [result.reliability for result in found] == pytest.approx([base * 0.9 ** (i + 1) for i in range(after + 2)])
    assert [bool(result.warnings) for result in found] == [i + 1 >= after for i in range(after + 2)]
    assert sum("reliable" in record.message for record in caplog.records) == 1
    assert [bool(event.warnings) for event in events if event.kind == "applied"] == [bool(r.warnings) for r in found]
    assert f"{after} compressions" in found[after - 1].warnings[0]


@pytest.mark.parametrize("model", [None, NamedModel("went on", model_name="gpt-4o"), ScriptedChatModel("went on")])
def test_m2_there_is_no_score_without_a_model_and_where_its_size_is_not_known(model: Any) -> None:
    for result in results(ContextCompressor(model, config=CONFIG), 4):
        assert result.changed
        assert (result.reliability, result.warnings) == (None, ())


def test_m2_what_the_extractive_summariser_wrote_does_not_count() -> None:
    model = NamedModel([RuntimeError("down")] * 2 + ["went on"], model_name="qwen2.5-1.5b")
    from langchain_ctxcompress import ChatModelSummariser

    summariser = ChatModelSummariser(model, attempts=2, retry_wait=0)
    first, second = results(ContextCompressor(summariser, config=CONFIG), 2)
    assert first.reason == "summariser_failed"
    assert first.reliability == pytest.approx(0.3)
    assert second.reliability == pytest.approx(0.3 * 0.9)


def test_p1_a_result_says_the_tokens_freed_and_that_the_list_fits() -> None:
    result = ContextCompressor(config=CONFIG).compress(exchanges(60))
    assert result.validation is not None
    assert result.validation.valid
    assert result.validation.tokens == result.tokens_after
    assert result.tokens_freed == result.tokens_before - result.tokens_after > 0


def test_p9_a_result_that_does_not_fit_suggests_what_would_free_how_much() -> None:
    talk = [SystemMessage("Mind this. " * 2_000, id="s"), *exchanges(30)]
    result = ContextCompressor(config=CONFIG.model_copy(update={"rungs": ()})).compress(talk)
    assert result.outcome == "failed"
    assert result.validation is not None
    assert not result.validation.valid
    assert result.validation.overage == result.tokens_after - 1_999
    suggested = {suggestion.action: suggestion.frees for suggestion in result.validation.suggestions}
    assert {"compress", "truncate", "roll_over"} <= suggested.keys()
    assert all(0 < frees < result.tokens_after for frees in suggested.values())


def test_p9_where_nothing_can_go_nothing_is_suggested() -> None:
    talk = [SystemMessage("Mind this. " * 2_000, id="s"), HumanMessage("hi", id="h")]
    result = ContextCompressor(config=CONFIG).compress(talk)
    assert result.validation is not None
    assert result.validation.suggestions == ()
