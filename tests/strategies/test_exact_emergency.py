"""The actions of the last resort, to the last token: a token is a letter here."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.ledger.goal_set import GoalSet
from langchain_ctxcompress.strategies import Emergency
from langchain_ctxcompress.strategies.base import CompressionDraft, CompressionRequest, Reason, RungReport
from langchain_ctxcompress.strategies.emergency import SMALLEST_SUMMARY, _compact_largest
from langchain_ctxcompress.strategies.rendering import read_summaries
from tests.laws.judge import STRATEGIES
from tests.strategies.lettered import GOAL, RULE, ids, limits, of, standing, talk
from tests.strategies.requests import outcome_of


class TestEmergency:
    TEXTS = tuple("\n".join(f"- order #W{n}{k} was refunded to the card" for k in range(60 - 15 * n)) for n in range(3))

    def request(self, over: int, **fields: Any) -> CompressionRequest:
        """A list that is so many letters over its limit, with three checkpoints of falling size."""
        summary, known = standing(*self.TEXTS, ledger=fields.pop("ledger", ""))
        messages = [summary, *talk(5)]
        hard = len(summary.text) + 500 - over + 1
        return of(messages, limits(10, hard, 10), **known, **fields)

    def test_the_largest_are_said_shorter_one_after_the_other_until_enough_is_freed(self) -> None:
        first, second = (
            [read_summaries(outcome_of(Emergency(), self.request(over)).messages[0].text) for over in (1, 2_700)][n]
            for n in range(2)
        )
        assert [text == was for (_, text), was in zip(first, self.TEXTS, strict=True)] == [False, True, True]
        assert [name for name, _ in first][1:] == ["c2", "c3"]
        assert [text == was for (_, text), was in zip(second, self.TEXTS, strict=True)][:2] == [False, False]

    def test_where_the_largest_frees_enough_to_the_token_the_next_stays(self) -> None:
        request = self.request(1)
        first = _compact_largest(request, 1)
        assert first is not None
        freed = len(self.TEXTS[0]) - len(read_summaries(first.messages[0].text)[0][1])
        for needed, stays in ((freed, True), (freed + 1, False)):
            draft = _compact_largest(request, needed)
            assert draft is not None
            assert (read_summaries(draft.messages[0].text)[1][1] == self.TEXTS[1]) is stays

    def test_the_report_names_each_action_with_what_it_freed(self) -> None:
        request = self.request(1)
        draft = outcome_of(Emergency(), request)
        freed = sum(request.sizes) - draft.tokens
        detail = f"the largest checkpoint to level 1 ({freed} tokens)"
        assert draft.rungs == (RungReport("emergency", freed, Reason.EMERGENCY, detail),)
        assert draft.reason is Reason.EMERGENCY
        (action,) = draft.actions
        assert (action.name, action.messages) == ("the largest checkpoint to level 1", request.messages)
        assert [one.checkpoint_id for one in action.checkpoints] == ["c1", "c2", "c3"]
        assert [record.strategy for record in draft.checkpoints] == ["ageing", "emergency"]

    def test_the_goals_go_with_each_action(self) -> None:
        request = self.request(1, goals=GoalSet((GOAL,), (GOAL,)))
        assert outcome_of(Emergency(), request).actions[0].goals == (GOAL,)

    def merged(self, **fields: Any) -> tuple[CompressionRequest, CompressionDraft]:
        request = self.request(len("\n".join(self.TEXTS)) - 100, **fields)
        draft = outcome_of(Emergency(), request)
        assert [action.name for action in draft.actions][:2] == [
            "the largest checkpoint to level 1",
            "checkpoints merged",
        ]
        return request, draft

    def test_a_merged_checkpoint_restates_the_goals_and_what_has_room_of_the_ledger(self) -> None:
        _, draft = self.merged(goals=GoalSet((GOAL,), (GOAL,)), ledger=f"Rules\n- {RULE}")
        text = draft.messages[0].text
        assert text.count("<summary id=") == 1
        assert GOAL.description in text
        assert RULE in text
        assert '<earlier_conversation messages="4">' in text

    @pytest.mark.parametrize("ledger", ["", f"Rules\n- {RULE}"])
    def test_a_merged_checkpoint_keeps_to_its_room(self, ledger: str) -> None:
        """What the summary message takes, less what is too much, less than which no summary is, and less the ledger."""
        total, sizes = len("\n".join(self.TEXTS)), set()
        for over in range(total - 160, total + 60, 20):
            request = self.request(over, ledger=ledger)
            draft = outcome_of(Emergency(), request)
            merged = [action for action in draft.actions if action.name == "checkpoints merged"]
            if not merged or len(draft.actions) > 2:
                continue
            before, text = merged[0].messages[0].text, draft.messages[0].text
            too_much = len(before) + 500 - (request.config.hard_limit_tokens - 1)
            section = text.partition("<ledger>\n")[2].partition("\n</ledger>")[0]
            ((_, said),) = read_summaries(text)
            room = max(SMALLEST_SUMMARY, len(before) - too_much - SMALLEST_SUMMARY)
            assert 0 < len(said) <= max(SMALLEST_SUMMARY, room - len(section)), over
            sizes.add(len(said))
        assert sizes

    def test_what_stands_in_the_summary_message_is_merged_not_what_was_written_once(self) -> None:
        """A text that had aged is not had back by an emergency."""
        summary, known = standing("The user asked for a depot in Leeds.\n" * 9, "They want a van in York.\n" * 9)
        written = tuple(one.model_copy(update={"text": self.TEXTS[0]}) for one in known["shown"])
        known |= {"shown": written, "head": written[-1]}
        for over, sections in ((1, 2), (530, 1)):
            draft = outcome_of(
                Emergency(), of([summary, *talk(5)], limits(10, len(summary.text) + 501 - over, 10), **known)
            )
            texts = [text for _, text in read_summaries(draft.messages[0].text)]
            assert len(texts) == sections
            assert any("depot in Leeds" in text for text in texts)
            assert not any("#W" in record.text for record in draft.checkpoints if record.level)

    def test_it_rolls_over_to_the_last_turns_and_keeps_the_summary_message(self) -> None:
        summary, known = standing("One thing.")
        messages = [SystemMessage("Be kind.", id="sys"), summary, *talk(40, 60)]
        draft = outcome_of(Emergency(), of(messages, limits(10, 1_500, 10, recent_turns=3), **known))
        assert [action.name for action in draft.actions][-1] == "rolled over to the last turns"
        assert ids(draft) == ["sys", "gone", *(f"{sign}{n}" for n in range(37, 40) for sign in "ha")]
        record = draft.checkpoints[-1]
        assert (record.level, record.summariser, record.strategy) == (1, "extractive", "emergency")
        assert 0 < len(record.text) <= 100, "what a level-1 summary takes"

    def test_with_no_last_turn_kept_the_newest_question_stays(self) -> None:
        draft = outcome_of(Emergency(), of(talk(40, 60), limits(10, 1_500, 10, recent_turns=0)))
        assert ids(draft)[1:] in (["h39"], ["h39", "a39"])

    def test_the_largest_are_cut_first_and_only_as_far_as_has_to_be(self) -> None:
        sizes = {"one": 300, "two": 500, "three": 400}
        messages: list[BaseMessage] = [AIMessage(name[0] * size, id=name) for name, size in sizes.items()]
        messages.append(HumanMessage("?" * 100, id="q"))
        request = of(messages, limits(10, 1_201, 10, recent_turns=9))
        draft = outcome_of(Emergency(), request)
        assert dict(zip(ids(draft), draft.sizes, strict=True)) == {"one": 300, "two": 400, "three": 400, "q": 100}
        assert draft.rungs[0].detail == "the largest messages cut (100 tokens)"
        further = outcome_of(Emergency(), of(messages, limits(10, 701, 10, recent_turns=9)))
        assert dict(zip(ids(further), further.sizes, strict=True)) == {"one": 300, "two": 48, "three": 252, "q": 100}

    def test_a_message_of_the_least_size_is_not_cut(self) -> None:
        messages: list[BaseMessage] = [AIMessage("a" * 48, id="a"), HumanMessage("?" * 20, id="q")]
        draft = outcome_of(Emergency(), of(messages, limits(10, 60, 10)))
        assert [action.name for action in draft.actions] == ["what is not protected dropped"]

    def test_under_the_limit_nothing_is_done_and_at_it_something_is(self) -> None:
        messages = talk(5)
        under = outcome_of(Emergency(), of(messages, limits(10, 501, 10)))
        assert under.rungs == (RungReport("emergency", 0, Reason.BELOW_HARD_LIMIT),)
        assert outcome_of(Emergency(), of(messages, limits(10, 500, 10))).tokens < 500

    def test_results_and_nothing_else_stay_whatever_their_size(self) -> None:
        """Without a call none of them is legal, and no list at all is worse for a model."""
        messages: list[BaseMessage] = [ToolMessage("o" * 400, tool_call_id=f"c{n}", id=f"t{n}") for n in range(3)]
        draft = outcome_of(Emergency(), of(messages, limits(10, 90, 10)))
        assert draft.messages == tuple(messages)
        assert draft.rungs == (RungReport("emergency", 0, Reason.PROTECTED_SET_OVER_HARD_LIMIT),)
        for strategy in STRATEGIES:
            compressor = ContextCompressor(config=PrunerConfig.for_limit(50), strategy=strategy)
            assert compressor.compress(messages).messages == messages, strategy

    def test_what_cannot_fit_is_said_to_be_what_must_stay(self) -> None:
        messages = [*talk(2, 200), HumanMessage("?" * 100, id="q")]
        draft = outcome_of(Emergency(), of(messages, limits(10, 90, 10)))
        assert ids(draft) == ["q"]
        assert (draft.reason, draft.rungs[0].reason) == (Reason.PROTECTED_SET_OVER_HARD_LIMIT,) * 2
        assert draft.rungs[0].freed == 800
        alone = outcome_of(Emergency(), of([HumanMessage("?" * 100, id="q")], limits(10, 90, 10)))
        assert alone.rungs == (RungReport("emergency", 0, Reason.PROTECTED_SET_OVER_HARD_LIMIT),)
