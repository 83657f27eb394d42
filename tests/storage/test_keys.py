"""Namespaces and keys: any text works as an id, and no two mean the same place."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from langchain_ctxcompress.storage.keys import SessionKeys, encode_label, root_of, segment_key

any_text = st.text(st.characters(exclude_categories=()), max_size=40)
ODD_IDS = [
    "",
    "~",
    "~~",
    "a.b",
    "a/b",
    "a b",
    "A",
    "a",
    "a_b",
    "a~5fb",
    "\x00",
    "\ud800",
    "漢字",
    "%",
    "*",
    "[a]",
    "x" * 1_000,
]


class TestLabels:
    @settings(max_examples=150)
    @given(any_text)
    def test_every_text_becomes_a_label_that_every_store_takes(self, text: str) -> None:
        label = encode_label(text)
        assert re.fullmatch(r"[A-Za-z0-9_~-]{1,200}", label)
        assert encode_label(text) == label

    @settings(max_examples=150)
    @given(st.one_of(any_text, st.sampled_from(ODD_IDS)), st.one_of(any_text, st.sampled_from(ODD_IDS)))
    def test_two_texts_are_two_labels(self, one: str, other: str) -> None:
        assert (encode_label(one) == encode_label(other)) is (one == other)

    def test_ids_that_look_alike_are_told_apart(self) -> None:
        assert len({encode_label(text).casefold() for text in ODD_IDS}) == len(ODD_IDS) - 1  # "A" and "a"
        assert len({encode_label(text) for text in ODD_IDS}) == len(ODD_IDS)

    def test_plain_ids_stay_readable(self) -> None:
        assert encode_label("user-42_Session") == "user-42_Session"

    @pytest.mark.parametrize("length", [200, 201, 1_000, 100_000])
    def test_a_long_text_is_hashed_and_told_from_another(self, length: int) -> None:
        one, other = encode_label("x" * length), encode_label("x" * (length - 1) + "y")
        assert one != other
        assert len(one) <= 200


class TestNamespaces:
    def places(self, keys: SessionKeys) -> list[tuple[str, ...]]:
        return [keys.writers, keys.ids, keys.checkpoints, keys.log("w")]

    def test_the_parts_of_a_session_lie_apart_and_under_it(self) -> None:
        keys = SessionKeys("s", ("tenant",))
        assert len(set(self.places(keys))) == 4
        for place in self.places(keys):
            assert place[: len(keys.base)] == keys.base
            assert keys.base[: len(root_of(("tenant",)))] == root_of(("tenant",))

    @settings(max_examples=100)
    @given(
        st.lists(st.sampled_from(["session", "sessions", "log", "a", "ids", "ctxcompress", ""]), max_size=4),
        st.sampled_from(["a", "session", "ids", "-a"]),
        st.lists(st.sampled_from(["session", "sessions", "log", "a", "ids", "ctxcompress", ""]), max_size=4),
        st.sampled_from(["a", "session", "ids", "-a"]),
    )
    @example([], "a", ["session", "a"], "ids")
    @example([], "a", ["sessions"], "a")
    def test_no_session_lies_inside_another_or_in_the_list_of_sessions(
        self, tenant: list[str], session: str, other_tenant: list[str], other: str
    ) -> None:
        mine, theirs = SessionKeys(session, tenant), SessionKeys(other, other_tenant)
        if (tenant, session) == (other_tenant, other):
            assert mine.base == theirs.base
            return
        assert theirs.base[: len(mine.base)] != mine.base
        assert theirs.base[: len(mine.sessions)] != mine.sessions

    def test_segments_sort_as_their_numbers_do(self) -> None:
        numbers = [0, 1, 9, 10, 99, 100, 12_345, 10**11]
        assert sorted(map(segment_key, reversed(numbers))) == list(map(segment_key, numbers))
