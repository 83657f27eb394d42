"""Requests: each once, open until it was answered, and never a list that only grows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
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


LANGUAGES = [
    ("Could you book the ferry to Gotland?", "The ferry is booked.", "And the weather there?", "Never call my office."),
    ("Kannst du bitte die Fähre buchen?", "Die Fähre ist gebucht.", "Und das Wetter dort?", "Ruf nie im Büro an."),
    ("¿Puedes reservar el ferry?", "El ferry está reservado.", "¿Y el tiempo allí?", "Nunca llames a mi oficina."),
    ("Peux-tu réserver le ferry ?", "Le ferry est réservé.", "Et le temps là-bas ?", "N'appelle jamais mon bureau."),
    ("Você pode reservar a balsa?", "A balsa está reservada.", "E o tempo lá?", "Nunca ligue para o escritório."),
    ("Puoi prenotare il traghetto?", "Il traghetto è prenotato.", "E il tempo?", "Non chiamare mai in ufficio."),
    ("Можешь забронировать паром?", "Паром забронирован.", "А какая там погода?", "Никогда не звони в офис."),
    ("请帮我订渡轮票。", "渡轮票已经订好了。", "那边天气怎么样？", "千万不要打电话到我办公室。"),
    (
        "フェリーを予約してください。",
        "予約しました。",
        "向こうの天気はどうですか？",
        "会社には絶対に電話しないでください。",
    ),
    ("هل يمكنك حجز العبارة؟", "تم حجز العبارة.", "وكيف الطقس هناك؟", "لا تتصل بمكتبي أبدا."),
    ("कृपया नौका बुक करें।", "नौका बुक हो गई।", "और वहाँ का मौसम कैसा है?", "मेरे दफ़्तर कभी फ़ोन मत करना।"),
]


def call(place: int) -> list[BaseMessage]:
    calls = [{"name": "look_up", "args": {"page": place}, "id": f"c{place}"}]
    return [
        AIMessage("", tool_calls=calls, id=f"w{place}"),
        ToolMessage("found", tool_call_id=f"c{place}", id=f"t{place}"),
    ]


LONG = "You could walk along the water first, then turn to the old town and see the market. " * 12


def section(text: str, heading: str) -> str:
    return text.partition(f"## {heading}\n")[2].partition("\n\n")[0].partition("</ledger>")[0]


def summary_of(messages: list[BaseMessage]) -> str:
    config = PrunerConfig(hard_limit_tokens=4_000, soft_limit_tokens=2_500, recent_turns=2, pinned_prefix_turns=0)
    result = ContextCompressor(None, config=config).compress(messages, force=True)
    return next(message.text for message in result.messages if "<ledger>" in message.text)


@pytest.mark.parametrize(("asked", "answer", "then", "rule"), LANGUAGES)
def test_what_was_answered_is_not_open_after_a_compression_and_rules_stay(
    asked: str, answer: str, then: str, rule: str
) -> None:
    filler = [m for place in range(3) for m in (HumanMessage(f"{then} {place}"), AIMessage(f"{answer} {LONG}"))]
    text = summary_of([HumanMessage(rule), AIMessage("ok"), HumanMessage(asked), AIMessage(answer), *filler])
    assert asked not in section(text, "Open requests")
    assert rule in section(text, "Rules of the user")


@pytest.mark.parametrize(("asked", "answer", "then", "rule"), LANGUAGES)
def test_what_was_not_answered_yet_is_open_whatever_the_user_adds(
    asked: str, answer: str, then: str, rule: str
) -> None:
    """The agent was at work when the user spoke again: nothing of it is finished."""
    ledger = extract_records([HumanMessage(asked), *call(0), HumanMessage(rule), *call(1), *call(2)])
    assert [(request.text, request.status) for request in ledger.requests[:1]] == [(asked, "open")]
    done = merge(ledger, extract_records([AIMessage(answer), HumanMessage(then)]))
    assert {request.status for request in done.requests if request.text == asked} == {"finished"}


def test_what_is_asked_again_behind_the_replaced_messages_is_not_open_in_the_summary() -> None:
    """Asked a second time it stands in the messages that stay, and was answered there."""
    parts = talk([ASKED[0], ASKED[1], ASKED[2], ASKED[0], ASKED[1]])
    text = summary_of([m if m.type == "human" else AIMessage(LONG, id=m.id) for part in parts for m in part])
    assert section(text, "Open requests") == ""


@pytest.mark.parametrize(
    "text",
    [
        "Please fix the wrong total in the quarterly report for the Leeds branch.",
        "Corrige por favor el error de la página de contacto del proyecto nuevo.",
        "Bitte korrigiere den Fehler auf der Seite mit den Öffnungszeiten der Filiale.",
    ],
)
def test_a_new_request_that_speaks_of_an_error_is_no_complaint_about_the_last_one(text: str) -> None:
    ledger = by_steps(talk([ASKED[0], text]))
    assert [request.status for request in ledger.requests] == ["finished", "open"]


steps = st.sampled_from(["ask", "act", "answer", "complain", "add"])


@given(st.lists(steps, max_size=14), st.lists(st.integers(1, 4), min_size=14, max_size=14))
def test_a_request_is_finished_by_an_answer_and_what_the_user_says_then_and_by_nothing_else(
    script: list[str], lengths: list[int]
) -> None:
    messages: list[BaseMessage] = []
    expected: dict[str, str] = {}  # each request and how it stands: asked, answered, finished
    for place, step in enumerate(script):
        if step in {"ask", "complain", "add"}:
            answered = [text for text, stands in expected.items() if stands == "answered"]
            for text in answered:
                expected[text] = "asked" if step == "complain" and text == answered[-1] else "finished"
        if step == "ask":
            expected[f"Please send me plan number {place}7 of the house."] = "asked"
            messages.append(HumanMessage(f"Please send me plan number {place}7 of the house.", id=f"h{place}"))
        elif step == "act":
            messages += call(place)
        elif step == "answer":
            expected = {text: "answered" if stands == "asked" else stands for text, stands in expected.items()}
            messages.append(AIMessage("I have seen to it.", id=f"a{place}"))
        else:
            text = "That is still not working." if step == "complain" else "The garden has a gate."
            messages.append(HumanMessage(text, id=f"h{place}"))
    parts: list[list[BaseMessage]] = []
    rest = messages
    for length in lengths:
        parts, rest = [*parts, rest[:length]], rest[length:]
    for ledger in (extract_records(messages), by_steps([part for part in [*parts, rest] if part])):
        stands = {request.text: request.status for request in ledger.requests}
        assert stands == {text: "finished" if how == "finished" else "open" for text, how in expected.items()}
