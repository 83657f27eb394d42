"""`TokenMeter`: each message is counted once, and a list that grew by what came to it."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.tokens import Measured, TokenMeter, continues, count_batch, count_message, meter
from tests.support.conversations import agent_run, conversations, copied


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that was counted."""
    seen: list[str] = []

    def spy(texts: Sequence[str], model: str | None = None) -> list[int]:
        seen.extend(texts)
        return count_batch(texts, model)

    monkeypatch.setattr("langchain_ctxcompress.tokens.messages.count_batch", spy)
    return seen


def total(messages: Sequence[BaseMessage]) -> int:
    return sum(map(count_message, messages))


@settings(max_examples=40)
@given(conversations(max_messages=40), st.lists(st.integers(0, 8), max_size=8), st.booleans())
def test_a_list_that_grows_has_the_size_of_its_messages(
    messages: list[BaseMessage], steps: list[int], anew: bool
) -> None:
    own, before, end = TokenMeter(), None, 0
    for step in steps:
        end += step
        now = copied(messages[:end]) if anew else messages[:end]
        before = own.measure(now, after=before)
        assert before.tokens == total(messages[:end])
        assert list(before.messages) == now


@settings(max_examples=40)
@given(conversations(max_messages=30, min_messages=2), st.data())
def test_edits_and_deletions_are_seen(messages: list[BaseMessage], data: st.DataObject) -> None:
    own = TokenMeter()
    before = own.measure(messages)
    place = data.draw(st.integers(0, len(messages) - 1))
    edited = [*messages]
    edited[place] = edited[place].model_copy(update={"content": "something quite different, and longer than before"})
    deleted = [*messages[:place], *messages[place + 1 :]]
    for changed in (edited, deleted, messages[::-1]):
        assert own.measure(changed, after=before).tokens == total(changed)


def test_each_message_is_counted_once_whichever_object_it_comes_as(counted: list[str]) -> None:
    own, messages = TokenMeter(), agent_run(20)
    own(messages)
    counted.clear()
    assert own(copied(messages)) == list(map(count_message, messages))
    again = len(counted)  # what the assertion itself counted
    own(copied(messages))
    assert len(counted) == again


def test_only_what_came_is_counted(counted: list[str]) -> None:
    own, messages = TokenMeter(), agent_run(20)
    before = own.measure(messages[:40])
    counted.clear()
    own.measure([*copied(messages[:40]), HumanMessage("new")], after=before)
    assert counted == ["new"]


@pytest.mark.parametrize(
    "changed",
    [
        lambda m: m.model_copy(update={"content": "other"}),
        lambda m: m.model_copy(update={"name": "other"}),
        lambda m: m.model_copy(update={"tool_calls": [{**m.tool_calls[0], "args": {"command": "other"}}]}),
        lambda m: m.model_copy(update={"additional_kwargs": {"reasoning_content": "because of something"}}),
    ],
)
def test_a_copy_that_holds_something_else_is_another_message(changed: Any) -> None:
    own, message = TokenMeter(), agent_run(1)[1]
    own([message])
    other = changed(message)
    assert own([other]) == [count_message(other)] != [count_message(message)]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "KNOWN_PRINTS", 20)
    monkeypatch.setattr(meter, "KNOWN_OBJECTS", 10)
    own, messages = TokenMeter(), [HumanMessage(f"number {number}") for number in range(50)]
    for _ in range(2):
        for message in messages:
            assert own([message]) == [count_message(message)]
            assert len(own._prints) <= 20
            assert len(own._known) <= 10
    assert own(messages) == list(map(count_message, messages))


def test_what_cannot_be_written_out_quickly_is_counted_each_time(counted: list[str]) -> None:
    own = TokenMeter()
    for _ in range(2):
        own([AIMessage("so", tool_calls=[{"name": "look", "args": {"at": object}, "id": "a"}])])
        gc.collect()
    assert counted.count("so") == 2


class Unequal:
    """Something whose comparison fails, as that of arrays does."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = None  # type: ignore[assignment]


def test_a_comparison_that_fails_is_no_continuation() -> None:
    one, other = (ToolMessage("x", tool_call_id="a", artifact=Unequal()) for _ in range(2))
    assert not continues([one], [other])
    assert continues([one, HumanMessage("more")], [one])


@given(conversations(max_messages=20), conversations(max_messages=20))
def test_a_list_continues_what_its_front_holds(one: list[BaseMessage], other: list[BaseMessage]) -> None:
    assert continues([*one, *other], one)
    assert continues([*copied(one), *other], one)
    assert continues(other, one) == (other[: len(one)] == one)


def test_nothing() -> None:
    assert TokenMeter().measure([]) == Measured()
    assert continues([], []) is continues([HumanMessage("x")], []) is True
    assert not continues([], [HumanMessage("x")])


@settings(max_examples=40)
@given(conversations(max_messages=30, surrogates=True, nul=True), st.data())
def test_what_a_message_would_take_if_it_said_something_else(messages: list[BaseMessage], data: st.DataObject) -> None:
    texts = [data.draw(st.text(max_size=40)) for _ in messages]
    said = [m.model_copy(update={"content": text}) for m, text in zip(messages, texts, strict=True)]
    sizes = TokenMeter().saying(messages, texts)
    assert sizes == [count_message(message) for message in said]
