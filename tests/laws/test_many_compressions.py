"""P7, G5: a session compressed 10, 100 and 1,000 times: what is sent stays bounded, rules stay, work does not grow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import CompressionResult, ContextCompressor, Goal, PrunerConfig
from langchain_ctxcompress.ledger import Ledger
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.sizes import independent_tokens, text_tokens

LIMIT = 4_000
EACH = 16
"""Exchanges between two compressions."""

GOAL = Goal(description="Bring the archive of the museum online by spring")
RULES = (
    "Never write to the press office.",
    "Bitte antworte immer auf Englisch, wenn es um Verträge geht.",
    "From now on, quote every price with the tax included.",
    "No uses nunca mi dirección privada.",
    "Je ne veux jamais de tableau dans les lettres.",
)
VALUE = "The lock of the depot has the code {}."


def stretch(number: int) -> list[BaseMessage]:
    """The exchanges before one compression: talk, a rule in the first five, a value that changes each time."""
    said = [VALUE.format(f"LK-{10_000 + number}"), *RULES[number : number + 1]]
    talk: list[BaseMessage] = []
    for i, text in enumerate(said):
        talk += [HumanMessage(text, id=f"r{number}-{i}"), AIMessage("Noted.", id=f"n{number}-{i}")]
    return [*talk, *exchanges(EACH, start=EACH * number)]


def run(times: int, each: Callable[[int, CompressionResult], None]) -> tuple[ContextCompressor, list[BaseMessage]]:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=InMemoryStore())
    messages: list[BaseMessage] = []
    for number in range(times):
        result = compressor.compress([*messages, *stretch(number)], force=True, goal=GOAL)
        assert result.checkpoint is not None
        each(number, result)
        messages = result.messages
    return compressor, messages


def summary_of(messages: list[BaseMessage]) -> str:
    return next(message.text for message in messages if is_summary(message))


def test_p7_g5_forty_compressions() -> None:
    _check(40)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("times", [100, 1_000])
def test_p7_g5_a_hundred_and_a_thousand_compressions(times: int) -> None:
    _check(times)


def _check(times: int) -> None:
    sizes: list[int] = []
    summaries: list[int] = []
    records: list[int] = []

    def each(number: int, result: CompressionResult) -> None:
        text = summary_of(result.messages)
        sizes.append(independent_tokens(result.messages))
        summaries.append(text_tokens(text))
        records.append(len(str(result.checkpoint.ledger)) if result.checkpoint else 0)
        assert result.tokens_after < LIMIT
        said = RULES[: number + 1]
        there = "\n".join(message.text for message in result.messages)
        assert [rule for rule in said if rule not in there] == [], f"after compression {number + 1}"
        assert GOAL.description in text

    compressor, messages = run(times, each)
    assert violations(messages) == []
    # Bounded: the later half is no larger than the earlier one, but for what one compression differs from the next.
    for kind in (sizes, summaries):
        assert max(kind[times // 2 :]) <= 1.15 * max(kind[10 : times // 2])
    text = summary_of(messages)
    assert f"LK-{10_000 + times - 1}" in "\n".join(message.text for message in messages)
    assert VALUE.format("LK-10003") not in text, "an old value is not restated as current"
    _sources_are_in_the_history(compressor)


def _sources_are_in_the_history(compressor: ContextCompressor) -> None:
    """Nothing in the ledger lacks a message that says it."""
    ledger = Ledger.model_validate(compressor.history().checkpoints()[-1].ledger)
    assert len(ledger) > len(RULES)
    archived = {message.id: message.text for message in compressor.history().messages()}
    for record in ledger.records():
        assert record.sources
        for source in record.sources:
            assert source in archived, record
        assert any(_says(archived[source], record.text) for source in record.sources), record


def _says(message: str, text: str) -> bool:
    folded = " ".join(message.split())
    return all(part.strip() in folded for part in text.replace(" …", "").split(" / "))


def test_p7_the_work_of_a_compression_does_not_grow_with_their_number() -> None:
    """Counted in calls of Python functions, which a clock cannot blur."""
    calls: dict[int, int] = {}
    counted = [0]

    def count(_frame: Any, event: str, _argument: Any) -> None:
        counted[0] += event == "call"

    def each(number: int, _result: CompressionResult) -> None:
        calls[number] = counted[0]
        counted[0] = 0

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run(40, each)
    finally:
        sys.setprofile(before)
    early, late = (sum(calls[i] for i in range(*span)) / (span[1] - span[0]) for span in ((10, 18), (32, 40)))
    assert late <= 1.5 * early
