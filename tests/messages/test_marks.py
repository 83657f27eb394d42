"""Pins and summary marks: the package's own entry in a message."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress.messages import MARK_KEY, is_derived, is_pinned, is_summary, pin, summary_mark, unpin
from tests.messages.drawn import summary
from tests.support.conversations import conversations, copied


class TestPins:
    @settings(max_examples=50)
    @given(conversations(max_messages=12))
    def test_a_pin_is_a_copy_with_the_same_id_and_words(self, messages: list[BaseMessage]) -> None:
        before = copied(messages)
        for message in messages:
            pinned = pin(message)
            assert is_pinned(pinned)
            assert pinned is not message
            assert (type(pinned), pinned.id, pinned.content) == (type(message), message.id, message.content)
        assert messages == before

    @settings(max_examples=50)
    @given(conversations(max_messages=12, pins=False))
    def test_unpin_takes_back_what_pin_did(self, messages: list[BaseMessage]) -> None:
        assert [unpin(pin(message)) for message in messages] == messages

    def test_pinned_twice_is_pinned_once(self) -> None:
        message = HumanMessage("never", id="1", additional_kwargs={"other": {"deep": [1]}})
        assert pin(pin(message)) == pin(message)
        assert pin(message).additional_kwargs == {"other": {"deep": [1]}, MARK_KEY: {"kind": "pin"}}
        assert not is_pinned(unpin(pin(pin(message))))

    def test_what_is_not_pinned_comes_back_as_it_is(self) -> None:
        message, made = HumanMessage("x", id="1"), summary()
        assert unpin(message) is message
        assert unpin(made) is made

    def test_unpin_does_not_change_its_input(self) -> None:
        pinned = pin(HumanMessage("x", id="1"))
        unpin(pinned)
        assert is_pinned(pinned)

    def test_a_summary_cannot_be_pinned(self) -> None:
        with pytest.raises(ValueError, match="'s1' is a summary message"):
            pin(summary(id="s1"))


class TestSummaryMark:
    def test_a_summary_describes_itself(self) -> None:
        made = summary(id="s1")
        assert is_summary(made)
        assert summary_mark(made) == made.additional_kwargs[MARK_KEY]

    @pytest.mark.parametrize("mark", [None, "summary", ["summary"], {}, {"kind": "pin"}, {"kind": "other"}])
    def test_what_is_no_summary(self, mark: object) -> None:
        message = HumanMessage("x", additional_kwargs={MARK_KEY: mark})
        assert not is_summary(message)
        assert summary_mark(message) is None
        assert is_pinned(message) is (mark == {"kind": "pin"})

    def test_a_message_without_any_entry(self) -> None:
        message = HumanMessage("x")
        assert not (is_summary(message) or is_pinned(message) or is_derived(message))


@pytest.mark.parametrize(
    ("kind", "derived"),
    [("summary", True), ("cut", True), ("cleared", True), ("repair", True), ("pin", False), ("other", False)],
)
def test_which_messages_are_no_originals(kind: str, derived: bool) -> None:
    assert is_derived(HumanMessage("x", additional_kwargs={MARK_KEY: {"kind": kind}})) is derived


def test_a_mark_that_is_no_entry_says_nothing() -> None:
    assert not is_derived(HumanMessage("x", additional_kwargs={MARK_KEY: "summary"}))
