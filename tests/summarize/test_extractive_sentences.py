"""Splitting a text into segments: nothing gets lost, nothing is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.summarize.sentences import SEGMENT_CHARS, clean_text, one_line, split_segments

TEXTS = st.one_of(
    st.text(st.characters(codec=None)),
    st.lists(
        st.sampled_from(
            ["word", "a" * 90, ". ", ", ", "。", "\n", "```", "> ", "“", "”", '"', "<log>", "</log>", "\u2028"]
        )
    ).map("".join),
)


@given(TEXTS)
def test_every_character_that_is_not_space_is_in_exactly_one_segment(text):
    text = clean_text(text)
    segments = split_segments(text)
    assert "".join(segment.text for segment in segments).replace(" ", "") == "".join(text.split())
    assert [(s.start, s.end) for s in segments] == sorted((s.start, s.end) for s in segments)
    for segment in segments:
        assert segment.text == one_line(text[segment.start : segment.end])
        assert 0 < len(segment.text) <= SEGMENT_CHARS
        assert segment.text.splitlines() == [segment.text]


@given(st.text(st.characters(codec=None)))
def test_cleaning_keeps_the_length_and_leaves_what_can_be_encoded(text):
    assert len(clean_text(text)) == len(text)
    clean_text(text).encode()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See e.g. the file, i.e. README.txt. Then go.", ["See e.g. the file, i.e. README.txt.", "Then go."]),
        ("Mr. Ito pays 3.50 at 5 p.m. today", ["Mr. Ito pays 3.50 at 5 p.m. today"]),
        ("1. Read it\n2. Run it", ["1. Read it", "2. Run it"]),
        ("好的。明天再说！可以吗？", ["好的。", "明天再说！", "可以吗？"]),
        ("क्या? हाँ। ठीक है।", ["क्या?", "हाँ।", "ठीक है।"]),
        ("He left (at 9.) Then came back.", ["He left (at 9.)", "Then came back."]),
    ],
)
def test_sentences(text, sentences):
    assert [segment.text for segment in split_segments(text)] == sentences


def test_a_long_sentence_is_cut_after_a_clause_and_says_so():
    text = "one two three four five, " * 20
    first, *_, last = split_segments(text)
    assert first.text.endswith(",")
    assert (first.opens, first.closes, last.opens, last.closes) == (True, False, False, True)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a\n```\nb\n```\nc", [False, True, True, True, False]),
        ("```one line```\nc", [True, False]),
        ("```\nb\n~~~\nc", [True, True, True, True]),
        ("> a\nb", [True, False]),
        ("<log>\na\n</log>\nb", [True, True, True, False]),
        ("<log>\na", [False, False]),
        ("“All. Both.” Cut.", [True, True, False]),
        ('say "All. Both. Done." Cut.', [False, True, True, False]),
    ],
)
def test_what_is_quoted(text, quoted):
    assert [segment.quoted for segment in split_segments(text)] == quoted
