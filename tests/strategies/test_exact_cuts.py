"""What is left of one message that is cut, to the last token: a token is a letter here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.strategies.cutting import SMALLEST_CUT, cut_message, cut_text
from tests.strategies.requests import LETTERS

END = " […]"


def writing(*texts: str, **others: Any) -> AIMessage:
    """A call whose arguments are these texts."""
    args = {chr(ord("a") + place): text for place, text in enumerate(texts)} | others
    return AIMessage("", tool_calls=[{"name": "write", "args": args, "id": "c"}], id="m")


def args_of(message: object) -> dict[str, Any]:
    assert isinstance(message, AIMessage)
    return message.tool_calls[0]["args"]


def size(message: Any) -> int:
    return LETTERS.count([message])[0]


class TestArguments:
    def test_long_ones_share_what_room_there_is(self) -> None:
        """Of 548 letters 48 are for what is around them, and each of the two gets half of the rest."""
        cut = cut_message(writing("x" * 1_000, "y" * 1_000, c="short"), SMALLEST_CUT + 500, LETTERS)
        assert args_of(cut) == {"a": "x" * 250 + END, "b": "y" * 250 + END, "c": "short"}

    def test_long_ones_deep_in_others_are_counted_and_cut_like_them(self) -> None:
        cut = cut_message(writing("x" * 1_000, b=["y" * 1_000, {"k": "z" * 1_000}]), SMALLEST_CUT + 900, LETTERS)
        assert args_of(cut) == {"a": "x" * 300 + END, "b": ["y" * 300 + END, {"k": "z" * 300 + END}]}

    def test_what_json_writes_longer_is_cut_further_in_proportion(self) -> None:
        """500 quotes take 1,000 letters: 1,012 with all around, so 500 * 548 // 1,012 are tried, and so on."""
        cut = cut_message(writing('"' * 1_000), SMALLEST_CUT + 500, LETTERS)
        each = 500
        while (whole := size(writing('"' * each + END))) > SMALLEST_CUT + 500:
            each = each * (SMALLEST_CUT + 500) // whole
        assert 250 < each < 300
        assert args_of(cut) == {"a": '"' * each + END}

    @pytest.mark.parametrize("most", [0, 10, SMALLEST_CUT + 8])
    def test_never_to_less_than_eight_tokens(self, most: int) -> None:
        cut = cut_message(writing("x" * 1_000), most, LETTERS)
        assert args_of(cut) == {"a": "x" * 8 + END}

    @pytest.mark.parametrize("most", [0, 100])
    def test_a_call_whose_arguments_are_short_stays_whatever_the_room(self, most: int) -> None:
        message = writing("x" * 200, n=1)
        assert args_of(cut_message(message, most, LETTERS)) == args_of(message)

    def test_one_of_two_hundred_characters_stays_and_one_more_is_cut(self) -> None:
        cut = cut_message(writing("x" * 200, "y" * 201), 0, LETTERS)
        assert args_of(cut) == {"a": "x" * 200, "b": "y" * 8 + END}

    def test_one_that_has_room_stays_beside_one_that_has_none(self) -> None:
        cut = cut_message(writing("x" * 250, "y" * 900), SMALLEST_CUT + 500, LETTERS)
        assert args_of(cut) == {"a": "x" * 250, "b": "y" * 250 + END}

    def test_a_message_that_fits_keeps_them_and_one_token_less_does_not(self) -> None:
        message = writing("x" * 1_000)
        assert args_of(cut_message(message, size(message), LETTERS)) == args_of(message)
        assert args_of(cut_message(message, size(message) - 1, LETTERS)) != args_of(message)

    def test_blocks_that_say_the_call_again_go_and_the_others_stay(self) -> None:
        call = {"name": "write", "args": {"a": "x" * 1_000}, "id": "c"}
        blocks: list[Any] = [
            "plain",
            {"type": "tool_use", "id": "c", "name": "write", "input": call["args"]},
            {"type": "reasoning", "reasoning": "well"},
        ]
        cut = cut_message(AIMessage(blocks, tool_calls=[call], id="m"), 600, LETTERS)
        assert cut.content == ["[… 5 tokens, cut; the original is message m]", blocks[2]]
        assert 500 < size(cut) <= 600


class TestText:
    def marker(self, letters: int) -> str:
        return f"\n[… {letters} tokens, cut; the original is message m]\n"

    def test_three_fifths_of_the_room_are_its_head_and_the_rest_its_tail(self) -> None:
        text = "h" * 500 + "t" * 500
        marker = self.marker(1_000)
        assert cut_text(text, len(marker) + 101, LETTERS, "m") == "h" * 60 + marker + "t" * 41

    def test_head_and_tail_of_at_least_eight_tokens_or_the_marker_alone(self) -> None:
        marker = self.marker(1_000)
        assert cut_text("x" * 1_000, len(marker) + 8, LETTERS, "m") == "xxxx" + marker + "xxxx"
        assert cut_text("x" * 1_000, len(marker) + 7, LETTERS, "m") == marker.strip()

    def test_the_tail_is_never_more_than_what_the_head_left(self) -> None:
        """A text that is cut although it would have room, head and tail, says nothing twice."""
        marker = self.marker(20)
        cut = cut_text("abcdefghijklmnopqrst", len(marker) + 30, LETTERS, "m")
        assert cut == "abcdefghijklmnopqr" + marker + "st"

    def test_where_a_token_is_many_letters_the_tail_keeps_to_its_room(self) -> None:
        """Words are tokens: what is taken from the front is as many as are too many."""
        words = [f"w{number}" for number in range(100)]

        def count(text: str) -> int:
            return len(text.split())

        def truncate(text: str, most: int) -> str:
            return " ".join(text.split(" ")[:most])

        tools = replace(LETTERS, count_text=count, truncate=truncate)
        marker = count(self.marker(100))
        cut = cut_text(" ".join(words), marker + 20, tools, "m").split()
        assert cut[:12] == words[:12]
        assert cut[-8:] == words[-8:]
        assert len(cut) == marker + 20

    def test_a_text_that_fits_is_marked_and_stays(self) -> None:
        message = ToolMessage("x" * 300, tool_call_id="c", id="m")
        kept, cut = cut_message(message, 300, LETTERS), cut_message(message, 299, LETTERS)
        assert kept.content == message.content
        assert size(cut) == 299
        assert kept.additional_kwargs == cut.additional_kwargs == {"ctxcompress": {"kind": "cut"}}

    def test_what_the_message_takes_besides_its_text_is_no_room_for_it(self) -> None:
        message = AIMessage("x" * 500, tool_calls=[{"name": "f", "args": {"k": "v" * 100}, "id": "c"}], id="m")
        assert size(message) == 500 + 100 + len('{"k": ""}')
        cut = cut_message(message, 400, LETTERS)
        assert size(cut) == 400
        assert args_of(cut) == args_of(message)

    def test_no_room_leaves_the_marker(self) -> None:
        cut = cut_message(HumanMessage("x" * 500, id="m"), 0, LETTERS)
        assert cut.content == self.marker(500).strip()

    def test_one_that_was_asked_for_says_so_and_what_else_it_held_stays(self) -> None:
        message = HumanMessage("x" * 500, id="m", additional_kwargs={"other": 1})
        cut = cut_message(message, 100, LETTERS, asked=True)
        assert cut.additional_kwargs == {"other": 1, "ctxcompress": {"kind": "cut", "asked": True}}
