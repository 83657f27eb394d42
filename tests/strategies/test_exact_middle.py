"""`middle-out`, what it remembers and how it is rendered, to the last token: a token is a letter here."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress.ledger import Ledger, extract_records
from langchain_ctxcompress.ledger.records import Request
from langchain_ctxcompress.strategies import MiddleOut
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
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
from langchain_ctxcompress.summarize import TaskResult
from tests.strategies.asked import PLAIN
from tests.strategies.lettered import RULE, limits, of, standing, talk


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
