"""Which value takes the place of which: the book looks up what going through all values would find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger.records import ValueRecord
from langchain_ctxcompress.ledger.value_book import ValueBook

SEVERAL = {"id", "number", "hash", "email", "phone", "error"}
QUANTITIES = {"number", "amount", "percent", "quantity"}

texts = st.sampled_from(("4", "6", "$5", "AB-1", "ab-1", "3 May"))
keys = st.sampled_from(((), ("price",), ("price", "seat"), ("seat",), ("hall", "price", "seat")))
values = st.builds(
    ValueRecord,
    text=texts,
    key=keys,
    value_kind=st.sampled_from(("id", "amount", "quantity", "date", "number")),
    by=st.sampled_from(("user", "user", "ai")),
    single=st.booleans(),
    update=st.booleans(),
    replaces=st.lists(texts, max_size=2).map(tuple),
)


def in_order(said: list[ValueRecord]) -> list[ValueRecord]:
    return [value.model_copy(update={"order": at, "sources": (f"m{at}",)}) for at, value in enumerate(said)]


def family(kind: str) -> str:
    return "quantity" if kind in QUANTITIES else kind


def replaced(value: ValueRecord, live: list[ValueRecord]) -> set[tuple[str, str, tuple[str, ...]]]:
    """Which of the live values a new one takes the place of; each by kind, text and key."""
    if value.by != "user":
        return set()
    older = [
        other
        for other in live
        if other.by == "user" and family(other.value_kind) == family(value.value_kind) and other.text != value.text
    ]
    named = [other for other in older if other.text in value.replaces]
    if named or (value.value_kind in SEVERAL and not value.single):
        return {(other.value_kind, other.text, other.key) for other in named}
    same = [other for other in older if other.key == value.key] if value.key else []
    key = set(value.key)
    if same:
        found = same if value.update or (value.single and any(other.single for other in same)) else []
    elif not value.update:
        found = []
    elif not key:
        found = sorted(older, key=lambda other: other.order)[-1:]
    else:
        counted = [other for other in older if other.value_kind == "quantity" and key < set(other.key)]
        near = [other for other in older if other.key and (key < set(other.key) or set(other.key) < key)]
        one_thing = near if len({other.key for other in near}) == 1 else []
        found = sorted(counted, key=lambda other: other.order)[-1:] or one_thing
    return {(other.value_kind, other.text, other.key) for other in found}


@given(st.lists(values, max_size=14))
def test_a_value_takes_the_place_of_those_that_a_search_through_all_finds(said: list[ValueRecord]) -> None:
    book = ValueBook((), ())
    for value in in_order(said):
        live = list(book.current())
        met_again = any(
            (other.value_kind, other.text.casefold()) == (value.value_kind, value.text.casefold())
            and (other.key == value.key or value.value_kind in {"id", "number"})
            for other in live
        )
        changes = book.add_all([value])
        if not met_again:
            taken = {(change.old.value_kind, change.old.text, change.old.key) for change in changes}
            assert taken == replaced(value, live)


@given(st.lists(values, max_size=14))
def test_what_was_replaced_is_no_longer_current(said: list[ValueRecord]) -> None:
    book = ValueBook((), ())
    for value in in_order(said):
        for change in book.add_all([value]):
            assert change.old not in book.current()
            assert change.new in book.current()
