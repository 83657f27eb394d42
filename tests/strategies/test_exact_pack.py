"""`pack`, `top-down-truncation`, the ladder and ageing, to the last token: a token is a letter here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)

from langchain_ctxcompress import ContextLimitError, pack_messages, pin
from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.strategies import ClearTools, CompressionDraft, Ladder, MiddleOut, Pack, TopDownTruncation
from langchain_ctxcompress.strategies.ageing import AgeRule, age, checkpoint_name, merge_checkpoints
from langchain_ctxcompress.strategies.base import CompressionRequest, Reason, RungReport, Steps
from langchain_ctxcompress.strategies.top_down import droppable, ends, opening, places_to_drop
from langchain_ctxcompress.tokens import MessageCounter
from tests.strategies.lettered import ids, limits, of, run, standing, talk
from tests.strategies.requests import LETTERS, outcome_of
from tests.support.legality import is_summary


class TestPack:
    def test_half_way_between_the_limits_is_aimed_at(self) -> None:
        """The middle gone, 600 letters are left; then the prefix goes, and the oldest recent turns."""
        at, under = (outcome_of(Pack(), of(talk(20), limits(400, hard, 400))) for hard in (600, 599))
        assert (at.tokens, ids(at)[0]) == (500, "h15")
        assert (under.tokens, ids(under)[0]) == (400, "h16")

    def test_where_half_way_is_out_of_reach_no_more_goes_than_the_hard_limit_asks_for(self) -> None:
        pinned = pin(HumanMessage("p" * 1_550, id="pin"))
        messages = [pinned, AIMessage("a" * 50, id="a"), *talk(4), HumanMessage("?" * 50, id="q")]
        for hard, left in ((1_801, 1_800), (1_800, 1_750), (1_799, 1_750)):
            assert outcome_of(Pack(), of(messages, limits(600, hard, 600))).tokens == left, hard

    def test_under_its_target_and_with_nothing_to_drop_it_says_why(self) -> None:
        at = outcome_of(Pack(), of(talk(20), limits(2_000, 3_000, 2_000)))
        assert at.rungs == (RungReport("pack", 0, Reason.BELOW_SOFT_LIMIT),)
        over = outcome_of(Pack(), of([pin(m) for m in talk(20)], limits(1_999, 3_000, 1_999)))
        assert over.rungs == (RungReport("pack", 0, Reason.PROTECTED_TAIL_OVER_TRIGGER),)

    def test_at_the_hard_limit_the_other_tiers_go_and_a_token_under_it_they_stay(self) -> None:
        """The middle gone, 600 letters are left: the prefix and the last turns."""
        kept = {hard: ids(outcome_of(Pack(), of(talk(20), limits(100, hard, 100)))) for hard in (600, 601)}
        assert kept[601] == ["h0", "a0", *(f"{sign}{n}" for n in range(15, 20) for sign in "ha")]
        assert "h0" not in kept[600]

    def test_the_system_prompt_counts_and_the_error_says_how_much_is_too_much(self) -> None:
        count = MessageCounter()
        system, question = SystemMessage("rule " * 30), HumanMessage("And now?", id="q")
        size = sum(count([system, question]))
        assert pack_messages(system.text, recent=[question], max_tokens=size) == [system, question]
        with pytest.raises(ContextLimitError) as caught:
            pack_messages(system.text, recent=[question], max_tokens=size - 1)
        assert str(caught.value) == (
            f"the system prompt and what must stay of the recent messages take {size} tokens, max_tokens is {size - 1}:"
            " raise it, shorten the system prompt, or unpin messages"
        )
        assert (caught.value.tokens, caught.value.limit) == (size, size - 1)

    def test_what_is_no_message_is_named_by_its_place(self) -> None:
        with pytest.raises(InvalidMessagesError, match=r"^item 1 of recent is a str"):
            pack_messages(recent=[HumanMessage("x"), "y"], max_tokens=500)  # type: ignore[list-item]
        with pytest.raises(InvalidMessagesError, match=r"^recent is "):
            pack_messages(recent="x", max_tokens=500)  # type: ignore[arg-type]

    def test_what_is_told_is_rendered_in_its_order(self) -> None:
        (message,) = pack_messages(outline="Kyoto", summaries=["one", "", "three"], long_term="trains", max_tokens=500)
        assert message.text.splitlines()[0] == "<earlier_conversation>"
        assert message.text.splitlines()[2:] == [
            '<summary kind="long_term">', "trains", "</summary>", '<summary kind="outline">', "Kyoto", "</summary>",
            "<summary>", "one", "</summary>", "<summary>", "three", "</summary>", "</earlier_conversation>",
        ]  # fmt: skip


class TestTopDown:
    def ends(self, *messages: BaseMessage) -> list[int]:
        return sorted(ends(of(messages, limits(10, 20))))

    def test_of_answers_alone_two_stay(self) -> None:
        answers = [AIMessage(str(n), id=str(n)) for n in range(5)]
        assert self.ends(*answers) == [3, 4]
        assert self.ends(answers[0]) == [0]
        assert self.ends() == []

    def test_of_questions_alone_two_stay(self) -> None:
        request = of([HumanMessage("a", id="a"), SystemMessage("s", id="s"), HumanMessage("b", id="b")], limits(10, 20))
        assert {2} < ends(request)

    def test_a_question_and_an_answer_from_the_end_stay(self) -> None:
        messages = talk(4)
        assert self.ends(*messages) == [6, 7]
        assert self.ends(*messages[:-1]) == [4, 5, 6], "what stays begins with a question"
        assert self.ends(SystemMessage("s", id="s"), *messages) == [7, 8]

    def test_neither_a_question_nor_an_answer_is_all(self) -> None:
        systems = [SystemMessage(str(n), id=str(n)) for n in range(3)]
        assert self.ends(*systems) == [0, 1, 2]

    def test_the_summary_message_is_no_question(self) -> None:
        summary, known = standing("one")
        assert sorted(ends(of([summary, *talk(1)], limits(10, 20), **known))) == [1, 2]

    def test_what_opens_what_is_kept(self) -> None:
        messages = [SystemMessage("s", id="s"), *talk(4)]
        request = of(messages, limits(10, 20))
        assert opening(request, {4}) == {3}
        assert opening(request, {3}) == set()
        assert opening(request, {0}) == set(), "the newest question begins what is kept"
        answers_first = of(messages[2:], limits(10, 20))
        assert opening(answers_first, {2}) == set(), "it did not begin with a question before"
        lost = of(messages[2:4], limits(10, 20), began_with_human=True)
        assert opening(lost, {0}) == {0}, "an earlier rung took the question"

    def test_places_are_dropped_until_the_target_is_reached_to_the_token(self) -> None:
        request = of(talk(10), limits(100, 200), overhead_tokens=30)
        spans = droppable(request, set())
        assert spans[0] == (0, 1)
        assert places_to_drop(request, 1_030, spans) == []
        assert places_to_drop(request, 1_029, spans) == [0, 1], "an answer would be first"
        assert places_to_drop(request, 930, spans) == [0, 1]
        assert places_to_drop(request, 929, spans) == [0, 1, 2, 3]
        assert places_to_drop(request, 0, spans) == [place for span in spans for place in range(*span)]
        assert places_to_drop(request, 0, []) == []

    def test_a_limit_of_its_own(self) -> None:
        draft = outcome_of(TopDownTruncation(1_000, 1.0), of(talk(20), limits(1_900, 3_000, 1_900)))
        assert draft.tokens == 600
        assert TopDownTruncation(1, 1).context_limit_tokens == 1
        at = outcome_of(TopDownTruncation(1_000, 1.0), of(talk(6), limits(1_900, 3_000, 1_900)))
        assert at.rungs == (RungReport("top-down-truncation", 0, Reason.BELOW_SOFT_LIMIT),)
        none = outcome_of(TopDownTruncation(), of([pin(m) for m in talk(6)], limits(100, 3_000, 100)))
        assert none.rungs == (RungReport("top-down-truncation", 0, Reason.TOO_FEW_CANDIDATES),)


class TestLadder:
    def ladder(
        self, monkeypatch: pytest.MonkeyPatch, summarised: CompressionDraft | None, **fields: Any
    ) -> CompressionDraft:
        """What the ladder makes of a run whose results take half of it, where the summary is this draft."""

        def instead(self: MiddleOut, request: CompressionRequest) -> Steps:
            yield from ()
            return summarised or request.unchanged(Reason.NOT_SMALLER, self.name)

        monkeypatch.setattr(MiddleOut, "run", instead)
        messages = run(12)
        size = sum(LETTERS.count(messages))
        return outcome_of(Ladder(), of(messages, limits(size, 90_000, 100), **fields))

    def test_where_the_summary_frees_nothing_clearing_is_taken_with_what_became_of_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        draft = self.ladder(monkeypatch, None)
        assert [(rung.name, rung.reason) for rung in draft.rungs] == [
            ("middle-out", Reason.NOT_SMALLER),
            ("clear-tools", Reason.COMPRESSED),
        ]
        assert (draft.reason, draft.degraded, draft.model_calls) == (Reason.COMPRESSED, False, 0)

    def test_a_summariser_that_failed_is_told_of_all_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        request = of(run(12), limits(100, 90_000, 100))
        failed = replace(request.unchanged(Reason.SUMMARISER_FAILED, "middle-out"), degraded=True, model_calls=3)
        draft = self.ladder(monkeypatch, failed)
        assert (draft.reason, draft.degraded, draft.model_calls) == (Reason.SUMMARISER_FAILED, True, 3)
        assert draft.tokens < request.tokens

    def test_with_a_summary_clearing_is_set_aside(self) -> None:
        messages = [*run(12), *talk(40)]
        size = sum(LETTERS.count(messages))
        draft = outcome_of(Ladder(), of(messages, limits(size, 90_000, 100)))
        assert draft.rungs[0] == RungReport("clear-tools", 0, Reason.NOT_ENOUGH)
        assert [rung.name for rung in draft.rungs] == ["clear-tools", "middle-out"]
        assert any(map(is_summary, draft.messages))

    def test_clearing_is_taken_where_it_reaches_the_target_to_the_token(self) -> None:
        messages = run(40)
        request = of(messages, limits(sum(LETTERS.count(messages)), 90_000, 100))
        freed = ClearTools(all_at_once=True).weigh(request).freed
        for short, names in ((0, ["clear-tools"]), (1, ["clear-tools", "middle-out"])):
            config = limits(request.tokens, 90_000, request.tokens - freed - short)
            assert [rung.name for rung in outcome_of(Ladder(), of(messages, config)).rungs] == names
        asked = outcome_of(
            Ladder(), of(messages, limits(request.tokens, 90_000, request.tokens - freed), instructions="x")
        )
        assert [rung.name for rung in asked.rungs] == ["middle-out"]
        below = outcome_of(Ladder(), of(messages, limits(request.tokens + 1, 90_000, request.tokens - freed)))
        assert [rung.name for rung in below.rungs] == ["middle-out"]

    def test_the_last_resort_is_taken_at_the_hard_limit(self) -> None:
        messages = [AIMessage("a" * 900, id="a"), HumanMessage("?" * 100, id="q")]
        names = {
            hard: [r.name for r in outcome_of(Ladder(), of(messages, limits(10, hard, 10, rungs=("emergency",)))).rungs]
            for hard in (1_000, 1_001)
        }
        assert names == {1_000: ["ladder", "emergency"], 1_001: ["ladder"]}


class TestAgeing:
    def shown(self, number: int, text: str = "") -> Any:
        lines = "\n".join(f"- order W{n} was refunded" for n in range(60))
        (record,) = standing(text or lines)[1]["shown"]
        return record.model_copy(update={"checkpoint_id": f"c{number}", "number": number, "session_id": "s"})

    def test_levels_follow_from_how_many_are_newer(self) -> None:
        rule = AgeRule(2, 4, 9)
        aged = age([self.shown(n) for n in range(6)], rule, LETTERS)
        assert [one.level for one in aged] == [1, 1, 2, 2, 3, 3]
        assert [one.checkpoint_id for one in aged] == [f"c{n}" for n in range(6)]
        most = {1: 100, 2: 300}
        assert all(0 < len(one.text) <= most[one.level] for one in aged[:4])

    def test_so_many_of_the_last_level_are_merged_in_front_of_the_others(self) -> None:
        records = [self.shown(n) for n in range(6)]
        aged = age(records, AgeRule(2, 4, 2), LETTERS)
        assert [one.level for one in aged] == [1, 2, 2, 3, 3]
        assert aged[0].merged == ("c0", "c1")

    def test_what_a_merged_one_holds(self) -> None:
        one = self.shown(1, "first").model_copy(update={"quotes": (Quote(message_id="q", text="words"),)})
        two = self.shown(2, "  second ").model_copy(update={"quotes": (Quote(message_id="r", text="more"),)})
        merged = merge_checkpoints([one, self.shown(5, " ").model_copy(update={"text": ""}), two], LETTERS)
        assert merged.text == "first\nsecond"
        assert (merged.session_id, merged.number, merged.level) == ("s", 2, 1)
        assert (merged.strategy, merged.summariser, merged.replaced_tokens) == ("ageing", "extractive", 15_000)
        assert [quote.text for quote in merged.quotes] == ["words", "more"]
        assert merged.merged == ("c1", "c5", "c2")
        assert merged.checkpoint_id == checkpoint_name("s", "merge", "c1", "c5", "c2", "first\nsecond")
        assert merged.checkpoint_id != checkpoint_name("s", "c1", "c5", "c2", "first\nsecond")

    def test_a_name_is_short_and_follows_from_its_parts(self) -> None:
        name = checkpoint_name("a", "b")
        assert (len(name), name[0], "-" in name) == (13, "c", False)
        assert name == checkpoint_name("a", "b") != checkpoint_name("ab")
