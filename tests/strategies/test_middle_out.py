"""`middle-out`: prefix, pins, newest human message and last turns stay; the middle becomes one summary message."""

from __future__ import annotations

import dataclasses
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, SystemMessage

from langchain_ctxcompress import ChatModelSummariser, ContextCompressor, PrunerConfig, split_turns
from langchain_ctxcompress.strategies import MiddleOut
from langchain_ctxcompress.summarize import TaskFailure, TaskResult
from tests.strategies.requests import TOOLS, request_for
from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.legality import is_summary
from tests.support.models import CheckingModel, ScriptedChatModel

SYSTEM = SystemMessage("Be brief.", id="sys")


def compressed(messages: list[BaseMessage], config: PrunerConfig, model: object = None) -> list[BaseMessage]:
    summariser = ChatModelSummariser(model) if model is not None else None  # type: ignore[arg-type]
    return ContextCompressor(summariser, config=config, strategy="middle-out").compress(messages).messages


@pytest.mark.parametrize("prefix", [0, 1, 3])
@pytest.mark.parametrize("recent", [0, 1, 5])
def test_prefix_and_last_turns_stay_and_the_middle_becomes_one_message(prefix: int, recent: int) -> None:
    messages = [SYSTEM, *exchanges(30)]
    config = PrunerConfig.for_limit(2_000, pinned_prefix_turns=prefix, recent_turns=recent)
    output = compressed(messages, config)
    assert output[: 1 + 2 * prefix] == messages[: 1 + 2 * prefix]
    summary, *rest = output[1 + 2 * prefix :]
    assert is_summary(summary)
    newest = messages[-2:-1] if recent == 0 else []  # the newest question stays in any case
    assert rest in (newest, messages[-2:] if recent == 0 else messages[len(messages) - 2 * recent :])


def test_steps_of_a_run_are_turns() -> None:
    messages = agent_run(40, words=40)
    output = compressed(messages, PrunerConfig.for_limit(3_000))
    assert [message.id for message in output[:3]] == ["task-0", "step-0", "result-0-0"]
    assert is_summary(output[3])
    assert output[4:] == messages[-9:]


def test_pins_stay_in_their_place_with_what_belongs_to_them() -> None:
    messages = agent_run(40, words=40, parallel=2)
    at = next(place for place, message in enumerate(messages) if message.id == "result-20-0")
    messages[at] = pinned(messages[at])
    output = compressed(messages, PrunerConfig.for_limit(4_000))
    ids = [message.id for message in output]
    assert ids[ids.index("step-20") :][:3] == ["step-20", "result-20-1", "result-20-0"]
    assert ids.index("step-20") > next(place for place, message in enumerate(output) if is_summary(message))


@settings(max_examples=40)
@given(conversations(max_messages=120, broken=False, duplicate_ids=False, ids="all"), st.integers(50, 3_000))
def test_all_candidates_are_replaced_or_none(messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy="middle-out")
    result = compressor.compress(messages)
    kept = [message for message in result.messages if not is_summary(message)]
    if not result.changed:
        assert result.messages == messages
        return
    assert result.checkpoint is not None
    assert [m.id for m in messages if m.id not in {k.id for k in kept}] == list(result.checkpoint.covered)
    turns = split_turns(messages)
    first, last = turns[:1], turns[-5:]
    wanted = {m.id for turn in (*first, *last) for m in turn.messages}
    assert wanted <= {message.id for message in kept}


def test_p5_a_second_compression_shows_the_earlier_text_and_not_the_messages_it_covers() -> None:
    model = ScriptedChatModel(["order #W10003 was refunded to the card", "order #W10040 was cancelled"])
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(2_000), strategy="middle-out")
    first = compressor.compress(exchanges(30))
    second = compressor.compress([*first.messages, *exchanges(30, start=30)])
    assert model.calls == 2
    prompt = "\n".join(message.text for message in model.prompts[1])
    assert "order #W10003 was refunded to the card" in prompt
    assert "Question 10 about" not in prompt
    summary = next(message for message in second.messages if is_summary(message)).text
    assert summary.index("#W10003 was refunded") < summary.index("#W10040 was cancelled"), "oldest first"
    numbers = [record.number for record in compressor.history().checkpoints() if record.level]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 2, "a compression adds one checkpoint"


def test_p6_input_over_the_summariser_s_window_is_read_in_parts_that_fit() -> None:
    model = CheckingModel("a part was read", limit=2_000)
    own = ChatModelSummariser(model, window_tokens=2_000)
    messages = [*exchanges(80), *agent_run(2, words=3_000), *exchanges(10, start=80)]
    compressor = ContextCompressor(own, config=PrunerConfig.for_limit(6_000), strategy="middle-out")
    result = compressor.compress(messages)
    assert result.reason == "compressed"
    assert model.failures == []
    assert model.calls == result.model_calls > 5
    read = "".join(prompt[-1].text for prompt in model.prompts)
    assert result.checkpoint is not None
    for message in compressor.expand(result.checkpoint.checkpoint_id) or []:
        for line in message.text.splitlines():
            assert all(word in read for word in line.split()), "nothing is left unread"


def test_p6_the_parts_summaries_are_put_together_and_summarised_once_more_where_they_are_long() -> None:
    names = ["".join(letters) for letters in product("abcdefgh", repeat=4)]  # no numbers: made-up ones are taken out
    said = iter(names)
    model = ScriptedChatModel(lambda _: " ".join(f"fact {next(said)} holds;" for _ in range(60)))
    own = ChatModelSummariser(model, window_tokens=2_500, concurrency=1)
    compressor = ContextCompressor(own, config=PrunerConfig.for_limit(6_000), strategy="middle-out")
    result = compressor.compress(exchanges(120))
    assert result.reason == "compressed"
    assert "This is part" not in model.prompts[-1][0].text
    assert "This is part 1 of" in model.prompts[0][0].text
    assert "fact aaaa holds" in model.prompts[-1][1].text
    assert result.checkpoint is not None
    assert f"fact {names[60 * (model.calls - 1)]} holds" in result.checkpoint.text


def test_p6_where_the_last_round_fails_the_parts_are_shortened() -> None:
    def reply(prompt: list[BaseMessage]) -> str | Exception:
        if "This is part" in prompt[0].text:
            return "\n".join(f"- order #W{number} was refunded to its card" for number in range(10_000, 10_040))
        return RuntimeError("down")

    own = ChatModelSummariser(ScriptedChatModel(reply), window_tokens=2_500, attempts=1)
    compressor = ContextCompressor(own, config=PrunerConfig.for_limit(6_000), strategy="middle-out")
    result = compressor.compress(exchanges(120))
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert result.checkpoint is not None
    assert "#W100" in result.checkpoint.text


def test_instructions_reach_the_model() -> None:
    model = ScriptedChatModel("a summary of it")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(2_000), strategy="middle-out")
    compressor.compress(exchanges(30), instructions="keep the SQL")
    assert "keep the SQL" in model.prompts[0][0].text


@pytest.mark.parametrize("failure", [None, TaskFailure.ERROR])
def test_a_draft_that_came_out_larger_all_the_same_is_not_taken(failure: TaskFailure | None) -> None:
    """Where texts are counted too small, the sizes of the messages decide."""
    blind = dataclasses.replace(TOOLS, count_text=lambda text: len(text) // 1_000)
    request = request_for(exchanges(20, words=8), 500, tools=blind, summariser=True)
    steps = MiddleOut().run(request)
    next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.send([TaskResult("much too long " * 2_000 if failure is None else "", failure)])
    draft = ended.value.value
    if failure is None:
        assert (draft.messages, draft.checkpoints, draft.reason) == (request.messages, (), "not_smaller")
    else:
        assert draft.degraded
        assert draft.reason == "summariser_failed"


def test_too_few_candidates_and_a_tail_over_the_trigger_are_reasons() -> None:
    few = ContextCompressor(config=PrunerConfig(), strategy="middle-out").compress(exchanges(6), force=True)
    assert (few.outcome, few.reason) == ("noop", "too_few_candidates")
    tail = ContextCompressor(config=PrunerConfig.for_limit(4_000), strategy="middle-out").compress(
        exchanges(6, words=100)
    )
    assert (tail.outcome, tail.reason) == ("noop", "protected_tail_over_trigger")


def test_a_source_without_any_text_costs_no_model_call_and_breaks_nothing() -> None:
    messages = exchanges(60)
    silent = [m.model_copy(update={"content": ""}) if 2 <= at < 110 else m for at, m in enumerate(messages)]
    model = ScriptedChatModel("never asked")
    compressor = ContextCompressor(model, config=PrunerConfig(), strategy="middle-out")
    result = compressor.compress(silent, force=True)
    assert model.calls == 0
    assert result.outcome == "degraded"
    assert result.tokens_after < result.tokens_before
    assert "there is no text to summarise" in result.detail


def test_pictures_are_named_to_the_summariser() -> None:
    picture = {"type": "image", "base64": "x", "mime_type": "image/png"}
    messages = [
        m.model_copy(update={"content": [picture]}) if 2 <= at < 50 else m for at, m in enumerate(exchanges(30))
    ]
    model = ScriptedChatModel("pictures were shown")
    compressor = ContextCompressor(model, config=PrunerConfig.for_limit(30_000), strategy="middle-out")
    assert compressor.compress(messages).outcome == "applied"
    assert "[user shows an image]" in model.prompts[0][-1].text
