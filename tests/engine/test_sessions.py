"""What a compressor remembers of its sessions is a cache of the store."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import CheckpointSummary, ContextCompressor, PrunerConfig
from langchain_ctxcompress.engine import Sessions, sessions
from langchain_ctxcompress.storage import run
from tests.support.conversations import exchanges


def checkpoint(name: str, number: int) -> CheckpointSummary:
    return CheckpointSummary(checkpoint_id=name, session_id="s", number=number, level=3, covered={"human-0": "x"})


def test_a_session_is_remembered_and_the_last_used_is_known_first() -> None:
    own = Sessions(InMemoryStore(), ())
    one = own.get("one")
    own.get("two")
    assert own.get("one") is one
    assert own.known() == ["one", "two"]


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 3)
    own = Sessions(InMemoryStore(), ())
    first = own.get("0")
    for name in "1234":
        own.get(name)
    assert own.known() == ["4", "3", "2"]
    assert own.get("0") is not first


def test_a_forgotten_session_is_read_again_from_the_store() -> None:
    store = InMemoryStore()
    own = Sessions(store, ())
    session = own.get("s")
    run(session.record(exchanges(2), [checkpoint("c1", 1)]), store)
    assert [record.checkpoint_id for record in session.chain.records] == ["c1"]
    session.forget()
    assert session.chain.records == ()
    run(session.view(exchanges(2)), store)
    assert [record.checkpoint_id for record in session.chain.records] == ["c1"]


def test_what_another_process_wrote_is_read_when_a_list_names_it() -> None:
    store = InMemoryStore()
    one, two = Sessions(store, ()).get("s"), Sessions(store, ()).get("s")
    run(one.view([]), store)
    head = checkpoint("c9", 1).model_copy(update={"rendered": "<…>", "first_id": "human-0"})
    run(two.record(exchanges(2), [head]), store)
    from langchain_ctxcompress.storage import summary_message

    view = run(one.view([summary_message(head), *exchanges(1, start=1)]), store)
    assert view.head is not None
    assert view.head.checkpoint_id == "c9"


def test_namespaces_keep_tenants_apart() -> None:
    store = InMemoryStore()
    one, two = (Sessions(store, (tenant,)).get("s") for tenant in ("one", "two"))
    run(one.record(exchanges(2), [checkpoint("c1", 1)]), store)
    assert len(one.history.messages()) == 4
    assert two.history.messages() == []


def test_what_is_looked_up_in_every_session_is_no_use_of_any() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(4_000))
    for name in ("a", "b"):
        compressor.history(name).append([HumanMessage(f"of {name}", id="m")])
    asked = ["m", "unknown", "m"]
    assert [found and found.content for found in map(compressor.expand_message, asked)] == ["of b", None, "of b"]
    assert compressor.expand("unknown") is None
    assert compressor.expand_message("m").content == "of b"
