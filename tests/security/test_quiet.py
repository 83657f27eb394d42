"""What is logged and announced holds no key and nothing that was said, whatever fails."""

from __future__ import annotations

import logging

import pytest

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.strategies.rendering import exchange_ledger
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

KEYS = ["sk-proj-abcdefghijklmnop1234", "AKIAABCDEFGHIJKLMNOP", "gsk_abcdefghijklmnopqrst", "hf_abcdefghijklmnopqrstuv"]


@pytest.mark.parametrize("key", KEYS)
def test_a_failing_model_puts_no_key_and_no_text_into_log_or_events(key: str, caplog: pytest.LogCaptureFixture) -> None:
    events: list[object] = []
    model = ScriptedChatModel([ValueError(f"401: the key {key} is refused (Authorization: Bearer {key})")])
    keeper = ContextCompressor(model, config=PrunerConfig.for_limit(1_500), on_event=events.append, session_id="s")
    said = exchanges(40)
    with caplog.at_level(logging.INFO, logger="langchain_ctxcompress"):
        result = keeper.compress(said, force=True)
    assert result.outcome == "degraded"
    told = f"{caplog.text}\n{events!r}"
    assert events
    assert key not in told
    assert [message.id for message in said if message.text in told] == []


def test_another_ledger_comes_in_the_place_of_the_first_and_none_leaves_it() -> None:
    text = "<earlier_conversation>\n<ledger>\n- a\n</ledger>\n</earlier_conversation>"
    assert exchange_ledger(text, "") == text
    assert exchange_ledger(text, "- b") == text.replace("- a", "- b")
