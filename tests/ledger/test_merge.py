"""Merging: duplicates join, what is newer supersedes, what is alike but not the same stays two (G5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langchain_ctxcompress.ledger import Ledger, extract_records, merge
from tests.ledger.talk import said, shown, statements

LINES = [
    "Always quote prices in francs.",
    "Never phone my office.",
    "Use metric units only.",
    "The deadline for the mural is 3 May.",
    "The deadline for the mural is now 14 May.",
    "Our supplier for the sauna is Norvik.",
    "Our supplier for the sauna is now Halden.",
    "You can now phone my office.",
    "Book 4 seats for Friday.",
    "Actually make that 6 seats.",
    "Can you look that up?",
    "I can't eat sesame.",
]
UNRELATED = [
    "Always quote prices in francs.",
    "Never phone my office.",
    "I can't eat sesame.",
    "My brother Ilyas keeps the accounts.",
    "The hall only holds 45 people.",
    "Antworte ab jetzt immer auf Deutsch.",
]
lines = st.lists(st.sampled_from(LINES), max_size=6)


def known(ledger: Ledger) -> set[tuple[str, str]]:
    return {(type(record).__name__, record.text) for record in (*ledger.rules, *ledger.facts, *ledger.values)}


@given(lines, lines)
def test_merging_twice_changes_nothing(first: list[str], second: list[str]) -> None:
    old, new = said(*first), said(*second, start=50)
    once = merge(old, new)
    assert merge(once, new) == once
    assert merge(once, old) == once
    assert merge(once, once) == once
    assert merge(once, Ledger()) == once
    assert merge(Ledger(), once) == once


@given(st.permutations(UNRELATED), st.integers(0, 6))
def test_unrelated_records_do_not_depend_on_order(order: list[str], cut: int) -> None:
    parts = [extract_records([HumanMessage(text, id=text)]) for text in order]
    forward, backward = Ledger(), Ledger()
    for part in parts:
        forward = merge(forward, part)
    for part in reversed(parts):
        backward = merge(backward, part)
    assert known(forward) == known(backward)
    left, right = Ledger(), Ledger()
    for part in parts[:cut]:
        left = merge(left, part)
    for part in parts[cut:]:
        right = merge(right, part)
    assert known(merge(left, right)) == known(forward)


@given(lines, lines)
def test_sources_come_from_the_parts_and_json_brings_all_back(first: list[str], second: list[str]) -> None:
    old, new = said(*first), said(*second, start=50)
    merged = merge(old, new)
    sources = {source for part in (old, new) for record in part.records() for source in record.sources}
    assert {source for record in merged.records() for source in record.sources} <= sources
    assert Ledger.model_validate_json(merged.model_dump_json()) == merged


CHANGES = [
    ("The deadline is 3 May.", "The deadline is now 14 May.", "14 May", "3 May"),
    ("Our budget is $4,200.", "Our budget was raised to $5,100.", "$5,100", "$4,200"),
    ("Use branch release/2.1 for it.", "Change the branch to release/2.4.", "release/2.4", "release/2.1"),
    ("Book 4 seats at Lupo.", "Actually make that 6 seats.", "6 seats", "4 seats"),
    ("The call with Lena is at 4 pm.", "Make it 5 pm instead.", "5 pm", "4 pm"),
    ("The meeting is at 4 pm.", "The meeting was moved from 4 pm to 5 pm.", "5 pm", "is at 4 pm"),
    ("My contact is Lena Brandt.", "My contact is now Piet Vos.", "Piet Vos", "Lena Brandt"),
    ("Never deploy on Fridays.", "You can now deploy on Fridays.", "can now deploy", "Never deploy"),
    ("Die Frist ist der 3. Mai.", "Die Frist ist jetzt der 14. Mai.", "14. Mai", "3. Mai"),
    ("截止日期是5月3日。", "截止日期改为5月14日。", "5月14日", "5月3日"),
    ("El presupuesto es 900 euros.", "El presupuesto ahora es 1200 euros.", "1200 euros", "900 euros"),
]


@pytest.mark.parametrize(("before", "after", "current", "stale"), CHANGES)
def test_g5_a_newer_value_supersedes_the_older_one(before: str, after: str, current: str, stale: str) -> None:
    for ledger in (merge(said(before), said(after, start=9)), said(before, after)):
        requests_aside = shown(ledger.model_copy(update={"requests": ()}))
        assert current in requests_aside
        assert stale not in requests_aside


ALIKE = [
    ("The project's budget is $4,200.", "The conference's budget is $900."),
    ("The front gate code is 4471.", "The back gate code is 9082."),
    ("Ana's flight lands at 14:35.", "Ben's flight lands at 16:50."),
    ("Never phone my office before 9.", "Never phone my office after 9."),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_g5_two_similar_things_stay_two(one: str, other: str) -> None:
    text = shown(merge(said(one), said(other, start=9)))
    assert one in text
    assert other in text


def test_g5_a_change_of_one_of_two_similar_things_leaves_the_other() -> None:
    ledger = said(
        "The project's budget is $4,200.",
        "The conference's budget is $900.",
        "The conference's budget was raised to $1,100.",
    )
    text = shown(ledger)
    assert "$4,200" in text
    assert "$1,100" in text
    assert "$900" not in text


def test_a_rule_said_again_is_one_rule_with_both_sources() -> None:
    ledger = merge(said("Never phone my office."), said("Please never phone my office!", start=9))
    assert [rule.text for rule in ledger.rules] == ["Never phone my office."]
    assert ledger.rules[0].sources == ("h0", "h9")


def test_a_rule_taken_back_is_gone_and_stays_gone() -> None:
    old = said("Always send me a summary by email.")
    ledger = merge(old, said("Forget what I said about the email summary.", start=9))
    assert statements(ledger) == []
    assert statements(merge(ledger, old)) == []


def test_a_rule_given_again_after_it_was_taken_back_holds() -> None:
    ledger = merge(said("Never phone my office."), said("You can now phone my office.", start=9))
    ledger = merge(ledger, said("Never phone my office.", start=20))
    assert "Never phone my office." in statements(ledger)


def test_done_is_done_across_merges() -> None:
    ledger = merge(said("Please book a taxi for 9:30."), said("Great. Which hotel is near?", start=9))
    assert [request.status for request in ledger.requests] == ["finished", "open"]
    ledger = merge(said("Please book a taxi for 9:30."), said("That didn't work.", start=9))
    assert ledger.requests[0].status == "open"


def test_g5_rules_are_all_kept_while_the_rest_is_bounded() -> None:
    ledger = Ledger()
    for index in range(120):
        texts = [
            f"Never open folder number{index}.",
            *(f"My badge {index}-{each} is B{index}X{each}." for each in range(8)),
        ]
        ledger = merge(ledger, said(*texts, start=index * 100))
    assert len(ledger.rules) == 120
    assert len(ledger.facts) <= 400
    assert len(ledger.values) <= 400
    assert len(ledger.requests) <= 60


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("The bakery rent is 4,170 francs.", "The bakery rent went to 3,540 francs.", "4,170 francs"),
        ("The bakery rent is 4,170 francs.", "The bakery rent climbed to 5,540 francs.", "4,170 francs"),
        ("Die Miete der Bude beträgt 520 Euro.", "Die Miete der Bude wurde auf 690 Euro angehoben.", "520 Euro"),
        ("Il prezzo per il torneo è 250 euro.", "Il prezzo per il torneo è salito a 290 euro.", "250 euro"),
    ],
)
def test_a_measure_of_the_same_thing_supersedes_without_an_announcement(old: str, new: str, gone: str) -> None:
    ledger = said(old, new)
    assert gone in [each.text for each in ledger.superseded if not each.whole]
    assert gone not in [value.text for value in ledger.values]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The bakery rent is 4,170 francs.", "The bakery deposit is 3,540 francs."),
        ("The bakery rent is 4,170 francs.", "The bakery rent includes 40 francs."),
        ("The project's budget is 4,170 francs.", "The conference's budget rose to 3,540 francs."),
        ("The harvest tour is 20 people.", "The harvest tour is 300 francs."),
        ("The upper shelf is 3 metres long.", "The upper shelf is 2 metres wide."),
    ],
)
def test_two_similar_measures_stay_two(one: str, other: str) -> None:
    ledger = said(one, other)
    assert len(ledger.values) == 2
    assert ledger.superseded == ()


@pytest.mark.parametrize(
    ("older", "newer", "left"),
    [
        ("Order 148 tiles for the lighthouse.", "Order 701 tiles for the lighthouse instead of 148.", 1),
        ("The gate code of house 4 is 8841.", "The gate code of house 7 is 9922.", 2),
        ("Order A-1001 goes to Lyon.", "Order A-1002 goes to Lyon.", 2),
        ("Room 12 is for the board meeting.", "Room 14 is for the board meeting.", 2),
        ("On 2027-03-01 we visit the plant in Turin.", "On 2027-04-01 we visit the plant in Turin.", 2),
    ],
)
def test_a_statement_goes_where_a_newer_one_names_its_value_and_another(older: str, newer: str, left: int) -> None:
    first, second = (extract_records([HumanMessage(text, id=text)]) for text in (older, newer))
    merged = merge(first, second)
    assert [record.text for record in (*merged.rules, *merged.facts)] == [older, newer][-left:]
