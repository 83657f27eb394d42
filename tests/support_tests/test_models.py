"""The scripted models say what they are told to, whole and streamed, sync and async, and remember what they heard."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.support.conversations import exchanges
from tests.support.models import CheckingModel, ScriptedChatModel
from tests.support.sizes import independent_tokens

CALL = {"name": "search", "args": {"query": "x"}, "id": "c1"}


class Overflow(Exception):
    """One of a provider's own errors."""


def test_replies_come_one_by_one_and_the_last_one_again() -> None:
    model = ScriptedChatModel(["one", AIMessage("two"), [{"type": "text", "text": "three"}]])
    assert [model.invoke("q").text for _ in range(4)] == ["one", "two", "three", "three"]
    assert model.calls == 4


def test_a_callable_is_given_the_prompt() -> None:
    model = ScriptedChatModel(lambda prompt: f"{len(prompt)} messages")
    assert model.invoke([HumanMessage("a"), HumanMessage("b")]).text == "2 messages"
    within = ScriptedChatModel(["first", lambda prompt: prompt[0].text.upper()])
    assert [within.invoke("said").text, within.invoke("said").text] == ["first", "SAID"]


@pytest.mark.parametrize("error", [Overflow("too long"), Overflow, lambda prompt: Overflow("too long")])
async def test_an_exception_is_raised_and_the_call_counted(error: Any) -> None:
    model = ScriptedChatModel([error, "then"])
    with pytest.raises(Overflow):
        model.invoke("q")
    assert (await model.ainvoke("q")).text == "then"
    assert model.calls == 2


def test_every_prompt_is_kept_as_it_was() -> None:
    model = ScriptedChatModel()
    prompt: list[BaseMessage] = [HumanMessage("a")]
    model.invoke(prompt)
    prompt.append(HumanMessage("b"))
    model.invoke(prompt, stop=["x"])
    assert [[message.text for message in heard] for heard in model.prompts] == [["a"], ["a", "b"]]
    assert [option["stop"] for option in model.options] == [None, ["x"]]


@pytest.mark.parametrize("reason", ["length", "content_filter", None])
async def test_finish_reason_is_in_the_metadata_whole_and_streamed(reason: str | None) -> None:
    model = ScriptedChatModel("cut off", finish_reason=reason, details={"stop_reason": "max_tokens"})
    streamed = [chunk async for chunk in model.astream("q")]
    whole = streamed[0]
    for chunk in streamed[1:]:
        whole += chunk
    for message in (model.invoke("q"), await model.ainvoke("q"), whole):
        assert message.response_metadata.get("finish_reason") == reason
        assert message.response_metadata["stop_reason"] == "max_tokens"


def test_a_reply_brings_its_own_metadata() -> None:
    model = ScriptedChatModel(AIMessage("x", response_metadata={"finish_reason": "length"}))
    assert model.invoke("q").response_metadata["finish_reason"] == "length"


@pytest.mark.parametrize(
    "reply",
    [
        "a few words\n in all",
        "",
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        AIMessage("I look", tool_calls=[CALL], id="own"),
    ],
)
async def test_what_is_streamed_adds_up(reply: Any) -> None:
    model = ScriptedChatModel([reply])
    chunks = list(model.stream("q"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    said = model.invoke("q")
    assert (whole.content, whole.tool_calls) == (said.content, said.tool_calls)
    assert [chunk.content async for chunk in model.astream("q")] == [chunk.content for chunk in chunks]
    assert len(chunks) > 4 or reply != "a few words\n in all"


def test_a_model_that_does_not_stream_answers_whole() -> None:
    assert len([chunk for chunk in ScriptedChatModel("a few words", streams=False).stream("q") if chunk.content]) == 1


def test_profile_and_bound_tools() -> None:
    model = ScriptedChatModel(AIMessage("", tool_calls=[CALL]), profile={"max_input_tokens": 2_000})
    assert model.profile == {"max_input_tokens": 2_000}
    assert model.bind_tools([{"name": "search"}]).invoke("q").tool_calls[0]["id"] == "c1"
    assert model.options[0]["tools"] == [{"name": "search"}]


def test_calls_from_many_threads_are_all_counted() -> None:
    together = threading.Barrier(8, timeout=30)

    def reply(prompt: list[BaseMessage]) -> str:
        together.wait()
        return "ok"

    model = ScriptedChatModel(reply)
    with ThreadPoolExecutor(8) as pool:
        assert {message.text for message in pool.map(model.invoke, ["q"] * 64)} == {"ok"}
    assert (model.calls, model.peak) == (64, 8)


async def test_async_calls_run_side_by_side_and_can_be_cancelled() -> None:
    model = ScriptedChatModel(delay=60)
    tasks = [asyncio.create_task(model.ainvoke("q")) for _ in range(5)]
    while model.calls < 5:
        await asyncio.sleep(0)
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    model.release()
    assert [message.text for message in await asyncio.gather(*tasks[1:])] == ["ok"] * 4
    assert (model.peak, model.cancelled) == (5, 1)


def test_a_hanging_call_ends_when_released() -> None:
    model = ScriptedChatModel("late", delay=60)
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(model.invoke, "q")
        model.release()
        assert hanging.result(timeout=30).text == "late"


class TestCheckingModel:
    def test_a_good_prompt_passes(self) -> None:
        messages = exchanges(3)
        model = CheckingModel(limit=independent_tokens(messages))
        model.invoke(messages)
        assert model.failures == []
        assert model.sizes == [independent_tokens(messages)]

    async def test_findings_name_the_call(self) -> None:
        model = CheckingModel(limit=20)
        model.invoke("short")
        await model.ainvoke([*exchanges(3), ToolMessage("x", tool_call_id="gone")])
        assert [failure.split(":")[:2] for failure in model.failures] == [
            ["call 1", " orphan-result"],
            ["call 1", " too-large"],
        ]

    def test_an_open_call_is_a_finding(self) -> None:
        model = CheckingModel()
        model.invoke([HumanMessage("q"), AIMessage("", tool_calls=[CALL])])
        assert [failure.split(":")[1] for failure in model.failures] == [" open-call"]

    def test_room_is_allowed_for(self) -> None:
        model = CheckingModel(limit=0, room=independent_tokens)
        model.invoke("q")
        assert model.failures == []
