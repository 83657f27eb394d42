"""Privacy: what is forgotten is gone, what is left stays whole, and what repeated it is written anew."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory, SnapshotStore
from langchain_ctxcompress.errors import RecordError, StorageError
from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.storage import CheckpointSummary, Quote, open_store, run
from langchain_ctxcompress.storage.forgetting import TAKEN_BACK
from tests.storage.stores import SyncOnlyStore, WatchedStore
from tests.support.conversations import conversations
from tests.support.models import ScriptedChatModel
from tests.support.postgres import BACKENDS, location

SECRET = "zebra-4711"


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    return open_store(location(request.param, request, tmp_path))


def talk(exchanges: int = 40, secret_at: int = 3):
    messages = []
    for i in range(exchanges):
        said = f"Never tell anybody that my code is {SECRET}. " if i == secret_at else ""
        messages.append(
            HumanMessage(f"{said}Where is order A-{1000 + i}, and what did part {i} cost? " * 3, id=f"h{i}")
        )
        messages.append(AIMessage(f"Order A-{1000 + i} waits for part {i}, {20 + i} EUR. " * 3, id=f"a{i}"))
    return messages


def compressor(store, **options) -> ContextCompressor:
    return ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s", **options)


def everything(store) -> str:
    return str([(item.key, item.value) for item in store.search((), limit=1_000_000)])


@pytest.mark.parametrize("secret_at", [1, 3, 20, 33, 38], ids=lambda at: f"exchange {at}")
def test_it_stands_nowhere_in_the_store(store, secret_at):
    """Whether it was summarised, quoted, remembered as a rule or a value, or is still in the list: nothing is left."""
    own = compressor(store)
    messages = talk(secret_at=secret_at)
    result = own.compress(messages)
    SnapshotStore(store, session_id="s").create(messages)
    SnapshotStore(store, session_id="s").create(result.messages, result.checkpoints)
    assert SECRET in everything(store)
    assert own.forget_messages([f"h{secret_at}"]) == 1
    assert SECRET not in everything(store)
    assert f"h{secret_at}'" not in str(own.history().checkpoints()[-1].covered)
    assert own.expand_message(f"h{secret_at}") is None
    assert own.expand_message("h5").content == messages[10].content


@given(conversations(max_messages=60, ids="all", duplicate_ids=False, broken=False), st.data())
@settings(max_examples=30)
def test_what_is_left_is_whole(messages, data):
    """Any messages of any conversation: the others come back byte for byte, from the history, each checkpoint and each
    snapshot; and no checkpoint refers to a message that is missing.
    """
    store = InMemoryStore()
    own = ContextCompressor(config=PrunerConfig.for_limit(400), store=store, session_id="s")
    result = own.compress(messages)
    own.history().append(messages)
    snapshots = SnapshotStore(store, session_id="s")
    made = snapshots.create(messages, result.checkpoints)
    gone = set(data.draw(st.lists(st.sampled_from([m.id for m in messages]), unique=True, max_size=8)))
    assert own.forget_messages(gone) == len(gone)
    left = [message for message in messages if message.id not in gone]
    assert [m.model_dump() for m in own.history().messages()] == [m.model_dump() for m in left]
    assert list(own.history().iter(page=7)) == own.history().messages()
    for checkpoint in own.history().checkpoints():
        found = {message.id for message in own.expand(checkpoint.checkpoint_id)}
        assert found >= {*checkpoint.covered, *checkpoint.altered}
        assert found.isdisjoint(gone)
        assert gone.isdisjoint((*checkpoint.covered, *checkpoint.altered))
        assert not checkpoint.stale
    restored = snapshots.restore(made.snapshot_id)
    assert [m.model_dump() for m in restored.messages] == [m.model_dump() for m in left]
    assert restored.snapshot.forgotten == len(gone)


class TestSummaries:
    def test_they_are_renewed_and_the_next_step_shows_the_new_one(self, store):
        own = compressor(store)
        result = own.compress(talk())
        before = own.history().checkpoints()[-1]
        own.forget_messages(["h3"])
        after = own.history().checkpoints()[-1]
        assert (after.stale, after.renewed, after.summariser) == (False, 1, "extractive")
        assert after.text
        assert "user:" in after.rendered
        shown = next(m for m in own.view(result.messages) if is_summary(m))
        assert shown.content == after.rendered != before.rendered
        assert shown.id == next(m for m in result.messages if is_summary(m)).id

    def test_another_process_shows_the_new_one(self, store):
        result = compressor(store).compress(talk())
        compressor(store).forget_messages(["h3"])
        assert SECRET not in str(compressor(store).view(result.messages))

    def test_the_session_goes_on(self, store):
        """Law 2: the next compression covers what it must, and the summary message has its id still."""
        own = compressor(store)
        messages = own.compress(talk()).messages
        own.forget_messages(["h3", "a4", "h30"])
        more = [m.model_copy(update={"id": f"{m.id} later"}) for m in talk(secret_at=-1)]
        result = own.compress([*messages, *more])
        assert result.outcome == "applied"
        assert SECRET not in str(result.messages)
        assert SECRET not in everything(store)

    def test_the_history_alone_takes_them_back(self, store):
        """Without a compressor nobody can write them anew: they say nothing, and are marked."""
        own = compressor(store)
        own.compress(talk())
        history = SessionHistory(store, session_id="s")
        assert history.forget_messages(["h3"]) == 1
        checkpoint = history.checkpoints()[-1]
        assert (checkpoint.stale, checkpoint.text, checkpoint.rendered) == (True, "", TAKEN_BACK)
        assert SECRET not in everything(store)
        assert compressor(store).forget_messages([]) == 0
        renewed = history.checkpoints()[-1]
        assert not renewed.stale
        assert renewed.text
        assert renewed.rendered != TAKEN_BACK

    def test_a_models_summary_is_taken_back(self, store):
        own = compressor(store, model=ScriptedChatModel(f"The user's code is {SECRET}; order A-1005 waits for a part."))
        result = own.compress(talk())
        assert SECRET in result.checkpoint.text
        own.forget_messages(["h3"])
        assert SECRET not in everything(store)

    def test_what_was_merged_from_it_is_taken_back_too(self):
        history = SessionHistory(None, session_id="s")
        chain = [
            CheckpointSummary(checkpoint_id="c1", session_id="s", number=1, level=3, text=SECRET, covered={"m": "x"}),
            CheckpointSummary(checkpoint_id="c2", session_id="s", number=2, level=1, text=SECRET, merged=("c1",)),
            CheckpointSummary(checkpoint_id="c3", session_id="s", number=3, level=1, text=SECRET, merged=("c2",)),
            CheckpointSummary(
                checkpoint_id="c4", session_id="s", number=4, level=3, text="own", rendered=SECRET, shown=("c3", "c4")
            ),
            CheckpointSummary(checkpoint_id="c5", session_id="s", number=5, level=3, text="other", rendered="other"),
            CheckpointSummary(
                checkpoint_id="c6",
                session_id="s",
                number=6,
                level=3,
                ledger={
                    "values": [{"text": SECRET, "sources": ["x", "m"]}, {"text": "kept", "sources": ["x"]}],
                    "n": 1,
                },
                quotes=(Quote(message_id="q", text="kept"),),
                altered={"m": ("x", SECRET), "n": ("x", "kept")},
            ),
        ]
        for checkpoint in chain:
            run(history.put_checkpoint_steps(checkpoint), history.store)
        history.forget_messages(["m"])
        assert SECRET not in everything(history.store)
        found = {checkpoint.checkpoint_id: checkpoint for checkpoint in history.checkpoints()}
        assert [i for i, checkpoint in found.items() if checkpoint.stale] == ["c1", "c2", "c3", "c4", "c6"]
        assert (found["c4"].text, found["c4"].rendered) == ("own", TAKEN_BACK)
        assert found["c5"] == chain[4]
        assert found["c6"].ledger == {"values": [{"text": "kept", "sources": ["x"]}], "n": 1}
        assert (found["c6"].quotes, found["c6"].altered) == (chain[5].quotes, {"n": ("x", "kept")})


class TestHistory:
    def test_every_revision_goes_and_a_new_one_may_come(self, store):
        history = SessionHistory(store, session_id="s")
        history.append([HumanMessage(f"{SECRET} first", id="m"), HumanMessage("other", id="o")])
        SessionHistory(store, session_id="s").append([HumanMessage(f"{SECRET} second", id="m")])
        assert history.forget_messages(["m", "unknown"]) == 1
        assert SECRET not in everything(store)
        assert history.append([HumanMessage("third", id="m")]) == 1
        assert [message.content for message in history.messages()] == ["other", "third"]

    def test_other_sessions_keep_theirs(self, store):
        histories = [SessionHistory(store, session_id=name) for name in ("s", "t")]
        for history in histories:
            history.append([HumanMessage("said", id="m")])
        histories[0].forget_messages(["m"])
        assert [len(history.messages()) for history in histories] == [0, 1]

    def test_a_damaged_record_is_named_and_all_else_is_removed(self, store):
        first = SessionHistory(store, session_id="s")
        first.append([HumanMessage("in the damaged segment", id="d")])
        (broken,) = store.search(("ctxcompress", "session", "s", "log"))
        SessionHistory(store, session_id="s").append([HumanMessage(SECRET, id="m")])
        store.put(broken.namespace, broken.key, {**broken.value, "entries": "[["}, index=False)
        with pytest.raises(RecordError, match=r"1 messages were removed.*segment 0"):
            first.forget_messages(["m"])
        assert SECRET not in everything(store)

    def test_a_failing_store_is_said_and_a_second_call_ends_it(self):
        messages = talk()
        for moment in range(12):
            store = WatchedStore()
            own = compressor(store)
            own.compress(messages)
            own.history().append(messages)
            SnapshotStore(store, session_id="s").create(messages)
            store.forget()
            store.fail = lambda ops, number, moment=moment: OSError(28, "gone") if number == moment else None
            try:
                own.forget_messages(["h3"])
            except StorageError:
                store.fail = lambda ops, number: None
                own.forget_messages(["h3"])
            assert SECRET not in everything(store.inner), f"failed at batch {moment}"
            assert not any(checkpoint.stale for checkpoint in own.history().checkpoints())

    async def test_async_twins_do_the_same(self):
        for store in (WatchedStore(), SyncOnlyStore()):
            own = compressor(store)
            await own.acompress(talk())
            assert await own.aforget_messages(["h3"]) == 1
            assert await own.history().aforget_messages(["h4"]) == 1
            assert SECRET not in everything(store.inner)

    def test_forget_takes_the_whole_session(self, store):
        own = compressor(store)
        own.compress(talk())
        SnapshotStore(store, session_id="s").create(talk())
        own.forget()
        assert store.search((), limit=10) == []
