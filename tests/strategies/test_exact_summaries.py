"""The summary message and the checkpoint behind it, to the last token: a token is a letter here."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from langchain_ctxcompress.ledger import Ledger
from langchain_ctxcompress.ledger.goal_set import GoalSet
from langchain_ctxcompress.storage import Quote, summary_message
from langchain_ctxcompress.strategies import MiddleOut
from langchain_ctxcompress.strategies.base import CompressionDraft, CompressionRequest, Reason, RungReport
from langchain_ctxcompress.strategies.remembering import Remembered, ledger_of, remember
from langchain_ctxcompress.strategies.rendering import read_summaries, render_summary
from langchain_ctxcompress.strategies.replacing import nothing_read, summarised
from langchain_ctxcompress.strategies.summarising import WrittenSummary
from tests.strategies.lettered import GOAL, RULE, ids, limits, of, standing, talk
from tests.strategies.requests import outcome_of
from tests.support.legality import is_summary

CALM = {"keep_human_tokens": 0, "ledger": False}


def replaced(request: CompressionRequest, places: list[int], text: str = "said", **fields: Any) -> CompressionDraft:
    told = fields.pop("remembered", None) or remember(request, places, 500)
    quotes = fields.pop("quotes", ())
    return summarised(request, places, text, quotes, strategy="x", summariser="model", remembered=told, **fields)


class TestSummarised:
    def test_the_draft_the_message_and_the_record_say_the_same(self) -> None:
        request = of(
            [SystemMessage("Be kind.", id="sys"), *talk(5)], limits(5_000, 9_000, 5_000, **CALM), overhead_tokens=7
        )
        draft = replaced(request, [3, 4, 5], level=2, flagged=("made up",))
        (record,) = draft.checkpoints
        assert ids(draft) == ["sys", "h0", "a0", "h1", "a2", *(f"{sign}{n}" for n in (3, 4) for sign in "ha")]
        message = draft.messages[3]
        assert message == summary_message(record)
        assert message.text == record.rendered == render_summary([(record.checkpoint_id, "said")], (), count=3)
        assert draft.sizes == (8, 50, 50, len(message.text), 50, 50, 50, 50, 50)
        assert (record.level, record.text, record.summariser, record.flagged) == (2, "said", "model", ("made up",))
        assert (record.tokens_before, record.tokens_after) == (515, 7 + draft.tokens)
        assert draft.rungs == (RungReport("x", 515 - 7 - draft.tokens),)
        assert (record.shown, record.count, record.first_id) == ((record.checkpoint_id,), 3, "h1")

    def test_it_shows_the_earlier_ones_first_and_stays_in_its_place(self) -> None:
        summary, known = standing("one", "two")
        request = of(
            [SystemMessage("s", id="sys"), *talk(1), summary, *talk(5)[2:]],
            limits(5_000, 9_000, 5_000, **CALM),
            **known,
        )
        draft = replaced(request, [4, 5])
        assert [text for _, text in read_summaries(draft.messages[3].text)] == ["one", "two", "said"]
        assert is_summary(draft.messages[3])
        assert draft.messages[3].id == "gone"
        (record,) = draft.checkpoints
        assert record.shown == ("c1", "c2", record.checkpoint_id)
        assert 'messages="6"' in draft.messages[3].text

    def test_what_a_lost_store_held_is_kept_as_it_stands(self) -> None:
        summary, _ = standing("one", "two")
        draft = replaced(of([summary, *talk(5)], limits(5_000, 9_000, 5_000, **CALM)), [1, 2])
        assert [record.text for record in draft.checkpoints] == ["one", "two", "said"]
        assert [text for _, text in read_summaries(draft.messages[0].text)] == ["one", "two", "said"]
        first = draft.checkpoints[0]
        assert (first.checkpoint_id, first.session_id, first.number, first.level, first.replaced_tokens) == (
            "c1",
            "s",
            1,
            3,
            3,
        )

    def test_goals_and_ledger_are_held_and_shown(self) -> None:
        rule = HumanMessage(RULE, id="rule")
        request = of([*talk(1), rule, *talk(5)[1:]], limits(5_000, 9_000, 5_000), goals=GoalSet((GOAL,), (GOAL,)))
        draft = replaced(request, [2, 3])
        (record,) = draft.checkpoints
        assert [one.text for one in Ledger.model_validate(record.ledger).rules] == [RULE]
        assert [goal["description"] for goal in record.goals] == [GOAL.description]
        text = draft.messages[2].text
        assert text.index("<goals>") < text.index(GOAL.description) < text.index("<ledger>") < text.index(RULE)

    def test_the_newest_words_of_the_user_are_quoted_up_to_their_budget(self) -> None:
        quotes = tuple(Quote(message_id=f"q{n}", text=sign * 30) for n, sign in enumerate("abc"))
        config = limits(5_000, 9_000, 5_000, keep_human_tokens=60, ledger=False)
        draft = replaced(of(talk(5), config), [2, 3], quotes=quotes)
        text = draft.messages[2].text
        assert [sign * 30 in text for sign in "abc"] == [False, True, True]
        assert draft.checkpoints[0].quotes == quotes, "the record has them whole"

    @pytest.mark.parametrize(("rungs", "levels"), [(("ageing",), [1, 1, 3]), ((), [3, 3, 3])])
    def test_over_its_share_of_the_target_the_older_ones_say_less(
        self, rungs: tuple[str, ...], levels: list[int]
    ) -> None:
        lines = "\n".join(f"- order W{n} was refunded" for n in range(60))
        summary, known = standing(lines, lines)
        config = limits(2_000, 9_000, 2_000, rungs=rungs, **CALM)
        draft = replaced(of([summary, *talk(5)], config, **known), [1, 2])
        texts = [text for _, text in read_summaries(draft.messages[0].text)]
        if rungs:
            assert len(texts) < 3 or all(len(text) < len(lines) for text in texts[:2])
            assert len(draft.messages[0].text) <= 500
        else:
            assert texts == [lines, lines, "said"]

    def test_a_quarter_of_the_target_is_not_over_it_and_the_ledger_does_not_count(self) -> None:
        summary, known = standing("\n".join(f"- order W{n} was refunded" for n in range(12)))
        for ledger in (False, True):
            fields: dict[str, Any] = {"keep_human_tokens": 0, "ledger": ledger}
            request = of([summary, *talk(5)], limits(9_000, 9_900, 9_000, **fields), **known)
            whole = len(replaced(request, [1, 2]).messages[0].text)
            counts = whole - len(remember(request, [1, 2], 500).text)
            assert (counts < whole) is ledger
            for target, same in ((4 * counts, True), (4 * counts - 1, False)):
                config = limits(target, 9_900, target, **fields)
                shown = len(replaced(of(request.messages, config, **known), [1, 2]).messages[0].text)
                assert (shown == whole) is same, (ledger, target)


def test_what_is_quoted_is_not_said_again_by_the_extractive_summary() -> None:
    asked = "The depot in Leeds opens at nine on Monday."
    messages = [
        *talk(1),
        HumanMessage(asked, id="ask"),
        AIMessage("The one in York opens at ten.", id="did"),
        *talk(30)[2:],
    ]
    said = []
    for keep in (0, 2_000):
        config = limits(3_000, 9_000, 3_000, keep_human_tokens=keep, ledger=False, recent_turns=2)
        draft = outcome_of(MiddleOut(), of(messages, config))
        said.append(draft.checkpoints[-1].text)
    assert ["Leeds" in text for text in said] == [True, False]
    assert all("York" in text for text in said)


class TestNothingRead:
    def test_what_is_dropped_is_read_only_where_summaries_are_written(self) -> None:
        summary, known = standing("one")
        assert nothing_read(of(talk(2), limits(500, 900))) == {}
        assert nothing_read(of([summary, *talk(2)], limits(500, 900), **known)) is None
        assert nothing_read(of(talk(2), limits(500, 900), **known)) == {}
        head = known["head"].model_copy(update={"ledger": {"rules": [{"text": RULE}]}})
        assert nothing_read(of(talk(2), limits(500, 900), head=head)) is None


class TestRemembered:
    def request(self, **fields: Any) -> CompressionRequest:
        messages = [
            HumanMessage("Please book the red room for Monday.", id="ask"),
            AIMessage("Booked: R-4471.", id="did"),
        ]
        return of(
            [*messages, HumanMessage(RULE, id="rule"), AIMessage("Noted.", id="ok"), *talk(3)],
            limits(900, 9_000),
            **fields,
        )

    def test_it_holds_what_was_said_before_and_what_is_said_now(self) -> None:
        summary, known = standing("one", ledger="Rules\n- Never lie about a price.")
        request = self.request()
        told = remember(of([summary, *request.messages], limits(900, 9_000), **known), [1, 2, 3, 4], 900)
        assert [rule.text for rule in told.before.rules] == ["Never lie about a price."]
        assert [rule.text for rule in told.fresh.rules] == [RULE]
        assert {rule.text for rule in told.ledger.rules} == {"Never lie about a price.", RULE}
        assert told.room == 900

    def test_a_ledger_that_cannot_be_read_is_read_from_the_summary_message(self) -> None:
        summary, known = standing("one", ledger="Rules\n- Never lie about a price.")
        head = known["head"].model_copy(update={"ledger": {"rules": 7}})
        request = of([summary, *talk(2)], limits(900, 9_000), head=head)
        found = ledger_of(request)
        assert [rule.text for rule in found.rules] == ["Never lie about a price."]
        assert all(source.startswith("gone#") for rule in found.rules for source in rule.sources)
        assert ledger_of(of(talk(2), limits(900, 9_000))) == Ledger()

    @pytest.mark.parametrize("summariser", ["model", "extractive"])
    def test_what_a_model_s_summary_says_itself_is_not_restated(self, summariser: str) -> None:
        request = self.request()
        told = remember(request, [0, 1, 2, 3], 900)
        assert "## Said by the user" in told.text
        written = WrittenSummary("Please book the red room for Monday. It is booked.", summariser)
        after = told.after(request, [0, 1, 2, 3], written)
        assert ("## Said by the user" in after.text) is (summariser == "extractive")
        assert RULE in after.text, "rules are looked for in their own place"
        assert (after.ledger, after.goals) == (told.ledger, told.goals)

    def test_without_a_ledger_only_goals_go_on(self) -> None:
        config = limits(900, 9_000, ledger=False)
        request = of(self.request().messages, config, goals=GoalSet((GOAL,), (GOAL,)))
        told = remember(request, [0, 1, 2, 3], 900)
        assert told.text == ""
        after = told.after(request, [0, 1, 2, 3], WrittenSummary("x", "model", report="x"))
        assert after == told
        assert GOAL.description in after.goals_text

    def test_a_text_is_masked_once(self) -> None:
        told = Remembered(Ledger(), "", Ledger())
        assert told.masked("as it is") == "as it is"
        told.known["as it is"] = "known"
        assert told.masked("as it is") == "known"


def test_a_reason_of_nothing_to_replace_is_the_tail_where_that_is_too_large() -> None:
    messages = talk(6, 100)
    assert of(messages, limits(1_200, 9_000)).why_none is Reason.PROTECTED_TAIL_OVER_TRIGGER
    assert of(messages, limits(1_201, 9_000)).why_none is Reason.TOO_FEW_CANDIDATES
