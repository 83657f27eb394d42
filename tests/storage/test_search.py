"""Keyword search (requirement S3): what a reader would expect to find first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress.storage.search import rank, searchable_text, words
from tests.messages.drawn import call
from tests.support.conversations import conversations


def found(texts: list[str], query: str, limit: int = 10) -> list[int]:
    messages: list[BaseMessage] = [HumanMessage(text, id=str(place)) for place, text in enumerate(texts)]
    return [int(message.id or "") for message in rank(messages, query, limit)]


class TestRank:
    def test_what_holds_none_of_the_words_is_not_found(self) -> None:
        assert found(["the refund", "the weather"], "refund") == [0]
        assert found(["the refund"], "invoice") == []

    def test_a_rare_word_counts_more_than_a_common_one(self) -> None:
        texts = ["the order is late"] * 8 + ["the refund is late"]
        assert found(texts, "order refund")[0] == 8

    def test_a_long_message_does_not_win_by_its_length(self) -> None:
        long = "refund " + "and much else besides " * 200
        assert found(["refund please", long], "refund") == [0, 1]

    def test_more_of_the_words_is_better(self) -> None:
        assert found(["refund", "refund order", "order"], "refund order")[0] == 1

    def test_equal_ones_come_newest_first(self) -> None:
        assert found(["refund"] * 4, "refund") == [3, 2, 1, 0]

    @pytest.mark.parametrize("limit", [0, 1, 2, 3, 100])
    def test_the_limit(self, limit: int) -> None:
        assert found(["refund", "refund", "refund"], "refund", limit) == [2, 1, 0][:limit]

    @pytest.mark.parametrize("limit", [-1, -100])
    def test_a_negative_limit_finds_nothing(self, limit: int) -> None:
        assert found(["refund"], "refund", limit) == []

    @pytest.mark.parametrize("query", ["", "  ", "?!", "…"])
    def test_a_query_without_words(self, query: str) -> None:
        assert found(["refund?!"], query) == []

    def test_nothing_to_search(self) -> None:
        assert found([], "refund") == []
        assert found(["", ""], "refund") == []

    @settings(max_examples=60)
    @given(conversations(max_messages=40, ids="all", duplicate_ids=False, surrogates=True), st.data())
    def test_what_is_found_holds_a_word_and_the_best_hold_the_rarest(
        self, messages: list[BaseMessage], data: st.DataObject
    ) -> None:
        query = data.draw(st.sampled_from(messages)).text
        hits = rank(messages, query, len(messages))
        wanted = set(words(query))
        holding = [message for message in messages if wanted & set(words(searchable_text(message)))]
        assert sorted(id(message) for message in hits) == sorted(id(message) for message in holding)
        assert rank(messages, query, 3) == hits[:3]


class TestWords:
    def test_case_does_not_matter(self) -> None:
        assert words("Straße STRASSE") == ["strasse", "strasse"]
        assert found(["Die STRASSE"], "straße") == [0]

    @pytest.mark.parametrize("query", ["src/app/main.py:42", "main", "MAIN.PY", "app", "42"])
    def test_a_compound_is_found_whole_and_by_its_parts(self, query: str) -> None:
        assert found(["see src/app/main.py:42", "see elsewhere"], query) == [0]

    def test_an_id_with_underscores(self) -> None:
        assert found(["order_4711 is late"], "4711") == [0]
        assert found(["_ _ _"], "_") == [0]

    @pytest.mark.parametrize("query", ["订单", "取消我的订单", "注文"])
    def test_scripts_without_spaces(self, query: str) -> None:
        assert found(["今天天气", "请不要取消我的订单。注文を確認"], query) == [1]

    def test_one_character_of_such_a_script(self) -> None:
        assert words("水") == ["水", "水"]
        assert found(["水 is water"], "水") == [0]

    def test_other_scripts(self) -> None:
        assert found(["отмените заказ", "주문을 확인해"], "ЗАКАЗ") == [0]
        assert found(["отмените заказ", "주문을 확인해"], "주문을") == [1]


class TestWhatIsSearched:
    def test_text_name_and_calls(self) -> None:
        message = AIMessage("look here", name="scout", tool_calls=[call("a", "get_weather", city="Oslo")])
        hits = [found_by for found_by in ("here", "scout", "weather", "oslo", "city") if rank([message], found_by, 1)]
        assert hits == ["here", "scout", "weather", "oslo", "city"]

    def test_text_blocks_and_nothing_of_pictures(self) -> None:
        message = HumanMessage([{"type": "image", "base64": "refund"}, {"type": "text", "text": "order"}])
        assert rank([message], "order", 1) == [message]
        assert rank([message], "refund", 1) == []
