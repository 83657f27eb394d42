"""L6: a thread that is run again from an older point. Its branches share their past and do not mix."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.graph.tools import create_recall_tool
from langchain_ctxcompress.storage import open_store
from tests.support.legality import is_summary, violations

LIMIT = 1_500


@contextmanager
def saver(kind: str, folder):
    if kind == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as sqlite:
            yield sqlite


class Thread:
    """A real graph, and beside it what each branch should hold, by a list that nobody compresses."""

    def __init__(self, checkpointer: Any, archive) -> None:
        self.compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=archive)
        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(self.compressor))
        graph.add_node("model", self.answer)
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        graph.add_edge("model", END)
        self.app = graph.compile(checkpointer=checkpointer)
        self.prompts: list[list[BaseMessage]] = []

    def answer(self, state) -> dict[str, Any]:
        self.prompts.append(state["messages"])
        asked = state["messages"][-1]
        said = f"Answer to {asked.id}: " + "the part is on its way, as ordered. " * 6
        return {"messages": [AIMessage(said, id=f"a-{asked.id}-{len(self.prompts)}")]}

    def say(self, config: dict[str, Any], name: str, count: int, full: list[BaseMessage]) -> list[BaseMessage]:
        for number in range(count):
            question = HumanMessage(
                f"Question {number} on branch {name}: where is order {name}-{number}? " * 3, id=f"{name}{number}"
            )
            state = self.app.invoke({"messages": [question]}, config)["messages"]
            full += [question, state[-1]]
        return full

    def moments(self, config: dict[str, Any]) -> list[Any]:
        """The ends of all runs, oldest first."""
        return [state for state in reversed(list(self.app.get_state_history(config))) if not state.next]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_two_forks_of_a_thread_do_not_mix(kind, tmp_path):
    latest = {"configurable": {"thread_id": "t"}}
    archive = open_store(tmp_path / "archive.db" if kind == "sqlite" else None)
    with saver(kind, tmp_path) as checkpointer:
        thread = Thread(checkpointer, archive)
        trunk = thread.say(latest, "main", 30, [])
        moments = thread.moments(latest)
        assert len(moments) == 30
        # The first fork goes on after 20 questions; the second one edits the 10th question and goes on from there.
        first = thread.say(moments[19].config, "first", 1, trunk[:40])
        first = thread.say(latest, "first-on", 25, first)
        edited = HumanMessage("Edited: where is order E-1? " * 4, id="main9")
        fork = thread.app.update_state(moments[8].config, {"messages": [edited]}, as_node="__start__")
        answer = thread.app.invoke(None, fork)["messages"][-1]
        assert str(answer.id).startswith("a-main9-")
        second = thread.say(latest, "second-on", 25, [*trunk[:18], edited, answer])
        assert all(is_summary(m) or m in second for m in thread.app.get_state(latest).values["messages"])

        history = SessionHistory(archive, session_id="t")
        history_of = {
            name: history.messages(branch=_archived(history, full)[-1].id)
            for name, full in _all(trunk, first, second).items()
        }
        for name, full in _all(trunk, first, second).items():
            found = history_of[name]
            assert len(found) > 30, "compressions on this branch archived what came before them"
            assert found == full[: len(found)], name

        # Views: what another process makes of a whole branch is legal, small, and holds nothing of the others.
        for name, full in _all(trunk, first, second).items():
            fresh = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=archive, session_id="t")
            view = fresh.view(full)
            own = {message.id: message for message in full}
            assert violations(view) == []
            assert [m for m in view if not is_summary(m)] == [own[m.id] for m in view if not is_summary(m)]
            assert sum(map(is_summary, view)) == 1
            summary = next(str(m.content) for m in view if is_summary(m))
            for other in {"first-on", "second-on"} - {f"{name}-on"}:
                assert f"order {other}" not in summary, (name, other)

        # Originals: each checkpoint gives back the words of its own branch.
        everything = {(m.id, str(m.content)) for full in (trunk, first, second) for m in full}
        chains = {name: _covered(thread.compressor, full) for name, full in _all(trunk, first, second).items()}
        for name, full in _all(trunk, first, second).items():
            own = {m.id: str(m.content) for m in full}
            assert chains[name], name
            for message in chains[name]:
                assert str(message.content) == own[message.id]
                assert (message.id, str(message.content)) in everything

        # Recall in the newest branch finds what it said, and the edited question in its new words.
        recall = create_recall_tool(thread.compressor)
        assert "second-on-3" in recall.invoke({"query": "order second-on-3"}, latest)
        assert "Edited: where is order E-1" in recall.invoke({"message_id": "main9"}, latest)


def _all(trunk, first, second) -> dict[str, list[BaseMessage]]:
    return {"main": trunk, "first": first, "second": second}


def _archived(history: SessionHistory, full: list[BaseMessage]) -> list[BaseMessage]:
    """The messages of a branch that a compression has archived; what came after the last one is not yet."""
    return [message for message in full if history.get([str(message.id)])]


def _covered(compressor: ContextCompressor, full: list[BaseMessage]) -> list[BaseMessage]:
    """The originals behind the summary message that a whole branch is shown with."""
    summary = next(m for m in compressor.view(full, session_id="t") if is_summary(m))
    ids = summary.additional_kwargs["ctxcompress"]["checkpoint_ids"]
    found = [compressor.expand(checkpoint_id, session_id="t") or [] for checkpoint_id in ids]
    return [message for messages in found for message in messages]
