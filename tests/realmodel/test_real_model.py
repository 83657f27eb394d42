"""A whole session, summarised by a real model that is too weak for it: what it drops must be there all the same."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionNode, CompressionResult, ContextCompressor, PrunerConfig
from langchain_ctxcompress.summarize import ChatModelSummariser
from langchain_ctxcompress.summarize.guards import is_overflow
from tests.realmodel.conftest import ModelMaker
from tests.support.legality import violations
from tests.support.real_model import RealModel, missing
from tests.support.sizes import independent_tokens

pytestmark = [pytest.mark.realmodel, pytest.mark.skipif(bool(missing()), reason=missing() or "installed")]

CONFIG = PrunerConfig(soft_limit_tokens=900, hard_limit_tokens=1_500)
RULES = ["Never book a room that faces the street.", "Always give prices with breakfast."]
FACTS = ["The company's VAT number is BE-0417-882.", "The group is 23 people, one of them in a wheelchair."]
TOWNS = [
    "Ghent",
    "Bruges",
    "Leuven",
    "Antwerp",
    "Namur",
    "Mons",
    "Ostend",
    "Dinant",
    "Spa",
    "Tournai",
    "Huy",
    "Aalst",
    "Ypres",
]
SECONDS = 600.0
"""A busy machine must not be taken for a model that hangs."""


def session(towns: int) -> list[BaseMessage]:
    """A chat of four messages a town; rules and facts are said near the start, in passing."""
    messages: list[BaseMessage] = [SystemMessage("You plan a conference trip.", id="system")]
    asides = [*RULES, *FACTS]

    def say(kind: type[BaseMessage], text: str) -> None:
        messages.append(kind(content=text, id=f"m{len(messages)}"))

    for number, town in enumerate(TOWNS[:towns]):
        aside = f" {asides[number - 1]}" if 0 < number <= len(asides) else ""
        say(HumanMessage, f"What would a night in {town} cost us, and how far is the station?{aside}")
        say(
            AIMessage,
            f"In {town} the hotel by the canal asks {88 + 3 * number} euros a night for each guest. It has"
            f" {30 + number} rooms on four floors, two of them meeting rooms with a projector, and the kitchen serves"
            f" until ten in the evening. The station is {4 + number} minutes away on foot, and a bus leaves every"
            " quarter of an hour from the square in front of it.",
        )
        say(HumanMessage, f"And is there something to see in {town} on a free afternoon?")
        say(
            AIMessage,
            f"{town} has an old market hall, a museum of textiles that is open until five, and a walk along the"
            f" water of about {2 + number} kilometres. On Sundays there is music in the church at the market, and the"
            " tower can be climbed with a guide, who speaks four languages.",
        )
    return messages


def compressor(model: Any, **settings: Any) -> ContextCompressor:
    return ContextCompressor(ChatModelSummariser(model, timeout=SECONDS, **settings), config=CONFIG)


def texts(messages: list[BaseMessage]) -> str:
    return "\n".join(message.text for message in messages)


def judge(result: CompressionResult, before: list[BaseMessage]) -> None:
    """The model wrote, and what it left out is in the list that would be sent."""
    assert result.outcome == "applied"
    assert result.checkpoint is not None
    assert result.checkpoint.summariser == "model"
    assert violations(result.messages) == []
    assert independent_tokens(result.messages) < independent_tokens(before)
    sent = texts(result.messages)
    assert [words for words in [*RULES, *FACTS] if words not in sent] == []
    dropped = [words for words in [*RULES, *FACTS] if words not in result.checkpoint.text]
    assert dropped, "the model kept everything: this test shows nothing about the checks"


async def test_sync_async_and_streaming_write_a_summary_that_is_completed(
    real_model: RealModel, chat: ModelMaker
) -> None:
    messages = session(5)
    model = chat(real_model)
    judge(compressor(model).compress(messages, force=True), messages)
    judge(await compressor(model).acompress(messages, force=True), messages)
    streaming = chat(real_model, streaming=True)
    judge(compressor(streaming).compress(messages, force=True), messages)
    judge(await compressor(streaming).acompress(messages, force=True), messages)


async def test_a_whole_session_keeps_what_was_said_in_passing(real_model: RealModel, chat: ModelMaker) -> None:
    """Three compressions or more in a graph: the rules and facts of the start are in every prompt to the end."""
    prompts: list[list[BaseMessage]] = []
    shared = compressor(chat(real_model), window_tokens=real_model.window, attempts=1)
    reply: list[BaseMessage] = []

    def agent(state: MessagesState) -> dict[str, list[BaseMessage]]:
        prompts.append(list(state["messages"]))
        return {"messages": list(reply)}

    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(shared, background=False))
    graph.add_node("agent", agent)
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "agent")
    app = graph.compile(checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "trip"}}
    system, *rest = session(13)
    for place in range(0, len(rest), 2):
        reply[:] = [rest[place + 1]]
        await app.ainvoke({"messages": [*([system] if not place else []), rest[place]]}, config)
    said = {words: next(i for i, m in enumerate(rest) if words in m.text) // 2 for words in [*RULES, *FACTS]}
    for step, prompt in enumerate(prompts):
        assert violations(prompt) == []
        assert independent_tokens(prompt) <= 1.05 * CONFIG.hard_limit_tokens
        assert [words for words, first in said.items() if first <= step and words not in texts(prompt)] == []
    summaries = [m.text for prompt in prompts for m in prompt if "ctxcompress" in m.additional_kwargs]
    assert len(set(summaries)) >= 3, "the session was compressed again and again"
    gone = [m for m in rest[:-1] if m.id not in {left.id for left in prompts[-1] if left.text == m.text}]
    assert len(gone) > 15, "most of the session has been replaced"
    for message in gone:
        assert shared.expand_message(message.id or "", session_id="trip") == message


async def test_an_overflow_is_a_bad_request_and_is_known_as_one(narrow_model: RealModel, chat: ModelMaker) -> None:
    """The server answers 400: nothing but its words says that the prompt was too long."""
    model = chat(narrow_model, max_tokens=20)
    with pytest.raises(openai.BadRequestError) as caught:
        model.invoke("word " * 2_000)
    assert not isinstance(caught.value, ContextOverflowError)
    assert is_overflow(caught.value)
    with pytest.raises(openai.BadRequestError) as caught:
        await model.ainvoke("word " * 2_000)
    assert is_overflow(caught.value)


async def test_a_window_that_is_smaller_than_thought_costs_no_fact(narrow_model: RealModel, chat: ModelMaker) -> None:
    """Nobody said how large the window is: the model refuses the whole, and is given it in parts (P6)."""
    messages = session(5)
    result = await compressor(chat(narrow_model, max_tokens=120), attempts=1).acompress(messages, force=True)
    assert result.outcome in {"applied", "degraded"}
    assert violations(result.messages) == []
    assert independent_tokens(result.messages) < independent_tokens(messages)
    assert [words for words in [*RULES, *FACTS] if words not in texts(result.messages)] == []
