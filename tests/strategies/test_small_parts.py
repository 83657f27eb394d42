"""Parts of strategies by themselves: what each says of a list, where a whole compression would not show it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import (
    AgentCall,
    CompressionBand,
    ConfigError,
    ContextCompressor,
    PrunerConfig,
    TurnBandMapping,
    acompress_messages,
    compress_messages,
    create_compression_tasks,
    split_turns,
)
from langchain_ctxcompress.ledger import Goal
from langchain_ctxcompress.ledger.goal_set import GoalSet
from langchain_ctxcompress.messages.boundaries import dividers
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies import ClearTools, Emergency, Ladder, MiddleOut
from langchain_ctxcompress.strategies.ageing import merge_checkpoints
from langchain_ctxcompress.strategies.band_runner import BandWork
from langchain_ctxcompress.strategies.bands import Bands
from langchain_ctxcompress.strategies.base import CompressionRequest, Reason, RungReport, goals_of
from langchain_ctxcompress.strategies.clearing import cleared_call
from langchain_ctxcompress.strategies.covering import covering, first_place
from langchain_ctxcompress.strategies.remembering import ledger_of
from langchain_ctxcompress.strategies.rendering import exchange_ledger, read_ledger
from langchain_ctxcompress.strategies.replacing import shown_in
from langchain_ctxcompress.strategies.summarising import WrittenSummary, write_summary
from langchain_ctxcompress.summarize import SummaryBudget, TaskFailure, TaskResult, summary_budget
from tests.strategies.requests import TOOLS, outcome_of, request_for
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens, text_tokens

RULE = "Never send anything to the press office."
NOW, GIVEN = Goal(description="ship the invoice page", status="completed"), Goal(description="ship the invoice page")


def truncating(messages: list[BaseMessage], hard: int, **fields: object) -> CompressionRequest:
    config = PrunerConfig(
        soft_limit_tokens=hard - 20,
        hard_limit_tokens=hard,
        target_tokens=hard // 2,
        pinned_prefix_turns=3,
        recent_turns=4,
        rungs=("top-down-truncation",),
        **fields,  # type: ignore[arg-type]
    )
    return request_for(messages, config=config)


class TestTruncation:
    def test_the_middle_goes_before_the_prefix_and_the_prefix_before_the_last_turns(self) -> None:
        messages = exchanges(20)
        whole = independent_tokens(messages)
        kept = [message.id for message in outcome_of(Ladder(), truncating(messages, whole // 2, ledger=False)).messages]
        assert {message.id for message in [*messages[:6], *messages[-8:]]} <= set(kept)
        kept = [message.id for message in outcome_of(Ladder(), truncating(messages, whole // 4, ledger=False)).messages]
        assert not {message.id for message in messages[:6]} & set(kept)
        assert {message.id for message in messages[-8:]} <= set(kept)


def test_emergency_reports_what_it_freed() -> None:
    request = request_for(exchanges(40), 800)
    draft = outcome_of(Emergency(), request)
    assert draft.rungs[-1].freed == sum(request.sizes) - draft.tokens > 0


class TestClearedCall:
    def message(self) -> AIMessage:
        calls = [{"name": "write", "args": {"text": f"{n} " * 900}, "id": f"c{n}"} for n in range(2)]
        return AIMessage([{"type": "tool_call", **call} for call in calls], tool_calls=calls, id="a")

    def test_only_the_named_calls_are_cleared(self) -> None:
        before, after = self.message(), cleared_call(self.message(), [1], TOOLS)
        assert after.tool_calls[0] == before.tool_calls[0]
        assert after.tool_calls[1]["args"]["text"].startswith("[cleared: ")

    def test_a_block_that_says_a_call_again_is_cleared_like_it(self) -> None:
        after = cleared_call(self.message(), [0, 1], TOOLS)
        assert [block["args"] for block in after.content] == [call["args"] for call in after.tool_calls]  # type: ignore[index]


class TestLostStore:
    """A list with a summary message, of which no record is left."""

    def request(self) -> CompressionRequest:
        said = [HumanMessage(RULE, id="rule"), AIMessage("Noted.", id="noted")]
        messages = [*exchanges(20), *said, *exchanges(20, start=50)]
        compressor = ContextCompressor(config=PrunerConfig.for_limit(2_000), strategy="middle-out")
        view = compressor.compress(messages).messages
        return request_for(compressor.compress([*view, *exchanges(30, start=90)], force=True).messages)

    def test_its_rules_are_read_from_the_summary_message(self) -> None:
        assert [rule.text for rule in ledger_of(self.request()).rules] == [RULE]

    def test_its_summaries_are_read_under_their_names(self) -> None:
        request = self.request()
        text = next(message.text for message in request.messages if is_summary(message))
        names = re.findall(r'<summary id="([^"]+)"', text)
        found = shown_in(request)
        assert [(one.checkpoint_id, one.number) for one in found] == [(name, n) for n, name in enumerate(names, 1)]
        assert names and all(one.text and one.text in text for one in found)


def test_a_ledger_is_put_in_place_of_the_one_that_stands_there() -> None:
    text = "before\n<ledger>\n- old\n</ledger>\nafter"
    assert exchange_ledger(text, "- new") == "before\n<ledger>\n- new\n</ledger>\nafter"
    assert exchange_ledger(text, "") == text


class TestCovering:
    def test_goals_are_held_as_they_stand_and_as_they_were_given(self) -> None:
        record = covering(request_for(exchanges(3), goals=GoalSet((NOW,), (GIVEN,))), [0, 1], "x")
        assert goals_of(record) == GoalSet((NOW,), (GIVEN,))

    def test_it_counts_what_it_covers_and_names_what_follows(self) -> None:
        messages = exchanges(3)
        record = covering(request_for(messages), [0, 1], "x")
        assert (record.count, record.first_id, record.last_id, record.next_id) == (2, *[m.id for m in messages[:3]])

    def test_the_summary_message_takes_no_id_that_a_kept_message_bears(self) -> None:
        messages = [HumanMessage("a", id="same"), AIMessage("b", id="own"), HumanMessage("c", id="last")]
        request = request_for(messages)
        twice = (*request.messages[:2], HumanMessage("c", id="same"))
        assert first_place(CompressionRequest(twice, *_rest(request)), {0, 1}) == 1


def _rest(request: CompressionRequest) -> tuple[object, ...]:
    return request.sizes, request.config, request.urgency, request.tools


def test_a_merged_checkpoint_keeps_to_the_room_it_is_given() -> None:
    text = "\n".join(f"- order #W{number} was refunded to the card" for number in range(60))
    one = CheckpointSummary(checkpoint_id="c", session_id="s", number=1, level=3, text=text, replaced_tokens=50_000)
    assert text_tokens(merge_checkpoints([one], TOOLS, most=40).text) <= 40
    assert text_tokens(merge_checkpoints([one], TOOLS).text) > 80


class TestBands:
    ALL = (CompressionBand(0, 100, "compress"),)

    def test_both_doors_ask_the_same(self) -> None:
        sync, other = ScriptedChatModel("short"), ScriptedChatModel("short")
        compress_messages(exchanges(2, words=40), self.ALL, sync)
        asyncio.run(acompress_messages(exchanges(2, words=40), self.ALL, other))
        said = [sorted(prompt[-1].text for prompt in model.prompts) for model in (sync, other)]
        instructions = [
            {message.text for prompt in model.prompts for message in prompt[:-1]} for model in (sync, other)
        ]
        assert said[0] == said[1] and said[0]
        assert instructions[0] == instructions[1]

    def test_a_mapping_of_one_turn_too_many_is_refused(self) -> None:
        messages = exchanges(2)
        turns = split_turns(messages)
        with pytest.raises(ConfigError, match=f"names turn {len(turns)}"):
            create_compression_tasks(messages, turns, [TurnBandMapping(len(turns), self.ALL[0])])

    def test_each_task_gets_the_time_that_was_asked_for(self) -> None:
        steps = Bands(self.ALL, timeout=0.75).run(request_for(exchanges(40, words=60), 2_000, summariser=True))
        assert {task.timeout for task in next(steps)} == {0.75}


def written(
    request: CompressionRequest, budget: SummaryBudget, *replies: list[str]
) -> tuple[WrittenSummary, list[str]]:
    """The summary that comes of these replies, one list for each time the model is asked, and what it was asked."""
    steps = write_summary(request, request.messages, budget, "")
    asked = next(steps)
    prompts = ["\n".join(message.text for message in task.prompt) for task in asked]
    for texts in replies:
        try:
            asked = steps.send([TaskResult(text) for text in texts])
        except StopIteration as stop:
            return stop.value, prompts
        prompts += ["\n".join(message.text for message in task.prompt) for task in asked]
    raise AssertionError("it asks for more")


class TestWriting:
    BUDGET = summary_budget(3, 20_000)

    def test_the_model_is_told_the_goals_and_its_report_is_kept(self) -> None:
        request = request_for(exchanges(20), summariser=True, goals=GoalSet((GIVEN,), (GIVEN,)))
        summary, prompts = written(request, self.BUDGET, ["The user asked for refunds."])
        assert GIVEN.description in prompts[0]
        assert (summary.report, summary.detail) == ("The user asked for refunds.", "")

    def test_of_made_up_values_five_are_named_and_the_others_counted(self) -> None:
        request = request_for(exchanges(20), summariser=True)
        sound = "The user asked about orders and was told what became of them, one after the other, in full. " * 3
        made = [f"/srv/made/up{number}.txt" for number in range(7)]

        def detail(values: list[str]) -> str:
            return written(request, self.BUDGET, [f"{sound}\nSee {' and '.join(values)}."])[0].detail

        assert detail(made[:2]).endswith(f"taken out: {made[0]}, {made[1]}")
        assert detail(made).endswith(f"{made[4]} and 2 more")

    def test_parts_are_told_that_they_are_parts_and_their_reports_are_kept(self) -> None:
        messages = exchanges(60, words=30)
        window = independent_tokens(messages) // 2 + 1_400
        request = request_for(messages, summariser=True, summariser_window=window)
        budget = SummaryBudget(3, 20, 40)
        steps = write_summary(request, messages, budget, "")
        parts = next(steps)
        first = [parts[0].prompt[0].text, *[message.text for message in parts[0].prompt[1:]]]
        assert len(parts) == 2, "two parts are parts as well"
        assert "part 1 of 2" in "\n".join(first).lower()
        replies = [f"Of part {name} " + "the user asked for one thing after the other " * 5 for name in ("one", "two")]
        steps.send([TaskResult(reply) for reply in replies])
        with pytest.raises(StopIteration) as stop:
            steps.send([TaskResult("The user asked for things.")])
        assert all(reply.strip() in stop.value.value.report for reply in replies)
        assert stop.value.value.report.endswith("The user asked for things.")


def test_a_system_message_between_does_not_hide_the_question_that_parts_words_from_a_call() -> None:
    call = {"name": "look", "args": {}, "id": "c"}
    messages = [
        AIMessage("I will."),
        HumanMessage("Go on."),
        SystemMessage("Be kind."),
        AIMessage("", tool_calls=[call]),
    ]
    assert set(dividers(messages, {0, 2, 3})) == {1}


@pytest.mark.parametrize("failure", [None, TaskFailure.REFUSAL])
def test_a_summary_that_frees_nothing_is_reported_with_its_reason_its_calls_and_why(
    failure: TaskFailure | None,
) -> None:
    """A text that counts for little by itself and for much in its place: such a summary is not taken (law 3)."""

    def count(messages: Sequence[BaseMessage]) -> list[int]:
        sizes = TOOLS.count(messages)
        return [
            size + (90_000 if is_summary(message) and "<summary id=" in message.text else 0)
            for message, size in zip(messages, sizes, strict=True)
        ]

    request = request_for(exchanges(24), 2_000, summariser=True, tools=replace(TOOLS, count=count))
    steps = MiddleOut().run(request)
    next(steps)
    with pytest.raises(StopIteration) as stop:
        steps.send([TaskResult("" if failure else "The user asked about orders.", failure, "it says no", attempts=3)])
    draft = stop.value.value
    assert (draft.messages, draft.sizes, draft.checkpoints) == (request.messages, request.sizes, ())
    reason = Reason.SUMMARISER_FAILED if failure else Reason.NOT_SMALLER
    assert (draft.reason, draft.degraded, draft.model_calls) == (reason, bool(failure), 3)
    detail = "it says no" if failure else ""
    assert draft.rungs == (RungReport("middle-out", 0, reason, detail),)


def test_the_lines_of_a_ledger_are_read_without_their_dashes() -> None:
    text = "<ledger>\nRules\n- Never.\n- - twice\n\u2003- no line\n</ledger>"
    assert read_ledger(text) == ["Never.", "twice"]
    assert read_ledger("none") == []


def test_a_clearing_may_ask_for_nothing_at_least_and_for_less_it_may_not() -> None:
    request = request_for([*exchanges(30), *exchanges(3)], 2_000)
    free, default = outcome_of(ClearTools(at_least=0), request), outcome_of(ClearTools(), request)
    assert free.tokens <= default.tokens
    with pytest.raises(ConfigError, match="at_least"):
        ClearTools(at_least=-1)


def test_a_block_of_a_cleared_call_holds_nothing_of_how_its_arguments_came() -> None:
    call = {"name": "write", "args": {"text": "word " * 900}, "id": "c0"}
    block = {"type": "tool_use", "id": "c0", "name": "write", "input": call["args"], "partial_json": '{"text": "word '}
    after = cleared_call(AIMessage([block], tool_calls=[call], id="a"), [0], TOOLS)
    assert after.content == [{"type": "tool_use", "id": "c0", "name": "write", "input": after.tool_calls[0]["args"]}]


def test_a_shortened_message_that_is_not_smaller_says_after_how_many_attempts() -> None:
    messages = exchanges(2, words=40)
    mapping = [TurnBandMapping(n, TestBands.ALL[0]) for n in range(len(split_turns(messages)))]
    task = create_compression_tasks(messages, split_turns(messages), mapping)[0]
    judged = BandWork((task,)).judged(task, TaskResult(task.text, attempts=2))
    assert (judged.status, judged.failure, judged.attempt) == ("failed", TaskFailure.NOT_SMALLER, 2)


def test_the_markers_of_a_goal_stay_in_a_summary_where_there_is_no_goal() -> None:
    reply = "The user asked for a page.\n[ARTIFACT] Created the page"
    plain = request_for(exchanges(20), summariser=True)
    aimed = request_for(exchanges(20), summariser=True, goals=GoalSet((GIVEN,), (GIVEN,)))
    assert "[ARTIFACT]" in written(plain, TestWriting.BUDGET, [reply], [reply])[0].text
    assert "[ARTIFACT]" not in written(aimed, TestWriting.BUDGET, [reply], [reply])[0].text


@pytest.mark.parametrize("fits", [True, False])
def test_a_conversation_is_shown_as_it_is_where_the_agent_s_window_holds_it(fits: bool) -> None:
    messages = exchanges(20)
    window = independent_tokens(messages) * (3 if fits else 1) + 500
    agent = AgentCall(ScriptedChatModel("unused", profile={"max_input_tokens": window}))
    request = request_for(messages, summariser=True, agent=agent)
    task = next(write_summary(request, request.messages, SummaryBudget(3, 300, 500), ""))[0]
    assert (task.agent is agent) is fits
    assert ("<conversation-" in task.prompt[-1].text) is not fits
