"""The user's own words in the summary message: the newest, verbatim, within their budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.strategies.quotes import ELLIPSIS, newest_within, quote_humans
from tests.strategies.requests import TOOLS
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.sizes import text_tokens


def quotes(*texts: str) -> list[Quote]:
    return [Quote(message_id=f"m{place}", text=text) for place, text in enumerate(texts)]


def test_humans_among_the_places_are_quoted_whole_and_answered_where_they_were() -> None:
    messages = [
        HumanMessage("first", id="a"),
        AIMessage("yes", id="b"),
        HumanMessage("  second ", id="c"),
        HumanMessage("", id="d"),
        AIMessage("no", id="e"),
        HumanMessage("third", id="f"),
    ]
    assert quote_humans(messages, [0, 1, 2, 3, 5]) == [
        Quote(message_id="a", text="first", answered=True),
        Quote(message_id="c", text="second", answered=True),
        Quote(message_id="f", text="third", answered=False),
    ]
    assert quote_humans(messages, [1, 4]) == []


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), max_size=8), st.integers(0, 200))
def test_the_newest_within_the_budget_oldest_first(texts: list[str], budget: int) -> None:
    given_quotes = quotes(*texts)
    kept = newest_within(given_quotes, budget, TOOLS)
    assert sum(text_tokens(quote.text) for quote in kept) <= budget + 1  # cut text and ellipsis may split otherwise
    ids = [quote.message_id for quote in given_quotes]
    assert [quote.message_id for quote in kept] == ids[len(ids) - len(kept) :]
    whole = {quote.message_id: quote.text for quote in given_quotes}
    for quote in kept[1:]:
        assert quote.text == whole[quote.message_id], "only the oldest of them may be cut"
    for quote in kept[:1]:
        assert quote.text == whole[quote.message_id] or whole[quote.message_id].startswith(
            quote.text.removesuffix(ELLIPSIS)
        )


def test_one_that_does_not_fit_is_cut_where_that_leaves_sense() -> None:
    long = "please never change the order " * 40
    (cut,) = newest_within(quotes("old", long), 50, TOOLS)
    assert cut.text.endswith(ELLIPSIS)
    assert long.startswith(cut.text.removesuffix(ELLIPSIS))
    assert newest_within(quotes("old", long), 10, TOOLS) == []


@pytest.mark.parametrize(("keep", "quoted"), [(0, False), (10_000, True)])
def test_keep_human_tokens_says_how_much_is_quoted(keep: int, quoted: bool) -> None:
    config = PrunerConfig.for_limit(2_000, keep_human_tokens=keep, ledger=False)
    compressor = ContextCompressor(config=config, strategy="middle-out")
    messages = [
        HumanMessage("never deploy on Friday, ever", id="rule"),
        AIMessage("Understood.", id="ok"),
        *exchanges(40),
    ]
    result = compressor.compress([*exchanges(1, start=90), *messages])
    shown = next((m.text for m in result.messages if is_summary(m)), "")
    assert ("<user_words>" in shown and "(answered) never deploy on Friday, ever" in shown) is quoted


def test_quotes_of_earlier_compressions_stay_while_there_is_room_and_stand_once() -> None:
    config = PrunerConfig.for_limit(4_000, keep_human_tokens=1_500)
    compressor = ContextCompressor(config=config, strategy="middle-out")
    first = compressor.compress(exchanges(40, words=8), force=True)
    second = compressor.compress([*first.messages, *exchanges(10, start=40, words=8)], force=True)
    words = next(m.text for m in second.messages if is_summary(m)).split("<user_words>")[1].split("</user_words>")[0]
    for number in (20, 30, 42):
        assert words.count(f"Question {number} about") == 1
    assert words.index("Question 30 ") < words.index("Question 42 ")
