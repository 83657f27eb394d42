"""G5, law 6: what truncation drops goes into the ledger first."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.ledger import Ledger
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations

RULE = "Never send anything to the press office."
LIMIT = 3_000


def with_rule(messages: list[BaseMessage], at: int) -> list[BaseMessage]:
    rule = [HumanMessage(RULE, id=f"rule{at}"), AIMessage("Noted.", id=f"noted{at}")]
    return [*messages[:at], *rule, *messages[at:]]


def known(compressor: ContextCompressor) -> list[str]:
    ledgers = [checkpoint.ledger for checkpoint in compressor.history().checkpoints() if checkpoint.ledger]
    return [rule.text for rule in Ledger.model_validate(ledgers[-1] if ledgers else {}).rules]


def after_a_summary(strategy: str) -> tuple[ContextCompressor, list[BaseMessage]]:
    """A compressor that goes on with a list that another one summarised."""
    first = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    view = first.compress(exchanges(60)).messages
    config = PrunerConfig.for_limit(LIMIT)
    return ContextCompressor(config=config, strategy=strategy, store=first.store, session_id=first.session_id), view


@pytest.mark.parametrize("strategy", ["top-down-truncation", "pack", "emergency"])
def test_g5_dropped_messages_leave_their_rules_in_the_ledger_of_the_summaries_before(strategy: str) -> None:
    compressor, view = after_a_summary(strategy)
    result = compressor.compress([*view, *with_rule(exchanges(60, start=60), 20)])
    assert "rule20" not in {message.id for message in result.messages}
    assert RULE in known(compressor)


def test_g5_emergency_writes_a_summary_and_so_reads_what_it_drops() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), strategy="emergency")
    compressor.compress(with_rule(exchanges(60), 20))
    assert known(compressor) == [RULE]


@pytest.mark.parametrize("strategy", ["top-down-truncation", "pack"])
def test_truncation_alone_reads_nothing_and_the_archive_finds_it(strategy: str) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), strategy=strategy)
    compressor.compress(with_rule(exchanges(60), 20))
    assert known(compressor) == []
    assert compressor.history().search("press office", limit=1)[0].id == "rule20"


@pytest.mark.parametrize("strategy", ["top-down-truncation", "pack"])
def test_g5_the_next_summary_restates_them(strategy: str) -> None:
    compressor, view = after_a_summary(strategy)
    first = compressor.compress([*view, *with_rule(exchanges(60, start=60), 20)])
    later = ContextCompressor(
        config=PrunerConfig.for_limit(LIMIT), store=compressor.store, session_id=compressor.session_id
    )
    second = later.compress([*first.messages, *exchanges(60, start=120)])
    assert RULE in next(message.text for message in second.messages if is_summary(message))


def test_g5_a_summary_message_that_stays_restates_them_at_once() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    first = compressor.compress(exchanges(60))
    truncating = ContextCompressor(
        config=PrunerConfig.for_limit(LIMIT, rungs=("top-down-truncation",)),
        store=compressor.store,
        session_id=compressor.session_id,
    )
    longer = [*first.messages, *with_rule(exchanges(40, start=60), 0)]
    second = truncating.compress(longer)
    assert "rule0" not in {message.id for message in second.messages}
    text = next(message.text for message in second.messages if is_summary(message))
    assert RULE in text
    assert text.count("<ledger>") == text.count("</ledger>") == 1
    assert violations(second.messages) == []
    assert second.tokens_after < LIMIT
    whole = [*exchanges(60), *with_rule(exchanges(40, start=60), 0)]
    assert truncating.view(whole) == second.messages, "what is stored shows the same"


def test_g5_without_the_ledger_nothing_is_kept() -> None:
    config = PrunerConfig.for_limit(LIMIT, ledger=False)
    compressor = ContextCompressor(config=config, strategy="top-down-truncation")
    assert compressor.compress(with_rule(exchanges(60), 20)).changed
    assert known(compressor) == []
