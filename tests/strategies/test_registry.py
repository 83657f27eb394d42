"""Strategies by name, and what becomes of one that cheats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import CompressionStrategy, ContextCompressor, PrunerConfig, register_strategy
from langchain_ctxcompress.errors import ConfigError, TokenCountError, UnknownStrategyError
from langchain_ctxcompress.strategies import (
    CompressionDraft,
    CompressionRequest,
    Reason,
    Steps,
    TopDownTruncation,
    registry,
    resolve_strategy,
    strategy_names,
)
from langchain_ctxcompress.strategies.replacing import dropped
from langchain_ctxcompress.summarize import CompressionTask, TaskResult
from tests.support.conversations import exchanges, pinned
from tests.support.models import ScriptedChatModel

OWN = {"ladder", "middle-out", "top-down-truncation", "emergency", "clear-tools", "bands", "pack"}


class Nothing(CompressionStrategy):
    """Leaves everything."""

    name = "nothing"

    def run(self, request: CompressionRequest) -> Steps:
        yield from ()
        return request.unchanged(Reason.TOO_FEW_CANDIDATES, self.name)


@pytest.fixture(autouse=True)
def names_as_before() -> Iterator[None]:
    before = dict(registry._FACTORIES)
    yield
    registry._FACTORIES.clear()
    registry._FACTORIES.update(before)


def test_the_package_s_own_have_names() -> None:
    assert set(strategy_names()) >= OWN
    assert strategy_names() == sorted(strategy_names())
    for name in OWN:
        assert resolve_strategy(name).name == name


def test_a_class_is_made_anew_and_an_object_is_shared() -> None:
    register_strategy(Nothing)
    assert resolve_strategy("nothing") is not resolve_strategy("nothing")
    one = Nothing()
    register_strategy(one)
    assert resolve_strategy("nothing") is resolve_strategy("nothing") is one
    assert resolve_strategy(one) is one
    assert ContextCompressor(strategy="nothing").strategy is one


def test_one_of_the_same_name_is_replaced() -> None:
    register_strategy(TopDownTruncation(5_000))
    found = resolve_strategy("top-down-truncation")
    assert isinstance(found, TopDownTruncation)
    assert found.context_limit_tokens == 5_000


@pytest.mark.parametrize("wrong", [object(), 7, "ladder", dict, lambda: None])
def test_what_is_no_strategy_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="is no CompressionStrategy"):
        register_strategy(wrong)


@pytest.mark.parametrize("name", ["", None, 7])
def test_one_without_a_name_is_refused(name: Any) -> None:
    with pytest.raises(ConfigError, match="has no name"):
        register_strategy(type("Nameless", (Nothing,), {"name": name}))


@pytest.mark.parametrize("name", ["laddr", "", "Ladder"])
def test_an_unknown_name_lists_the_names_there_are(name: str) -> None:
    with pytest.raises(UnknownStrategyError, match="middle-out, ") as caught:
        ContextCompressor(strategy=name)
    assert repr(name) in str(caught.value)


def test_a_package_s_entry_point_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("elsewhere", f"{__name__}:Nothing", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(Nothing, "name", "elsewhere")

    def points(**wanted: str) -> EntryPoints:
        return EntryPoints([point]).select(**wanted)

    monkeypatch.setattr(registry, "entry_points", points)
    assert "elsewhere" in strategy_names()
    assert isinstance(resolve_strategy("elsewhere"), Nothing)
    with pytest.raises(UnknownStrategyError, match="elsewhere"):
        resolve_strategy("nowhere")


def drop_everything(request: CompressionRequest) -> CompressionDraft:
    return dropped(request, range(1, len(request.messages)), strategy="cheat", reason=Reason.COMPRESSED)


def drop_without_cover(request: CompressionRequest) -> CompressionDraft:
    return CompressionDraft(request.messages[2:], request.sizes[2:])


def cut_a_batch(request: CompressionRequest) -> CompressionDraft:
    place = next(place for place, message in enumerate(request.messages) if isinstance(message, ToolMessage))
    return dropped(request, [place], strategy="cheat", reason=Reason.COMPRESSED)


def make_larger(request: CompressionRequest) -> CompressionDraft:
    more = (HumanMessage("blah " * 5_000, id="more"), *request.messages[1:])
    return CompressionDraft(more, request.sizes)


def lie_about_sizes(request: CompressionRequest) -> CompressionDraft:
    more = tuple(m.model_copy(update={"content": m.text * 2}) for m in request.messages)
    return CompressionDraft(more, tuple(0 for _ in more))


def turn_round(request: CompressionRequest) -> CompressionDraft:
    return CompressionDraft((*request.messages[2:4], *request.messages[:2], *request.messages[4:]), request.sizes)


def invent(request: CompressionRequest) -> CompressionDraft:
    draft = dropped(request, request.candidates, strategy="cheat", reason=Reason.COMPRESSED)
    messages = (*draft.messages[:2], HumanMessage("who said this?", id="new"), *draft.messages[2:])
    return CompressionDraft(messages, (*draft.sizes[:2], 5, *draft.sizes[2:]), draft.checkpoints)


def paraphrase_the_question(request: CompressionRequest) -> CompressionDraft:
    shorter = request.messages[-1].model_copy(update={"content": "?"})
    return CompressionDraft((*request.messages[:-1], shorter), request.sizes)


def paraphrase_a_pin(request: CompressionRequest) -> CompressionDraft:
    shorter = request.messages[0].model_copy(update={"content": "?"})
    return CompressionDraft((shorter, *request.messages[1:]), request.sizes)


def raise_an_error(request: CompressionRequest) -> CompressionDraft:
    raise ZeroDivisionError("oh")


def return_nothing(request: CompressionRequest) -> Any:
    return None


CHEATS: dict[Callable[[CompressionRequest], Any], tuple[str, str]] = {
    drop_everything: ("invalid_result", "protected message is missing"),
    drop_without_cover: ("invalid_result", "missing"),
    cut_a_batch: ("invalid_result", "not legal"),
    make_larger: ("invalid_result", "larger"),
    lie_about_sizes: ("invalid_result", "larger"),
    turn_round: ("invalid_result", "did not stand"),
    invent: ("invalid_result", "'new' is new"),
    paraphrase_the_question: ("invalid_result", "'question' is not what it was"),
    paraphrase_a_pin: ("invalid_result", "'human-0' is not what it was"),
    raise_an_error: ("strategy_failed", "ZeroDivisionError: what it said is in the log at debug level"),
    return_nothing: ("strategy_failed", "NoneType"),
}


def a_list() -> list[BaseMessage]:
    first, *rest = exchanges(12)
    call = {"name": "f", "args": {}, "id": "c"}
    step = rest[8].model_copy(update={"tool_calls": [call]})
    result = ToolMessage("result " * 50, tool_call_id="c", id="result")
    return [pinned(first), *rest[:8], step, result, *rest[9:], HumanMessage("and then? " * 20, id="question")]


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.__name__)
def test_a_strategy_that_cheats_is_refused_and_the_list_is_unchanged(cheat: Callable[..., Any]) -> None:
    class Cheat(CompressionStrategy):
        name = "cheat"

        def run(self, request: CompressionRequest) -> Steps:
            yield from ()
            return cheat(request)

    messages = a_list()
    assert all(isinstance(m, BaseMessage) for m in messages)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(100_000), strategy=Cheat())
    result = compressor.compress(messages, force=True)
    reason, detail = CHEATS[cheat]
    assert (result.outcome, result.reason) == ("failed", reason)
    assert detail in result.detail
    assert [id(message) for message in result.messages] == [id(message) for message in messages]
    assert compressor.history().checkpoints() == []
    assert compressor.compress(messages).outcome == "noop", "the next step works"
    assert compressor.plan(messages, force=True).reason in ("strategy_failed", "compressed", "emergency")


def test_a_strategy_that_fails_over_the_hard_limit_is_what_the_reason_says() -> None:
    class Failing(CompressionStrategy):
        name = "failing"

        def run(self, request: CompressionRequest) -> Steps:
            yield from ()
            raise ZeroDivisionError

    result = ContextCompressor(config=PrunerConfig.for_limit(100), strategy=Failing()).compress(exchanges(10))
    assert (result.outcome, result.reason) == ("failed", "strategy_failed")


def test_drop_without_cover_is_refused_for_messages_that_nothing_protects() -> None:
    class Cheat(CompressionStrategy):
        name = "cheat"

        def run(self, request: CompressionRequest) -> Steps:
            yield from ()
            return drop_without_cover(request)

    result = ContextCompressor(config=PrunerConfig.for_limit(100_000), strategy=Cheat()).compress(
        exchanges(10), force=True
    )
    assert (result.outcome, result.reason) == ("failed", "invalid_result")
    assert "'human-0' left without being covered" in result.detail


def test_an_error_of_this_package_passes() -> None:
    class Uncountable(CompressionStrategy):
        name = "uncountable"

        def run(self, request: CompressionRequest) -> Steps:
            yield from ()
            raise TokenCountError("cannot", message_id="m")

    compressor = ContextCompressor(config=PrunerConfig.for_limit(100), strategy=Uncountable())
    with pytest.raises(TokenCountError):
        compressor.compress(exchanges(10))
    with pytest.raises(TokenCountError):
        compressor.plan(exchanges(10))


@pytest.mark.parametrize("model", [None, ScriptedChatModel("an answer")], ids=["none", "model"])
def test_a_strategy_may_ask_as_often_as_it_likes(model: ScriptedChatModel | None) -> None:
    answers: list[list[TaskResult]] = []

    class Curious(Nothing):
        def run(self, request: CompressionRequest) -> Steps:
            task = CompressionTask((HumanMessage("?"),), 10)
            for number in (0, 1, 3):
                answers.append((yield [task] * number))
            return request.unchanged(Reason.TOO_FEW_CANDIDATES, self.name)

    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(100), strategy=Curious())
    assert compressor.compress(exchanges(3)).reason == "still_over_hard_limit"
    assert [len(results) for results in answers] == [0, 1, 3]
    assert all(result.ok is (model is not None) for results in answers for result in results)
