"""Counting, truncation and estimation of texts (requirements C1, C2, C3)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from langchain_ctxcompress.errors import ConfigError, CtxCompressError
from langchain_ctxcompress.tokens import count_batch, count_tokens, encoding_for, estimate_tokens, truncate_to_tokens
from langchain_ctxcompress.tokens.text import BATCHED_FROM, THREADED_FROM
from tests.support.conversations import WORDS
from tests.support.sizes import text_tokens
from tests.tokens.ranks import BYTE_MODEL, register_byte_encoding, tiktoken_encoding

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
PIECES = (
    *WORDS,
    FAMILY,
    "🏳\ufe0f\u200d🌈",
    "e\u0301",
    "Z̸̢͑",
    "각",
    "👍🏽",
    "🇩🇪",
    "\x00",
    "\ufeff",
    "\u202e",
    "\u2028",
    "\r\n",
    " " * 30,
    "a" * 50,
    "<|endoftext|>",
    "<|im_start|>",
    "'s",
    "１２３",
    "𝔘𝔫𝔦",
    "\U000e0041",
    "\uffff",
)
SURROGATES = ("\ud800", "\udfff", "\ud83d", "\ude00")
sendable = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
broken = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(SURROGATES)), max_size=40).map("".join)
texts = st.one_of(sendable, broken)


@pytest.fixture
def byte_encoding(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An encoding that tiktoken has to count, in which a token may end inside a character."""
    encoding_for.cache_clear()
    register_byte_encoding(monkeypatch)
    yield
    encoding_for.cache_clear()


class TestC1:
    def test_nothing_is_nothing(self) -> None:
        assert count_tokens("") == 0
        assert count_tokens("", "claude-sonnet-4-5") == 0

    def test_hello_world_is_two(self) -> None:
        assert count_tokens("hello world") == 2
        assert count_tokens("hello world", "gpt-4") == 2

    def test_an_unknown_model_takes_fifteen_percent_more_rounded_up(self) -> None:
        assert count_tokens("hello world", "claude-sonnet-4-5") == 3

    @pytest.mark.parametrize(("words", "tokens"), [(10_000, 10_000), (123_457, 123_457)])
    def test_beyond_ten_thousand_tokens(self, words: int, tokens: int) -> None:
        assert count_tokens(" hello" * words) == tokens

    def test_special_tokens_are_the_plain_text_they_are(self) -> None:
        assert count_tokens("<|endoftext|>") > 1

    def test_an_encoding_that_tiktoken_counts(self, byte_encoding: None) -> None:
        assert count_tokens("é<|endoftext|>", BYTE_MODEL) == 15
        assert count_batch(["", "ab", "é"], BYTE_MODEL) == [0, 2, 2]

    @settings(max_examples=150)
    @given(texts)
    @example("\ud83d\ude00 two halves of one character")
    @example("👩" + "\ud83d\udc69" * 3 + "\ude00")
    def test_the_same_as_the_independent_count(self, text: str) -> None:
        assert count_tokens(text) == text_tokens(text)

    @pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
    def test_toktok_counts_as_tiktoken_does(self, encoding: str) -> None:
        reference = tiktoken_encoding(encoding)

        @settings(max_examples=150)
        @given(sendable)
        @example("".join(PIECES))
        @example("".join(map(chr, range(0x250))))
        def check(text: str) -> None:
            assert count_tokens(text, encoding) == len(reference.encode_ordinary(text))

        check()

    @pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
    @pytest.mark.parametrize("script", [0x0400, 0x0600, 0x0900, 0x0E00, 0x3040, 0x4E00, 0xAC00, 0x1F300, 0x20000])
    def test_toktok_counts_every_script_as_tiktoken_does(self, encoding: str, script: int) -> None:
        reference = tiktoken_encoding(encoding)
        letters = [chr(code) for code in range(script, script + 0x100) if unicodedata.category(chr(code)) != "Cn"]
        for text in (*letters, "".join(letters), " ".join(letters), *(letter * 33 for letter in letters[::16])):
            assert count_tokens(text, encoding) == len(reference.encode_ordinary(text)), repr(text[:40])

    @given(st.lists(texts, max_size=8), st.sampled_from([None, "gpt-4", "claude-sonnet-4-5"]))
    def test_a_batch_is_each_of_its_texts(self, batch: list[str], model: str | None) -> None:
        assert count_batch(batch, model) == [count_tokens(text, model) for text in batch]

    def test_a_batch_that_is_counted_on_one_core(self) -> None:
        batch = ["hello world " * 1_000, "", "x", "one \ud800 lone surrogate " * 400, "<|endoftext|>"]
        assert BATCHED_FROM < sum(map(len, batch)) < THREADED_FROM
        assert count_batch(batch) == [text_tokens(text) for text in batch]

    def test_a_batch_that_is_counted_on_all_cores(self) -> None:
        batch = ["hello world " * 4_000, "", "x", "one \ud800 lone surrogate " * 12_000]
        assert sum(map(len, batch)) > THREADED_FROM
        assert count_batch(batch) == [text_tokens(text) for text in batch]

    @given(texts)
    def test_each_lone_half_is_counted_as_the_character_sent_for_it(self, text: str) -> None:
        sent = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert count_tokens(text) == count_tokens(sent)


@pytest.mark.parametrize("model", [None, "gpt-4", "claude-sonnet-4-5"])
class TestC2:
    @settings(max_examples=100)
    @given(text=texts, limit=st.integers(0, 80))
    @example(text=FAMILY * 20, limit=7)
    @example(text="Z̸̢͑" * 20, limit=5)
    @example(text="\ud83d\ude00" * 20, limit=3)
    @example(text="a\ud800" * 20, limit=3)
    @example(text=" I're", limit=1)
    def test_it_fits_and_is_the_front_of_the_text(self, text: str, limit: int, model: str | None) -> None:
        cut = truncate_to_tokens(text, limit, model)
        assert count_tokens(cut, model) <= limit
        assert text.startswith(cut)

    @settings(max_examples=50)
    @given(text=texts, room=st.integers(0, 5))
    def test_unchanged_when_it_fits(self, text: str, room: int, model: str | None) -> None:
        assert truncate_to_tokens(text, count_tokens(text, model) + room, model) == text

    @settings(max_examples=60)
    @given(text=sendable, percent=st.integers(1, 99))
    def test_not_much_shorter_than_it_could_be(self, text: str, percent: int, model: str | None) -> None:
        whole = count_tokens(text, model)
        limit = max(1, whole * percent // 100)
        assume(whole > limit)
        cut = truncate_to_tokens(text, limit, model)
        # One character may be up to six tokens; one whole token more may join with its neighbours.
        assert count_tokens(cut, model) >= limit - 8 - limit // 6

    @settings(max_examples=50)
    @given(text=texts, limit=st.integers(0, 80))
    def test_twice_is_as_once(self, text: str, limit: int, model: str | None) -> None:
        cut = truncate_to_tokens(text, limit, model)
        assert truncate_to_tokens(cut, limit, model) == cut

    @given(
        text=st.lists(st.sampled_from(["\ud83d\ude00", "x", "é"]), max_size=20).map("".join), limit=st.integers(0, 30)
    )
    def test_a_pair_of_surrogates_is_one_character(self, text: str, limit: int, model: str | None) -> None:
        cut = truncate_to_tokens(text, limit, model)
        assert not cut.endswith("\ud83d"), "half a character"

    @pytest.mark.parametrize("limit", [-1, -100])
    def test_a_negative_limit_is_refused_by_name(self, limit: int, model: str | None) -> None:
        with pytest.raises(ConfigError, match=f"max_tokens is {limit}"):
            truncate_to_tokens("x", limit, model)

    def test_no_room_is_no_text(self, model: str | None) -> None:
        assert truncate_to_tokens("hello", 0, model) == ""
        assert truncate_to_tokens("", 10, model) == ""


class TestC2Examples:
    def test_by_tokens_not_by_characters(self) -> None:
        assert truncate_to_tokens(" hello" * 1_000, 100) == " hello" * 100

    def test_the_margin_counts(self) -> None:
        assert truncate_to_tokens(" hello" * 1_000, 115, "claude-sonnet-4-5") == " hello" * 100
        assert truncate_to_tokens("hello", 1, "claude-sonnet-4-5") == ""

    def test_a_character_of_several_tokens_that_does_not_fit_is_left_out_whole(self) -> None:
        text = "𓀀𓀁𓀂"
        assert count_tokens(text[0]) > 1
        assert truncate_to_tokens(text, 1) == ""

    @settings(max_examples=100)
    @given(text=texts, limit=st.integers(0, 40))
    def test_an_encoding_that_tiktoken_counts(self, text: str, limit: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            encoding_for.cache_clear()
            register_byte_encoding(patch)
            cut = truncate_to_tokens(text, limit, BYTE_MODEL)
            counted = count_tokens(cut, BYTE_MODEL)
            longer = count_tokens(text[: len(cut) + 1], BYTE_MODEL)
        encoding_for.cache_clear()
        assert text.startswith(cut)
        assert counted <= limit
        assert cut == text or longer > limit or text[len(cut)] in SURROGATES, "a longer front part would have fitted"

    def test_a_token_that_ends_inside_a_character(self, byte_encoding: None) -> None:
        assert [truncate_to_tokens("aé漢", limit, BYTE_MODEL) for limit in range(7)] == [
            "",
            "a",
            "a",
            "aé",
            "aé",
            "aé",
            "aé漢",
        ]

    def test_where_the_front_alone_takes_more_tokens_than_it_took_in_the_text(self) -> None:
        assert (count_tokens(" I're"), count_tokens(" I'")) == (2, 2)  # " I'" and "re", but " I" and "'"
        assert count_tokens(truncate_to_tokens(" I're", 1)) <= 1

    def test_lone_halves_in_an_encoding_that_tiktoken_counts(self, byte_encoding: None) -> None:
        assert truncate_to_tokens("\ud800" * 5, 7, BYTE_MODEL) == "\ud800" * 2


class TestC3:
    @pytest.mark.parametrize(
        ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("x" * 80, 20), ("x" * 4_000, 1_000)]
    )
    def test_exact_values(self, text: str, tokens: int) -> None:
        assert estimate_tokens(text) == tokens

    @given(texts)
    def test_a_quarter_of_the_characters_rounded_up(self, text: str) -> None:
        assert estimate_tokens(text) == math.ceil(len(text) / 4)


def test_a_refused_limit_is_an_error_of_this_package() -> None:
    with pytest.raises(CtxCompressError):
        truncate_to_tokens("x", -1)
