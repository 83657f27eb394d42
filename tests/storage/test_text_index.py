"""Search by meaning where the store has an index; by words where it has none, or where it fails."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import SessionHistory

TOPICS = ("dog cat animal puppy", "money price cost euro", "train bus travel")


class Embedding:
    """Knows three topics, counts what it is asked, and fails when it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None

    def __call__(self, texts):
        if self.error:
            raise self.error
        self.asked += texts
        return [[float(sum(word in topic for word in text.split())) + 0.01 for topic in TOPICS] for text in texts]


@pytest.fixture
def embedding():
    return Embedding()


@pytest.fixture
def history(embedding):
    return SessionHistory(InMemoryStore(index={"dims": 3, "embed": embedding}), session_id="s")


SAID = [
    HumanMessage("the puppy is ill", id="1"),
    HumanMessage("that is a high price", id="2"),
    HumanMessage("by bus and by train", id="3"),
]


async def test_meaning_is_found(history):
    history.append(SAID)
    assert history.search("dog", limit=1) == [SAID[0]]
    assert await history.asearch("euro", limit=1) == [SAID[1]]
    assert history.search("travel")[0].id == "3"
    assert history.search("dog", limit=0) == []
    assert history.search("  ") == []


def test_other_sessions_are_not_searched(history):
    history.append(SAID)
    other = SessionHistory(history.store, session_id="t")
    other.append([HumanMessage("nothing of it", id="x")])
    assert [message.id for message in other.search("dog")] == ["x"]


def test_each_message_is_embedded_once(history, embedding):
    for writer in (history, history, SessionHistory(history.store, session_id="s")):
        writer.append(SAID)
    assert len(embedding.asked) == 3
    history.append([HumanMessage("the cat is ill", id="1"), HumanMessage("", id="empty")])
    assert embedding.asked[3:] == ["the cat is ill"]


def test_the_newest_revision_is_given(history):
    history.append(SAID)
    history.append([HumanMessage("the puppy is well", id="1")])
    assert history.search("dog", limit=1)[0].content == "the puppy is well"


def test_a_failing_embedding_costs_no_message(history, embedding, caplog):
    embedding.error = OSError("no connection")
    assert history.append(SAID) == 3
    assert "not indexed" in caplog.text
    assert history.search("puppy") == [SAID[0]]
    embedding.error = None
    assert history.search("puppy") == [SAID[0]], "what is not in the index is found by its words"


def test_what_backends_refuse_and_models_cannot_read(history, embedding):
    history.append([HumanMessage("puppy\x00 \ud800 " + "x" * 100_000, id="odd")])
    (text,) = embedding.asked
    assert "\x00" not in text
    assert len(text.encode()) <= 8_000
    assert history.search("dog \x00\ud800")[0].id == "odd"


def test_what_is_forgotten_is_not_in_the_index(history):
    history.append(SAID)
    history.forget_messages(["1"])
    assert "1" not in [message.id for message in history.search("dog")]
    assert "puppy" not in str([item.value for item in history.store.search(())])


def test_without_an_index_nothing_is_put_beside_the_log():
    history = SessionHistory(None, session_id="s")
    history.append(SAID)
    assert history.store.search(("ctxcompress", "session", "s", "texts")) == []
    assert history.search("dog") == []
