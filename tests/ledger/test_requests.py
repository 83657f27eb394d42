"""Requests: each once, open until it was answered, and never a list that only grows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress.ledger import Ledger, extract_records, merge

ASKED = [
    "Could you send me the plan of the house?",
    "Please book a table for four.",
    "What about the garden? Somewhere with a view, please, and not too far to walk.",
    "That is still not working, please look again.",
]


def talk(asked: list[str]) -> list[list[BaseMessage]]:
    """Each question with its answer."""
    return [
        [HumanMessage(text, id=f"q{place}"), AIMessage("I have seen to it.", id=f"a{place}")]
        for place, text in enumerate(asked)
    ]


def by_steps(parts: list[list[BaseMessage]]) -> Ledger:
    ledger = Ledger()
    for part in parts:
        ledger = merge(ledger, extract_records(part))
    return ledger


@given(st.lists(st.sampled_from(ASKED), max_size=30))
def test_at_most_the_last_two_are_open_and_no_text_stands_twice(asked: list[str]) -> None:
    parts = talk(asked)
    for ledger in (by_steps(parts), extract_records([message for part in parts for message in part])):
        texts = [request.text for request in ledger.requests]
        assert len(set(texts)) == len(texts)
        assert sum(request.status == "open" for request in ledger.requests) <= 2


@given(st.lists(st.sampled_from(ASKED), max_size=12))
def test_merging_the_same_part_again_changes_no_request(asked: list[str]) -> None:
    parts = talk(asked)
    ledger = by_steps(parts)
    for part in parts:
        assert merge(ledger, extract_records(part)).requests == ledger.requests


def test_what_is_asked_again_in_the_same_words_is_open_again() -> None:
    ledger = by_steps(talk([ASKED[0], ASKED[1], ASKED[0]]))
    assert [(r.text, r.status, r.sources) for r in ledger.requests] == [
        (ASKED[1], "finished", ("q1",)),
        (ASKED[0], "open", ("q0", "q2")),
    ]


@pytest.mark.parametrize("in_one", [True, False])
def test_a_complaint_leaves_only_what_was_asked_last_open(in_one: bool) -> None:
    parts = talk([ASKED[0], ASKED[1], "That is still not working."])
    ledger = extract_records([m for part in parts for m in part]) if in_one else by_steps(parts)
    status = {request.text: request.status for request in ledger.requests}
    assert status[ASKED[0]] == "finished"
    assert status[ASKED[1]] == "open"
