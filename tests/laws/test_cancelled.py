"""A step that is cancelled at any await leaves all as it was, or done; the next one works (laws 2, 4, 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressedChatMessageHistory,
    CompressionNode,
    ContextCompressor,
    PrunerConfig,
)
from langchain_ctxcompress.storage import SessionHistory, open_store
from tests.laws.judge import as_bytes, illegal, lost, voice_lost
from tests.support.conversations import exchanges
from tests.support.histories import FileHistory
from tests.support.interruption import Awaits
from tests.support.models import ScriptedChatModel

LIMIT = 1_200
TALK = [*exchanges(30), HumanMessage("and now?", id="now")]
GROWN = [*TALK, AIMessage("this", id="this"), *exchanges(3, start=30), HumanMessage("and then?", id="then")]
THREAD: Any = {"configurable": {"thread_id": "s"}}


class Pausing(ScriptedChatModel):
    """A model that lets go of the loop a few times before it answers."""

    async def _aanswer(self, prompt: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        for _ in range(3):
            await asyncio.sleep(0)
        return await super()._aanswer(prompt, options)


class Place:
    """One store on disk, and what stands on it.

    Attributes:
        roughly: Whether an archive may say that it holds more messages than it does: where a step is stopped between
            two lines of plain Python, a number may be counted that is not written.
    """

    roughly = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = open_store(folder / "archive.db")
        self.model = Pausing("they talk of their orders")
        self.compressor = self.fresh()
        self.saver = InMemorySaver()
        self.view: list[BaseMessage] = []

    def fresh(self) -> ContextCompressor:
        summariser = ChatModelSummariser(self.model, attempts=1, retry_wait=0, window_tokens=700)  # in parts, at once
        return ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT), store=self.store, session_id="s")

    def judge(self, given: list[BaseMessage], output: list[BaseMessage]) -> None:
        assert illegal(self.compressor, output, given) == []
        assert voice_lost(output, given) == []
        assert lost(self.compressor, output, given) == []

    def archived(self) -> None:
        """What stands in the store: every message once, in order, as it was; and what checkpoints cover is there."""
        history = SessionHistory(self.store, session_id="s")
        wanted = {message.id: as_bytes(message) for message in GROWN}
        found = history.messages()
        assert [message.id for message in found] == [i for i in wanted if i in {m.id for m in found}]
        assert [as_bytes(message) for message in found] == [wanted[message.id] for message in found]
        assert self.roughly or history.info().messages == len(found)
        assert history.info().messages >= len(found)
        for record in history.checkpoints():
            assert record.covered.keys() <= {message.id for message in found}
        others = ContextCompressor(config=PrunerConfig(), store=self.store, session_id="s")
        for record in history.checkpoints():
            assert others.expand(record.checkpoint_id) is not None


class Step(Place):
    """`acompress`, within the step."""

    async def work(self) -> None:
        self.view = (await self.compressor.acompress(TALK)).messages

    async def check(self, done: bool) -> None:
        assert bool(self.view) is done
        again = await self.compressor.acompress(TALK)
        assert again.changed
        assert again.outcome == "applied"
        self.judge(TALK, again.messages)
        fresh = await self.fresh().acompress(TALK)
        assert [as_bytes(m) for m in fresh.messages] == [as_bytes(m) for m in again.messages]


class Beside(Place):
    """`acompress` twice: the first starts a job in the background, which the second applies."""

    async def twice(self) -> list[BaseMessage]:
        limits = PrunerConfig.for_limit(LIMIT, soft_limit_tokens=600, hard_limit_tokens=6_000, target_tokens=500)
        first = await self.compressor.acompress(TALK, background=True, config=limits)
        job = self.compressor.background.of("s")
        if first.reason == "in_background" and job is not None:
            await job.await_()
        second = await self.compressor.acompress(GROWN, background=True, config=limits)
        return second.messages if second.changed else []

    async def work(self) -> None:
        self.view = await self.twice()

    async def check(self, done: bool) -> None:
        if done:
            assert self.view
        for _ in range(3):
            if view := await self.twice():
                return self.judge(GROWN, view)
        pytest.fail("no step takes up what the background made")


class Node(Place):
    """A node in a graph with a checkpointer, and a model behind it."""

    def app(self) -> Any:
        async def answer(state: MessagesState) -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"messages": [AIMessage("so be it", id=f"answer-{len(state['messages'])}")]}

        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(self.compressor, background=False))
        graph.add_node("model", answer)
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        return graph.compile(checkpointer=self.saver)

    async def work(self) -> None:
        self.view = (await self.app().ainvoke({"messages": TALK}, THREAD))["messages"]

    async def check(self, done: bool) -> None:
        app = self.app()
        before = (await app.aget_state(THREAD)).values.get("messages") or []
        if not before:  # the input had not arrived yet
            self.view = (await app.ainvoke({"messages": TALK}, THREAD))["messages"]
        else:
            said = [m for m in before if not (m.id or "").startswith("answer")]
            assert [as_bytes(m) for m in said] == [as_bytes(m) for m in TALK] or len(said) < 20
            self.view = (await app.ainvoke(None, THREAD) or {}).get("messages") or before
        *view, last = self.view
        assert last.text == "so be it"
        self.judge(TALK, view)
        assert sum(1 for m in view if (m.id or "").startswith("answer")) == 0


class History(Place):
    """A chat history that compresses after a save."""

    def history(self) -> CompressedChatMessageHistory:
        return CompressedChatMessageHistory(FileHistory(self.folder / "talk.json"), self.compressor, session_id="s")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kept = self.history()

    async def work(self) -> None:
        await self.kept.aadd_messages(TALK)
        self.view = await self.kept.aget_messages()

    async def check(self, done: bool) -> None:
        stored = self.kept.inner.messages
        assert [as_bytes(m) for m in stored] in ([], [as_bytes(m) for m in TALK])
        await self.kept.aadd_messages(TALK)  # the caller tries again: nothing is stored twice
        assert [as_bytes(m) for m in self.kept.inner.messages] == [as_bytes(m) for m in TALK]
        view = await self.kept.aget_messages()
        assert len(view) < len(TALK)
        self.judge(TALK, view)


class Cleared(History):
    """A history that is cleared: what was said is all there, or gone from everywhere at the second try."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kept.add_messages(TALK)

    async def work(self) -> None:
        await self.kept.aclear()
        self.view = [HumanMessage("done")]

    async def check(self, done: bool) -> None:
        view = await self.kept.aget_messages()
        if view:
            assert [as_bytes(m) for m in self.kept.inner.messages] == [as_bytes(m) for m in TALK]
            assert illegal(self.compressor, view, TALK) == []
            assert voice_lost(view, TALK) == []
        await self.kept.aclear()
        assert await self.kept.aget_messages() == []
        assert self.compressor.history("s").messages() == []
        await self.kept.aadd_messages(TALK)
        self.judge(TALK, await self.kept.aget_messages())


SCENES: tuple[type[Any], ...] = (Step, Beside, Node, History, Cleared)


@contextmanager
def place_for(scene: Any, folder: Path) -> Iterator[Any]:
    folder.mkdir(parents=True)
    place = scene(folder)
    with closing(place.store.conn):
        yield place


def cancelled(scene: Any, folder: Path, at: int) -> int:
    """One run that is cancelled at an await, and all that is asked afterwards; returns how many awaits it had."""
    with place_for(scene, folder) as place:
        awaits = Awaits(at)
        ended = awaits.run(place.work)
        assert at or ended is None
        place.archived()
        asyncio.run(asyncio.wait_for(place.check(ended is None), 60))
        place.archived()
        place.compressor.close()
        return awaits.seen


def every(scene: Any, folder: Path, most: int) -> Iterator[Callable[[], Any]]:
    total = cancelled(scene, folder / "whole", 0)
    assert total > 3
    step = max(1, total // most)
    for at in range(1, total + 1, step):
        yield lambda at=at: cancelled(scene, folder / str(at), at)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_cancelled_at_some_awaits(scene: Any, tmp_path: Path) -> None:
    for run in every(scene, tmp_path, 6):
        run()


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_cancelled_at_every_await(scene: Any, tmp_path: Path) -> None:
    for run in every(scene, tmp_path, 10_000):
        run()
