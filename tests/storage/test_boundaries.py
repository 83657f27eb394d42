"""S4: what is kept is recognised in a prompt, in whatever form; what may be sent passes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue

from langchain_ctxcompress import (
    CheckpointSummary,
    SessionHistory,
    SnapshotStore,
    StorageBoundaryError,
    prevent_history_in_prompt,
    prevent_snapshot_in_prompt,
)
from langchain_ctxcompress.errors import CtxCompressError
from langchain_ctxcompress.storage import Quote, guard_prompt, is_session_history, is_snapshot, summary_message
from langchain_ctxcompress.storage.log import Entry
from langchain_ctxcompress.summarize import ChatModelSummariser, CompressionTask
from tests.support.conversations import conversations
from tests.support.models import ScriptedChatModel

CHECKPOINT = CheckpointSummary(checkpoint_id="c1", session_id="s", number=1, level=3, text="t", rendered="shown")
HISTORY = SessionHistory(None, session_id="my session")
HISTORY.append([HumanMessage("said", id="m1"), AIMessage("answered", id="m2")])
SNAPSHOTS = SnapshotStore(HISTORY.store, session_id="my session")
SNAPSHOT = SNAPSHOTS.create(HISTORY.messages(), [CHECKPOINT], [{"description": "a goal"}])


def item(*part: str):
    return HISTORY.store.search(("ctxcompress", "session", "my~20session", *part))[0]


KEPT_SNAPSHOTS = {
    "record": SNAPSHOT,
    "restored": SNAPSHOTS.restore(SNAPSHOT.snapshot_id),
    "store": SNAPSHOTS,
    "item": item("snapshots"),
    "part": item("parts"),
    "value": item("snapshots").value,
    "part value": item("parts").value,
    "dict": SNAPSHOT.model_dump(),
    "JSON": SNAPSHOT.model_dump_json(),
    "indented JSON": json.dumps(SNAPSHOT.dump(), indent=4),
    "JSON in JSON": json.dumps(json.dumps(SNAPSHOT.dump())),
    "text of the dict": str(SNAPSHOT.dump()),
    "text of the record": str(SNAPSHOT),
    "text of the restored": str(SNAPSHOTS.restore(SNAPSHOT.snapshot_id)),
    "text of the store": f"{SNAPSHOTS}",
}
KEPT_HISTORY = {
    "history": HISTORY,
    "checkpoint": CHECKPOINT,
    "quote": Quote(message_id="m", text="words"),
    "info": HISTORY.info(),
    "entry": Entry.of(HumanMessage("said", id="m1"), 1),
    "item": item("log"),
    "segment": item("log").value,
    "dict": CHECKPOINT.dump(),
    "JSON": CHECKPOINT.model_dump_json(),
    "text of the history": f"{HISTORY}",
    "text of the entry": repr(Entry.of(HumanMessage("said", id="m1"), 1)),
    "text of the checkpoint": f"{CHECKPOINT!r}",
}
WRAPPED = {
    "itself": lambda kept: kept,
    "in a list": lambda kept: ["a", [kept]],
    "in a dict": lambda kept: {"system": "a", "context": {"deep": (1, kept)}},
    "in content blocks": lambda kept: (
        [HumanMessage("a"), HumanMessage([{"type": "text", "text": kept}])]
        if isinstance(kept, str)
        else HumanMessage([{"type": "x", "inner": kept}])
    ),
    "in the arguments of a call": lambda kept: AIMessage(
        "", tool_calls=[{"name": "t", "args": {"a": kept}, "id": "x"}]
    ),
    "in keyword arguments": lambda kept: HumanMessage("a", additional_kwargs={"context": kept}),
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("kept", KEPT_SNAPSHOTS.values(), ids=KEPT_SNAPSHOTS)
def test_a_snapshot_is_refused_and_named(kept, wrap):
    with pytest.raises(StorageBoundaryError, match="snapshot"):
        prevent_snapshot_in_prompt(wrap(kept))


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("kept", KEPT_HISTORY.values(), ids=KEPT_HISTORY)
def test_the_history_is_refused_and_named(kept, wrap):
    with pytest.raises(StorageBoundaryError, match="history"):
        prevent_history_in_prompt(wrap(kept))


@pytest.mark.parametrize("form", ["record", "restored", "dict", "JSON", "text of the record"])
def test_the_error_has_the_id_and_the_place(form):
    with pytest.raises(StorageBoundaryError, match=rf"{SNAPSHOT.snapshot_id}.*\[1\]\['b'\]") as caught:
        prevent_snapshot_in_prompt(["a", {"b": KEPT_SNAPSHOTS[form]}])
    assert isinstance(caught.value, CtxCompressError)


@pytest.mark.parametrize("text", ["JSON", "text of the record"])
def test_text_around_it_does_not_hide_it(text):
    with pytest.raises(StorageBoundaryError):
        prevent_snapshot_in_prompt(f"Here is what I know:\n{KEPT_SNAPSHOTS[text]}\nNow answer.")


def test_each_guard_minds_its_own_layer():
    prevent_history_in_prompt(SNAPSHOT)
    prevent_snapshot_in_prompt([HISTORY, CHECKPOINT])


def test_both_layers_in_one_text_are_both_found():
    text = f"{SNAPSHOT} {CHECKPOINT}"
    for guard in (prevent_history_in_prompt, prevent_snapshot_in_prompt):
        with pytest.raises(StorageBoundaryError):
            guard(text)


@given(conversations(max_messages=20, surrogates=True, nul=True))
def test_conversations_pass_before_and_after_the_archive(messages):
    """Messages that the archive gives back are messages: a user may send them."""
    history = SessionHistory(None, session_id="s")
    history.append(messages)
    for prompt in (messages, history.messages(), ChatPromptValue(messages=messages)):
        prevent_history_in_prompt(prompt)
        prevent_snapshot_in_prompt(prompt)
        guard_prompt(prompt)


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_ordinary_values_pass(prompt):
    prevent_history_in_prompt(prompt)
    prevent_snapshot_in_prompt(prompt)


def test_what_may_be_sent_passes():
    cycle: list = ["text"]
    cycle.append(cycle)
    summary = summary_message(CHECKPOINT)
    talk = "What does ctxcompress_record mean, and what is a snapshot?"
    unsent = ToolMessage("found", tool_call_id="x", artifact=SNAPSHOT)
    for prompt in (cycle, [summary], talk, unsent, None, 3):
        prevent_history_in_prompt(prompt)
        prevent_snapshot_in_prompt(prompt)
        guard_prompt(prompt)


class TestOwnPrompts:
    """Every prompt to a summariser passes the guard."""

    def task(self, *texts) -> CompressionTask:
        return CompressionTask(tuple(HumanMessage(text) for text in texts), max_tokens=100)

    @pytest.mark.parametrize("kept", [SNAPSHOT.model_dump_json(), json.dumps([CHECKPOINT.dump()])])
    async def test_a_record_is_not_sent(self, kept):
        model = ScriptedChatModel("a summary")
        summariser = ChatModelSummariser(model)
        with pytest.raises(StorageBoundaryError):
            summariser.run([self.task("fine"), self.task("fine", kept)])
        with pytest.raises(StorageBoundaryError):
            await summariser.arun([self.task(kept)])
        assert model.prompts == []

    def test_a_quoted_record_is_data_and_does_not_stop_the_agent(self):
        """Law 4: a user or a tool that pastes a record cannot switch the summariser off."""
        summariser = ChatModelSummariser(ScriptedChatModel("a summary"))
        assert summariser.run([self.task(f"<conversation>\n[user] {SNAPSHOT.model_dump_json()}\n</conversation>")])[
            0
        ].ok
        for text in ('{"ctxcompress_record": ', "[1]", "[" * 100_000 + "ctxcompress_record"):
            guard_prompt(text)


def test_type_guards():
    assert is_session_history(HISTORY)
    assert is_snapshot(SNAPSHOT)
    assert is_snapshot(SNAPSHOTS.restore(SNAPSHOT.snapshot_id))
    assert not is_session_history(SNAPSHOT)
    assert not is_snapshot(HISTORY)
