"""P7: older checkpoints say less and are merged, so that the summaries of a session stay bounded."""

from __future__ import annotations

import pytest
from langchain_core.messages import BaseMessage

from langchain_ctxcompress import CheckpointSummary, ContextCompressor, PrunerConfig
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.strategies.ageing import SOONER, STANDARD, age, sooner_and_sooner
from tests.strategies.requests import TOOLS
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.sizes import independent_tokens, text_tokens

SOURCE = 4_000


def checkpoint(number: int, *, level: int = 3, facts: int = 40) -> CheckpointSummary:
    text = "\n".join(f"user: order #W{1_000 * number + fact} was refunded to card {fact}" for fact in range(facts))
    return CheckpointSummary(
        checkpoint_id=f"c{number}",
        session_id="s",
        number=number,
        level=level,
        text=text,
        quotes=(Quote(message_id=f"q{number}", text=f"words {number}"),),
        covered={f"m{number}": "hash"},
        replaced_tokens=SOURCE,
    )


@pytest.mark.parametrize(("newer", "level"), [(0, 3), (1, 3), (4, 3), (5, 2), (9, 2), (10, 1), (11, 1), (40, 1)])
def test_p7_levels_by_the_number_of_newer_ones(newer: int, level: int) -> None:
    assert STANDARD.level(newer) == level
    aged = age([checkpoint(number) for number in range(1, newer + 2)][-(newer + 1) :], STANDARD, TOOLS)
    assert aged[0].level == level


@pytest.mark.parametrize(("level", "most"), [(2, 300), (1, 100)])
def test_p7_an_aged_text_keeps_to_its_level_and_its_id(level: int, most: int) -> None:
    newer = {2: 5, 1: 10}[level]
    aged = age([checkpoint(number) for number in range(1, newer + 2)], STANDARD, TOOLS)[0]
    assert aged.checkpoint_id == "c1"
    assert 0 < text_tokens(aged.text) <= most
    assert set(aged.text.splitlines()) <= set(checkpoint(1).text.splitlines())


def test_p7_two_of_level_one_stay_and_three_are_merged() -> None:
    two = age([checkpoint(number) for number in range(1, 13)], STANDARD, TOOLS)
    assert [c.level for c in two] == [1, 1, *[2] * 5, *[3] * 5]
    three = age([checkpoint(number) for number in range(1, 14)], STANDARD, TOOLS)
    assert [c.level for c in three] == [1, *[2] * 5, *[3] * 5]
    merged = three[0]
    assert merged.merged == ("c1", "c2", "c3")
    assert merged.covered == {}
    assert merged.strategy == "ageing"
    assert [quote.message_id for quote in merged.quotes] == ["q1", "q2", "q3"]
    assert 0 < text_tokens(merged.text) <= 400
    assert merged.replaced_tokens == 3 * SOURCE


def test_p7_ageing_does_not_go_back() -> None:
    old = checkpoint(1, level=1)
    assert age([old], STANDARD, TOOLS) == [old]


@pytest.mark.parametrize("number", [1, 2, 3, 8, 16])
def test_sooner_rules_say_ever_less(number: int) -> None:
    shown = [checkpoint(place) for place in range(1, number + 1)]
    sizes = [sum(text_tokens(c.text) for c in aged) for aged in sooner_and_sooner(shown, TOOLS)]
    assert len(sizes) == len(SOONER)
    assert sizes == sorted(sizes, reverse=True)
    for aged in sooner_and_sooner(shown, TOOLS):
        assert aged[-1] == shown[-1], "the new one is shown as it was written"
        assert len({c.checkpoint_id for c in aged}) == len(aged)


CONFIG = PrunerConfig(
    soft_limit_tokens=1_500,
    hard_limit_tokens=100_000,
    target_tokens=1_200,
    recent_turns=1,
    min_candidate_turns=1,
    ledger=False,
)


def sizes_of_the_summary(compressions: int) -> tuple[dict[int, int], ContextCompressor]:
    """Compresses again and again, a few new messages each time; the size of the summary message after each."""
    compressor = ContextCompressor(config=CONFIG)
    view: list[BaseMessage] = []
    sizes: dict[int, int] = {}
    step = 0
    while len(sizes) < compressions:
        result = compressor.compress([*view, *exchanges(3, start=3 * step, words=6)], force=True)
        view = result.messages
        step += 1
        if result.checkpoint is not None:
            sizes[len(sizes) + 1] = independent_tokens([message for message in view if is_summary(message)])
    return sizes, compressor


def test_p7_the_summary_stays_bounded_over_10_and_100_compressions() -> None:
    sizes, compressor = sizes_of_the_summary(100)
    assert max(sizes.values()) <= 1.3 * max(size for number, size in sizes.items() if number <= 10)
    records = compressor.history().checkpoints()
    assert max(len(record.quotes) for record in records) < 60, "a merged one does not repeat all that was ever said"
    covered = [message_id for record in records for message_id in record.covered]
    assert len(covered) == len(set(covered))
    last = records[-1].checkpoint_id
    assert compressor.expand(last)
    for number in (1, 100, 250):
        original = exchanges(1, start=number, words=6)[0]
        assert compressor.expand_message(original.id or "") == original


@pytest.mark.slow
def test_p7_the_summary_stays_bounded_over_1000_compressions() -> None:
    sizes, compressor = sizes_of_the_summary(1_000)
    # A merged summary may grow with all it stands for, up to the most that level 1 takes (P2); then it is at rest.
    assert max(sizes.values()) <= max(size for number, size in sizes.items() if number <= 10) + 400
    late = [size for number, size in sizes.items() if number > 600]
    assert max(late) <= 1.1 * max(size for number, size in sizes.items() if 300 < number <= 600)
    merged = [record for record in compressor.history().checkpoints() if record.merged]
    assert max(len(record.model_dump_json()) for record in merged) < 20_000
    assert compressor.expand(merged[-1].checkpoint_id)


def test_p7_a_summary_over_a_quarter_of_the_target_ages_sooner() -> None:
    """Long before there are five newer ones."""
    config = CONFIG.model_copy(update={"target_tokens": 600, "keep_human_tokens": 0})
    compressor = ContextCompressor(config=config)
    view: list[BaseMessage] = []
    for step in range(4):
        view = compressor.compress([*view, *exchanges(6, start=6 * step, words=30)], force=True).messages
    shown = {i for m in view if is_summary(m) for i in m.additional_kwargs["ctxcompress"]["checkpoint_ids"]}
    merged = [record for record in compressor.history().checkpoints() if record.merged]
    assert merged
    assert shown & {record.checkpoint_id for record in merged}


def test_p10_ageing_can_be_switched_off() -> None:
    rungs = tuple(name for name in PrunerConfig().rungs if name != "ageing")
    compressor = ContextCompressor(config=CONFIG.model_copy(update={"rungs": rungs}))
    view: list[BaseMessage] = []
    for step in range(8):
        view = compressor.compress([*view, *exchanges(4, start=4 * step, words=12)], force=True).messages
    records = compressor.history().checkpoints()
    assert {record.level for record in records} == {3}
    assert not any(record.merged for record in records)
