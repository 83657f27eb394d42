"""The rendered ledger: bounded, stable, and unable to leave its frame (G5)."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger import Goal, Ledger, escape, merge, render
from langchain_ctxcompress.ledger.lexicon import read
from langchain_ctxcompress.ledger.records import Fact, Request, Superseded, ValueRecord
from tests.ledger.talk import said, shown, words

LINES = [
    "Always quote prices in francs.",
    "Never phone my office.",
    "I can't eat sesame.",
    "My brother Ilyas keeps the accounts.",
    "The deadline for the mural is 3 May.",
    "Please book a taxi for 9:30.",
    "The order is #W2905754 and the badge is 44817.",
    "Our supplier for the sauna is Norvik.",
]
lines = st.lists(st.sampled_from(LINES), max_size=8)


def fixed_part(ledger: Ledger) -> str:
    return render(Ledger(rules=ledger.rules, superseded=ledger.superseded), max_tokens=0, count=words)


@given(lines, st.integers(0, 200))
def test_it_keeps_to_its_budget_unless_the_rules_alone_are_over_it(texts: list[str], budget: int) -> None:
    ledger = said(*texts)
    text = shown(ledger, budget)
    assert words(text) <= max(budget, words(fixed_part(ledger)))


@given(lines, st.integers(0, 200))
def test_g5_rules_and_the_goal_are_never_what_goes(texts: list[str], budget: int) -> None:
    ledger = said(*texts)
    text = render(ledger, Goal(description="Open the shop"), max_tokens=budget, count=words)
    assert "Open the shop" in text
    assert all(rule.text in text for rule in ledger.rules)


@given(lines, st.integers(0, 200))
def test_the_same_ledger_gives_the_same_bytes(texts: list[str], budget: int) -> None:
    ledger = said(*texts)
    again = Ledger.model_validate_json(ledger.model_dump_json())
    assert shown(ledger, budget) == shown(again, budget)
    assert shown(merge(ledger, ledger), budget) == shown(ledger, budget)


@given(lines)
def test_values_go_before_facts(texts: list[str]) -> None:
    ledger = said(*texts)
    full = shown(ledger)
    for budget in range(words(full)):
        text = shown(ledger, budget)
        if "## Values" in text:
            assert all(fact.text in text for fact in ledger.facts)


def test_an_empty_ledger_is_an_empty_text() -> None:
    assert render(Ledger(), max_tokens=100, count=words) == ""


@pytest.mark.parametrize("tag", ["</ledger>", "<system>", "<!-- x -->", "<?xml", "</ summary >"])
def test_text_cannot_open_or_close_a_tag(tag: str) -> None:
    ledger = said(f"Never phone my office {tag} ever.")
    shown_tag = tag.replace("<", "&lt;") if tag[1:2] != "/" or tag[2:3].isalpha() else tag
    assert shown_tag in shown(ledger) or tag not in shown(ledger)
    assert "</ledger>" not in shown(ledger)
    assert "<system>" not in shown(ledger)


@given(st.text())
def test_escaping_is_one_line_and_idempotent(text: str) -> None:
    escaped = escape(text)
    assert "\n" not in escaped
    assert escape(escaped) == escaped


def test_what_is_no_tag_stays_as_written() -> None:
    assert escape("keep a < b and 3 <4, a->b") == "keep a < b and 3 <4, a->b"


def counter(name: str, number: int, order: int, **fields: Any) -> ValueRecord:
    return ValueRecord(text=str(number), subject=name, key=(name,), value_kind="quantity", order=order, **fields)


@given(st.integers(5, 60), st.integers(12, 60), st.sampled_from(("user", "call")))
def test_a_series_of_bare_numbers_does_not_take_the_room_of_values_that_matter(
    many: int, room: int, by: Literal["user", "call"]
) -> None:
    series = [counter("page", number, order=10 + number, uses=1 + number % 4, by=by) for number in range(many)]
    matter = [
        ValueRecord(text="KX-4471", subject="order number", key=("number", "order"), value_kind="id", order=0, by=by),
        ValueRecord(text="$4,200", subject="deposit", key=("deposi",), value_kind="amount", order=1, by=by),
        ValueRecord(text="14 May", subject="due", key=("due",), value_kind="date", order=2, by=by),
        ValueRecord(text="0171 555 2233", subject="phone", key=("phone",), value_kind="phone", order=3, by=by),
    ]
    text = shown(Ledger(values=(*matter, *series)), room)
    pages = text.count("page: ")
    assert pages <= 3
    if pages:
        assert [value.text for value in matter if value.text not in text] == []


def fact(text: str, *, weight: float = 0.6, order: int = 0, source: str = "h", **fields: Any) -> Fact:
    key = tuple(sorted(read(text).content))
    return Fact(text=text, weight=weight, order=order, key=key, sources=(source,), **fields)


def asked(text: str, terms: float, order: int = 0) -> Request:
    key = tuple(sorted(read(text).content))
    return Request(text=text, status="finished", terms=terms, key=key, order=order, sources=("h",))


def test_g5_what_another_line_says_takes_no_room_from_what_is_said_nowhere_else() -> None:
    whole = fact("The kids must not hear of the trip, so nothing goes to the home address.", weight=0.8)
    part = fact("The kids must not hear of the trip", weight=0.9)
    other = fact("Our caretaker Osric keeps the spare keys.", weight=0.3, order=1)
    ledger = Ledger(facts=(part, whole, other))
    assert shown(ledger).count("must not hear") == 2
    text = shown(ledger, words(shown(Ledger(facts=(whole, other)))) + 3)
    assert text.count("must not hear") == 1
    assert whole.text in text
    assert other.text in text


def test_g5_the_terms_of_a_finished_request_stay_before_a_statement_that_is_worth_less() -> None:
    request = asked("Draft a note to the tenants about the lift, under sixty words.", 0.7)
    lesser = fact("Somebody borrowed the drill again.", weight=0.2, order=1)
    ledger = Ledger(facts=(lesser,), requests=(request,))
    text = shown(ledger, words(shown(Ledger(requests=(request,)))) + 2)
    assert request.text in text
    assert lesser.text not in text


@given(st.integers(20, 60))
def test_the_room_is_used_to_the_end(room: int) -> None:
    ledger = Ledger(facts=tuple(fact(f"Shelf number{at} holds jars.", order=at) for at in range(40)))
    assert room - words(shown(ledger, room)) < 7


def test_a_fact_that_only_says_what_no_longer_holds_is_not_shown() -> None:
    old = fact("my locker is 4471-K", slots=("4471-K",))
    gone = Superseded(text="4471-K", key=old.key, order=5, sources=("h",))
    assert shown(Ledger(facts=(old,), superseded=(gone,))) == ""
    joined = old.model_copy(update={"amended": ("they gave me 9920-B",)})
    assert shown(Ledger(facts=(joined,), superseded=(gone,))).endswith("- my locker is [changed] → they gave me 9920-B")
