"""The active context as a function of what is stored: law 8, by id and never by index."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress.messages import MARK_KEY, content_hash, pin, summary_mark
from langchain_ctxcompress.storage import CheckpointChain, CheckpointSummary, View, encode_message, summary_message
from tests.support.conversations import agent_run, conversations, copied, exchanges
from tests.support.legality import is_summary, violations


def record(
    messages: list[BaseMessage],
    start: int,
    end: int,
    *,
    number: int = 1,
    previous: CheckpointSummary | None = None,
    rendered: str | None = None,
    **fields: object,
) -> CheckpointSummary:
    """The checkpoint that a compression of `messages[start:end]` leaves."""
    gone = messages[start:end]
    return CheckpointSummary(
        **{
            "checkpoint_id": f"c{number}",
            "session_id": "s",
            "number": number,
            "level": 3,
            "covered": {message.id: content_hash(message) for message in gone},
            "previous": previous.checkpoint_id if previous else "",
            "shown": (*(previous.shown if previous else ()), f"c{number}"),
            "first_id": previous.first_id if previous else gone[0].id,
            "last_id": gone[-1].id,
            "next_id": messages[end].id if end < len(messages) else "",
            "behind": tuple(message.id for message in messages[end:]),
            "count": len(gone) + (previous.count if previous else 0),
            "rendered": f"Summary {number}" if rendered is None else rendered,
            **fields,
        }
    )


@dataclass
class Compressed:
    """A list, and the same after one compression of its middle."""

    full: list[BaseMessage]
    start: int
    end: int

    def __post_init__(self) -> None:
        self.record = record(self.full, self.start, self.end)
        self.summary = summary_message(self.record)
        self.list = [*self.full[: self.start], self.summary, *self.full[self.end :]]
        self.gone = tuple(self.full[self.start : self.end])
        self.chain = CheckpointChain([self.record])


@st.composite
def compressed(draw: st.DrawFn) -> Compressed:
    """Compresses any part but the newest human message, which no compression covers (law 6)."""
    said = draw(conversations(max_messages=30, min_messages=2, ids="all", duplicate_ids=False, pins=False))
    start = draw(st.integers(0, len(said) - 2))
    end = draw(st.integers(start + 1, len(said)))
    return Compressed([*said, AIMessage("Done.", id="done"), HumanMessage("And now?", id="now")], start, end)


def ids(messages: list[BaseMessage]) -> list[str | None]:
    return [message.id for message in messages]


def only_for_legality(held: list[BaseMessage], view: list[BaseMessage], given: list[BaseMessage]) -> bool:
    """Whether each of the messages that came back and stay is a question without which a provider refuses the list."""
    rules = ("human-first", "call-after-words")

    def broken(messages: list[BaseMessage]) -> bool:
        front = sum(1 for _ in takewhile(lambda m: isinstance(m, SystemMessage | ToolMessage), messages))
        said = [m for m in messages[:front] if not isinstance(m, ToolMessage)]  # orphans in front are dropped elsewhere
        said += messages[front:]
        return any(line.startswith(rules) for line in violations(said, original=given))

    needed = (broken([message for message in view if message is not one]) for one in held)
    return not broken(view) and all(isinstance(one, HumanMessage) for one in held) and all(needed)


class TestSummaryMessage:
    def test_it_describes_itself(self) -> None:
        full = exchanges(10)
        first = record(full, 2, 6)
        second = record(full, 6, 10, number=2, previous=first)
        message = summary_message(second)
        assert isinstance(message, HumanMessage)
        assert (message.text, message.id) == ("Summary 2", "human-1")
        assert message.additional_kwargs == {
            MARK_KEY: {
                "kind": "summary",
                "schema_version": 1,
                "session_id": "s",
                "checkpoint_ids": ["c1", "c2"],
                "first_id": "human-1",
                "last_id": "ai-4",
                "count": 8,
            }
        }

    def test_the_newest_checkpoint_is_named_last_even_where_it_shows_no_text(self) -> None:
        full = exchanges(10)
        dropped = record(full, 2, 4, number=2, shown=("c1",), level=0)
        assert (summary_mark(summary_message(dropped)) or {})["checkpoint_ids"] == ["c1", "c2"]


class TestOneCompression:
    @settings(max_examples=100)
    @given(compressed())
    def test_the_compressed_list_is_its_own_view(self, case: Compressed) -> None:
        view = case.chain.apply(case.list)
        assert view == View(case.list, case.record)
        assert not view.changed
        assert [id(message) for message in view.messages] == [id(message) for message in case.list]

    @settings(max_examples=100)
    @given(compressed())
    def test_a_client_that_sends_the_whole_list_again_gets_the_same_view(self, case: Compressed) -> None:
        tail = [HumanMessage("and now?", id="new")]
        view = case.chain.apply([*copied(case.full), *tail])
        assert view.messages == [*case.list, *tail]
        assert view.returned == case.gone
        assert view.head == case.record
        assert view.restored
        assert view.changed

    @settings(max_examples=100)
    @given(compressed(), st.data())
    def test_originals_that_came_back_beside_the_summary_are_dropped_again(
        self, case: Compressed, data: st.DataObject
    ) -> None:
        back = data.draw(st.lists(st.sampled_from(case.gone), min_size=1, max_size=4, unique_by=id))
        messages = list(case.list)
        for message in back:
            messages.insert(data.draw(st.integers(0, len(messages) - 2)), message)
        view = case.chain.apply(messages)
        held = [message for message in view.messages if message in back and not is_summary(message)]
        assert [message for message in view.messages if message not in held] == case.list
        assert sorted(ids([*view.returned, *held])) == sorted(ids(back))
        assert not view.restored
        assert only_for_legality(held, view.messages, messages)

    @settings(max_examples=60)
    @given(compressed(), st.data())
    def test_the_same_id_with_other_words_is_a_new_revision_and_stays(
        self, case: Compressed, data: st.DataObject
    ) -> None:
        revised = data.draw(st.sampled_from(case.gone)).model_copy(update={"content": "in other words"})
        messages = [*case.list, revised]
        assert case.chain.apply(messages).messages == messages

    @settings(max_examples=60)
    @given(compressed(), st.data())
    def test_a_list_sent_again_with_edits_holds_no_id_twice(self, case: Compressed, data: st.DataObject) -> None:
        edited = [
            m.model_copy(update={"content": "edited"}) if m in case.gone and data.draw(st.booleans()) else m
            for m in case.full
        ]
        view = case.chain.apply(edited)
        assert len(set(ids(view.messages))) == len(view.messages)
        assert [m for m in view.messages if m.text == "edited"] == [m for m in edited if m.text == "edited"]
        held = [m for m in view.messages if m in case.gone and m in edited and not is_summary(m)]
        assert {m.id for m in (*view.returned, *held)} == {m.id for m in case.gone if m in edited}
        assert all(isinstance(message, HumanMessage) for message in held), "questions that part words from calls"
        assert case.chain.apply(view.messages).messages == view.messages

    @settings(max_examples=60)
    @given(compressed())
    def test_metadata_alone_makes_no_revision(self, case: Compressed) -> None:
        touched = [m.model_copy(update={"response_metadata": {"seen": True}}) for m in case.full]
        assert ids(case.chain.apply(touched).messages) == ids(case.list)

    @settings(max_examples=60)
    @given(compressed(), st.data())
    def test_a_fork_from_before_the_compression_stays_as_it_is(self, case: Compressed, data: st.DataObject) -> None:
        fork = case.full[: data.draw(st.integers(0, case.end - 1))]
        other_way = [HumanMessage("another way", id="fork")]
        assert case.chain.apply([*fork, *other_way]) == View([*fork, *other_way])

    @settings(max_examples=60)
    @given(compressed())
    def test_a_summary_that_somebody_removed_stays_removed(self, case: Compressed) -> None:
        left = [*case.full[: case.start], *case.full[case.end :]]
        assert case.chain.apply(left).messages == left

    @settings(max_examples=60)
    @given(compressed(), st.data())
    def test_messages_that_others_delete_or_add_change_nothing_else(
        self, case: Compressed, data: st.DataObject
    ) -> None:
        kept = [m for m in case.list if m is case.summary or data.draw(st.booleans())]
        kept.insert(data.draw(st.integers(0, len(kept))), HumanMessage("by another", id="other"))
        assert case.chain.apply(kept) == View(kept, case.record)

    @given(compressed())
    def test_a_view_of_a_view_is_the_view(self, case: Compressed) -> None:
        once = case.chain.apply(case.full)
        assert case.chain.apply(once.messages).messages == once.messages

    @given(compressed())
    def test_the_input_is_not_changed(self, case: Compressed) -> None:
        messages = list(case.full)
        before = copied(messages)
        case.chain.apply(messages)
        assert messages == before

    def test_the_newest_human_message_stays_even_where_it_was_covered(self) -> None:
        full = exchanges(3)
        only = record(full, 0, 6)
        view = CheckpointChain([only]).apply(full)
        assert view.messages == [summary_message(only), full[4]]
        later = HumanMessage("next", id="next")
        assert CheckpointChain([only]).apply([*full, later]).messages == [summary_message(only), later]

    def test_a_summary_whose_checkpoint_is_not_known_is_taken_as_it_is(self) -> None:
        case = Compressed(exchanges(5), 2, 6)
        messages = [*case.list, case.gone[0]]
        assert CheckpointChain().apply(messages) == View(messages)
        other = CheckpointChain([case.record.model_copy(update={"checkpoint_id": "other"})])
        assert other.apply(messages) == View(messages)

    @pytest.mark.parametrize("named", [None, []])
    def test_a_summary_that_names_no_checkpoint(self, named: object) -> None:
        case = Compressed(exchanges(5), 2, 6)
        mark = {**case.summary.additional_kwargs[MARK_KEY], "checkpoint_ids": named}
        case.list[2] = case.summary.model_copy(update={"additional_kwargs": {MARK_KEY: mark}})
        assert case.chain.apply(case.list) == View(case.list)

    def test_no_checkpoints_no_view(self) -> None:
        messages = exchanges(2)
        view = CheckpointChain().apply(messages)
        assert view == View(messages)
        assert view.messages is not messages


class TestRenewedTexts:
    def test_a_summary_that_shows_what_was_taken_back_is_exchanged_in_its_place(self) -> None:
        case = Compressed(exchanges(6), 2, 8)
        renewed = case.record.model_copy(update={"rendered": "Written anew", "renewed": 1})
        view = CheckpointChain([renewed]).apply(case.list)
        assert view.messages == [*case.full[:2], summary_message(renewed), *case.full[8:]]
        assert view.restored
        assert not CheckpointChain([renewed]).apply(view.messages).changed


class TestDropsWithoutASummary:
    def test_they_are_dropped_again_and_no_summary_is_made_up(self) -> None:
        full = exchanges(6)
        dropped = record(full, 2, 6, level=0, rendered="", shown=())
        view = CheckpointChain([dropped]).apply(full)
        assert view.messages == [*full[:2], *full[6:]]
        assert view.returned == tuple(full[2:6])
        assert not view.restored

    def test_the_human_message_before_the_first_answer_that_stays_stays_too(self) -> None:
        full = exchanges(4)
        dropped = record(full, 0, 3, level=0, rendered="", shown=())
        view = CheckpointChain([dropped]).apply(full)
        assert view.messages == full[2:], "providers want a human message first"
        assert view.returned == tuple(full[:2])

    def test_behind_a_summary(self) -> None:
        full = exchanges(8)
        first = record(full, 2, 6)
        second = record(full, 6, 8, number=2, previous=first, level=0, shown=("c1",), rendered="Summary 1")
        view = CheckpointChain([first, second]).apply(full)
        assert view.messages == [*full[:2], summary_message(second), *full[8:]]


class TestMessagesThatWereCut:
    """A rung may cut a message where it stands; the original may come back then too."""

    def setup_method(self) -> None:
        self.full = exchanges(5)
        self.original = self.full[3]
        self.short = self.original.model_copy(
            update={"content": "cut", "additional_kwargs": {MARK_KEY: {"kind": "cut"}}}
        )
        altered = {self.original.id: (content_hash(self.original), encode_message(self.short))}
        self.cut = record(self.full, 3, 4, covered={}, altered=altered, rendered="", level=0, next_id="", behind=())
        self.chain = CheckpointChain([self.cut])
        self.list = [*self.full[:3], self.short, *self.full[4:]]

    def test_the_original_is_cut_again(self) -> None:
        view = self.chain.apply(self.full)
        assert view.messages == self.list
        assert view.head == self.cut
        assert view.restored
        assert view.returned == ()

    def test_the_cut_one_stays(self) -> None:
        assert self.chain.apply(self.list).messages == self.list
        assert not self.chain.apply(self.list).restored

    def test_other_words_stay(self) -> None:
        revised = [*self.full]
        revised[3] = self.original.model_copy(update={"content": "in other words"})
        assert self.chain.apply(revised).messages == revised

    def test_a_later_checkpoint_that_covers_the_cut_one_covers_the_original(self) -> None:
        later = record(self.list, 2, 6, number=2, previous=self.cut, first_id=self.full[2].id)
        chain = CheckpointChain([self.cut, later])
        view = chain.apply(self.full)
        assert view.messages == [*self.full[:2], summary_message(later), *self.full[6:]]
        assert view.returned == tuple(self.full[2:6])


class TestPins:
    def test_a_covered_message_that_comes_back_pinned_stays(self) -> None:
        case = Compressed(exchanges(6), 2, 8)
        again = list(case.full)
        again[5] = pin(again[5])
        view = case.chain.apply(again)
        assert again[5] in view.messages
        assert view.returned == tuple(m for m in case.gone if m.id != again[5].id)

    def test_with_the_whole_step_it_is_part_of(self) -> None:
        case = Compressed(agent_run(6), 1, 9)
        again = list(case.full)
        again[4] = pin(again[4])  # a result: its call has to stay too
        view = case.chain.apply(again)
        assert again[3] in view.messages
        assert again[4] in view.messages
        assert len(view.returned) == 6


def test_an_id_that_stands_twice_tells_no_place() -> None:
    """A message in front of the summary bears an id that one behind it has, too: the summary stays where it is."""
    messages = exchanges(6)
    messages[1] = messages[1].model_copy(update={"id": messages[8].id})
    head = record(messages, 2, 8, next_id=messages[8].id, behind=tuple(m.id for m in messages[8:]))
    there = [*messages[:2], summary_message(head), *messages[8:]]
    assert CheckpointChain([head]).apply(there) == View(there, head)
