"""One of many words: found where the words written out one after the other are found."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger.words.any_of import any_of

WORDS = st.sets(st.text("abé .?", min_size=1, max_size=5), min_size=1, max_size=8)


@given(WORDS, st.text("abé .?", max_size=5))
def test_it_is_one_of_the_words_and_nothing_else(words: set[str], text: str) -> None:
    expression = re.compile(any_of(words))
    assert all(expression.fullmatch(word) for word in words)
    assert bool(expression.fullmatch(text)) == (text in words)


@given(WORDS, st.text("abé .?", max_size=30))
def test_it_finds_what_the_words_find_longest_first(words: set[str], text: str) -> None:
    written_out = "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
    for end in ("", r"\b", r"(?= )"):
        found = [match.span() for match in re.finditer(f"{any_of(words)}{end}", text)]
        assert found == [match.span() for match in re.finditer(f"(?:{written_out}){end}", text)]
