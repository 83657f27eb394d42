"""A summary held against the ledger and its sources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger import (
    find_values,
    invented_values,
    mask_stale,
    missing_from,
    remove_invented,
    stale_in,
)
from langchain_ctxcompress.ledger.lexicon import content_stems
from langchain_ctxcompress.ledger.records import Ledger, Superseded
from langchain_ctxcompress.ledger.voice import split_sentences
from tests.ledger.talk import said

SOURCE = (
    "Our budget is $4,200 until 14 May at 5 pm. Call +1 555 123 2002. Id QX7-221, file src/a.py, v2.3.1, 100 seats."
)


@pytest.mark.parametrize(
    "summary",
    [
        "The budget is 4200 dollars.",
        "The budget is $4.2k.",
        "It ends on 2025-05-14.",
        "It ends on May 14th at 17:00.",
        "Call 555-123-2002.",
        "Three of the 3 files, 100 seats, src/a.py, version 2.3.1, qx7-221.",
    ],
)
def test_the_same_value_written_otherwise_is_no_invention(summary: str) -> None:
    assert invented_values(summary, [SOURCE]) == []


@pytest.mark.parametrize(
    ("summary", "invented"),
    [
        ("The budget is $42.", ["$42"]),
        ("It ends on 15 May.", ["15 May"]),
        ("It ends at 17:30.", ["17:30"]),
        ("The id is QX7-222.", ["QX7-222"]),
        ("See src/b.py and https://x.example/z.", ["src/b.py", "https://x.example/z"]),
        ("There are 10,000 seats.", ["10,000"]),
    ],
)
def test_invented_values_are_found(summary: str, invented: list[str]) -> None:
    assert invented_values(summary, ["Hello.", SOURCE]) == invented


@given(st.text(max_size=300))
def test_a_text_invents_nothing_that_it_says_itself(text: str) -> None:
    assert invented_values(text, [text]) == []


@given(st.lists(st.sampled_from(["Due 3 May. ", "Costs $99 or $4,200.\n", "- Fine.\n", "id QX7-999 "]), max_size=6))
def test_what_was_removed_is_gone(parts: list[str]) -> None:
    summary = "".join(parts)
    cleaned = remove_invented(summary, invented_values(summary, [SOURCE]))
    assert invented_values(cleaned, [SOURCE]) == []
    assert all("$4,200" in cleaned for part in parts if "$4,200" in part)


def test_a_sentence_of_inventions_goes_and_a_mixed_one_is_masked() -> None:
    summary = "- The budget is $4,200. It was $9,999 before.\n- Id QX7-221 costs $77."
    assert remove_invented(summary, ["$9,999", "$77"]) == "- The budget is $4,200.\n- Id QX7-221 costs [unverified]."


def test_a_summary_of_inventions_alone_is_masked_not_emptied() -> None:
    assert remove_invented("It costs $77.", ["$77"]) == "It costs [unverified]."


def test_missing_records_are_named_and_said_ones_are_not() -> None:
    ledger = said("Never phone my office.", "Always quote prices in francs.")
    missing = missing_from("The user said: never phone  my office. Fine.", ledger)
    assert [rule.text for rule in missing.rules] == ["Always quote prices in francs."]


def test_what_no_longer_holds_is_found_and_masked() -> None:
    ledger = said(
        "The deadline is 3 May.",
        "Never phone my office.",
        "The deadline is now 14 May.",
        "You can now phone my office.",
    )
    text = "The deadline is 3 May. The party is on 3 May.\n- Never phone my office."
    assert {gone.text for gone in stale_in(text, ledger)} >= {"3 May", "Never phone my office."}
    masked = mask_stale(text, ledger)
    assert "Never phone" not in masked
    assert "deadline is [changed]" in masked or "deadline" not in masked
    assert "The party is on 3 May." in masked
    assert mask_stale("All is well.", ledger) == "All is well."


def test_values_of_the_summary_are_those_that_are_checked() -> None:
    assert [value.value for value in find_values("Pay $12 by 3 May")] == ["$12", "3 May"]


WORDS = ("budget", "trip", "seat", "window", "the", "is", "4", "4,200", "May", "always", "ship", "order", "now")


@given(
    st.lists(
        st.lists(st.sampled_from((*WORDS, ".", "\n", "- ", ":")), max_size=14).map(" ".join), min_size=1, max_size=4
    ),
    st.lists(
        st.builds(
            Superseded,
            text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
            key=st.lists(st.sampled_from(["budget", "trip", "seat", "order"]), max_size=2).map(tuple),
            whole=st.booleans(),
        ),
        max_size=6,
    ),
)
def test_what_is_masked_is_what_a_look_at_each_sentence_and_each_value_finds(
    lines: list[str], superseded: list[Superseded]
) -> None:
    text = "\n".join(lines)
    ledger = Ledger(superseded=tuple(superseded))
    parts = [part for line in text.split("\n") for part in split_sentences(line)]

    def folded(words: str) -> str:
        return " ".join(words.split()).casefold()

    withdrawn = [g for g in superseded if g.whole and len(g.text) > 8 and folded(g.text) in folded(text)]
    values = [
        g
        for g in superseded
        if not g.whole and any(g.text in part and content_stems(part) & set(g.key) for part in parts)
    ]
    assert stale_in(text, ledger) == [*withdrawn, *values]
    masked = mask_stale(text, ledger)
    if not withdrawn and not values:
        assert masked == text
        return
    for part in parts:
        gone = any(folded(g.text) in folded(part) for g in withdrawn)
        told = [g for g in values if g.text in part and content_stems(part) & set(g.key)]
        if not gone and not told:
            assert folded(part) in folded(masked)
