"""What a summariser is asked for and what is made of its answers, to the last token: a token is a letter here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import AgentCall
from langchain_ctxcompress.ledger import Ledger, extract_records
from langchain_ctxcompress.ledger.goal_set import GoalSet
from langchain_ctxcompress.ledger.records import Request
from langchain_ctxcompress.strategies import MiddleOut
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    EmergencyAction,
    Reason,
    RungReport,
)
from langchain_ctxcompress.strategies.middle_out import FRAME_TOKENS, LEAST_ROOM
from langchain_ctxcompress.strategies.remembering import ledger_room, restated
from langchain_ctxcompress.strategies.rendering import (
    exchange_ledger,
    exchange_summaries,
    goals_section,
    read_summaries,
)
from langchain_ctxcompress.strategies.replacing import dropped
from langchain_ctxcompress.strategies.summarising import AGAIN, WrittenSummary, write_summary
from langchain_ctxcompress.summarize import CompressionTask, SummaryBudget, TaskFailure, TaskResult, extract_summary
from langchain_ctxcompress.summarize.prompts import PROMPT_TOKENS
from tests.strategies.test_exact_drops import GOAL, RULE, limits, of, standing, talk
from tests.support.models import ScriptedChatModel

BUDGET = SummaryBudget(3, 60, 100)
PLAIN = "The user asked for one thing after the other."


def asking(messages: Sequence[BaseMessage], **fields: Any) -> CompressionRequest:
    return of(messages, limits(500, 9_000), summariser=True, **fields)


class Asked:
    """A summary that is being written: what is asked for, and what comes of the answers."""

    def __init__(self, request: CompressionRequest, source: Sequence[BaseMessage] | None = None, **fields: Any) -> None:
        budget = fields.pop("budget", BUDGET)
        self._steps = write_summary(request, source or request.messages, budget, fields.pop("earlier", ""), **fields)
        self.tasks: list[CompressionTask] = []
        self.summary: WrittenSummary | None = None
        self._next(None)

    def _next(self, results: Any) -> None:
        try:
            self.tasks = next(self._steps) if results is None else self._steps.send(results)
        except StopIteration as stop:
            self.tasks, self.summary = [], stop.value

    def answer(self, *results: str | TaskResult) -> Asked:
        self._next([TaskResult(one) if isinstance(one, str) else one for one in results])
        return self

    def shown(self) -> list[int]:
        """How much of the conversation each part shows, its frame included."""
        return [len(task.prompt[-1].text) for task in self.tasks]

    def said(self, place: int = 0) -> str:
        return "\n".join(message.text for message in self.tasks[place].prompt)


def failed(failure: TaskFailure = TaskFailure.ERROR, detail: str = "", attempts: int = 1) -> TaskResult:
    return TaskResult("", failure, detail, attempts=attempts)


class TestAnswers:
    def test_a_good_one_is_the_summary(self) -> None:
        asked = Asked(asking(talk(10)))
        assert [task.max_tokens for task in asked.tasks] == [100]
        got = asked.answer(TaskResult(PLAIN, attempts=2)).summary
        assert got == WrittenSummary(PLAIN, "model", calls=2, report=PLAIN)

    def test_without_a_model_what_is_earlier_or_quoted_is_not_said_again(self) -> None:
        messages = [
            HumanMessage("The first depot is in Leeds.", id="a"),
            HumanMessage("The next one is in York.", id="b"),
        ]
        request = of(messages, limits(500, 9_000))
        whole = Asked(request, budget=SummaryBudget(3, 10, 500)).summary
        assert whole == WrittenSummary(extract_summary(messages, 500, count=len))
        assert whole is not None
        assert "Leeds" in whole.text and "York" in whole.text
        for fields in ({"earlier": "user: The first depot is in Leeds."}, {"quoted": "The first depot is in Leeds."}):
            got = Asked(request, budget=SummaryBudget(3, 10, 500), **fields).summary
            assert got is not None
            assert ("Leeds" in got.text, "York" in got.text) == (False, True)

    def test_one_as_long_as_the_source_is_none_and_one_a_token_shorter_is(self) -> None:
        messages = talk(2)
        for letters, failure in ((200, Reason.NOT_SMALLER), (199, None)):
            asked = Asked(asking(messages), budget=SummaryBudget(3, 60, 400))
            got = asked.answer(TaskResult("x" * letters, attempts=3)).summary
            assert got is not None
            assert (got.failure, got.calls) == (failure, 3)
            assert (got.summariser, got.text == "x" * letters) == (
                ("model", True) if failure is None else ("extractive", False)
            )

    @pytest.mark.parametrize(
        ("result", "reason", "detail"),
        [
            (failed(detail="no route", attempts=2), Reason.SUMMARISER_FAILED, "no route"),
            (failed(TaskFailure.REFUSAL, attempts=2), Reason.SUMMARISER_FAILED, "refusal"),
            (failed(TaskFailure.COOLING_DOWN, attempts=2), Reason.COOLING_DOWN, "cooling_down"),
        ],
    )
    def test_a_failure_is_told_and_the_extractive_one_writes(
        self, result: TaskResult, reason: Reason, detail: str
    ) -> None:
        messages = talk(10)
        got = Asked(asking(messages), budget=SummaryBudget(3, 60, 300)).answer(result).summary
        extract = extract_summary(messages, 300, count=len)
        assert got == WrittenSummary(extract, failure=reason, detail=detail, calls=2)

    def test_half_as_long_again_as_asked_for_stays_and_more_is_shortened(self) -> None:
        lines = "\n".join(f"- The user said {sign * 20}." for sign in "abcdef")
        short = SummaryBudget(3, 10, -(-2 * len(lines) // 3))
        got = Asked(asking(talk(10)), budget=short).answer(lines).summary
        assert got is not None
        assert got.text == lines
        less = SummaryBudget(3, 10, (2 * len(lines) - 1) // 3)
        got = Asked(asking(talk(10)), budget=less).answer(lines).summary
        assert got is not None
        assert 0 < len(got.text) <= less.most
        assert (got.summariser, got.report) == ("model", lines)

    def test_values_of_no_source_are_taken_out_and_where_little_is_left_it_is_asked_again(self) -> None:
        made_up = "See /srv/made/up.txt and W-99417 on 10.20.30.40."
        asked = Asked(asking(talk(10))).answer(TaskResult(made_up, attempts=2))
        assert asked.summary is None
        assert "/srv/made/up.txt" in asked.said()
        got = asked.answer(TaskResult(PLAIN, attempts=3)).summary
        assert got == WrittenSummary(PLAIN, "model", calls=5, report=PLAIN)

    def test_where_the_second_try_fails_the_first_stands_without_them(self) -> None:
        made_up = "See /srv/made/up.txt and W-99417."
        got = Asked(asking(talk(10))).answer(made_up).answer(failed(attempts=4)).summary
        assert got is not None
        assert (got.summariser, got.calls, got.report, got.failure) == ("model", 5, made_up, None)
        assert "/srv/made/up.txt" not in got.text
        assert set(got.flagged) == {"/srv/made/up.txt", "W-99417"}
        assert got.detail == (
            "the summary stated what is in no source, and it was taken out: " + ", ".join(got.flagged)
        )

    def test_where_much_is_left_it_is_not_asked_again(self) -> None:
        text = f"{PLAIN}\nSee /srv/made/up.txt."
        got = Asked(asking(talk(10))).answer(text).summary
        assert got is not None
        assert got.text.startswith(PLAIN)
        assert got.flagged == ("/srv/made/up.txt",)

    @pytest.mark.parametrize("where", ["earlier", "kept", "goals", "instructions"])
    def test_a_value_of_what_it_was_shown_besides_is_not_made_up(self, where: str) -> None:
        said = "See /srv/made/up.txt."
        fields: dict[str, Any] = {"earlier": {"earlier": said}, "kept": {"kept": said}}.get(where, {})
        goal = GOAL.model_copy(update={"description": said})
        known: dict[str, Any] = {
            "goals": {"goals": GoalSet((goal,), (goal,))},
            "instructions": {"instructions": said},
        }.get(where, {})
        got = Asked(asking(talk(10), **known), **fields).answer(f"{PLAIN} {said}").summary
        assert got is not None
        assert got.flagged == ()
        assert "/srv/made/up.txt" in got.text


class TestParts:
    def request(self, window: int | None, **fields: Any) -> CompressionRequest:
        return asking(talk(40, 60), summariser_window=window, **fields)

    def parts(self, room: int, **fields: Any) -> list[int]:
        """The parts in which 40 pairs are shown to a model with room for so many letters of them."""
        request = self.request(PROMPT_TOKENS + room + 2 * BUDGET.most, **fields.pop("request", {}))
        return Asked(request, **fields).shown()

    def test_a_window_that_is_not_known_is_taken_for_large_enough(self) -> None:
        assert len(Asked(self.request(None)).tasks) == 1

    def test_each_part_fits_beside_the_prompt_and_twice_the_answer(self) -> None:
        sizes = self.parts(2_000)
        assert len(sizes) == 3
        assert 1_900 < max(sizes) < 2_100

    def test_what_is_shown_besides_takes_of_the_room(self) -> None:
        """900 letters of an earlier summary leave as much as a window that is 900 letters smaller."""
        for fields in ({"earlier": "e" * 900}, {"request": {"instructions": "i" * 900}}):
            assert len(self.parts(2_900, **fields)) == len(self.parts(2_000))
            assert len(self.parts(2_900, **fields)) > len(self.parts(2_900))

    def test_never_less_than_the_smallest_part(self) -> None:
        assert len(self.parts(-5_000)) == len(self.parts(500))
        assert len(self.parts(600)) < len(self.parts(500))

    def test_a_prompt_that_is_too_long_all_the_same_is_halved_until_it_is_not(self) -> None:
        asked = Asked(self.request(None))
        whole = asked.shown()[0]
        asked.answer(failed(TaskFailure.OVERFLOW, attempts=2))
        first = asked.shown()
        assert whole // 2 - 100 < max(first) < whole // 2 + 100
        assert "part 1 of" in asked.said().lower()
        asked.answer(*[failed(TaskFailure.OVERFLOW)] * len(first))
        assert len(asked.tasks) > len(first)
        got = asked.answer(*["Said."] * len(asked.tasks)).summary
        assert got is not None
        assert got.summariser == "model"
        assert got.calls == 2 + len(first) + len(got.text.split("\n\n"))

    def test_it_is_not_halved_for_ever(self) -> None:
        asked = Asked(asking(talk(4)))
        got = asked.answer(failed(TaskFailure.OVERFLOW, "too long")).summary
        assert got is not None
        assert (got.failure, got.detail, got.calls) == (Reason.SUMMARISER_FAILED, "too long", 1)

    def test_another_failure_of_a_part_ends_it(self) -> None:
        asked = Asked(self.request(PROMPT_TOKENS + 2_000 + 2 * BUDGET.most))
        results = ["fine"] * (len(asked.tasks) - 1) + [failed(detail="down", attempts=3)]
        got = asked.answer(*results).summary
        assert got is not None
        assert (got.failure, got.detail, got.calls) == (Reason.SUMMARISER_FAILED, "down", len(results) + 2)

    def test_short_parts_are_put_together_and_long_ones_summarised_once_more(self) -> None:
        number = len(self.parts(2_500))
        room = PROMPT_TOKENS + 2_500 + 2 * BUDGET.most
        short = ["Said."] * number
        got = Asked(self.request(room)).answer(*short).summary
        assert got is not None
        assert (got.text, got.calls) == ("\n\n".join(short), number)
        asked = Asked(self.request(room)).answer(*["The user asked. " * 8] * number)
        assert len(asked.tasks) == 1
        assert "part 1 of" not in asked.said().lower()
        got = asked.answer(TaskResult("All of it.", attempts=2)).summary
        assert got is not None
        assert (got.text, got.calls) == ("All of it.", number + 2)
        assert got.report.endswith("The user asked. \nAll of it.")

    def test_parts_of_exactly_the_most_are_not_summarised_again(self) -> None:
        number = len(self.parts(2_500))
        room = PROMPT_TOKENS + 2_500 + 2 * BUDGET.most
        answers = ["Said."] * (number - 1)
        answers.append("x" * (BUDGET.most - len("\n\n".join([*answers, ""]))))
        assert Asked(self.request(room)).answer(*answers).summary is not None
        assert Asked(self.request(room)).answer(*answers[:-1], answers[-1] + "x").summary is None

    def test_where_the_last_round_fails_the_parts_are_shortened(self) -> None:
        number = len(self.parts(2_500))
        lines = "\n".join(f"- The user said {sign * 20}." for sign in "abc")
        asked = Asked(self.request(PROMPT_TOKENS + 2_500 + 2 * BUDGET.most)).answer(*[lines] * number)
        got = asked.answer(failed(attempts=2)).summary
        assert got is not None
        assert (got.summariser, got.failure, got.calls) == ("model", None, number + 2)
        assert 0 < len(got.text) <= BUDGET.most
        assert got.report == "\n\n".join([lines] * number)

    def test_without_any_text_nothing_is_asked(self) -> None:
        asked = Asked(asking([AIMessage("", id="a"), HumanMessage("", id="b")]))
        assert asked.summary is not None
        assert (asked.summary.detail, asked.summary.calls) == ("there is no text to summarise", 0)


class TestLedgerShown:
    @pytest.mark.parametrize(("window", "most"), [(None, 600), (7_000, 600), (5_000, 500)])
    def test_what_the_model_is_shown_of_it_is_at_most_a_tenth_of_its_window(
        self, window: int | None, most: int
    ) -> None:
        lines = [f"- {number:02} ".ljust(44, "x") for number in range(20)]
        fits, over = "\n".join(lines)[:most], "\n".join(lines)[: most + 1]
        assert fits in Asked(asking(talk(10), summariser_window=window), kept=fits).said()
        said = Asked(asking(talk(10), summariser_window=window), kept=over).said()
        shown = [line for line in lines if line in said]
        assert shown == lines[: most // 45]
        assert lines[len(shown)][:5] not in said, "no half line"


class TestPrefix:
    SYSTEM = SystemMessage("You are careful.", id="sys")

    def call(self, window: int | None = None, system: BaseMessage | None = None) -> AgentCall:
        profile = {"profile": {"max_input_tokens": window}} if window else {}
        return AgentCall(ScriptedChatModel("unused", **profile), system=system)

    def test_the_task_is_the_conversation_and_one_instruction(self) -> None:
        agent = self.call(system=self.SYSTEM)
        messages = [*talk(5), HumanMessage("And now?", id="now")]
        request = asking(messages, agent=agent, goals=GoalSet((GOAL,), (GOAL,)), instructions="keep the SQL")
        (task,) = Asked(request, messages[2:6], earlier="before").tasks
        assert task.prompt[:-1] == (self.SYSTEM, *messages)
        assert (task.max_tokens, task.agent) == (100, agent)
        assert task.cached_tokens == len(self.SYSTEM.text) + 500, "up to the last answer"
        told = task.prompt[-1].text
        for part in ("h1 ooo", GOAL.description, "keep the SQL", "earlier"):
            assert part in told

    def test_nothing_is_cached_before_the_model_has_answered(self) -> None:
        messages = [HumanMessage("h" * 50, id="h")]
        assert Asked(asking(messages, agent=self.call())).tasks[0].cached_tokens == 0

    def test_the_first_that_is_replaced_is_named_where_something_stays_in_front_of_it(self) -> None:
        messages = talk(5)
        behind = Asked(asking(messages, agent=self.call()), messages[2:6]).said()
        front = Asked(asking(messages, agent=self.call()), messages[:6]).said()
        named = [text.rpartition("a4 ")[2] for text in (behind, front)]
        assert ["h1 oo" in text for text in named] == [True, False]
        assert all("o" * 30 in text for text in named), "how the last one ends"

    def test_messages_are_named_by_eighty_characters_without_line_breaks(self) -> None:
        long = "".join(f"{number:03}\n" for number in range(60))
        messages = [HumanMessage("x", id="x"), HumanMessage(long, id="l"), AIMessage(long, id="m")]
        told = Asked(asking(messages, agent=self.call()), messages[1:]).tasks[0].prompt[-1].text
        joined = " ".join(long.split())
        assert f"…{joined[-80:]}" in told
        assert joined[-81:] not in told
        assert "\n000" not in told
        begins = next(part for part in told.split("…") if "000 001" in part)
        assert begins[begins.index("000 001") :].split(" ")[0] == "000"
        assert "000 001 002" in told and "058 059…" not in told

    def test_one_without_text_is_named_so(self) -> None:
        messages = [HumanMessage("x", id="x"), AIMessage("", id="m"), AIMessage("y" * 90, id="n")]
        told = Asked(asking(messages, agent=self.call()), messages[1:]).tasks[0].prompt[-1].text
        assert "no text…" in told

    def test_where_all_of_it_has_no_room_a_transcript_is_shown(self) -> None:
        messages = talk(10)
        request = asking(messages, agent=self.call(1_000_000, self.SYSTEM), overhead_tokens=70)
        told = len(Asked(request).tasks[0].prompt[-1].text)
        whole = told + len(self.SYSTEM.text) + 70 + 1_000 + BUDGET.most
        for window, shown in ((whole, True), (whole - 1, False)):
            agent = self.call(window, self.SYSTEM)
            (task,) = Asked(asking(messages, agent=agent, overhead_tokens=70)).tasks
            assert (task.agent is agent) is shown

    def test_where_it_fails_a_transcript_is_shown_and_all_attempts_are_counted(self) -> None:
        request = asking(talk(10), agent=self.call())
        asked = Asked(request).answer(failed(attempts=3))
        assert asked.tasks[0].agent is None
        assert "<conversation-" in asked.said()
        got = asked.answer(TaskResult(PLAIN, attempts=2)).summary
        assert got == WrittenSummary(PLAIN, "model", calls=5, report=PLAIN)

    def test_while_it_cools_down_nothing_else_is_asked(self) -> None:
        got = Asked(asking(talk(10), agent=self.call())).answer(failed(TaskFailure.COOLING_DOWN, attempts=1)).summary
        assert got is not None
        assert (got.failure, got.calls) == (Reason.COOLING_DOWN, 1)

    def test_the_second_try_says_what_was_wrong_and_keeps_the_wish(self) -> None:
        request = asking(talk(10), agent=self.call(), instructions="keep the SQL")
        asked = Asked(request)
        assert AGAIN not in asked.said()
        asked.answer("See /srv/made/up.txt and W-99417.")
        told = asked.tasks[0].prompt[-1].text
        assert f"keep the SQL\n{AGAIN}" in told

    def test_what_the_whole_conversation_says_is_not_made_up(self) -> None:
        """The model reads it all, not only what is replaced."""
        messages = [*talk(5), HumanMessage("Look at /srv/real.txt.", id="now")]
        text = f"{PLAIN} See /srv/real.txt."
        flagged = [
            Asked(asking(messages, **fields), messages[:6]).answer(text).summary
            for fields in ({"agent": self.call()}, {})
        ]
        assert [one is not None and one.flagged for one in flagged] == [(), ("/srv/real.txt",)]


class TestMiddle:
    """The room for a new summary: up to the target, or half of what is left under the soft limit."""

    def asked(self, messages: list[BaseMessage], soft: int, hard: int, target: int, **fields: Any) -> int:
        request = of(messages, limits(soft, hard, target, keep_human_tokens=0, ledger=False), summariser=True, **fields)
        return next(MiddleOut().run(request))[0].max_tokens

    def test_up_to_the_target(self) -> None:
        """Of 4,000 letters 600 stay; a target of 1,000 leaves 400, less the frame and a line end behind no goals."""
        assert self.asked(talk(40), 1_000, 9_000, 1_000) == 1_000 - 600 - FRAME_TOKENS - 1
        assert self.asked(talk(40), 1_000, 9_000, 1_000, overhead_tokens=50) == 950 - 600 - FRAME_TOKENS - 1

    def test_or_half_of_what_is_left_under_the_soft_limit(self) -> None:
        assert self.asked(talk(40), 1_402, 9_000, 700) == (1_402 - 600 - FRAME_TOKENS - 1) // 2

    def test_or_what_the_smallest_summary_takes(self) -> None:
        assert self.asked(talk(40), 610, 9_000, 600) == LEAST_ROOM

    def test_never_more_than_half_of_what_replacing_frees(self) -> None:
        found = [self.asked(talk(pairs), 90_000, 99_000, 90_000) for pairs in (13, 14)]
        assert found[1] - found[0] == 50, "of a pair more, half"
        odd = self.asked([*talk(13), HumanMessage("x" * 51, id="x")], 90_000, 99_000, 90_000)
        assert isinstance(odd, int)

    def test_what_stands_there_already_takes_of_it(self) -> None:
        summary, known = standing("s" * 120)
        found = self.asked([summary, *talk(40)], 1_000, 9_000, 1_000, **known)
        assert found == 1_000 - 600 - FRAME_TOKENS - 1 - 120

    def test_a_summary_that_would_say_nothing_is_not_asked_for(self) -> None:
        """Under 40 letters freed; the frame takes some 250."""
        reasons = []
        for letters in range(20, 60):
            middle = talk(3, letters)
            messages = [*talk(1), *(m.model_copy(update={"id": f"m-{m.id}"}) for m in middle), *talk(7)[4:]]
            request = of(messages, limits(300, 9_000, 300, keep_human_tokens=0, ledger=False), summariser=True)
            try:
                next(MiddleOut().run(request))
                reasons.append(None)
            except StopIteration as stop:
                reasons.append(stop.value.reason)
                assert stop.value.rungs == (RungReport("middle-out", 0, Reason.NOT_SMALLER),)
        assert reasons[0] is Reason.NOT_SMALLER
        assert reasons[-1] is None
        assert reasons == sorted(reasons, key=lambda reason: reason is None)

    def test_the_draft_says_what_it_freed_and_how(self) -> None:
        request = of(talk(40), limits(1_000, 9_000, 1_000, keep_human_tokens=0, ledger=False), summariser=True)
        steps = MiddleOut().run(request)
        next(steps)
        with pytest.raises(StopIteration) as stop:
            steps.send([TaskResult(PLAIN, attempts=2)])
        draft = stop.value.value
        freed = 4_000 - draft.tokens
        assert draft.rungs == (RungReport("middle-out", freed, Reason.COMPRESSED),)
        assert (draft.model_calls, draft.degraded, draft.reason) == (2, False, Reason.COMPRESSED)
        (record,) = draft.checkpoints
        assert (record.level, record.text, record.summariser, record.strategy) == (3, PLAIN, "model", "middle-out")
        assert (record.tokens_after, record.tokens_before, record.replaced_tokens) == (draft.tokens, 4_000, 3_400)


class TestRemembering:
    @pytest.mark.parametrize(
        ("target", "room"), [(1, 1), (1_000, 1_000), (1_500, 1_500), (2_500, 1_600), (26_490, 3_999), (10**6, 4_000)]
    )
    def test_the_ledger_may_take_all_of_a_small_target_and_little_of_a_large_one(self, target: int, room: int) -> None:
        assert ledger_room(target) == room

    def test_the_last_three_finished_requests_are_restated_and_open_ones_all(self) -> None:
        requests = [
            Request(text=f"Please book the {name} room.", sources=(f"x{n}",), order=n, status=status, key=(name,))
            for n, (name, status) in enumerate(
                (("red", "open"), *((name, "finished") for name in ("blue", "green", "grey", "pink", "white")))
            )
        ]
        _, text = restated(of(talk(2), limits(500, 900)), Ledger(requests=tuple(requests)), 1, 2_000)
        shown = [name for name in ("red", "blue", "green", "grey", "pink", "white") if name in text]
        assert shown == ["red", "grey", "pink", "white"]

    def test_no_room_is_room_for_rules_alone(self) -> None:
        rule = [HumanMessage(RULE, id="rule")]
        _, text = restated(of(talk(2), limits(500, 900)), extract_records(rule), 1, -50)
        assert RULE in text


class TestDrafts:
    def test_one_on_top_of_another_adds_up(self) -> None:
        def draft(number: int, **fields: Any) -> CompressionDraft:
            record = standing("x")[1]["head"].model_copy(update={"number": number})
            return CompressionDraft(
                tuple(talk(number)),
                (number,),
                (record,),
                rungs=(RungReport(str(number)),),
                model_calls=number,
                actions=(EmergencyAction(str(number), ()),),
                input_tokens=10 * number,
                output_tokens=100 * number,
                background_seconds=0.5 * number,
                cached_tokens=1_000 * number,
                **fields,
            )

        one, two = draft(1, reason=Reason.TRUNCATED), draft(2, reason=Reason.EMERGENCY, degraded=True)
        both = one.then(two)
        assert (both.messages, both.sizes, both.reason, both.degraded) == (two.messages, (2,), Reason.EMERGENCY, True)
        assert [record.number for record in both.checkpoints] == [1, 2]
        assert [rung.name for rung in both.rungs] == [action.name for action in both.actions] == ["1", "2"]
        assert (both.model_calls, both.input_tokens, both.output_tokens) == (3, 30, 300)
        assert (both.background_seconds, both.cached_tokens) == (1.5, 3_000)
        assert two.then(one).degraded
        none = draft(3, reason=Reason.TOO_FEW_CANDIDATES)
        assert one.then(none).reason is Reason.TRUNCATED

    def test_the_next_rung_stands_on_what_the_last_one_left(self) -> None:
        summary, known = standing("one", "two")
        request = of([summary, *talk(4)], limits(500, 900), **known)
        draft = dropped(request, [1, 2], strategy="x", reason=Reason.TRUNCATED, ledger={})
        after = request.after(draft)
        assert (after.messages, after.sizes, after.next_number) == (draft.messages, draft.sizes, 4)
        assert after.head == draft.checkpoints[-1]
        assert [record.checkpoint_id for record in after.shown] == ["c1", "c2"]
        assert (after.given, after.began_with_human) == (request.messages, True)
        again = after.after(after.unchanged(Reason.NOT_ENOUGH, "y", "why"))
        assert (again.given, again.head, again.next_number) == (request.messages, after.head, 4)
        assert after.unchanged(Reason.NOT_ENOUGH, "y", "why").rungs == (RungReport("y", 0, Reason.NOT_ENOUGH, "why"),)


class TestRendering:
    TEXT = '<summary id="a">\none\n</summary>\n<summary id="b">\ntwo\n</summary>\n<ledger>\n- old\n</ledger>'

    def test_summaries_are_exchanged_by_their_ids(self) -> None:
        changed = exchange_summaries(self.TEXT, {"b": ("c", "three </summary>")})
        assert read_summaries(changed) == [("a", "one"), ("c", "three ‹/summary>")]
        assert changed.endswith("<ledger>\n- old\n</ledger>")

    def test_a_ledger_is_put_in_at_the_end_where_there_is_none(self) -> None:
        text = '<earlier_conversation messages="1">\nsaid </earlier_conversation>\nmore\n</earlier_conversation>'
        assert exchange_ledger(text, "- new") == (
            '<earlier_conversation messages="1">\nsaid </earlier_conversation>\nmore\n'
            "<ledger>\n- new\n</ledger>\n</earlier_conversation>"
        )
        assert exchange_ledger("no frame", "- new") == "no frame"

    def test_only_the_first_ledger_is_exchanged(self) -> None:
        twice = "<ledger>\n- a\n</ledger>\n<ledger>\n- b\n</ledger>"
        assert exchange_ledger(twice, "- c") == "<ledger>\n- c\n</ledger>\n<ledger>\n- b\n</ledger>"

    def test_goals_have_a_section(self) -> None:
        assert goals_section("- ship <goals>") == "<goals>\n- ship ‹goals>\n</goals>"
