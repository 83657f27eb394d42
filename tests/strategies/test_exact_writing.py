"""What a summariser is asked for and what is made of its answers, to the last token: a token is a letter here."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress.ledger.goal_set import GoalSet
from langchain_ctxcompress.strategies.base import (
    CompressionRequest,
    Reason,
)
from langchain_ctxcompress.strategies.summarising import WrittenSummary
from langchain_ctxcompress.summarize import SummaryBudget, TaskFailure, TaskResult, extract_summary
from langchain_ctxcompress.summarize.prompts import PROMPT_TOKENS
from tests.strategies.asked import BUDGET, PLAIN, Asked, asking, failed
from tests.strategies.lettered import GOAL, limits, of, talk


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
