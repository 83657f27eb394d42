"""Bands, and the user's words that are quoted, to the last token: a token is a letter here."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langchain_core.messages import (
    HumanMessage,
)

from langchain_ctxcompress import CompressionBand, ConfigError, PruneUrgency
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.strategies import CompressionDraft
from langchain_ctxcompress.strategies.band_mapping import DEFAULT_BANDS, check_bands, map_turns_to_bands
from langchain_ctxcompress.strategies.band_tasks import apply_compression_results
from langchain_ctxcompress.strategies.bands import Bands
from langchain_ctxcompress.strategies.base import CompressionRequest, Reason, RungReport
from langchain_ctxcompress.strategies.quotes import ELLIPSIS, newest_within, quote_humans
from langchain_ctxcompress.summarize import CompressionLevel, TaskFailure, TaskResult
from tests.strategies.lettered import limits, of, talk
from tests.strategies.requests import LETTERS, outcome_of


class TestBands:
    ALL = (CompressionBand(0, 100, "compress"),)

    def draft(
        self, *results: TaskResult, urgency: PruneUrgency = PruneUrgency.HARD
    ) -> tuple[CompressionRequest, CompressionDraft]:
        messages = talk(12, 200)
        request = replace(of(messages, limits(100, 90_000, 100), summariser=True), urgency=urgency)
        steps = Bands(self.ALL).run(request)
        tasks = next(steps)
        with pytest.raises(StopIteration) as stop:
            steps.send([results[place] if place < len(results) else TaskResult("short") for place in range(len(tasks))])
        return request, stop.value.value

    def test_a_draft_says_what_was_freed_and_how_often_was_asked(self) -> None:
        request, draft = self.draft(TaskResult("short", attempts=3))
        changed = [place for place, size in enumerate(draft.sizes) if size == 5]
        assert changed == list(range(2, 14))
        assert draft.rungs == (RungReport("bands", 12 * 195, Reason.COMPRESSED),)
        assert (draft.model_calls, draft.degraded, draft.reason) == (14, False, Reason.COMPRESSED)
        mark = draft.messages[2].additional_kwargs["ctxcompress"]
        assert (mark["kind"], mark["level"]) == ("compressed", "compress")
        assert request.messages[2].id in draft.checkpoints[0].altered

    def test_what_failed_stays_and_is_told_with_its_cause(self) -> None:
        down = TaskResult("", TaskFailure.ERROR, "down", attempts=1)
        _, draft = self.draft(down, down, TaskResult("x" * 300))
        assert draft.sizes[2:5] == (200, 200, 200)
        assert (draft.degraded, draft.reason) == (True, Reason.SUMMARISER_FAILED)
        assert draft.rungs[0].detail == "3 of 12 messages stay as they were (down; 300 tokens in place of 200)"
        _, resting = self.draft(*[TaskResult("", TaskFailure.COOLING_DOWN)] * 12)
        assert (resting.degraded, resting.reason) == (True, Reason.COOLING_DOWN)
        assert resting.rungs[0].detail == "12 of 12 messages stay as they were (cooling_down)"
        _, larger = self.draft(*[TaskResult("x" * 300)] * 12)
        assert (larger.degraded, larger.reason) == (False, Reason.NOT_SMALLER)

    def test_what_is_no_list_of_tasks_is_named(self) -> None:
        with pytest.raises(ConfigError, match=r"^results is 7: it must be a list of BandTasks"):
            apply_compression_results(talk(1), 7)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=r"^turns is 7: it must be a list of turns, as split_turns gives$"):
            map_turns_to_bands(7, DEFAULT_BANDS)  # type: ignore[arg-type]

    def test_three_causes_are_named(self) -> None:
        _, draft = self.draft(*[TaskResult("", TaskFailure.ERROR, f"cause {n}") for n in range(5)])
        assert draft.rungs[0].detail.endswith("(cause 0; cause 1; cause 2)")

    def test_less_than_a_twentieth_of_the_soft_limit_is_not_worth_it(self) -> None:
        """Twelve messages of 200 letters, half of each: 1,200."""
        messages = talk(12, 200)
        for soft, worth in ((4_800, True), (24_000, True), (24_001, False)):
            draft = outcome_of(Bands(self.ALL), of(messages, limits(soft, 90_000, 100), overhead_tokens=soft - 4_800))
            assert draft.reason is (Reason.COMPRESSED if worth else Reason.NOT_ENOUGH), soft
        below = of(messages, limits(80_000, 90_000, 100))
        assert outcome_of(Bands(self.ALL), below).reason is Reason.COMPRESSED, "somebody asked for it"

    def test_bands_are_put_in_order_and_refused_by_name(self) -> None:
        one, two = CompressionBand(50, 70, "compress"), CompressionBand(0, 50, "heavy-compress")
        assert check_bands([one, two]) == (two, one)
        assert str(one) == "50-70 compress"
        with pytest.raises(ConfigError) as caught:
            check_bands([one, CompressionBand(69.5, 80, "compress")])
        assert str(caught.value) == (
            "bands 50-70 compress and 69.5-80 compress overlap: a band may begin where another ends, not before"
        )
        with pytest.raises(ConfigError) as caught:
            check_bands([one, (0, 30)])  # type: ignore[list-item]
        assert str(caught.value) == "bands holds (0, 30): it must hold CompressionBand(start, end, level)"
        for arguments, said in (
            ((-1, 5, "compress"), "start of a band is -1: it must be a number from 0 to 100, in percent"),
            ((0, 101, "compress"), "end of a band is 101: it must be a number from 0 to 100, in percent"),
            ((True, 5, "compress"), "start of a band is True: it must be a number from 0 to 100, in percent"),
            ((5, 5, "compress"), "band 5-5: start must be below end"),
            ((0, 5, "much"), "level of band 0-5 is 'much': it must be one of 'compress', 'heavy-compress'"),
        ):
            with pytest.raises(ConfigError) as caught:
                CompressionBand(*arguments)  # type: ignore[arg-type]
            assert str(caught.value) == said
        assert [(band.start, band.end, band.level) for band in DEFAULT_BANDS] == [
            (0, 30, CompressionLevel.HEAVY),
            (30, 70, CompressionLevel.COMPRESS),
        ]


class TestQuotes:
    def test_the_budget_is_used_to_the_token(self) -> None:
        quotes = [Quote(message_id=str(n), text=sign * 30) for n, sign in enumerate("abc")]
        assert newest_within(quotes, 60, LETTERS) == quotes[1:]
        assert newest_within(quotes, 59, LETTERS)[0].text == "b" * (29 - len(ELLIPSIS)) + ELLIPSIS
        assert [q.text for q in newest_within(quotes, 30 + 24, LETTERS)] == [
            "b" * (24 - len(ELLIPSIS)) + ELLIPSIS,
            "c" * 30,
        ]
        assert newest_within(quotes, 30 + 23, LETTERS) == quotes[2:]

    def test_without_an_answer_nothing_was_answered(self) -> None:
        messages = [HumanMessage("a", id="a"), HumanMessage("b")]
        assert quote_humans(messages, [0, 1]) == [
            Quote(message_id="a", text="a", answered=False),
            Quote(message_id="", text="b", answered=False),
        ]
