"""Parts of the mechanical strategies, to the last token: a token is a letter here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_ctxcompress import CompressionBand, ConfigError, ContextLimitError, PruneUrgency, pack_messages, pin
from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.strategies import ClearTools, CompressionDraft, Ladder, MiddleOut, Pack, TopDownTruncation
from langchain_ctxcompress.strategies.ageing import AgeRule, age, checkpoint_name, merge_checkpoints
from langchain_ctxcompress.strategies.band_mapping import DEFAULT_BANDS, check_bands, map_turns_to_bands
from langchain_ctxcompress.strategies.band_tasks import apply_compression_results
from langchain_ctxcompress.strategies.bands import Bands
from langchain_ctxcompress.strategies.base import CompressionRequest, Reason, RungReport, Steps
from langchain_ctxcompress.strategies.clear_tools import Clearing, ToolUse, Weighed, tool_uses
from langchain_ctxcompress.strategies.clearing import cleared_call, cleared_result, long_arguments, result_marker
from langchain_ctxcompress.strategies.quotes import ELLIPSIS, newest_within, quote_humans
from langchain_ctxcompress.strategies.top_down import droppable, ends, opening, places_to_drop
from langchain_ctxcompress.summarize import CompressionLevel, TaskFailure, TaskResult
from langchain_ctxcompress.tokens import MessageCounter
from tests.strategies.requests import LETTERS, outcome_of
from tests.strategies.test_exact_drops import ids, limits, of, standing, talk
from tests.support.legality import is_summary


def look(number: int, output: str = "o" * 400, name: str = "look", **args: Any) -> list[BaseMessage]:
    """A step: a call and its result."""
    call = {"name": name, "args": args or {"n": number}, "id": f"c{number}"}
    return [
        AIMessage("", tool_calls=[call], id=f"a{number}"),
        ToolMessage(output, tool_call_id=f"c{number}", id=f"t{number}"),
    ]


def run(steps: int, output: str = "o" * 400, **args: Any) -> list[BaseMessage]:
    return [HumanMessage("Go.", id="task"), *(m for n in range(steps) for m in look(n, f"{n:03}{output[3:]}", **args))]


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


class TestClearing:
    def marker(self, message: BaseMessage, **fields: Any) -> str:
        return result_marker(message, fields.pop("tool", "look"), fields.pop("args", {}), 9, **fields)

    def test_what_a_marker_says(self) -> None:
        message = ToolMessage("x", tool_call_id="c", id="t1")
        assert self.marker(message) == "[cleared: look() gave 9 tokens; recall message t1]"
        assert self.marker(message, tool="  ") == "[cleared: a tool() gave 9 tokens; recall message t1]"
        assert self.marker(message, args="n: 1\n2") == "[cleared: look(n: 1 2) gave 9 tokens; recall message t1]"
        again = self.marker(message, again="t 2")
        assert again == '[cleared: look() gave 9 tokens, given again in message "t 2"; recall message t1]'
        bare = self.marker(ToolMessage("x", tool_call_id="c"))
        assert bare == '[cleared: look() gave 9 tokens; recall message ""]'

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ("x" * 40, f'"{"x" * 40}"'),
            ("x" * 41, f'"{"x" * 39}…"'),
            ("x " * 200, f'"{("x " * 20).rstrip()}…"'),
            (2**159, str(2**159)[:39] + "…"),
            (2**160, "…"),
            ([], "[]"),
            ((1,), "[…]"),
            ({}, "{}"),
            ({"a": 1}, "{…}"),
            (True, "true"),
            (None, "null"),
            (1.5, "1.5"),
        ],
    )
    def test_arguments_in_a_few_characters(self, value: Any, told: str) -> None:
        shown = self.marker(ToolMessage("x", tool_call_id="c", id="t"), args={"v": value})
        assert shown == f"[cleared: look(v={told}) gave 9 tokens; recall message t]"

    def test_eight_arguments_in_a_hundred_and_twenty_characters(self) -> None:
        message = ToolMessage("x", tool_call_id="c", id="t")
        args = {f"k{n}": n for n in range(9)}
        told = ", ".join(f"k{n}={n}" for n in range(8))
        assert self.marker(message, args=args) == f"[cleared: look({told}) gave 9 tokens; recall message t]"
        long = {f"key-{n}": "v" * 40 for n in range(8)}
        shown = self.marker(message, args=long).removeprefix("[cleared: look(").partition(")")[0]
        assert len(shown) == 120
        assert shown.endswith("…")

    def test_media_by_their_kind_and_number(self) -> None:
        blocks: list[Any] = [
            {"type": "image"},
            "text",
            {"type": "text", "text": "x"},
            {"type": "image"},
            {"type": "audio"},
        ]
        told = self.marker(ToolMessage(blocks, tool_call_id="c", id="t"))
        assert "gave 9 tokens and 2 x [image] and [audio];" in told

    def test_a_cleared_result_keeps_what_else_it_holds(self) -> None:
        message = ToolMessage(
            "x" * 500, tool_call_id="c", id="t", artifact=[1], additional_kwargs={"k": 1}, name="look"
        )
        left = cleared_result(message, "gone")
        assert isinstance(left, ToolMessage)
        assert (left.content, left.artifact, left.name, left.id) == ("gone", None, "look", "t")
        assert left.additional_kwargs == {"k": 1, "ctxcompress": {"kind": "cleared"}}
        old = cleared_result(FunctionMessage(name="f", content="x", id="t"), "gone")
        assert (old.content, old.additional_kwargs) == ("gone", {"ctxcompress": {"kind": "cleared"}})

    @pytest.mark.parametrize(
        ("args", "long"),
        [
            ("x" * 1_000, False),
            ("x" * 1_001, True),
            ({"a": "x" * 1_000}, False),
            ({"a": 1, "b": "x" * 1_001}, True),
            ({"a": ["x" * 996]}, False),
            ({"a": ["x" * 997]}, True),
            ({"a": ("ä" * 997,)}, True),
            ({"a": ("ä" * 996,)}, False),
            ({"a": {"k": "x" * 2_000}}, True),
            ({"a": 10**2_000}, False),
        ],
    )
    def test_from_where_on_an_argument_is_oversized(self, args: Any, long: bool) -> None:
        assert long_arguments(args) is long

    def test_a_call_with_all_that_says_it_again(self) -> None:
        long, gone = "ä" * 1_500, "[cleared: 1500 tokens; recall message m]"
        calls = [{"name": "write", "args": {"text": long, "n": 1}, "id": f"c{n}"} for n in range(3)]
        blocks: list[Any] = [
            "plain",
            {"type": "text", "text": "I write.", "id": "c1"},
            {"type": "tool_use", "id": "c1", "name": "write", "input": {}, "partial_json": "{"},
            {"type": "function_call", "id": "fc", "call_id": "c1", "arguments": "{}"},
            {"type": "tool_call", "id": "c1", "name": "write", "args": {}},
            {"type": "tool_use", "id": "other", "input": {"text": "x"}},
        ]
        message = AIMessage(blocks, tool_calls=calls, id="m", additional_kwargs={"tool_calls": [1], "k": 2})
        left = cleared_call(message, [1], LETTERS)
        now = {"text": gone, "n": 1}
        assert [call["args"] for call in left.tool_calls] == [calls[0]["args"], now, calls[2]["args"]]
        assert left.additional_kwargs == {"k": 2, "ctxcompress": {"kind": "cleared"}}
        assert left.content == [
            "plain",
            blocks[1],
            {"type": "tool_use", "id": "c1", "name": "write", "input": now},
            {"type": "function_call", "id": "fc", "call_id": "c1", "arguments": json.dumps(now, ensure_ascii=False)},
            {"type": "tool_call", "id": "c1", "name": "write", "args": now},
            blocks[5],
        ]

    def test_a_block_of_a_call_of_openai_keeps_its_signs_as_they_are(self) -> None:
        call = {"name": "write", "args": {"text": "x" * 1_500, "to": "Grüße"}, "id": "c"}
        block = {"type": "function_call", "call_id": "c", "arguments": "{}"}
        (left,) = cleared_call(AIMessage([block], tool_calls=[call], id="m"), [0], LETTERS).content
        assert isinstance(left, dict)
        assert "Grüße" in left["arguments"]

    def test_a_malformed_call_is_counted_behind_the_others(self) -> None:
        good = {"name": "a", "args": {"t": "x" * 1_500}, "id": "g"}
        bad = {"name": "b", "args": "y" * 1_500, "id": "b", "error": "cut"}
        message = AIMessage("", tool_calls=[good], invalid_tool_calls=[bad], id="m")
        first, second = (cleared_call(message, [n], LETTERS) for n in range(2))
        gone = "[cleared: 1500 tokens; recall message m]"
        assert (first.tool_calls[0]["args"], first.invalid_tool_calls[0]["args"]) == ({"t": gone}, "y" * 1_500)
        assert (second.tool_calls[0]["args"], second.invalid_tool_calls[0]["args"]) == (good["args"], gone)

    def test_a_call_without_an_id_has_no_number(self) -> None:
        calls = [
            {"name": "a", "args": {"t": "x" * 1_500}, "id": None},
            {"name": "b", "args": {"t": "y" * 1_500}, "id": "b"},
        ]
        left = cleared_call(AIMessage("", tool_calls=calls, id="m"), [0], LETTERS)
        assert left.tool_calls[0]["args"] == {"t": "x" * 1_500}
        assert left.tool_calls[1]["args"]["t"].startswith("[cleared: ")

    def test_pieces_of_a_streamed_call_go(self) -> None:
        chunk = AIMessageChunk(
            "", tool_call_chunks=[{"name": "a", "args": '{"t": "' + "x" * 1_500 + '"}', "id": "c", "index": 0}]
        )
        left = cleared_call(chunk.model_copy(update={"id": "m"}), [0], LETTERS)
        assert isinstance(left, AIMessageChunk)
        assert left.tool_call_chunks == []
        assert left.tool_calls[0]["args"]["t"].startswith("[cleared: ")


class TestClearTools:
    def weigh(
        self,
        messages: Sequence[BaseMessage],
        config: Any = None,
        urgency: PruneUrgency = PruneUrgency.SOFT,
        **fields: Any,
    ) -> Weighed:
        request = of(messages, config or limits(100, 90_000, 100))
        return ClearTools(**fields).weigh(replace(request, urgency=urgency))

    def places(self, weighed: Weighed) -> list[int]:
        return [clearing.place for clearing, _ in weighed.chosen]

    def test_it_says_what_each_takes_then_and_what_all_of_it_frees(self) -> None:
        messages = run(12)
        weighed = self.weigh(messages)
        assert self.places(weighed) == [4, 6, 8, 10, 12, 14], "the first turn stays, and the newest five results"
        for number, (clearing, size) in enumerate(weighed.chosen, 1):
            assert clearing.marker == f"[cleared: look(n={number}) gave 400 tokens; recall message t{number}]"
            assert size == len(clearing.marker)
        assert weighed.freed == sum(400 - size for _, size in weighed.chosen)
        assert weighed.reason is None

    def test_nothing_is_weighed_where_there_is_no_need(self) -> None:
        assert self.weigh(run(12), urgency=PruneUrgency.NONE) == Weighed(reason=Reason.BELOW_SOFT_LIMIT)

    def test_it_stops_as_soon_as_the_target_is_reached(self) -> None:
        messages = run(12)
        size = sum(LETTERS.count(messages))
        one = self.weigh(messages, at_least=0).chosen[0]
        first = 400 - one[1]
        at = self.weigh(messages, limits(size, 90_000, size - first), at_least=0)
        over = self.weigh(messages, limits(size, 90_000, size - first - 1), at_least=0)
        assert (len(at.chosen), len(over.chosen)) == (1, 2)
        assert len(self.weigh(messages, limits(size, 90_000, size - first), at_least=0, all_at_once=True).chosen) == 6
        assert len(self.weigh(messages, limits(size + 1, 90_000, size + 1), at_least=0).chosen) == 6, "it was asked for"

    def test_what_must_be_freed_at_least(self) -> None:
        messages = run(12)
        freed = self.weigh(messages).freed
        assert self.weigh(messages, at_least=freed).reason is None
        assert self.weigh(messages, at_least=freed + 1).reason is Reason.NOT_ENOUGH
        assert self.weigh(messages, at_least=freed + 1, urgency=PruneUrgency.HARD).reason is None
        size = sum(LETTERS.count(messages))
        assert self.weigh(messages, limits(size, 90_000, 100)).reason is None

    def test_a_marker_of_half_a_result_is_worth_it_and_a_longer_one_is_not(self) -> None:
        marker = len("[cleared: look(n=1) gave 100 tokens; recall message t1]")
        for letters, worth in ((2 * marker, True), (2 * marker - 1, False)):
            messages = [
                HumanMessage("Go.", id="task"),
                *look(0, "x"),
                *look(1, "y" * letters),
                *(m for n in range(2, 9) for m in look(n, "z")),
            ]
            assert bool(self.weigh(messages).chosen) is worth, letters

    def test_a_call_is_worth_it_as_soon_as_it_gets_smaller(self) -> None:
        messages = run(12, "o", text="x" * 1_100)
        weighed = self.weigh(messages)
        assert [clearing.call is not None for clearing, _ in weighed.chosen] == [True] * 6
        assert self.places(weighed) == [3, 5, 7, 9, 11, 13]

    def test_equal_results_of_equal_calls_go_first(self) -> None:
        messages = [HumanMessage("Go.", id="task")]
        for n in range(12):
            messages += look(n, "same".ljust(400), path="a") if n in (4, 6, 11) else look(n, f"{n:03}".ljust(400, "o"))
        weighed = self.weigh(messages)
        assert self.places(weighed)[:2] == [10, 14]
        assert [clearing.repeated for clearing, _ in weighed.chosen][:3] == [True, True, False]
        assert all("given again in message t11" in clearing.marker for clearing, _ in weighed.chosen[:2])

    def test_equal_calls_are_equal_whatever_the_order_of_their_arguments(self) -> None:
        messages: list[BaseMessage] = [HumanMessage("Go.", id="task")]
        for n in range(12):
            args = {"a": 1, "b": 2} if n == 4 else {"b": 2, "a": 1} if n == 6 else {"n": n}
            messages += look(n, "same".ljust(400) if n in (4, 6) else f"{n:03}".ljust(400, "o"), **args)
        assert [one.place for one, _ in self.weigh(messages).chosen if one.repeated] == [10]

    def test_arguments_that_json_cannot_hold_are_compared_too(self) -> None:
        messages: list[BaseMessage] = [HumanMessage("Go.", id="task")]
        for n in range(12):
            same = n in (3, 4, 6)
            args = {"raw": b"x" if n != 3 else b"y"} if same else {"n": n}
            messages += look(n, "same".ljust(400) if same else f"{n:03}".ljust(400, "o"), **args)
        counted = replace(LETTERS, count=lambda found: [len(message.text) for message in found])
        request = replace(of(talk(1), limits(100, 90_000, 100)), tools=counted)
        request = replace(request, messages=tuple(messages), sizes=tuple(counted.count(messages)))
        weighed = ClearTools().weigh(replace(request, urgency=PruneUrgency.SOFT))
        assert [one.place for one, _ in weighed.chosen if one.repeated] == [10]

    def test_results_in_blocks_are_compared_by_what_they_hold(self) -> None:
        """Blocks that say the same are the same; a text that says what blocks would is not."""
        block = [{"type": "text", "text": "o" * 400, "raw": b"x"}]
        messages: list[BaseMessage] = [HumanMessage("Go.", id="task")]
        for n in range(12):
            content: Any = (
                [dict(block[0])]
                if n in (3, 5)
                else json.dumps(block, default=repr)
                if n == 4
                else f"{n:03}".ljust(400, "o")
            )
            messages += [
                AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": f"c{n}"}], id=f"a{n}"),
                ToolMessage(content, tool_call_id=f"c{n}", id=f"t{n}"),
            ]
        marks = {clearing.place: clearing.repeated for clearing, _ in self.weigh(messages, keep=0).chosen}
        assert marks[8]
        assert not marks.get(12)

    def test_a_text_in_quotes_is_not_the_text(self) -> None:
        messages: list[BaseMessage] = [HumanMessage("Go.", id="task")]
        for n in range(12):
            content = "o" * 400 if n == 3 else json.dumps("o" * 400) if n == 4 else f"{n:03}".ljust(400, "p")
            messages += look(n, content, path="same")
        assert not any(clearing.repeated for clearing, _ in self.weigh(messages, keep=0).chosen)

    def test_what_was_cleared_is_not_what_is_given_again(self) -> None:
        messages = [
            HumanMessage("Go.", id="task"),
            *(m for n in range(12) for m in look(n, "same".ljust(400), path="a")),
        ]
        messages[-1] = cleared_result(messages[-1], "same".ljust(400))
        weighed = self.weigh(messages, keep=0)
        assert all("given again in message t10" in clearing.marker for clearing, _ in weighed.chosen[:3])

    def test_each_use_is_known_by_its_call_and_its_number(self) -> None:
        calls = [
            {"name": name, "args": {"n": n}, "id": "same" if n < 2 else "z"} for n, name in enumerate(("a", "b", "c"))
        ]
        bad = {"name": None, "args": None, "id": "bad", "error": "x"}
        legacy = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}, id="l")
        messages = [
            AIMessage("", tool_calls=calls, invalid_tool_calls=[bad], id="m"),
            ToolMessage("1", tool_call_id="z", id="1", name="own"),
            ToolMessage("2", tool_call_id="same", id="2"),
            ToolMessage("3", tool_call_id="bad", id="3"),
            ToolMessage("4", tool_call_id="same", id="4"),
            ToolMessage("5", tool_call_id="none", id="5"),
            legacy,
            FunctionMessage(name="f", content="6", id="6"),
        ]
        assert list(tool_uses(messages)) == [
            ToolUse(0, 2, 1, "own", {"n": 2}),
            ToolUse(0, 0, 2, "a", {"n": 0}),
            ToolUse(0, 3, 3, "", ""),
            ToolUse(0, 1, 4, "b", {"n": 1}),
            ToolUse(6, 0, 7, "f", "{}"),
        ]

    def test_the_draft_is_what_was_weighed(self) -> None:
        request = of(run(12), limits(100, 90_000, 100))
        clearing = ClearTools()
        weighed = clearing.weigh(request)
        draft = clearing.draft(request, weighed)
        assert draft.rungs == (RungReport("clear-tools", weighed.freed, Reason.COMPRESSED),)
        assert {
            request.messages.index(m): size
            for m, size in zip(request.messages, draft.sizes, strict=True)
            if size < 300 and m.type == "tool"
        } == {one.place: size for one, size in weighed.chosen}
        none = clearing.draft(request, Weighed((), 0, Reason.NOT_ENOUGH))
        assert none.rungs == (RungReport("clear-tools", 0, Reason.NOT_ENOUGH),)

    def test_sizes_of_calls_that_were_counted_are_not_counted_again(self) -> None:
        request = of(run(12, "o", text="x" * 1_100), limits(100, 90_000, 100))
        clearing = Clearing(3, call=request.messages[3])
        draft = ClearTools().draft(request, Weighed(((clearing, 7),), 5))
        assert draft.sizes[3] == 7

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"keep": -1}, "keep is -1: it must be 0 or more"),
            ({"at_least": -1}, "at_least is -1: it must be 0 or more, in tokens"),
            ({"exempt": "look"}, "exempt is the text 'look': it must be a collection of tool names, such as ['look']"),
        ],
    )
    def test_wrong_settings_are_named_with_what_they_must_be(self, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(ConfigError) as caught:
            ClearTools(**fields)
        assert str(caught.value) == said
        assert (ClearTools(keep=0, at_least=0).keep, ClearTools(exempt=["a"]).exempt) == (0, {"a"})


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
