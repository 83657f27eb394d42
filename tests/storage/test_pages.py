"""S3: `iter` gives what `messages` gives, and holds no more than a page and a few segments."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import SessionHistory
from langchain_ctxcompress.storage import open_store
from langchain_ctxcompress.storage import pages as pages_module
from tests.storage.stores import SyncOnlyStore, WatchedStore

WRITES = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), max_size=6)), max_size=14
)
"""Which writer appends which messages in which revision."""


def written(store, writes):
    writers = [SessionHistory(store, session_id="s") for _ in range(4)]
    for writer, messages in writes:
        writers[writer].append([HumanMessage(f"{i} in revision {r}", id=f"m{i}") for i, r in messages])
    return SessionHistory(store, session_id="s")


@given(WRITES, st.integers(1, 9))
@example([(0, [(0, 0), (0, 1), (0, 0)])], 1)
def test_it_gives_what_messages_gives(writes, page):
    """Any writers, any revisions, any page: every message once, at its first place, as it was said last."""
    history = written(InMemoryStore(), writes)
    assert list(history.iter(page=page)) == history.messages()


@given(WRITES, st.data())
@settings(max_examples=50)
def test_a_lost_index_loses_and_repeats_no_message(writes, data):
    """A process that ended between a segment and its index leaves messages that no index names."""
    store = InMemoryStore()
    history = written(store, writes)
    items = store.search(("ctxcompress", "session", "s", "ids"), limit=100)
    for item in data.draw(st.lists(st.sampled_from(items), unique_by=lambda i: i.key)) if items else []:
        store.delete(item.namespace, item.key)
    found = [message.id for message in history.iter(page=3)]
    assert found == [message.id for message in history.messages()]


def test_writers_that_came_much_later(monkeypatch):
    """A log that starts later is opened later; the order stays that of time."""
    store = InMemoryStore()
    clock = itertools.count(1_700_000_000_000_000_000, 3_600 * 10**9)
    monkeypatch.setattr("langchain_ctxcompress.storage.log.time.time_ns", lambda: next(clock))
    histories = [SessionHistory(store, session_id="s") for _ in range(5)]
    for round_ in range(3):
        for number, history in enumerate(histories):
            history.append([HumanMessage("said", id=f"{round_}-{number}")])
    for head in store.search(("ctxcompress", "session", "s", "writers")):
        first = min(int(e.order) for e in _entries(store, head.key))
        store.put(head.namespace, head.key, {**head.value, "started_at": _iso(first)})
    assert list(histories[0].iter(page=2)) == histories[0].messages()


def _entries(store, writer):
    log = SessionHistory(store, session_id="s")._log
    items = store.search(("ctxcompress", "session", "s", "log", writer), limit=100)
    return [entry for item in items for entry in log.load((writer, 0), item)]


def _iso(nanoseconds):
    from datetime import UTC, datetime

    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat()


@pytest.mark.parametrize("messages", [2_000, 8_000])
def test_what_is_read_ahead_does_not_follow_the_history(messages):
    """The first page of a long history costs as much as that of a longer one."""
    store = WatchedStore()
    SessionHistory(store, session_id="s").append([HumanMessage("said", id=f"m{i}") for i in range(messages)])
    store.forget()
    page = list(itertools.islice(SessionHistory(store, session_id="s").iter(page=100), 100))
    assert [message.id for message in page] == [f"m{i}" for i in range(100)]
    assert len(store.ops) < 120


async def test_aiter_gives_the_same(tmp_path):
    for store in (WatchedStore(), SyncOnlyStore(), open_store(tmp_path / "archive.db")):
        history = written(store, [(0, [(i, 0)]) for i in range(12)] * 2)
        assert [message async for message in history.aiter(page=5)] == history.messages()


def test_it_can_be_left_and_taken_up(monkeypatch):
    """A segment that ends within a page goes on in the next."""
    monkeypatch.setattr(pages_module, "SEGMENTS", 1)
    history = SessionHistory(None, session_id="s")
    history.append([HumanMessage("said", id=f"m{i}") for i in range(300)])
    reader = history.iter(page=7)
    first = list(itertools.islice(reader, 10))
    history.append([HumanMessage("said", id="new")])
    assert [m.id for m in [*first, *reader]][:300] == [f"m{i}" for i in range(300)]
