"""What is dropped, altered and covered, to the last token: a token is a letter here."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import pin
from langchain_ctxcompress.ledger import Ledger
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import decode_message, summary_message
from langchain_ctxcompress.strategies import Ladder
from langchain_ctxcompress.strategies.base import CompressionDraft, CompressionRequest, Reason, RungReport
from langchain_ctxcompress.strategies.covering import covering
from langchain_ctxcompress.strategies.cutting import cut_message
from langchain_ctxcompress.strategies.rendering import read_ledger
from langchain_ctxcompress.strategies.replacing import altered, dropped, reworded
from tests.strategies.lettered import RULE, ids, limits, of, standing, talk
from tests.strategies.requests import LETTERS, outcome_of
from tests.support.legality import is_summary


class TestTruncation:
    """Of 2,000 letters in 20 pairs."""

    RUNGS = ("top-down-truncation",)

    def test_half_way_between_the_limits_is_aimed_at_and_reached_to_the_token(self) -> None:
        request = of(talk(20), limits(1_300, 1_700, ledger=False, rungs=self.RUNGS))
        draft = outcome_of(Ladder(), request)
        assert draft.tokens == 1_500
        assert draft.rungs[-1] == RungReport("top-down-truncation", 500, Reason.TRUNCATED)
        assert draft.reason is Reason.TRUNCATED
        assert ids(draft)[:4] == ["h0", "a0", "h6", "a6"], "the prefix stays before the middle"

    def test_one_token_less_than_half_way_takes_one_message_more(self) -> None:
        draft = outcome_of(Ladder(), of(talk(20), limits(1_300, 1_699, ledger=False, rungs=self.RUNGS)))
        assert draft.tokens == 1_450

    def test_where_half_way_is_out_of_reach_no_more_goes_than_the_hard_limit_asks_for(self) -> None:
        pinned = pin(HumanMessage("p" * 1_550, id="pin"))
        messages = [pinned, AIMessage("a" * 50, id="a"), *talk(4), HumanMessage("?" * 50, id="q")]
        for hard, left in ((1_801, 1_800), (1_800, 1_750), (1_799, 1_750)):
            draft = outcome_of(Ladder(), of(messages, limits(600, hard, ledger=False, rungs=self.RUNGS)))
            assert draft.tokens == left, hard

    def test_what_must_stay_is_left_and_said_to_be_that(self) -> None:
        request = of([pin(message) for message in talk(20)], limits(900, 1_000, rungs=self.RUNGS))
        draft = outcome_of(Ladder(), request)
        assert draft.messages == request.messages
        assert draft.rungs[-1] == RungReport("top-down-truncation", 0, Reason.TOO_FEW_CANDIDATES)

    def test_a_list_at_the_hard_limit_is_truncated_and_one_a_token_under_it_is_not(self) -> None:
        names = {
            hard: [r.name for r in outcome_of(Ladder(), of(talk(20), limits(900, hard, rungs=self.RUNGS))).rungs]
            for hard in (2_000, 2_001)
        }
        assert names == {2_000: ["ladder", "top-down-truncation"], 2_001: ["ladder"]}

    def rule(self, hard: int, **fields: Any) -> CompressionDraft:
        messages = talk(20)
        messages[4] = HumanMessage(RULE.ljust(50), id="h2")
        return outcome_of(Ladder(), of(messages, limits(hard - 200, hard, hard - 200, rungs=self.RUNGS, **fields)))

    def test_what_the_user_said_is_restated_wherever_it_has_room_and_the_limit_holds_to_the_token(self) -> None:
        drafts = {
            hard: self.rule(hard)
            for hard in (*range(1_645, 1_648), *range(1_700, 1_704), 1_751, 1_752, 1_850, 1_900, 1_960)
        }
        for hard, draft in drafts.items():
            assert draft.tokens < hard
            assert RULE in next(message.text for message in draft.messages if is_summary(message)), hard
            assert draft.reason is Reason.TRUNCATED
            assert ids(draft)[-10:] == [f"{sign}{n}" for n in range(15, 20) for sign in "ha"], "the last turns stay"
            assert (draft.checkpoints[-1].summariser, draft.checkpoints[-1].text) == ("extractive", "")
        assert min(hard - draft.tokens for hard, draft in drafts.items()) == 1, "the last token is taken"

    def test_whether_it_is_restated_or_not_the_ledger_of_the_checkpoint_keeps_it(self) -> None:
        for hard in (500, 800, 1_250, 1_900):
            record = self.rule(hard).checkpoints[-1]
            assert [rule.text for rule in Ledger.model_validate(record.ledger).rules] == [RULE], hard

    def test_without_a_ledger_nothing_is_restated(self) -> None:
        draft = self.rule(1_900, ledger=False)
        assert not any(map(is_summary, draft.messages))
        assert not draft.checkpoints[-1].ledger

    def test_no_step_of_the_last_turns_goes_to_make_room_for_what_was_said_earlier(self) -> None:
        messages = talk(20)
        messages[4] = HumanMessage(RULE.ljust(50), id="h2")
        config = limits(500, 560, 500, rungs=self.RUNGS, recent_turns=5)
        draft = outcome_of(Ladder(), of(messages, config))
        assert ids(draft) == [message.id for message in messages[-10:]]
        assert [rule.text for rule in Ledger.model_validate(draft.checkpoints[-1].ledger).rules] == [RULE]


class TestDropped:
    def test_the_record_and_the_report_say_what_went(self) -> None:
        request = of(talk(6), limits(500, 900), overhead_tokens=70)
        draft = dropped(request, [2, 3], strategy="x", reason=Reason.TRUNCATED, ledger={"rules": []})
        assert ids(draft) == ["h0", "a0", *(f"{sign}{n}" for n in range(2, 6) for sign in "ha")]
        assert draft.sizes == (50,) * 10
        assert draft.rungs == (RungReport("x", 100, Reason.TRUNCATED),)
        (record,) = draft.checkpoints
        assert (record.level, record.text, record.strategy, record.ledger) == (0, "", "x", {"rules": []})
        assert (record.tokens_before, record.tokens_after, record.replaced_tokens) == (670, 570, 100)
        assert (record.first_id, record.last_id, record.next_id, record.count) == ("h1", "a1", "h2", 2)
        assert dict(record.covered) == {m.id: content_hash(m) for m in request.messages[2:4]}

    def with_rule(self, padding: int, hard: int = 10_000, ledger: str = "") -> tuple[CompressionDraft, str]:
        """A pair with a rule in it is dropped behind a summary message; `padding` letters go with it."""
        summary, fields = standing("The user asked.", ledger=ledger)
        said = [HumanMessage(RULE, id="rule"), AIMessage("o" * padding, id="noted")]
        request = of([summary, *said, *talk(5)], limits(500, hard, 500), **fields)
        draft = dropped(request, [1, 2], strategy="x", reason=Reason.TRUNCATED)
        assert draft.sizes == tuple(LETTERS.count(draft.messages))
        assert (draft.checkpoints[-1].rendered, draft.checkpoints[-1].shown) == (draft.messages[0].text, ("c1",))
        assert RULE in [rule.text for rule in Ledger.model_validate(draft.checkpoints[-1].ledger).rules]
        assert draft.checkpoints[-1].tokens_after == draft.tokens
        return draft, summary.text

    @pytest.mark.parametrize("ledger", ["", "Rules\n- Never lie about a price."])
    def test_the_summary_message_restates_it_for_at_most_half_of_what_was_freed(self, ledger: str) -> None:
        found: list[tuple[int, int]] = []
        for padding in range(70, 130):
            draft, before = self.with_rule(padding, ledger=ledger)
            grew = len(draft.messages[0].text) - len(before)
            assert (RULE in draft.messages[0].text) == (grew > 0)
            assert 2 * grew <= len(RULE) + padding
            found.append((grew, (len(RULE) + padding) // 2))
        assert any(grew == half > 0 for grew, half in found), "half is not too much"
        first = next(place for place, (grew, _) in enumerate(found) if grew)
        assert all(grew for grew, _ in found[first:])
        assert found[first][0] == found[first][1], "it is restated as soon as there is room"

    def test_it_restates_it_only_where_that_leaves_the_list_under_its_hard_limit(self) -> None:
        for hard in range(810, 840):
            draft, before = self.with_rule(1_000, hard)
            if draft.messages[0].text != before:
                assert draft.tokens == hard - 1, "the first with room for it leaves no more"
                break
        else:
            raise AssertionError("it is never restated")

    def test_the_lines_that_stand_there_may_stay_beside_what_comes(self) -> None:
        draft, _ = self.with_rule(2_000, ledger="Rules\n- Never lie about a price.")
        assert RULE in read_ledger(draft.messages[0].text)


class TestAltered:
    def cut(self, request: CompressionRequest, *places: int, **fields: Any) -> CompressionDraft:
        changes = {place: cut_message(request.messages[place], 60, LETTERS) for place in places}
        return altered(request, changes, strategy="x", reason=Reason.EMERGENCY, **fields)

    def test_each_shorter_message_is_named_with_what_its_original_said(self) -> None:
        request = of(talk(3, 200), limits(500, 900))
        draft = self.cut(request, 3, 1)
        assert draft.sizes == (200, 60, 200, 60, 200, 200)
        assert draft.rungs == (RungReport("x", 280, Reason.EMERGENCY),)
        assert draft.reason is Reason.EMERGENCY
        (record,) = draft.checkpoints
        assert list(record.altered) == ["a0", "a1"]
        for place, name in ((1, "a0"), (3, "a1")):
            said, encoded = record.altered[name]
            assert said == content_hash(request.messages[place])
            assert decode_message(encoded, record="r") == draft.messages[place]
            assert draft.messages[place].additional_kwargs["ctxcompress"] == {"kind": "cut", "original": said}
        assert (record.covered, record.next_id, record.rendered, record.shown) == ({}, "", "", ())

    def test_sizes_that_were_counted_before_are_taken(self) -> None:
        draft = self.cut(of(talk(3, 200), limits(500, 900)), 1, 3, sizes={1: 7})
        assert draft.sizes == (200, 7, 200, 60, 200, 200)
        assert draft.rungs[0].freed == 333

    def test_one_that_stands_there_twice_is_not_named_and_one_with_other_words_is(self) -> None:
        """A message that comes back with the id and the words of one that stays is that one."""
        messages = talk(3, 200)
        twice = [*messages, messages[1].model_copy()]
        assert self.cut(of(twice, limits(500, 900)), 1).checkpoints[0].altered == {}
        other = [*messages, AIMessage("Something else.", id="a0")]
        assert list(self.cut(of(other, limits(500, 900)), 1).checkpoints[0].altered) == ["a0"]

    def test_the_summary_message_shows_the_same_and_stands_for_the_same(self) -> None:
        summary, fields = standing("The user asked.", "Then again.")
        request = of([summary, *talk(3, 200)], limits(500, 900), **fields)
        draft = self.cut(request, 2)
        (record,) = draft.checkpoints
        assert (record.rendered, record.shown, record.next_id) == (summary.text, ("c1", "c2"), "h0")
        assert (record.previous, record.first_id, record.last_id, record.count) == ("c2", "gone", "last", 4)
        assert draft.messages[0] == summary_message(record)
        assert draft.sizes == (len(summary.text), 200, 60, 200, 200, 200, 200)

    def test_a_summary_message_among_them_says_what_it_says_now(self) -> None:
        summary, fields = standing("The user asked for many things. " * 20)
        request = of([summary, *talk(3, 200)], limits(500, 900), **fields)
        shorter = summary.model_copy(update={"content": "short"})
        draft = altered(
            request,
            {0: shorter, 2: cut_message(request.messages[2], 60, LETTERS)},
            strategy="x",
            reason=Reason.EMERGENCY,
        )
        (record,) = draft.checkpoints
        assert list(record.altered) == ["a0"]
        assert (record.rendered, draft.messages[0].text) == ("short", "short")
        assert draft.sizes == (5, 200, 60, 200, 200, 200, 200)
        assert draft.rungs[0].freed == len(summary.text) - 5 + 140

    def test_without_its_checkpoint_the_summary_message_stays_as_it_is(self) -> None:
        summary, _ = standing("The user asked.")
        draft = self.cut(of([summary, *talk(3, 200)], limits(500, 900)), 2)
        assert draft.messages[0] is summary
        assert draft.checkpoints[0].shown == ()
        shorter = summary.model_copy(update={"content": "short"})
        request = of([summary, *talk(3, 200)], limits(500, 900))
        assert altered(request, {0: shorter}, strategy="x", reason=Reason.EMERGENCY).messages[0] is shorter

    def test_nothing_changed_is_nothing_done(self) -> None:
        request = of(talk(3), limits(500, 900))
        draft = altered(request, {}, strategy="x", reason=Reason.NOT_SMALLER)
        assert draft == CompressionDraft(request.messages, request.sizes, reason=Reason.NOT_SMALLER)


class TestReworded:
    def test_it_stands_for_the_same_messages_under_other_words(self) -> None:
        summary, fields = standing("one", "two")
        request = of([SystemMessage("Be kind.", id="sys"), summary, *talk(2)], limits(500, 900), **fields)
        made = fields["shown"][0]
        draft = reworded(request, "other words", [made], [made], strategy="x")
        assert draft.messages[1].text == "other words"
        assert draft.sizes == (8, 11, 50, 50, 50, 50)
        assert draft.checkpoints[0] is made
        record = draft.checkpoints[1]
        assert (record.rendered, record.shown, record.next_id, record.strategy) == ("other words", ("c1",), "h0", "x")
        assert draft.messages[1] == summary_message(record)
        assert (draft.messages[0], *draft.messages[2:]) == (request.messages[0], *request.messages[2:])

    @pytest.mark.parametrize("known", [False, True])
    def test_without_a_summary_message_or_its_checkpoint_nothing_changes(self, known: bool) -> None:
        summary, fields = standing("one")
        request = of(talk(2), limits(500, 900), **fields) if known else of([summary, *talk(2)], limits(500, 900))
        assert reworded(request, "x", [], [], strategy="x") == CompressionDraft(request.messages, request.sizes)


class TestCovering:
    def test_on_top_of_an_earlier_one(self) -> None:
        summary, fields = standing("one", "two")
        request = of([summary, *talk(4)], limits(500, 900), overhead_tokens=9, **fields)
        record = covering(request, [0, 1, 2], "x")
        assert list(record.covered) == ["h0", "a0"], "no summary is covered"
        assert (record.first_id, record.last_id, record.next_id) == ("gone", "a0", "h1")
        assert (record.count, record.number, record.previous) == (6, 3, "c2")
        assert record.tokens_before == request.tokens == 9 + len(summary.text) + 8 * 50
        assert record.replaced_tokens == len(summary.text) + 100

    def test_of_nothing_it_says_what_the_earlier_one_said(self) -> None:
        summary, fields = standing("one")
        record = covering(of([summary, *talk(2)], limits(500, 900), **fields), (), "x")
        assert (record.first_id, record.last_id, record.count, record.covered) == ("gone", "last", 4, {})
        bare = covering(of(talk(2), limits(500, 900)), (), "x")
        assert (bare.first_id, bare.last_id, bare.count, bare.previous) == ("", "", 0, "")

    @pytest.mark.parametrize(
        ("kept", "behind"),
        [([0, 1, 2], "a1"), ([0], "sys"), ([3], "h0"), ([], "")],
        ids=["the last in front", "a system message is none", "the first behind", "none"],
    )
    def test_what_follows_is_the_first_that_stays_behind_else_the_last_in_front(
        self, kept: list[int], behind: str
    ) -> None:
        messages = [SystemMessage("Be kind.", id="sys"), *talk(2)]
        places = {
            "a1": ([1, 2], "h1"),
            "sys": ([1, 2, 3, 4], ""),
            "h0": ([2, 3, 4], "h0"),
            "": ([1, 2, 3], "a1"),
        }
        gone, named = places[behind]
        assert covering(of(messages, limits(500, 900)), gone, "x").next_id == named

    def test_a_message_that_stays_elsewhere_word_for_word_has_not_left(self) -> None:
        messages = talk(2)
        twice = [*messages, messages[0].model_copy()]
        assert list(covering(of(twice, limits(500, 900)), [0, 1], "x").covered) == ["a0"]
