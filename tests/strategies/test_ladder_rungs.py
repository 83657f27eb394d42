"""The ladder's rungs: which are taken, in which order, and that each can be switched off (P10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import ConfigError, ContextCompressor, PrunerConfig
from langchain_ctxcompress.limits.config import RUNGS
from langchain_ctxcompress.strategies import CompressionRequest, MiddleOut, Reason, Steps
from langchain_ctxcompress.tokens import MessageCounter
from tests.laws.judge import grown, illegal, lost, voice_lost
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import is_summary, mark_kind
from tests.support.models import ScriptedChatModel


def run_with_output(steps: int, *, said: int = 4) -> list[BaseMessage]:
    """A run in which nearly all is tool output; `said` words of the model a step are the rest."""
    messages: list[BaseMessage] = [HumanMessage("Find it.", id="task"), AIMessage("I will.", id="will")]
    for number in range(steps):
        call = {"name": "look", "args": {"path": f"f{number}.py"}, "id": f"c{number}"}
        words = " ".join(f"fact{number}-{word}" for word in range(said))
        messages.append(AIMessage(words, tool_calls=[call], id=f"a{number}"))
        output = f"SECRET-{number} " + f"line {number} of output\n" * 80
        messages.append(ToolMessage(output, tool_call_id=f"c{number}", id=f"t{number}"))
    return messages


def soft_limit_of(messages: list[BaseMessage]) -> dict[str, int]:
    """Limits under which the list is just over its soft limit."""
    soft = sum(MessageCounter()(messages)) - 1
    return {"soft_limit_tokens": soft, "hard_limit_tokens": 2 * soft}


def rungs(result: Any) -> list[str]:
    return [rung.name for rung in result.rungs]


def test_clearing_alone_is_taken_where_it_reaches_the_target() -> None:
    messages = run_with_output(40)
    model = ScriptedChatModel("a summary")
    compressor = ContextCompressor(model, config=PrunerConfig(**soft_limit_of(messages)))
    result = compressor.compress(messages)
    assert (result.outcome, result.reason, rungs(result)) == ("applied", "compressed", ["clear-tools"])
    assert result.tokens_after <= compressor.config.target_tokens
    assert result.rungs[0].freed == result.tokens_before - result.tokens_after
    assert not any(map(is_summary, result.messages))
    assert model.calls == 0


def test_where_it_does_not_the_summary_is_written_from_the_originals() -> None:
    """Nothing of what would have been cleared is kept from the summariser."""
    messages = run_with_output(40, said=400)
    model = ScriptedChatModel("a summary")
    compressor = ContextCompressor(model, config=PrunerConfig(**soft_limit_of(messages)))
    result = compressor.compress(messages)
    assert rungs(result) == ["clear-tools", "middle-out"]
    assert (result.rungs[0].freed, result.rungs[0].reason) == (0, "not_enough")
    prompt = "\n".join(message.text for message in model.prompts[0])
    assert "SECRET-3 " in prompt
    assert "[cleared:" not in prompt
    assert not any(mark_kind(message) == "cleared" for message in result.messages)
    assert [m.content for m in compressor.expand(result.checkpoint.checkpoint_id) or []] == [
        m.content for m in messages if m.id in (result.checkpoint.covered if result.checkpoint else {})
    ]


def test_clearing_goes_before_summaries_in_a_long_run_and_both_are_had_back() -> None:
    model = ScriptedChatModel("the run goes well")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(40_000))
    whole = run_with_output(150, said=60)
    taken: list[str] = []
    view: list[BaseMessage] = []
    for place in range(0, len(whole), 2):
        result = compressor.compress([*view, *whole[place : place + 2]])
        view = result.messages
        if result.changed:
            taken += [rung.name for rung in result.rungs if rung.freed]
    assert taken[0] == "clear-tools"
    assert {"clear-tools", "middle-out"} <= set(taken)
    assert lost(compressor, view, whole) == []
    assert [m.content for m in compressor.view(whole)] == [m.content for m in view], "the whole list again (law 8)"
    assert model.calls < 10


def test_somebody_who_asks_gets_a_summary() -> None:
    messages = run_with_output(40)
    for options in ({"force": True}, {"instructions": "keep the paths"}):
        limits = soft_limit_of(messages) if "instructions" in options else {}
        model = ScriptedChatModel("a summary")
        result = ContextCompressor(model, config=PrunerConfig(**limits)).compress(messages, **options)
        assert rungs(result) == ["middle-out"]
        assert model.calls == 1


def test_where_a_summary_frees_nothing_what_clearing_frees_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self: MiddleOut, request: CompressionRequest) -> Steps:
        yield from ()
        return request.unchanged(Reason.NOT_SMALLER, self.name)

    monkeypatch.setattr(MiddleOut, "run", nothing)
    messages = run_with_output(40, said=400)
    result = ContextCompressor(config=PrunerConfig(**soft_limit_of(messages))).compress(messages)
    assert rungs(result) == ["middle-out", "clear-tools"]
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert result.tokens_after > PrunerConfig(**soft_limit_of(messages)).target_tokens


def test_without_summaries_what_clearing_frees_is_taken() -> None:
    messages = run_with_output(40, said=400)
    config = PrunerConfig(**soft_limit_of(messages), rungs=[rung for rung in RUNGS if rung != "middle-out"])
    result = ContextCompressor(config=config).compress(messages)
    assert (result.outcome, rungs(result)) == ("applied", ["clear-tools"])


@pytest.mark.parametrize("off", RUNGS)
def test_each_rung_can_be_switched_off(off: str) -> None:
    messages = agent_run(60, words=60)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(900, rungs=[r for r in RUNGS if r != off]))
    result = compressor.compress(messages)
    assert off not in rungs(result)
    assert illegal(compressor, result.messages, messages) == []


def test_with_no_rung_nothing_is_done() -> None:
    messages = agent_run(60, words=60)
    result = ContextCompressor(config=PrunerConfig(**soft_limit_of(messages), rungs=())).compress(messages)
    assert (result.outcome, result.reason, result.messages) == ("noop", "disabled", messages)


def test_without_the_last_rungs_the_hard_limit_is_not_forced() -> None:
    messages = exchanges(8, words=200)
    config = PrunerConfig.for_limit(600, rungs=("clear-tools", "middle-out", "ageing"))
    result = ContextCompressor(config=config).compress(messages)
    assert (result.outcome, result.reason) == ("failed", "still_over_hard_limit")
    assert [m for m in result.messages if not is_summary(m)] == [m for m in messages if m in result.messages]
    assert rungs(result) == ["clear-tools", "middle-out"]


def test_without_ageing_every_checkpoint_is_shown() -> None:
    shown = {}
    for name, own in (("with", RUNGS), ("without", tuple(r for r in RUNGS if r != "ageing"))):
        compressor = ContextCompressor(config=PrunerConfig.for_limit(10**6, rungs=own))
        view: list[BaseMessage] = []
        made = []
        for number in range(18):
            view = [*view, *exchanges(8, start=8 * number, words=40)]
            result = compressor.compress(view, force=True)
            view = result.messages
            made += [record.checkpoint_id for record in result.checkpoints if record.strategy == "middle-out"]
        mark = next(m for m in view if is_summary(m)).additional_kwargs["ctxcompress"]
        shown[name] = (mark["checkpoint_ids"], made)
    assert shown["without"][0] == shown["without"][1]
    assert len(shown["with"][0]) < len(shown["with"][1])


@pytest.mark.parametrize("named", [("clear",), ("middle-out", "bands"), ["ladder"]])
def test_unknown_rungs_are_refused_by_name_with_those_there_are(named: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        PrunerConfig(rungs=named)
    assert f"rungs names {named[-1]!r}" in str(refused.value)
    assert all(rung in str(refused.value) for rung in RUNGS)


@pytest.mark.parametrize("named", ["clear-tools", 3, [1]])
def test_rungs_of_another_type_are_refused_by_name(named: Any) -> None:
    with pytest.raises(ConfigError, match="rungs"):
        PrunerConfig(rungs=named)


@settings(max_examples=40)
@given(conversations(max_messages=160), st.integers(20, 3_000), st.sets(st.sampled_from(RUNGS)))
def test_whichever_rungs_there_are_the_laws_hold(messages: list[BaseMessage], limit: int, on: set[str]) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit, rungs=tuple(on)))
    result = compressor.compress(messages)
    assert set(rungs(result)) <= {*on, "none", "ladder"}
    assert illegal(compressor, result.messages, messages) == []
    assert voice_lost(result.messages, messages) == []
    assert lost(compressor, result.messages, messages) == []
    assert grown(result.messages, messages) == []


def test_what_the_user_said_in_a_truncated_turn_is_restated() -> None:
    """A tail over the hard limit by itself is truncated; the rules and values in it stay in the context (G5)."""
    aside = "Never send anything to the Lisbon office, and note that my badge number is KX-20417."
    messages: list[BaseMessage] = [HumanMessage("Look at the logs.", id="task"), AIMessage("I will.", id="will")]
    for number in range(2):
        call = {"name": "look", "args": {"path": f"f{number}.log"}, "id": f"c{number}"}
        said = f"And file {number}? {aside if number == 0 else ''}"
        messages.append(HumanMessage(said, id=f"h{number}"))
        messages.append(AIMessage("", tool_calls=[call], id=f"a{number}"))
        messages.append(ToolMessage(f"line {number} of output\n" * 250, tool_call_id=f"c{number}", id=f"t{number}"))
        messages.append(AIMessage(f"Nothing in file {number}.", id=f"b{number}"))
    messages.append(HumanMessage("So what now?", id="now"))
    compressor = ContextCompressor(config=PrunerConfig.for_limit(2_000))
    result = compressor.compress(messages)
    assert "top-down-truncation" in rungs(result)
    assert "h0" not in {message.id for message in result.messages if not is_summary(message)}
    sent = "\n".join(message.text for message in result.messages)
    assert "Never send anything to the Lisbon office" in sent
    assert "KX-20417" in sent
    assert result.tokens_after < 2_000
    assert illegal(compressor, result.messages, messages) == []
