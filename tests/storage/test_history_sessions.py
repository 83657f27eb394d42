"""Sessions and tenants in one store: each is apart, and is cleared alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress.storage import (
    open_store,
    run,
    session_ids,
)
from tests.storage.stores import everything
from tests.storage.test_history import checkpoint, history, put
from tests.support.conversations import exchanges
from tests.support.postgres import BACKENDS, location

ODD_IDS = [
    "",
    ".",
    "a.b",
    "a/b/../c",
    "a b",
    "a_b",
    "axb",
    "a",
    "ab",
    "A",
    "%",
    "*",
    "[ab]",
    "~",
    "-a",
    "x" * 1_000,
    "x" * 999 + "y",
    "nul\x00",
    "nul",
    "lone\ud800",
    "lone\ud801",
    "漢字🚀",
    "session",
    "sessions",
    "log",
    "line\nbreak",
]


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BaseStore:
    return open_store(location(request.param, request, tmp_path))


class TestClear:
    def test_all_of_this_session_and_nothing_else(self, store: BaseStore) -> None:
        mine, other = history(store, "mine"), history(store, "mine too")
        for one in (mine, other):
            one.append(exchanges(400))
            put(one, checkpoint())
        history(store, "mine").append([HumanMessage("x", id="of another writer")])
        mine.clear()
        assert (mine.messages(), mine.checkpoints(), mine.info().messages) == ([], [], 0)
        assert run(session_ids(), store) == ["mine too"]
        assert len(other.messages()) == 800
        assert len(other.checkpoints()) == 1

    def test_nothing_is_left_in_the_store(self) -> None:
        store = InMemoryStore()
        one = history(store, namespace=("tenant",))
        one.append(exchanges(3))
        put(one, checkpoint())
        one.clear()
        assert everything(store) == []

    def test_the_session_can_be_used_again(self, store: BaseStore) -> None:
        one = history(store)
        one.append(exchanges(2))
        one.clear()
        assert one.append(exchanges(2)) == 4
        assert one.messages() == exchanges(2)
        assert run(session_ids(), store) == ["s"]


class TestSessionsAreApart:
    def test_any_text_is_a_session_of_its_own(self, store: BaseStore) -> None:
        for place, session_id in enumerate(ODD_IDS):
            one = history(store, session_id)
            one.append([HumanMessage(session_id, id=session_id or "empty"), HumanMessage("x", id="same")])
            put(one, checkpoint(place + 1, session_id=session_id, checkpoint_id=f"c{place}"))
        assert sorted(run(session_ids(), store)) == sorted(ODD_IDS)
        for place, session_id in enumerate(ODD_IDS):
            one = history(store, session_id)
            assert [m.text for m in one.messages()] == [session_id, "x"]
            assert [m.text for m in one.get([session_id or "empty"])] == [session_id]
            assert [c.checkpoint_id for c in one.checkpoints()] == [f"c{place}"]
            assert one.info().messages == 2
        for session_id in ODD_IDS[::2]:
            history(store, session_id).clear()
        assert sorted(run(session_ids(), store)) == sorted(ODD_IDS[1::2])
        assert all(len(history(store, session_id).messages()) == 2 for session_id in ODD_IDS[1::2])

    def test_tenants_are_apart(self, store: BaseStore) -> None:
        tenants: list[tuple[str, ...]] = [
            (),
            ("a",),
            ("b",),
            ("a", "b"),
            ("a.b",),
            ("session",),
            ("sessions",),
            ("session", "s"),
            ("session", "s", "log"),
            ("-a",),
            ("ctxcompress",),
            ("",),
            ("\ud800",),
        ]
        for place, tenant in enumerate(tenants):
            one = history(store, "s", tenant)
            one.append([HumanMessage(str(tenant), id="1")])
            put(one, checkpoint(place + 1))
        for place, tenant in enumerate(tenants):
            one = history(store, "s", tenant)
            assert [m.text for m in one.messages()] == [str(tenant)]
            assert [c.number for c in one.checkpoints()] == [place + 1]
            assert run(session_ids(tenant), store) == ["s"]
        history(store, "s").clear()
        for tenant in tenants[1:]:
            assert [m.text for m in history(store, "s", tenant).messages()] == [str(tenant)]

    def test_the_order_of_labels_counts(self, store: BaseStore) -> None:
        history(store, "s", ("a", "b")).append(exchanges(1))
        assert history(store, "s", ("b", "a")).messages() == []
