"""A long session is opened at the cost of the list, and reads as if all of its checkpoints were known (law 9)."""

from __future__ import annotations

import random

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.errors import StorageError
from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.storage import CheckpointChain, OpenChain, opening, run
from tests.storage.stores import WatchedStore
from tests.support.conversations import copied

STRATEGIES = {"dropped": "top-down-truncation", "summarised": "ladder"}
"""The first one leaves no summary message: its lists name no checkpoint."""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions count as long from two checkpoints on."""
    monkeypatch.setattr(opening, "FEW", 2)
    monkeypatch.setattr(opening, "MOST_HELD", 4)


def exchange(number: int) -> list[BaseMessage]:
    return [
        HumanMessage(f"What is the state of order A-{number}? " * 4, id=f"h{number}"),
        AIMessage(f"Order A-{number} waits for part {number}. " * 4, id=f"a{number}"),
    ]


def compressor(store, limit: int = 1_800, strategy: str = "ladder") -> ContextCompressor:
    return ContextCompressor(config=PrunerConfig.for_limit(limit), store=store, session_id="s", strategy=strategy)


class Talk:
    """A session of many compressions, with every list that was ever sent."""

    def __init__(self, store, exchanges: int, strategy: str = "ladder") -> None:
        self.own = compressor(store, strategy=strategy)
        self.full: list[BaseMessage] = []
        self.lists: list[list[BaseMessage]] = []
        self.fulls: list[list[BaseMessage]] = []
        messages: list[BaseMessage] = []
        for number in range(exchanges):
            self.full += exchange(number)
            messages = self.own.compress([*messages, *exchange(number)]).messages
            self.lists.append(messages)
            self.fulls.append(list(self.full))


def whole_view(store, messages: list[BaseMessage]) -> list[BaseMessage]:
    """The view with every checkpoint known."""
    records = SessionHistory(store, session_id="s").checkpoints()
    return CheckpointChain(records).apply(messages).messages


@pytest.mark.parametrize("kind", STRATEGIES)
def test_it_reads_as_if_all_checkpoints_were_known(few: None, kind: str) -> None:
    store = InMemoryStore()
    talk = Talk(store, 60, STRATEGIES[kind])
    assert len(SessionHistory(store, session_id="s").checkpoints()) > 4
    assert any(map(is_summary, talk.lists[-1])) == (kind == "summarised")
    dice = random.Random(kind)
    fresh = compressor(store)
    for _ in range(30):
        at = dice.randrange(len(talk.lists))
        sent = list(dice.choice([talk.lists, talk.fulls])[at])
        changed = dice.randrange(5)
        if changed == 1:  # originals come back in the middle
            sent[len(sent) // 2 : len(sent) // 2] = copied(dice.sample(talk.full, 3))
        elif changed == 2:  # the summary is gone
            sent = [message for message in sent if not is_summary(message)]
        elif changed == 3:  # one is edited
            place = dice.randrange(len(sent))
            sent[place] = sent[place].model_copy(update={"content": "edited"})
        elif changed == 4:
            del sent[: dice.randrange(len(sent))]
        expected = whole_view(store, sent)
        assert compressor(store).view(sent) == expected
        assert fresh.view(sent) == expected, "what is known already changes nothing"


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_a_message_that_comes_back_in_an_idle_step_is_left_out_again(few: None, strategy: str) -> None:
    store = InMemoryStore()
    talk = Talk(store, 60, strategy)
    own = compressor(store, 5_000)
    messages = own.compress(talk.lists[-1]).messages
    grown = [*messages, *exchange(1_000)]
    assert own.compress(grown).messages == grown
    again = own.compress([*grown, *copied(talk.full[6:8]), *exchange(1_001)])
    assert again.messages == [*grown, *exchange(1_001)]


def test_originals_of_old_checkpoints_come_back(few: None) -> None:
    store = InMemoryStore()
    talk = Talk(store, 60)
    originals = {message.id: message for message in talk.full}
    fresh = compressor(store)
    for record in SessionHistory(store, session_id="s").checkpoints():
        found = fresh.expand(record.checkpoint_id)
        assert found
        assert {m.id for m in found} >= set(record.covered)
        assert all(m == originals[m.id] for m in found)
    assert fresh.expand("unknown") is None


def test_what_is_held_and_read_does_not_follow_the_session(few: None) -> None:
    """However many compressions: a list is opened by as many operations, and as few checkpoints are held."""
    costs = []
    for exchanges in (50, 130):
        store = WatchedStore()
        talk = Talk(store, exchanges)
        assert len(talk.own._sessions.get("s").chain.records) <= opening.MOST_HELD
        store.forget()
        fresh = compressor(store)
        fresh.view(talk.lists[-1])
        assert len(fresh._sessions.get("s").chain.records) <= 2 * opening.MOST_HELD
        costs.append(len(store.ops))
    assert costs[1] < costs[0] + 20, costs


def test_a_store_that_fails_meanwhile_is_asked_again(few: None) -> None:
    store = WatchedStore()
    talk = Talk(store, 40)
    expected = whole_view(store, talk.full)
    for moment in range(5):
        store.forget()
        store.fail = lambda ops, number, moment=moment: OSError(28, "gone") if number == moment else None
        known = OpenChain(SessionHistory(store, session_id="s").summaries)
        try:
            run(known.look(talk.full), store)
        except StorageError:
            store.fail = lambda ops, number: None
            run(known.look(talk.full), store)
        assert known.chain.apply(talk.full).messages == expected
