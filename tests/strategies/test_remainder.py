"""What is left of a list: judged the same step by step as when it is looked at whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress.messages import Boundaries, repair_messages
from langchain_ctxcompress.strategies.remainder import Remainder
from tests.strategies.requests import request_for
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import violations

COMPARED = ("call-after-words", "human-first")


@settings(max_examples=80)
@given(conversations(max_messages=60, ids="all", duplicate_ids=False), st.randoms(use_true_random=False))
def test_it_is_sound_where_the_independent_checker_finds_nothing(messages: list[BaseMessage], rng: object) -> None:
    request = request_for(repair_messages(messages).messages)
    left, gone = Remainder(request), set()
    spans = list(Boundaries(request.messages).spans)
    rng.shuffle(spans)  # type: ignore[attr-defined]
    for span in spans:
        left.drop(range(*span))
        gone |= set(range(*span))
        kept = [message for place, message in enumerate(request.messages) if place not in gone]
        found = [line for line in violations(kept, original=request.messages) if line.startswith(COMPARED)]
        assert left.is_sound == (found == [])


def test_what_is_gone_already_and_system_messages_are_passed_over() -> None:
    messages = [SystemMessage("Be brief.", id="sys"), *exchanges(2), *agent_run(2)]
    left = Remainder(request_for(messages))
    left.drop([0, 1])
    assert not left.is_sound, "it begins with the model's words"
    left.drop([0, 1, 2])
    assert left.is_sound
    left.drop([5])
    assert not left.is_sound, "a call follows the answer"
    left.drop([4, 3])
    assert not left.is_sound
    left.drop(range(6, len(messages)))
    assert left.is_sound, "nothing is left"


@pytest.mark.parametrize("kind", [HumanMessage, SystemMessage])
def test_a_list_of_one_is_sound(kind: type[BaseMessage]) -> None:
    left = Remainder(request_for([kind("hi")]))
    assert left.is_sound
    left.drop([0])
    assert left.is_sound


def test_a_list_that_began_with_a_question_and_has_lost_it_is_not_sound_as_it_is() -> None:
    """An earlier rung may have left it so."""
    left = Remainder(request_for(exchanges(2)[1:], began_with_human=True))
    assert not left.is_sound
    left.drop([0])
    assert left.is_sound
