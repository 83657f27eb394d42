"""Sessions, tenants and threads of one `ContextCompressor`."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage, SystemMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    ContextCompressor,
    PrunerConfig,
)
from tests.laws.judge import illegal, lost, voice_lost
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(1_500)


# sessions


def test_two_sessions_of_one_compressor_do_not_mix() -> None:
    compressor = ContextCompressor(config=CONFIG)
    one = compressor.compress(exchanges(40), session_id="one")
    two = compressor.compress(exchanges(40, start=100), session_id="two")
    assert one.checkpoint is not None
    assert two.checkpoint is not None
    for result, name, other in ((one, "one", "two"), (two, "two", "one")):
        record = result.checkpoint
        assert record is not None
        assert record.session_id == name
        found = compressor.expand(record.checkpoint_id, session_id=name)
        assert found
        assert compressor.expand(record.checkpoint_id) == found
        assert compressor.expand(record.checkpoint_id, session_id=other) is None
    assert compressor.expand_message("human-9", session_id="one") == exchanges(40)[18]
    assert compressor.expand_message("human-9", session_id="two") is None
    assert compressor.expand_message("human-109") == exchanges(40, start=100)[18]
    again = compressor.compress([*two.messages, *exchanges(40, start=140)], session_id="two")
    summary = next(message.text for message in again.messages if is_summary(message))
    assert "#W10010" not in summary


@pytest.mark.parametrize("session_id", ["", "a.b/c:d", "ä 漢 \x00 \ud800", "x" * 3_000])
def test_any_text_is_a_session_id(session_id: str) -> None:
    compressor = ContextCompressor(config=CONFIG, session_id=session_id or None)
    result = compressor.compress(exchanges(40), session_id=session_id or None)
    assert result.checkpoint is not None
    assert compressor.expand(result.checkpoint.checkpoint_id)
    assert compressor.expand_message("human-9") is not None


def test_a_compressor_s_own_session_is_its_own() -> None:
    store = InMemoryStore()
    one, two = (ContextCompressor(config=CONFIG, store=store) for _ in range(2))
    assert one.session_id != two.session_id
    one.compress(exchanges(40))
    assert two.history().messages() == []
    assert two.expand_message("human-9") == exchanges(40)[18], "found in every session of the store"


def test_tenants_do_not_see_each_other() -> None:
    store = InMemoryStore()
    one, two = (ContextCompressor(config=CONFIG, store=store, namespace=(name,), session_id="s") for name in "ab")
    result = one.compress(exchanges(40))
    assert result.checkpoint is not None
    assert two.expand_message("human-9") is None
    assert two.expand(result.checkpoint.checkpoint_id) is None
    assert two.history().messages() == []


@pytest.mark.parametrize("session_id", [None, "s", "never used"])
def test_unknown_ids_give_none(session_id: str | None) -> None:
    compressor = ContextCompressor(config=CONFIG, session_id="s")
    assert compressor.expand("c123", session_id=session_id) is None
    assert compressor.expand_message("m1", session_id=session_id) is None
    compressor.compress(exchanges(40))
    assert compressor.expand("c123", session_id=session_id) is None
    assert compressor.expand_message("m1", session_id=session_id) is None


def test_a_store_that_a_graph_brings_is_taken_where_none_was_given() -> None:
    brought = InMemoryStore()
    compressor = ContextCompressor(config=CONFIG, session_id="s")
    compressor.compress(exchanges(40), store=brought)
    assert compressor.store is brought
    assert compressor.expand_message("human-9") == exchanges(40)[18]
    own = ContextCompressor(config=CONFIG, store=InMemoryStore(), session_id="s")
    own.compress(exchanges(40), store=brought)
    assert own.store is not brought


# threads


def test_eight_threads_on_one_compressor(tmp_path: Path) -> None:
    model = ScriptedChatModel("the talk goes well")
    compressor = ContextCompressor(model, config=CONFIG, store=tmp_path / "s.sqlite")
    start = threading.Barrier(8)

    def talk(number: int) -> list[str]:
        name = f"session-{number}"
        start.wait(30)
        view: list[BaseMessage] = [SystemMessage(f"You are number {number}.", id=f"sys-{number}")]
        whole = list(view)
        found: list[str] = []
        for step in range(0, 60, 20):
            new = [m.model_copy(update={"id": f"{number}-{m.id}"}) for m in exchanges(20, start=step)]
            whole += new
            given = [*view, *new]
            view = compressor.compress(given, session_id=name).messages
            found += illegal(compressor, view, given) + voice_lost(view, given)
        return found + lost(compressor, view, whole, session_id=name)

    with ThreadPoolExecutor(8) as pool:
        assert [found for found in pool.map(talk, range(8)) if found] == []
    assert model.calls >= 8
    for number in range(8):
        ids = [message.id for message in compressor.history(f"session-{number}").messages()]
        assert len(ids) == len(set(ids)) == 121


def test_threads_on_one_session_lose_nothing() -> None:
    """Two workers on one thread of conversation: each compresses a list of its own; no original is lost."""
    compressor = ContextCompressor(config=CONFIG, session_id="s")

    def talk(number: int) -> list[str]:
        messages = exchanges(40, start=100 * number)
        output = compressor.compress(messages).messages
        return illegal(compressor, output, messages) + voice_lost(output, messages)

    with ThreadPoolExecutor(8) as pool:
        assert [found for found in pool.map(talk, range(8)) if found] == []
    for number in range(8):
        for message in exchanges(40, start=100 * number)[::9]:
            assert compressor.expand_message(message.id or "") == message
