"""L3: histories of every kind behind `CompressedChatMessageHistory`, and the factory of its sessions."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import ConfigurableFieldSpec
from langchain_core.runnables.history import RunnableWithMessageHistory
from pydantic import Field

from langchain_ctxcompress import CompressedChatMessageHistory, ConfigError, ContextCompressor, PrunerConfig
from tests.support.histories import FileHistory, PostgresHistory, SqlHistory
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel
from tests.support.sizes import independent_tokens

pytestmark = pytest.mark.filterwarnings("ignore:The class `InMemoryChatMessageHistory`:DeprecationWarning")

LIMIT = 2_000
TURNS = 30
Factory = Callable[[str], BaseChatMessageHistory]


@pytest.fixture(params=["memory", "file", "sql", "postgres", "redis"])
def inner(request: pytest.FixtureRequest, tmp_path: Any) -> Factory:
    """Makes the history of a session, anew at each call where what it holds lies outside of the process."""
    if request.param == "memory":
        kept: dict[str, BaseChatMessageHistory] = {}
        return lambda session_id: kept.setdefault(session_id, InMemoryChatMessageHistory())
    if request.param == "file":
        return lambda session_id: FileHistory(tmp_path / f"{session_id}.json")
    if request.param == "sql":
        return lambda session_id: SqlHistory(tmp_path / "chat.db", session_id)
    if request.param == "redis":
        found: Factory = request.getfixturevalue("redis_history")
        return found
    url = request.getfixturevalue("postgres_url")
    return lambda session_id: PostgresHistory(url, session_id)


def question(i: int, who: str = "") -> str:
    return f"{who}question {i}: where is order A-{1000 + i}? " + "I have been waiting for it. " * 10


def answer(prompt: list[BaseMessage]) -> str:
    return f"answer {str(prompt[-1].content)[:14]} " + "it is on its way to you " * 8


def runnable(model: Any, factory: Any, **keys: Any) -> RunnableWithMessageHistory:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return RunnableWithMessageHistory(model, factory, **keys)


def session(name: str) -> dict[str, Any]:
    return {"configurable": {"session_id": name}}


def check(inner: BaseChatMessageHistory, history: CompressedChatMessageHistory) -> None:
    assert [m.content for m in inner.messages[::2]] == [question(i) for i in range(TURNS)]
    assert len(inner.messages) == 2 * TURNS
    shown = history.messages
    assert sum(map(is_summary, shown)) == 1
    assert violations(shown) == []
    assert independent_tokens(shown) < LIMIT


def test_sessions_of_a_factory_in_a_chain(inner: Factory) -> None:
    model = CheckingModel(answer, limit=LIMIT)
    factory = CompressedChatMessageHistory.factory(inner, config=PrunerConfig.for_limit(LIMIT))
    chain = runnable(model, factory)
    for i in range(TURNS):
        chain.invoke([HumanMessage(question(i))], session("a"))
    chain.invoke([HumanMessage("hello")], session("b"))
    assert model.failures == []
    check(inner("a"), factory("a"))
    assert len(inner("b").messages) == 2
    assert [m.type for m in factory("b").messages] == ["human", "ai"]


async def test_the_same_async(inner: Factory) -> None:
    model = CheckingModel(answer, limit=LIMIT)
    factory = CompressedChatMessageHistory.factory(inner, ContextCompressor(config=PrunerConfig.for_limit(LIMIT)))
    chain = runnable(model, factory)
    for i in range(TURNS):
        await chain.ainvoke([HumanMessage(question(i))], session("a"))
    assert model.failures == []
    check(inner("a"), factory("a"))


def shown(history: CompressedChatMessageHistory) -> list[tuple[str | None, Any]]:
    return [(message.id, message.content) for message in history.messages]


async def test_a_session_goes_on_in_a_second_process(inner: Factory, tmp_path: Any) -> None:
    """Both have the inner history and the archive in common; every other turn is saved by async code."""

    def started() -> CompressedChatMessageHistory:
        config = PrunerConfig.for_limit(LIMIT)
        compressor = ContextCompressor(config=config, store=tmp_path / "archive.db")
        return CompressedChatMessageHistory.factory(inner, compressor)("a")

    first = started()
    for i in range(TURNS):
        turn = [HumanMessage(question(i)), AIMessage(f"answer {i} " + "it is on its way to you " * 8)]
        if i % 2:
            first.add_messages(turn)
        else:
            await first.aadd_messages(turn)
    second = started()
    assert shown(second) == shown(first)
    assert [m.id for m in await second.aget_messages()] == [m.id for m in first.messages]
    check(inner("a"), second)
    await second.aadd_messages([HumanMessage("and now?")])
    assert [m.content for m in inner("a").messages[2 * TURNS :]] == ["and now?"]
    assert second.messages[-1].content == "and now?"
    said = inner("a").messages
    here = {m.id for m in second.messages}
    gone = [m for m in said if m.id not in here]
    assert len(gone) > TURNS
    for message in gone:
        found = second.compressor.expand_message(message.id, session_id="a")
        assert found is not None
        assert found.content == message.content


def test_a_history_that_is_older_than_the_package(inner: Factory) -> None:
    """Messages without ids, as older versions stored them."""
    old: list[BaseMessage] = []
    for i in range(TURNS):
        old += [HumanMessage(question(i)), AIMessage("it is on its way " * 9)]
    inner("a").add_messages(old)
    factory = CompressedChatMessageHistory.factory(inner, config=PrunerConfig.for_limit(LIMIT))
    assert [m.content for m in factory("a").messages] == [m.content for m in old]
    factory("a").add_user_message("and now?")
    assert [m.content for m in inner("a").messages] == [*(m.content for m in old), "and now?"]
    shown = factory("a").messages
    assert independent_tokens(shown) < LIMIT
    assert shown[-1].content == "and now?"
    # All of it comes back by the ids that the compressor gave.
    compressor = factory("a").compressor
    replaced = {m.id for m in compressor.history("a").messages()} - {m.id for m in shown}
    found = {compressor.expand_message(message_id, session_id="a").content for message_id in replaced}
    assert found <= {m.content for m in old}
    assert len(found) > 20


async def test_overlapping_runs_of_one_session_lose_nothing(inner: Factory) -> None:
    """The factory is asked for each run; the runs share one history all the same, and its lock."""
    factory = CompressedChatMessageHistory.factory(inner, config=PrunerConfig.for_limit(LIMIT))
    chain = runnable(ScriptedChatModel(answer, delay=0.01), factory)
    for start in range(0, 20, 4):
        given = ([HumanMessage(question(i))] for i in range(start, start + 4))
        await asyncio.gather(*(chain.ainvoke(messages, session("a")) for messages in given))
    contents = [str(m.content) for m in inner("a").messages]
    assert sorted(c for c in contents if c.startswith("question")) == sorted(question(i) for i in range(20))
    assert len(contents) == 40


def test_sessions_named_by_several_keys() -> None:
    kept: dict[tuple[str, str], InMemoryChatMessageHistory] = {}

    def inner(user_id: str, conversation_id: str) -> BaseChatMessageHistory:
        return kept.setdefault((user_id, conversation_id), InMemoryChatMessageHistory())

    fields = [ConfigurableFieldSpec(id=name, annotation=str) for name in ("user_id", "conversation_id")]
    factory = CompressedChatMessageHistory.factory(inner, config=PrunerConfig.for_limit(LIMIT))
    chain = runnable(ScriptedChatModel(answer), factory, history_factory_config=fields)
    for user, talk in (("a", "b-c"), ("a-b", "c")):
        chain.invoke([HumanMessage("hello")], {"configurable": {"user_id": user, "conversation_id": talk}})
    assert set(kept) == {("a", "b-c"), ("a-b", "c")}
    names = {factory(user, conversation_id=talk).session_id for user, talk in kept}
    assert len(names) == 2
    assert factory("a", "b-c").session_id == factory(user_id="a", conversation_id="b-c").session_id


class Watched(InMemoryChatMessageHistory):
    """Says which of its methods were asked."""

    asked: list[str] = Field(default_factory=list)

    async def aget_messages(self) -> list[BaseMessage]:
        self.asked.append("aget_messages")
        return list(self.messages)

    async def aadd_messages(self, messages: Any) -> None:
        self.asked.append("aadd_messages")
        self.messages.extend(messages)

    def add_messages(self, messages: Any) -> None:
        raise AssertionError("a blocking call in an async run")

    async def aclear(self) -> None:
        self.asked.append("aclear")
        self.messages.clear()


async def test_async_callers_reach_the_async_methods_of_the_inner_history() -> None:
    watched = Watched()
    factory = CompressedChatMessageHistory.factory(lambda session_id: watched, config=PrunerConfig.for_limit(LIMIT))
    await runnable(ScriptedChatModel("hi"), factory).ainvoke([HumanMessage("hello")], session("a"))
    assert len(watched.messages) == 2
    assert {"aget_messages", "aadd_messages"} <= set(watched.asked)
    await factory("a").aclear()
    assert watched.asked[-1] == "aclear"


def test_arguments_of_a_factory_are_judged_at_once() -> None:
    with pytest.raises(ConfigError, match="config"):
        CompressedChatMessageHistory.factory(
            lambda session_id: InMemoryChatMessageHistory(),
            ContextCompressor(config=PrunerConfig()),
            config=PrunerConfig(),
        )


def test_a_conversation_moves_to_a_graph_with_its_archive(inner: Factory) -> None:
    """As docs/moving-from-histories.md says."""
    from langgraph.checkpoint.memory import InMemorySaver

    from langchain_ctxcompress.graph import compressed_react_agent

    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    history = CompressedChatMessageHistory.factory(inner, compressor)("a")
    for i in range(TURNS):
        history.add_messages([HumanMessage(question(i)), AIMessage("it is on its way " * 9)])
    model = CheckingModel(answer, limit=LIMIT)
    graph = compressed_react_agent(model, (), compressor, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "a"}}
    graph.update_state(thread, {"messages": history.messages})
    for i in range(TURNS, TURNS + 10):
        messages = graph.invoke({"messages": [HumanMessage(question(i))]}, thread)["messages"]
    assert model.failures == []
    assert sum(map(is_summary, messages)) == 1
    asked = [m.content for m in compressor.history("a").messages() if m.type == "human"]
    assert asked == [question(i) for i in range(len(asked))]
    assert len(asked) >= TURNS
