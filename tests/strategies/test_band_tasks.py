"""B2: which messages become tasks. B6: what is done with the results."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import (
    BandTask,
    CompressionBand,
    ConfigError,
    ConversationTurn,
    TurnBandMapping,
    apply_compression_results,
    create_compression_tasks,
    map_turns_to_bands,
    pin,
    split_turns,
)
from tests.laws.judge import as_bytes
from tests.support.conversations import conversations, copied, exchanges
from tests.support.legality import is_summary, mark_kind, protected_indices

ALL = [CompressionBand(0, 100, "compress")]
LONG = "word " * 20
"""100 characters."""


def tasks_of(messages: Sequence[BaseMessage], bands: Sequence[CompressionBand] = ALL, **options: Any) -> list[BandTask]:
    turns = split_turns(messages)
    return create_compression_tasks(messages, turns, map_turns_to_bands(turns, bands), **options)


def text_of(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    blocks = [block if isinstance(block, str) else block.get("text") for block in message.content if _is_text(block)]
    return "\n".join(blocks)


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def without_text(message: BaseMessage) -> dict[str, Any]:
    """All that a message holds but its text."""
    said = message.model_dump()
    blocks = [] if isinstance(message.content, str) else message.content
    return {**said, "content": [block for block in blocks if not _is_text(block)]}


class TestTasks:
    def test_what_a_task_holds(self) -> None:
        """B2."""
        messages = [HumanMessage(LONG, id="h"), AIMessage(LONG + "!", id="a"), HumanMessage("and now?", id="new")]
        first, second = tasks_of(messages, [CompressionBand(0, 50, "heavy-compress")])
        assert (first.message_index, first.message_id, first.message_type, first.text) == (0, "h", "human", LONG)
        assert (first.level, first.estimated_tokens) == ("heavy-compress", 25)
        assert (first.attempt, first.timeout, first.status) == (0, 5.0, "pending")
        assert (second.message_index, second.message_id, second.message_type) == (1, "a", "ai")
        assert second.estimated_tokens == 26  # 101 characters

    def test_8_characters_are_skipped_100_are_a_task(self) -> None:
        """B2."""
        assert tasks_of([HumanMessage("8 chars."), AIMessage("ok"), HumanMessage("new")]) == []
        assert len(tasks_of([HumanMessage("x" * 100), AIMessage("ok"), HumanMessage("new")])) == 1

    @pytest.mark.parametrize(("characters", "number"), [(76, 0), (77, 1), (80, 1)])
    def test_the_least_size_is_20_estimated_tokens(self, characters: int, number: int) -> None:
        """B2: at least `min_tokens`; 77 characters are estimated as 20 tokens."""
        assert len(tasks_of([AIMessage("x" * characters), HumanMessage("new")])) == number

    def test_min_tokens_is_the_fourth_argument(self) -> None:
        messages = [AIMessage("x" * 100), HumanMessage("new")]
        turns = split_turns(messages)
        mapping = map_turns_to_bands(turns, ALL)
        assert len(create_compression_tasks(messages, turns, mapping, 25)) == 1
        assert create_compression_tasks(messages, turns, mapping, 26) == []

    def test_a_message_without_text_is_no_task_however_small_the_least_size(self) -> None:
        messages = [AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}]), HumanMessage("new")]
        assert tasks_of(messages, min_tokens=0) == []

    def test_only_human_and_ai_messages(self) -> None:
        call = {"name": "f", "args": {}, "id": "c"}
        messages = [
            SystemMessage(LONG),
            HumanMessage(LONG),
            AIMessage(LONG, tool_calls=[call]),
            ToolMessage(LONG, tool_call_id="c"),
            SystemMessage(LONG),
            ChatMessage(LONG, role="user"),
            ChatMessage(LONG, role="system"),
            AIMessage(LONG),
            HumanMessage("new"),
        ]
        assert [task.message_index for task in tasks_of(messages)] == [1, 2, 5, 7]

    def test_blocks_count_by_their_text(self) -> None:
        """B4: text blocks joined with a newline; nothing else counts."""
        picture = {"type": "image", "base64": "A" * 4_000, "mime_type": "image/png"}
        content = [{"type": "text", "text": "x" * 50}, picture, {"type": "text", "text": "y" * 50}]
        (task,) = tasks_of([HumanMessage(content), AIMessage([picture]), HumanMessage("new")])
        assert task.text == "x" * 50 + "\n" + "y" * 50
        assert task.estimated_tokens == 26

    def test_pinned_and_newest_human_messages_are_no_tasks(self) -> None:
        messages = [pin(HumanMessage(LONG)), AIMessage(LONG), HumanMessage(LONG), HumanMessage(LONG)]
        assert [task.message_index for task in tasks_of(messages)] == [1]

    def test_only_what_lies_in_a_band(self) -> None:
        messages = [*exchanges(10, words=30), HumanMessage("new")]
        found = tasks_of(messages[:-1], [CompressionBand(0, 30, "heavy-compress"), CompressionBand(50, 80, "compress")])
        assert [(task.message_index, str(task.level)) for task in found] == [
            *((place, "heavy-compress") for place in range(6)),
            *((place, "compress") for place in range(10, 16)),
        ]

    def test_summaries_and_messages_that_were_cut_are_no_tasks(self) -> None:
        marked = [
            HumanMessage(LONG, additional_kwargs={"ctxcompress": {"kind": kind}})
            for kind in ("summary", "cut", "cleared")
        ]
        assert tasks_of([*marked, AIMessage("ok"), HumanMessage("new")]) == []

    def test_what_was_shortened_is_a_task_only_for_a_heavier_level(self) -> None:
        def shortened(level: str) -> AIMessage:
            return AIMessage(LONG, additional_kwargs={"ctxcompress": {"kind": "compressed", "level": level}})

        messages = [shortened("compress"), shortened("heavy-compress"), shortened("unknown"), HumanMessage("new")]
        assert tasks_of(messages, [CompressionBand(0, 100, "compress")]) == []
        (task,) = tasks_of(messages, [CompressionBand(0, 100, "heavy-compress")])
        assert task.message_index == 0
        assert task.target_share == pytest.approx(0.4)  # a fifth of the original, of which half is left

    def test_turns_made_by_hand_need_not_know_their_places(self) -> None:
        messages = [HumanMessage(LONG), AIMessage(LONG), HumanMessage("new")]
        turns = [ConversationTurn(messages[:2], 0), ConversationTurn(messages[2:], 1)]
        found = create_compression_tasks(messages, turns, [TurnBandMapping(0, ALL[0])])
        assert [task.message_index for task in found] == [0, 1]

    def test_a_mapping_of_other_turns_is_named(self) -> None:
        messages = exchanges(2)
        with pytest.raises(ConfigError, match="turn 7, there are 2 turns"):
            create_compression_tasks(messages, split_turns(messages), [TurnBandMapping(7, ALL[0])])
        with pytest.raises(ConfigError, match="turn 1 holds a message that is not in the list"):
            create_compression_tasks(messages[:2], split_turns(messages), [TurnBandMapping(1, ALL[0])])

    @pytest.mark.parametrize(("name", "value"), [("min_tokens", -1), ("timeout", 0), ("timeout", -5.0)])
    def test_settings_out_of_range_are_named(self, name: str, value: float) -> None:
        with pytest.raises(ConfigError, match=f"{name} is {value}"):
            tasks_of([], **{name: value})

    @given(conversations(), st.integers(0, 100), st.integers(0, 100), st.integers(0, 60))
    def test_every_task_may_be_one_and_none_is_missing(
        self, messages: list[BaseMessage], start: int, end: int, least: int
    ) -> None:
        if start >= end:
            start, end = (end, start) if end < start else (0, 100)
        before = copied(messages)
        found = tasks_of(messages, [CompressionBand(start, end, "compress")], min_tokens=least)
        assert messages == before
        assert [task.message_index for task in found] == sorted({task.message_index for task in found})
        turns = split_turns(messages)
        inside = {
            place for turn in turns if start <= 100 * turn.index / len(turns) < end for place in turn.indices
        } - set(protected_indices(messages))
        wanted = {
            place
            for place in inside
            if isinstance(messages[place], HumanMessage | AIMessage)
            and not is_summary(messages[place])
            and mark_kind(messages[place]) != "pin"
            and len(text_of(messages[place])) > 4 * (max(least, 1) - 1)
        }
        assert {task.message_index for task in found} == wanted
        for task in found:
            message = messages[task.message_index]
            assert (task.message_id, task.message_type, task.text) == (message.id, message.type, text_of(message))


class TestApply:
    def test_a_succeeded_task_is_applied_a_failed_one_is_not(self) -> None:
        """B6."""
        messages = exchanges(3, words=40)
        first, second, third, *_ = tasks_of(messages)
        applied = apply_compression_results(messages, [first.succeeded("short"), second.failed(), third])
        assert applied[0].content == "short"
        assert all(one is other for one, other in zip(applied[1:], messages[1:], strict=True))

    def test_status_and_result_may_be_set_by_hand(self) -> None:
        messages = exchanges(2, words=40)
        task = replace(tasks_of(messages)[0], status="succeeded", result="short")
        assert apply_compression_results(messages, [task])[0].content == "short"

    @pytest.mark.parametrize("text", ["", "  \n "])
    def test_an_empty_result_is_never_applied(self, text: str) -> None:
        messages = exchanges(2, words=40)
        assert apply_compression_results(messages, [tasks_of(messages)[0].succeeded(text)]) == messages

    def test_no_results(self) -> None:
        messages = exchanges(2)
        applied = apply_compression_results(messages, [])
        assert applied == messages
        assert applied is not messages

    def test_a_message_that_moved_is_found_by_its_id(self) -> None:
        """Law 8."""
        messages = exchanges(3, words=40)
        task = tasks_of(messages)[2].succeeded("short")
        applied = apply_compression_results(messages[1:], [task])
        assert [message.content == "short" for message in applied] == [False, True, False, False, False]

    def test_a_message_that_says_something_else_by_now_is_left_as_it_is(self) -> None:
        messages = exchanges(3, words=40)
        task = tasks_of(messages)[0].succeeded("short")
        edited = [messages[0].model_copy(update={"content": "Edited meanwhile."}), *messages[1:]]
        assert apply_compression_results(edited, [task]) == edited
        assert apply_compression_results(messages[1:], [task]) == messages[1:]

    @given(conversations(), st.randoms(use_true_random=False))
    def test_nothing_but_the_text_of_succeeded_tasks_changes(
        self, messages: list[BaseMessage], rng: random.Random
    ) -> None:
        """B5, B6: in any order of the results, and the input stays."""
        before = copied(messages)
        finished = [
            task.succeeded(f"short {task.message_index}") if rng.random() < 0.6 else task.failed()
            for task in tasks_of(messages, min_tokens=0)
        ]
        applied = apply_compression_results(messages, finished)
        assert messages == before
        texts = {task.message_index: task.result for task in finished if task.status == "succeeded"}
        assert len(applied) == len(messages)
        for place, (after, original) in enumerate(zip(applied, messages, strict=True)):
            if place in texts:
                assert text_of(after) == texts[place]
                assert without_text(after) == without_text(original)
            else:
                assert after is original
        shuffled = apply_compression_results(messages, rng.sample(finished, k=len(finished)))
        assert [as_bytes(message) for message in shuffled] == [as_bytes(message) for message in applied]
