"""`check_strategy`: it passes what is right, and names what is wrong in a strategy that breaks one law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress.errors import UnknownStrategyError
from langchain_ctxcompress.strategies import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    Reason,
    Steps,
    TopDownTruncation,
)
from langchain_ctxcompress.strategies.replacing import altered, dropped
from langchain_ctxcompress.summarize import CompressionTask
from langchain_ctxcompress.testing import check_messages, check_strategy
from langchain_ctxcompress.testing.scenes import SCENES
from tests.support.conversations import copied
from tests.support.legality import violations

OWN = ("ladder", "middle-out", "clear-tools", "bands", "pack", "top-down-truncation", "emergency")


@pytest.mark.parametrize("name", OWN)
def test_the_packages_own_strategies_pass(name: str) -> None:
    """Each on a share of the conversations, its neighbours on the others."""
    share = list(SCENES)[OWN.index(name) :: len(OWN)]
    check_strategy(name, conversations={scene: SCENES[scene]() for scene in share})


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_the_packages_own_strategies_pass_on_all_conversations(name: str) -> None:
    check_strategy(name)


@pytest.mark.parametrize("name", SCENES)
def test_the_conversations_are_what_they_say(name: str) -> None:
    messages = SCENES[name]()
    assert messages == SCENES[name]()
    assert len({message.id for message in messages}) == len(messages)
    assert all(message.id for message in messages)
    assert violations(messages) == []
    spoken_of = {"system": "system-apart", "greeting": "human-first", "empty": "empty-message"}
    spoken_of["reasoning before"] = "call-after-words"
    allowed = {rule for word, rule in spoken_of.items() if word in name}
    assert {line.split(" ")[0] for line in check_messages(messages)} == allowed


def few() -> dict[str, list[BaseMessage]]:
    return {
        name: SCENES[name]() for name in ("a chat", "parallel calls", "pinned messages", "reasoning before its call")
    }


class Wrong(CompressionStrategy):
    """A strategy that does what it is told to."""

    name = "wrong"

    def __init__(self, make: Callable[[CompressionRequest], Any]) -> None:
        self.make = make

    def run(self, request: CompressionRequest) -> Steps:
        yield from ()
        return self.make(request)  # type: ignore[no-any-return]


def draft(request: CompressionRequest, places: set[int], **fields: Any) -> CompressionDraft:
    return replace(dropped(request, places, strategy="wrong", reason=Reason.COMPRESSED), **fields)


def half_a_batch(request: CompressionRequest) -> CompressionDraft:
    free = set(range(len(request.messages))) - request.protected
    places = [p for p in free if isinstance(request.messages[p], ToolMessage)][:1]
    return draft(request, set(places))


def front(request: CompressionRequest) -> set[int]:
    return set(sorted(request.candidates)[:2])


def uncovered(request: CompressionRequest) -> CompressionDraft:
    return draft(request, front(request), checkpoints=())


def turned(request: CompressionRequest) -> CompressionDraft:
    return replace(request.unchanged(Reason.COMPRESSED, "wrong"), messages=request.messages[::-1])


def everything_gone(request: CompressionRequest) -> CompressionDraft:
    return draft(request, set(range(len(request.messages))))


def wrong_sizes(request: CompressionRequest) -> CompressionDraft:
    return replace(request.unchanged(Reason.COMPRESSED, "wrong"), sizes=tuple(0 for _ in request.sizes))


def invented(request: CompressionRequest) -> CompressionDraft:
    more = HumanMessage("Please be brief.", id="new")
    messages = (*request.messages, more)
    return CompressionDraft(messages, tuple(request.tools.count(messages)))


def longer(request: CompressionRequest) -> CompressionDraft:
    place = min(request.candidates, default=0)
    return altered(
        request,
        {place: request.messages[place].model_copy(update={"content": "much more " * 900})},
        strategy="wrong",
        reason=Reason.COMPRESSED,
    )


def shorter(request: CompressionRequest, **kept: Any) -> CompressionDraft:
    places = [p for p in request.candidates if isinstance(request.messages[p], AIMessage | HumanMessage)]
    changes = {p: request.messages[p].model_copy(update={"content": "short", **kept}) for p in places}
    return altered(request, changes, strategy="wrong", reason=Reason.COMPRESSED)


def unnamed(request: CompressionRequest) -> CompressionDraft:
    own = shorter(request, additional_kwargs={"ctxcompress": {"kind": "cut"}})
    return replace(own, checkpoints=())


def input_changed(request: CompressionRequest) -> CompressionDraft:
    request.messages[0].content = "changed"
    return request.unchanged(Reason.COMPRESSED, "wrong")


def newest_cut(request: CompressionRequest) -> CompressionDraft:
    place = max(place for place, message in enumerate(request.messages) if isinstance(message, HumanMessage))
    cut = request.messages[place].model_copy(
        update={"content": "?", "additional_kwargs": {"ctxcompress": {"kind": "cut"}}}
    )
    return altered(request, {place: cut}, strategy="wrong", reason=Reason.COMPRESSED)


def raises(_: CompressionRequest) -> CompressionDraft:
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (half_a_batch, "call-without-result"),
        (uncovered, "uncovered"),
        (turned, "order"),
        (everything_gone, "protected"),
        (wrong_sizes, "sizes-wrong"),
        (invented, "invented"),
        (invented, "grown"),
        (longer, "grown"),
        (shorter, "unmarked"),
        (unnamed, "unnamed"),
        (input_changed, "input-changed"),
        (newest_cut, "protected"),
        (raises, "raised, in"),
        (lambda request: list(request.messages), "no-draft"),
    ],
)
def test_each_law_that_is_broken_is_named(make: Callable[[CompressionRequest], Any], rule: str) -> None:
    with pytest.raises(AssertionError) as found:
        check_strategy(Wrong(make), conversations=few())
    assert f"\n  {rule}" in str(found.value)


class Moody(CompressionStrategy):
    name = "moody"
    runs = 0

    def run(self, request: CompressionRequest) -> Steps:
        yield from ()
        self.runs += 1
        if self.runs % 2:
            return request.unchanged(Reason.COMPRESSED, self.name)
        return draft(request, front(request))


class Endless(CompressionStrategy):
    name = "endless"
    requires_llm = True

    def run(self, request: CompressionRequest) -> Steps:
        while True:
            yield [CompressionTask((HumanMessage("more"),), 10)]


class Restless(CompressionStrategy):
    """Changes a message back and forth, and frees nothing."""

    name = "restless"

    def run(self, request: CompressionRequest) -> Steps:
        yield from ()
        place = min(request.candidates, default=None)
        if place is None or request.urgency != "hard":
            return request.unchanged(Reason.TOO_FEW_CANDIDATES, self.name)
        message = request.messages[place]
        text = "cut b" if message.text == "cut a" else "cut a"
        cut = message.model_copy(update={"content": text, "additional_kwargs": {"ctxcompress": {"kind": "cut"}}})
        return altered(request, {place: cut}, strategy=self.name, reason=Reason.COMPRESSED)


class WrongTasks(CompressionStrategy):
    name = "wrong-tasks"

    def run(self, request: CompressionRequest) -> Steps:
        yield ["summarise this"]  # type: ignore[list-item]
        return request.unchanged(Reason.COMPRESSED, self.name)


@pytest.mark.parametrize(
    ("strategy", "rule"),
    [(Moody, "not-the-same-twice"), (Endless, "no-end"), (Restless, "no-progress"), (WrongTasks, "no-tasks")],
)
def test_what_shows_only_over_several_steps_is_named(strategy: type[CompressionStrategy], rule: str) -> None:
    with pytest.raises(AssertionError, match=f"  {rule}, in"):
        check_strategy(strategy, conversations=few())


def test_the_report_says_how_often_and_where_first() -> None:
    with pytest.raises(AssertionError) as found:
        check_strategy(Wrong(half_a_batch), conversations=few())
    lines = str(found.value).splitlines()
    assert lines[0].startswith("strategy 'wrong' breaks ")
    rule = next(line for line in lines if line.startswith("  call-without-result"))
    assert "first: call-without-result (OpenAI, Anthropic, Gemini): message " in rule
    where = lines[lines.index(rule) + 1]
    assert where.startswith("    in 'parallel calls' with a hard limit of ")
    assert where.endswith(" tokens and no model")


def test_conversations_of_ones_own_can_be_given_and_are_not_changed() -> None:
    own: list[BaseMessage] = [SystemMessage("s", id="s"), *SCENES["a chat"]()]
    before = copied(own)
    check_strategy(TopDownTruncation(), conversations={"mine": own})
    assert own == before


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(UnknownStrategyError):
        check_strategy("nothing")
