"""Law 9: no hidden state. What is in the messages and in the store is all there is."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.laws.judge import STRATEGIES, as_bytes, illegal
from tests.support.conversations import conversations, exchanges
from tests.support.legality import is_summary

CONFIG = PrunerConfig.for_limit(1_200)


def test_a_process_started_tomorrow_reads_the_same_list_and_the_same_originals(tmp_path: Path) -> None:
    path = tmp_path / "with a space" / "store.sqlite"
    messages = exchanges(30)
    today = ContextCompressor(config=CONFIG, store=path, session_id="s")
    first = today.compress(messages)
    assert first.checkpoint is not None
    expanded = today.expand(first.checkpoint.checkpoint_id)
    tomorrow = ContextCompressor(config=CONFIG, store=path, session_id="s")
    assert tomorrow.compress(first.messages).outcome == "noop"
    assert tomorrow.view(messages) == first.messages
    assert tomorrow.compress(messages).messages == first.messages
    assert tomorrow.expand(first.checkpoint.checkpoint_id) == expanded
    assert tomorrow.expand_message("human-5") == messages[10]
    elsewhere = ContextCompressor(config=CONFIG, store=f"sqlite:{path}")
    assert elsewhere.expand(first.checkpoint.checkpoint_id) == expanded, "found without naming the session"


async def test_the_same_async(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    messages = exchanges(30)
    first = await ContextCompressor(config=CONFIG, store=path, session_id="s").acompress(messages)
    assert first.checkpoint is not None
    tomorrow = ContextCompressor(config=CONFIG, store=path, session_id="s")
    assert await tomorrow.aview(messages) == first.messages
    assert await tomorrow.aexpand_message("human-5") == messages[10]
    found = await tomorrow.aexpand(first.checkpoint.checkpoint_id)
    assert found is not None
    assert {m.id for m in found} >= set(first.checkpoint.covered)
    assert await tomorrow.aexpand("cnothing") is None


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=25)
@given(conversations(max_messages=80, surrogates=True), st.integers(60, 2_000))
def test_a_restart_between_two_steps_changes_nothing(strategy: str, messages: list[BaseMessage], limit: int) -> None:
    """The list goes through a checkpointer in between, as dicts."""
    config, store = PrunerConfig.for_limit(limit), InMemoryStore()
    running = ContextCompressor(config=config, store=store, session_id="s", strategy=strategy)
    first = running.compress(messages).messages
    reloaded = messages_from_dict(messages_to_dict(first))
    restarted = ContextCompressor(config=config, store=store, session_id="s", strategy=strategy)
    assert [as_bytes(m) for m in restarted.view(reloaded)] == [as_bytes(m) for m in running.view(first)]
    one = restarted.compress([*reloaded, *exchanges(3)])
    assert illegal(restarted, one.messages, [*reloaded, *exchanges(3)]) == []


def test_two_processes_on_one_session_see_each_other_s_compressions() -> None:
    store = InMemoryStore()
    one, two = (ContextCompressor(config=CONFIG, store=store, session_id="s") for _ in range(2))
    messages = one.compress(exchanges(30)).messages
    messages = two.compress([*messages, *exchanges(30, start=30)]).messages
    last = one.compress([*messages, *exchanges(30, start=60)])
    assert sum(map(is_summary, last.messages)) == 1
    for compressor in (one, two):
        for number in range(0, 180, 7):
            original = exchanges(90)[number]
            assert compressor.expand_message(original.id or "") in (original, None) or original in last.messages
    chain = [record for record in one.history().checkpoints() if record.strategy != "ageing"]
    assert [record.previous for record in chain][1:] == [record.checkpoint_id for record in chain][:-1]


def test_a_lost_store_costs_the_originals_and_not_the_conversation() -> None:
    """The summary message itself is all that is left: its texts are read back out of it."""
    first = ContextCompressor(config=CONFIG, session_id="s").compress(exchanges(30))
    said = first.checkpoint.text if first.checkpoint else ""
    bereft = ContextCompressor(config=CONFIG, session_id="s")
    assert bereft.compress(first.messages).outcome == "noop"
    later = bereft.compress([*first.messages, *exchanges(30, start=30)])
    assert later.changed
    assert sum(map(is_summary, later.messages)) == 1
    shown = next(message.text for message in later.messages if is_summary(message))
    assert said
    assert any(line in shown for line in said.splitlines())
    again = ContextCompressor(config=CONFIG, session_id="s", store=bereft.store).compress(later.messages)
    assert again.outcome == "noop"


def test_the_default_limits_are_said_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langchain_ctxcompress import compressor as module

    monkeypatch.setattr(module.logger, "disabled", False)  # a test before may have run what configures logging anew
    module._say_defaults.cache_clear()
    with caplog.at_level(logging.INFO):
        ContextCompressor()
        ContextCompressor()
    assert caplog.text.count("soft limit 500000, hard limit 800000") == 1
