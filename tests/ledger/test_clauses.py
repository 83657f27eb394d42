"""What is told for good in one clause of a long request is kept; the rest of the request is not (G5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger.clauses import clauses
from langchain_ctxcompress.ledger.voice import Sentence
from tests.ledger.talk import said, statements

REQUESTS = [
    (
        "Could you plan a day in Lisbon for us with two museums and a tram ride, my mother uses a walking frame, and"
        " tell me what it will cost per person in the end?",
        "my mother uses a walking frame",
    ),
    (
        "Can you rewrite the importer so that it streams the file, rename the two confusing flags on the way, never"
        " touch the order of the columns in the header, and tell me how long it takes then?",
        "never touch the order of the columns in the header",
    ),
    (
        "Kannst du mir für Samstag ein Menü mit drei Gängen zusammenstellen, meine Schwiegermutter verträgt keinen"
        " Rotwein, und mir sagen, was ich dafür alles einkaufen muss?",
        "meine Schwiegermutter verträgt keinen Rotwein",
    ),
    (
        "¿Puedes buscarme tres hoteles cerca de la playa para la semana que viene, mi hija es alérgica a los gatos, y"
        " decirme cuál de ellos tiene las mejores opiniones?",
        "mi hija es alérgica a los gatos",
    ),
    (
        "Peux-tu me proposer un itinéraire de trois jours en Bretagne avec deux plages, mon père marche avec une canne,"
        " et me dire combien de kilomètres cela fait en tout ?",
        "mon père marche avec une canne",
    ),
]
PLAIN = [
    "Could you plan a day in Lisbon for us with two museums, a tram ride and a place for lunch, and tell me the price?",
    "Can you look at the second page of the report, compare it with the first one, and tell me which one is longer?",
]


@pytest.mark.parametrize(("request_text", "clause"), REQUESTS)
def test_g5_a_constraint_in_the_middle_of_a_request_is_kept_in_its_words(request_text: str, clause: str) -> None:
    kept = statements(said(request_text))
    assert any(clause in text for text in kept)
    assert request_text not in kept


@pytest.mark.parametrize("request_text", PLAIN)
def test_a_request_without_one_leaves_no_rule(request_text: str) -> None:
    assert said(request_text).rules == ()


def test_a_consequence_stands_with_its_reason() -> None:
    text = "I had a kidney transplant in 2019, so grapefruit and raw fish are dangerous for me."
    assert text.rstrip(".") in " ".join(statements(said(text)))


@given(
    st.lists(
        st.sampled_from(["never ", "so ", "and ", ", ", "; ", " - ", "—", "，", "plan a day", "我", "x"]), max_size=60
    )
)
def test_clauses_are_the_words_of_the_sentence_in_their_order(parts: list[str]) -> None:
    text = "".join(parts)
    found = clauses(Sentence(text, text, "", bullet=False))
    assert all(clause.text in text and clause.told.text in clause.text for clause in found)
    assert len(found) != 1


@pytest.mark.parametrize(
    "text",
    [
        "No flights with Bravo Air, ever since they lost my cello.",
        "Keine Anrufe beim Notar ohne mich.",
        "Никаких гостиниц без лифта.",
    ],
)
def test_g5_a_ban_without_a_verb_is_kept(text: str) -> None:
    kept = statements(said("What about the second of the two offers?", text, "And the first one?"))
    assert any(part in text and len(part) * 3 > len(text) for part in kept)


def test_g5_what_is_to_stay_as_it_is_is_kept_out_of_the_middle_of_a_list_of_tasks() -> None:
    text = (
        "Sort the photos by year, make a contact sheet for each folder, keep the raw files where they are because the"
        " backup script depends on the paths, and tell me how many duplicates you find."
    )
    assert any("keep the raw files where they are" in part for part in statements(said(text)))
