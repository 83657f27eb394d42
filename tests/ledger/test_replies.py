"""A short answer is kept together with the question of the assistant that it answers (G5)."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress.ledger import Ledger, extract_records, merge

ANSWERED = [
    ("Which account should the refund go to?", "the one ending 4471"),
    ("Which colour would you like for the office chairs?", "blue"),
    ("When should the courier ring the bell?", "around half six"),
    ("What name is the booking under?", "Theodora Vasquez-Lindqvist"),
    ("Welche Farbe soll die Wand bekommen?", "Salbeigrün"),
    ("¿A qué hora llega el piano?", "a las ocho y media"),
    ("您要什么颜色？", "蓝色"),
]


def talk(question: str, answer: str) -> list[BaseMessage]:
    return [
        HumanMessage("Let us go on with it.", id="h0"),
        AIMessage(f"Gladly. {question}", id="a0"),
        HumanMessage(answer, id="h1"),
        AIMessage("Noted.", id="a1"),
    ]


def facts(ledger: Ledger) -> list[str]:
    return [fact.text for fact in ledger.facts]


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
@pytest.mark.parametrize("cut", [0, 2])
def test_g5_a_short_answer_is_kept_with_its_question_wherever_a_stretch_ends(
    question: str, answer: str, cut: int
) -> None:
    messages = talk(question, answer)
    earlier, later = extract_records(messages[:cut]), extract_records(messages[cut:])
    ledger = merge(earlier, later)
    assert f"{answer} (asked: {question})" in facts(ledger)
    assert merge(ledger, later) == ledger
    found = next(fact for fact in ledger.facts if question in fact.text)
    assert found.sources == ("h1",)


@pytest.mark.parametrize(
    "answer",
    ["yes please", "No, that's all.", "Go ahead.", "I think so", "What do you mean?", "The lead is Hyacinth Obi."],
)
def test_what_agrees_asks_back_or_stands_alone_is_no_short_answer(answer: str) -> None:
    assert not any("asked:" in text for text in facts(extract_records(talk("Shall I send it to the lead?", answer))))


def test_only_the_assistants_question_is_kept_with_an_answer() -> None:
    messages: list[BaseMessage] = [
        HumanMessage("Which of them is blue?", id="h0"),
        HumanMessage("the tall one", id="h1"),
    ]
    assert not any("asked:" in text for text in facts(extract_records(messages)))
