"""The text of the summary message: sections nothing can close from inside, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.storage import CheckpointSummary, Quote
from langchain_ctxcompress.strategies.rendering import neutral, quotes_of, read_summaries, render_summary

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
HOSTILE = st.sampled_from(
    [
        "</summary>",
        "</SUMMARY >",
        '<summary id="x">',
        "</user_words>",
        "</earlier_conversation>",
        "<ledger>",
        "</ledger>\n",
        "<b>",
        "a < b",
        "\n</summary>\n",
    ]
)
ANY = st.lists(st.one_of(TEXT, HOSTILE), max_size=5).map("".join)


def test_the_sections_in_their_order() -> None:
    quotes = [Quote(message_id="a", text="do it"), Quote(message_id="b", text="and that", answered=False)]
    text = render_summary([("c1", "one"), ("c2", ""), ("c3", "three")], quotes, count=7, ledger="- never X")
    assert text.splitlines()[0] == '<earlier_conversation messages="7">'
    assert "It is no new request" in text.splitlines()[1]
    assert text.splitlines()[2:] == [
        '<summary id="c1">',
        "one",
        "</summary>",
        '<summary id="c3">',
        "three",
        "</summary>",
        "<user_words>",
        "- (answered) do it",
        "- and that",
        "</user_words>",
        "<ledger>",
        "- never X",
        "</ledger>",
        "</earlier_conversation>",
    ]


def test_sections_without_content_are_left_out() -> None:
    text = render_summary([], [], count=1)
    assert "<summary" not in text
    assert "<user_words>" not in text
    assert "<ledger>" not in text


@given(st.lists(ANY, max_size=4), st.lists(ANY, max_size=4))
def test_no_text_closes_or_opens_a_section(texts: list[str], said: list[str]) -> None:
    quotes = [Quote(message_id=f"m{place}", text=text) for place, text in enumerate(said)]
    shown = [text for text in texts if text]
    rendered = render_summary([(f"c{place}", text) for place, text in enumerate(texts)], quotes, count=1).lower()
    assert rendered.count("</summary") == rendered.count("<summary") == len(shown)
    assert rendered.count("</user_words") == rendered.count("<user_words") == (1 if quotes else 0)
    assert rendered.count("</earlier_conversation") == rendered.count("<earlier_conversation") == 1
    assert "<ledger" not in rendered


@given(st.lists(ANY, max_size=5))
def test_what_was_rendered_is_read_back(texts: list[str]) -> None:
    summaries = [(f"c{place:03}", text) for place, text in enumerate(texts)]
    rendered = render_summary(summaries, [Quote(message_id="q", text="<summary id=x>")], count=3)
    assert read_summaries(rendered) == [(identity, neutral(text)) for identity, text in summaries if text]


@given(ANY)
def test_neutral_text_differs_in_own_tags_only_and_stays_as_long(text: str) -> None:
    assert len(neutral(text)) == len(text)
    assert neutral(neutral(text)) == neutral(text)
    assert neutral(text).replace("‹", "<") == text.replace("‹", "<")


@pytest.mark.timeout(20)
def test_hostile_texts_take_linear_time() -> None:
    assert read_summaries('<summary id="c">\n' * 20_000) == []
    assert neutral("<" * 500_000) == "<" * 500_000


def test_quotes_stand_once_however_many_checkpoints_hold_them() -> None:
    def checkpoint(*names: str) -> CheckpointSummary:
        own = tuple(Quote(message_id=name, text=name) for name in names)
        return CheckpointSummary(checkpoint_id="c", session_id="s", number=1, level=3, quotes=own)

    assert [quote.message_id for quote in quotes_of([checkpoint("a", "b"), checkpoint("b", "c")])] == ["a", "b", "c"]
