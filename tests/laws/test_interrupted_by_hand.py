"""Ctrl-C at any line of the package leaves all as it was, or done; no lock stays held, and the next step works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressedChatMessageHistory,
    CompressionNode,
    ContextCompressor,
    PrunerConfig,
)
from langchain_ctxcompress.storage import open_store
from tests.laws.judge import as_bytes, illegal, lost, voice_lost
from tests.laws.test_cancelled import GROWN, LIMIT, TALK, THREAD, Place
from tests.support.histories import FileHistory
from tests.support.interruption import Lines
from tests.support.models import ScriptedChatModel

SECONDS = 60
"""How long a step may take that waits for nothing: longer, and it waits for a lock that nobody gives back."""


def within(work: Any) -> Any:
    """Runs a call in a thread, so that a lock that is still held fails the test and does not hang it."""
    ended: list[Any] = []
    thread = threading.Thread(target=lambda: ended.append(work()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "the next step hangs"
    assert ended, "the next step raised"
    return ended[0]


class Pressed(Place):
    """One store on disk, and what stands on it; the model is asked within the step."""

    roughly = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.model = ScriptedChatModel("they talk of their orders")  # type: ignore[assignment]
        self.compressor = self.fresh()

    def fresh(self) -> ContextCompressor:
        summariser = ChatModelSummariser(self.model, attempts=1, retry_wait=0)
        return ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT), store=self.store, session_id="s")


class Compress(Pressed):
    def work(self) -> None:
        self.view = self.compressor.compress(TALK).messages

    def check(self) -> None:
        again = within(lambda: self.compressor.compress(TALK))
        assert (again.changed, again.outcome) == (True, "applied")
        self.judge(TALK, again.messages)
        fresh = self.fresh().compress(TALK)
        assert [as_bytes(m) for m in fresh.messages] == [as_bytes(m) for m in again.messages]


class Background(Pressed):
    """The step that starts a job, and the one that takes it up."""

    limits = PrunerConfig.for_limit(LIMIT, soft_limit_tokens=600, hard_limit_tokens=6_000, target_tokens=500)

    def twice(self) -> list[BaseMessage]:
        self.compressor.compress(TALK, background=True, config=self.limits)
        job = self.compressor.background.of("s")
        if job is not None:
            job.future.exception(SECONDS)
        second = self.compressor.compress(GROWN, background=True, config=self.limits)
        return second.messages if second.changed else []

    def work(self) -> None:
        self.twice()

    def check(self) -> None:
        for _ in range(3):
            if view := within(self.twice):
                return self.judge(GROWN, view)
        pytest.fail("no step takes up what the background made")


class Graph(Pressed):
    def app(self) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(self.compressor, background=False))
        graph.add_node("model", lambda state: {"messages": [AIMessage("so be it", id="answer")]})
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        return graph.compile(checkpointer=self.saver)

    def work(self) -> None:
        self.app().invoke({"messages": TALK}, THREAD)

    def check(self) -> None:
        app = self.app()
        before = app.get_state(THREAD).values.get("messages") or []
        if not before:  # the input had not arrived yet
            before = within(lambda: app.invoke({"messages": TALK}, THREAD))["messages"]
        if before[-1].id != "answer":
            assert [as_bytes(m) for m in before] == [as_bytes(m) for m in TALK] or len(before) < 20
            before = within(lambda: app.invoke(None, THREAD))["messages"]
        *view, last = before
        assert last.text == "so be it"
        self.judge(TALK, view)


class Save(Pressed):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kept = CompressedChatMessageHistory(FileHistory(folder / "talk.json"), self.compressor, session_id="s")

    def work(self) -> None:
        self.kept.add_messages(TALK)
        self.kept.messages  # noqa: B018 - it is read, as a prompt would

    def check(self) -> None:
        assert [as_bytes(m) for m in self.kept.inner.messages] in ([], [as_bytes(m) for m in TALK])
        within(lambda: self.kept.add_messages(TALK) or True)  # the caller tries again: nothing is stored twice
        assert [as_bytes(m) for m in self.kept.inner.messages] == [as_bytes(m) for m in TALK]
        view = within(lambda: self.kept.messages)
        assert len(view) < len(TALK)
        self.judge(TALK, view)


class Clear(Save):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kept.add_messages(TALK)

    def work(self) -> None:
        self.kept.clear()

    def check(self) -> None:
        if view := within(lambda: self.kept.messages) or self.kept.inner.messages:
            assert [as_bytes(m) for m in self.kept.inner.messages] == [as_bytes(m) for m in TALK]
            assert illegal(self.compressor, view, TALK) == []
            assert voice_lost(view, TALK) == []
        within(lambda: self.kept.clear() or True)
        assert self.kept.messages == []
        assert self.compressor.history("s").messages() == []


SCENES: tuple[type[Any], ...] = (Compress, Background, Graph, Save, Clear)


@contextmanager
def place_for(scene: Any, folder: Path) -> Iterator[Any]:
    folder.mkdir(parents=True)
    place = scene(folder)
    with closing(place.store.conn):
        yield place


def pressed(scene: Any, folder: Path, at: int) -> int:
    """One run that is interrupted at a line, and all that is asked afterwards; returns how many lines it had."""
    with place_for(scene, folder) as place:
        lines = Lines(at)
        ended = lines.run(place.work)
        assert (ended is KeyboardInterrupt) is bool(lines.place)
        try:
            place.archived()
            place.check()
            place.archived()
        except BaseException as error:
            error.add_note(f"interrupted at line {at}: {lines.place}")
            raise
        place.compressor.close()
        return lines.seen


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_interrupted_at_some_lines(scene: Any, tmp_path: Path) -> None:
    total = pressed(scene, tmp_path / "whole", 0)
    for number, at in enumerate(range(1, total + 1, total // 4)):
        pressed(scene, tmp_path / str(at), min(at + 7 * number, total))


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_interrupted_at_a_great_many_lines(scene: Any, tmp_path: Path) -> None:
    total = pressed(scene, tmp_path / "whole", 0)
    for at in range(1, total + 1, max(1, total // 250)):
        pressed(scene, tmp_path / str(at), at)


class Failing(BaseStore):
    """A store around another one that is interrupted at its nth batch, before or after it was carried out."""

    def __init__(self, inner: BaseStore, at: int, *, after: bool) -> None:
        self.inner, self.at, self.after, self.seen = inner, at, after, 0

    def batch(self, ops: Any) -> list[Any]:
        self.seen += 1
        if self.seen == self.at and not self.after:
            raise KeyboardInterrupt
        results = self.inner.batch(ops)
        if self.seen == self.at:
            raise KeyboardInterrupt
        return results

    async def abatch(self, ops: Any) -> list[Any]:
        return self.batch(ops)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_interrupted_at_every_batch_of_the_store(after: bool, tmp_path: Path) -> None:
    """Whether the batch was carried out or not: what is said of it is true, and the next step makes it whole."""
    at = 0
    while True:
        at += 1
        (tmp_path / str(at)).mkdir()
        inner = open_store(tmp_path / str(at) / "archive.db")
        store = Failing(inner, at, after=after)
        with closing(inner.conn):  # type: ignore[attr-defined]
            compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=store, session_id="s")
            try:
                result = compressor.compress(TALK)
            except KeyboardInterrupt:
                result = compressor.compress(TALK)
            asked, store.at = store.seen, 0
            assert result.changed
            assert lost(compressor, result.messages, TALK) == []
            assert voice_lost(result.messages, TALK) == []
            history = compressor.history("s")
            assert [as_bytes(m) for m in history.messages()] == [as_bytes(m) for m in TALK]
            assert history.info().messages == len(TALK)
            assert history.info().compressions == len([c for c in history.checkpoints() if c.level])
        if asked < at:
            break
    assert at > 4
