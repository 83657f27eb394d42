"""What `clear-tools` chooses, to the last token: a token is a letter here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    ToolMessage,
)

from langchain_ctxcompress import ConfigError, PruneUrgency
from langchain_ctxcompress.strategies import ClearTools
from langchain_ctxcompress.strategies.base import Reason, RungReport
from langchain_ctxcompress.strategies.clear_tools import Clearing, ToolUse, Weighed, tool_uses
from langchain_ctxcompress.strategies.clearing import cleared_result
from tests.strategies.lettered import limits, look, of, run, talk
from tests.strategies.requests import LETTERS


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
