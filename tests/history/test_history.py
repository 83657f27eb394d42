"""L3: `CompressedChatMessageHistory`, by itself and in `RunnableWithMessageHistory`."""

from __future__ import annotations

import asyncio
import threading
import warnings

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_ctxcompress import CompressedChatMessageHistory, ConfigError, ContextCompressor, PrunerConfig
from tests.support.legality import is_summary, violations
from tests.support.models import CheckingModel, ScriptedChatModel
from tests.support.sizes import independent_tokens

LIMIT = 2_500
TURNS = 50


class ListHistory(BaseChatMessageHistory):
    """The least a history can be: a list in memory. Counts what is done to it."""

    def __init__(self, messages=()):
        self.messages = list(messages)

    def add_messages(self, messages):
        self.messages.extend(messages)

    def clear(self):
        self.messages = []


def question(i: int) -> str:
    return f"question {i}: where is order A-{1000 + i}? " + "I have been waiting for it. " * 12


def answer(prompt) -> str:
    return f"answer {str(prompt[-1].content)[:14]} " + "it is on its way to you " * 8


def new_history(inner=None, **arguments) -> CompressedChatMessageHistory:
    arguments.setdefault("config", PrunerConfig.for_limit(LIMIT))
    return CompressedChatMessageHistory(inner or ListHistory(), session_id="s", **arguments)


def runnable(model, history, **keys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return RunnableWithMessageHistory(model, lambda session_id: history, **keys)


CONFIG = {"configurable": {"session_id": "s"}}


def chain_of(kind: str, model, history):
    """A chain as people build them, and the input it takes for a question."""
    if kind == "list input":
        return runnable(model, history), lambda text: [HumanMessage(text)]
    if kind == "input_messages_key":
        inner = RunnableLambda(lambda given: given["question"]) | model
        return runnable(inner, history, input_messages_key="question"), lambda text: {"question": text}
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    keys = {"input_messages_key": "question", "history_messages_key": "history"}
    return runnable(prompt | model, history, **keys), lambda text: {"question": text}


KINDS = ["list input", "input_messages_key", "history_messages_key"]


def assert_complete(inner: ListHistory, turns: int) -> None:
    """Every question and answer once, in order."""
    assert [m.type for m in inner.messages] == ["human", "ai"] * turns
    assert [m.content for m in inner.messages[::2]] == [question(i) for i in range(turns)]
    assert all(f"question {i}" in str(m.content) for i, m in enumerate(inner.messages[1::2]))
    assert len({m.id for m in inner.messages}) == 2 * turns


@pytest.mark.parametrize("kind", KINDS)
def test_50_turns_store_nothing_twice_and_drop_nothing(kind):
    inner = ListHistory()
    history = new_history(inner)
    model = CheckingModel(answer, limit=LIMIT, room=0)
    chain, given = chain_of(kind, model, history)
    for i in range(TURNS):
        chain.invoke(given(question(i)), CONFIG)
    assert_complete(inner, TURNS)
    assert model.failures == []
    assert sum(map(is_summary, history.messages)) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_50_turns_async(kind):
    inner = ListHistory()
    history = new_history(inner)
    model = CheckingModel(answer, limit=LIMIT, room=0)
    chain, given = chain_of(kind, model, history)
    for i in range(TURNS):
        await chain.ainvoke(given(question(i)), CONFIG)
    assert_complete(inner, TURNS)
    assert model.failures == []
    assert sum(map(is_summary, await history.aget_messages())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_two_overlapping_runs_on_one_history(kind):
    """The slower run has loaded the view before the faster ones save, and saves after it was compressed."""
    inner = ListHistory()
    history = new_history(inner)
    loaded, go_on = threading.Event(), threading.Event()

    def slow_or_fast(prompt):
        if "slow" in str(prompt[-1].content):
            loaded.set()
            assert go_on.wait(20)
        return answer(prompt)

    chain, given = chain_of(kind, ScriptedChatModel(slow_or_fast), history)
    for i in range(8):
        chain.invoke(given(question(i)), CONFIG)
    slow = threading.Thread(target=chain.invoke, args=(given("slow question"), CONFIG))
    slow.start()
    assert loaded.wait(20)
    for i in range(8, 30):
        chain.invoke(given(question(i)), CONFIG)
    go_on.set()
    slow.join(20)
    contents = [str(m.content) for m in inner.messages]
    assert len(contents) == 2 * 31
    assert contents.count("slow question") == 1
    assert [c for c in contents if c.startswith("question")] == [question(i) for i in range(30)]


@pytest.mark.parametrize("kind", KINDS)
async def test_overlapping_async_runs(kind):
    inner = ListHistory()
    history = new_history(inner)
    model = ScriptedChatModel(answer, delay=0.01)
    chain, given = chain_of(kind, model, history)
    for start in range(0, 40, 4):
        await asyncio.gather(*(chain.ainvoke(given(question(i)), CONFIG) for i in range(start, start + 4)))
    contents = [str(m.content) for m in inner.messages]
    assert sorted(c for c in contents if c.startswith("question")) == sorted(question(i) for i in range(40))
    assert len(contents) == 80


def test_the_same_words_twice_are_two_messages():
    inner = ListHistory()
    chain, given = chain_of("list input", ScriptedChatModel("ok"), new_history(inner))
    for _ in range(5):
        chain.invoke(given("go on"), CONFIG)
    assert len(inner.messages) == 10


def test_the_view_follows_from_inner_history_and_store(tmp_path):
    """Law 9: an object made tomorrow shows the same list."""
    inner = ListHistory()
    history = new_history(inner, store=tmp_path / "archive.db")
    for i in range(30):
        history.add_messages([HumanMessage(question(i)), AIMessage(answer([HumanMessage(question(i))]))])
    shown = history.messages
    assert independent_tokens(shown) < LIMIT
    assert violations(shown) == []
    again = new_history(inner, store=tmp_path / "archive.db")
    assert again.messages == shown
    assert history.messages == shown  # reading changes nothing


def test_a_message_too_large_for_the_window_is_cut_in_the_view_only():
    inner = ListHistory()
    history = new_history(inner)
    huge = "line of a log file that says little\n" * 2_000
    history.add_messages([HumanMessage("show me the log"), AIMessage(huge)])
    history.add_messages([HumanMessage("thanks, what next?")])
    assert independent_tokens(history.messages) < LIMIT
    assert inner.messages[1].content == huge
    assert history.compressor.expand_message(inner.messages[1].id).content == huge


def test_a_history_that_predates_the_package_is_taken_over_as_it_is():
    old = [m for i in range(30) for m in (HumanMessage(question(i)), AIMessage("it is on its way " * 9))]
    inner = ListHistory(old)
    history = new_history(inner)
    assert [m.content for m in history.messages] == [m.content for m in old]
    history.add_user_message("and now?")
    assert [m.content for m in inner.messages[:60]] == [m.content for m in old]
    assert len(inner.messages) == 61
    assert independent_tokens(history.messages) < LIMIT
    assert history.messages[-1].content == "and now?"


def test_summaries_and_stored_messages_are_not_stored_again():
    inner = ListHistory()
    history = new_history(inner)
    for i in range(30):
        history.add_messages([HumanMessage(question(i)), AIMessage("it is on its way " * 9)])
    history.add_messages(history.messages)
    assert len(inner.messages) == 60


def test_clear_clears_all_three(tmp_path):
    inner = ListHistory()
    history = new_history(inner, store=tmp_path / "archive.db")
    for i in range(30):
        history.add_messages([HumanMessage(question(i)), AIMessage("it is on its way " * 9)])
    history.clear()
    assert inner.messages == []
    assert history.messages == []
    assert history.compressor.history("s").messages() == []
    assert history.compressor.history("s").checkpoints() == []
    history.add_messages([HumanMessage("anew")])
    assert [m.content for m in history.messages] == ["anew"]


async def test_async_twins(tmp_path):
    history = new_history(store=tmp_path / "archive.db")
    for i in range(30):
        await history.aadd_messages([HumanMessage(question(i)), AIMessage("it is on its way " * 9)])
    assert sum(map(is_summary, await history.aget_messages())) == 1
    await history.aclear()
    assert await history.aget_messages() == []


def test_system_messages_stay_in_front():
    history = new_history(ListHistory([SystemMessage("You sell shoes.")]))
    for i in range(30):
        history.add_messages([HumanMessage(question(i)), AIMessage("it is on its way " * 9)])
    assert [m.type for m in history.messages[:2]] == ["system", "human"]


def test_a_compressor_is_needed_in_one_form():
    with pytest.raises(ConfigError, match="config"):
        CompressedChatMessageHistory(ListHistory(), ContextCompressor(config=PrunerConfig()), config=PrunerConfig())
