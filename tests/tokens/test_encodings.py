"""Which encoding counts for which model, and with what margin (requirement C1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.tokens import DEFAULT_ENCODING, MARGIN_PERCENT, Encoding, encoding_for, encodings
from tests.tokens.ranks import BYTE_MODEL, register_byte_encoding


@pytest.fixture(autouse=True)
def fresh_answers() -> Iterator[None]:
    encoding_for.cache_clear()
    yield
    encoding_for.cache_clear()


class TestMargin:
    @given(st.integers(0, 10**9))
    def test_fifteen_percent_rounded_up(self, tokens: int) -> None:
        assert Encoding("x", 15).with_margin(tokens) == math.ceil(tokens * 115 / 100)

    @given(st.integers(0, 10**9), st.integers(0, 300))
    def test_without_margin_is_the_largest_that_fits(self, tokens: int, percent: int) -> None:
        encoding = Encoding("x", percent)
        largest = encoding.without_margin(tokens)
        assert encoding.with_margin(largest) <= tokens < encoding.with_margin(largest + 1)

    @pytest.mark.parametrize(("exact", "counted"), [(0, 0), (1, 2), (2, 3), (20, 23), (100, 115), (101, 117)])
    def test_examples(self, exact: int, counted: int) -> None:
        assert Encoding("x", MARGIN_PERCENT).with_margin(exact) == counted

    def test_no_margin_changes_nothing(self) -> None:
        assert Encoding("x").with_margin(12_345) == Encoding("x").without_margin(12_345) == 12_345


class TestEncodingOfAModel:
    def test_no_model_is_the_default_without_margin(self) -> None:
        assert encoding_for(None) == Encoding("o200k_base", 0)
        assert DEFAULT_ENCODING == "o200k_base"

    @pytest.mark.parametrize(
        ("model", "encoding"),
        [
            ("gpt-4o", "o200k_base"),
            ("gpt-4o-mini-2024-07-18", "o200k_base"),
            ("gpt-4.1", "o200k_base"),
            ("o3-mini", "o200k_base"),
            ("gpt-4", "cl100k_base"),
            ("gpt-3.5-turbo", "cl100k_base"),
            ("text-embedding-3-small", "cl100k_base"),
            ("gpt-oss-120b", "o200k_harmony"),
            ("openai:gpt-4o", "o200k_base"),
            ("azure/gpt-4", "cl100k_base"),
            ("openrouter/openai/gpt-4o", "o200k_base"),
            ("ft:gpt-4o:acme::1", "o200k_base"),
            ("ft:gpt-4:acme::1", "cl100k_base"),
            ("cl100k_base", "cl100k_base"),
            ("o200k_base", "o200k_base"),
        ],
    )
    def test_a_known_model_has_its_own_encoding_and_no_margin(self, model: str, encoding: str) -> None:
        assert encoding_for(model) == Encoding(encoding, 0)

    @pytest.mark.parametrize(
        "model",
        ["claude-sonnet-4-5", "anthropic:claude-opus-4", "llama3:7b", "qwen2.5-1.5b", "gemini-2.5-pro", "", "漢"],
    )
    def test_any_other_counts_with_the_default_and_a_margin(self, model: str) -> None:
        assert encoding_for(model) == Encoding("o200k_base", 15)


class TestRanksThatDoNotComeAlong:
    def test_without_a_cache_tiktoken_is_not_asked_for_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
        monkeypatch.setattr("tiktoken.get_encoding", asked.append)
        assert encoding_for(BYTE_MODEL) == Encoding("o200k_base", 15)
        assert asked == []

    def test_with_a_cache_they_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        register_byte_encoding(monkeypatch)
        assert encoding_for(BYTE_MODEL) == Encoding("p50k_base", 0)

    @pytest.mark.parametrize("error", [OSError("no route"), ValueError("unknown encoding")])
    def test_a_cache_that_fails_is_said_once_and_costs_no_count(
        self, error: Exception, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[str] = []

        def fail(_name: str) -> None:
            raise error

        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "unused")
        monkeypatch.setattr("tiktoken.get_encoding", fail)
        # Not caplog: it hears a logger only as long as nothing else has turned its propagation off.
        monkeypatch.setattr(encodings.logger, "warning", lambda text, *values: said.append(text % values))
        assert [encoding_for(BYTE_MODEL) for _ in range(3)] == [Encoding("o200k_base", 15)] * 3
        assert said == [
            f"the ranks of p50k_base cannot be loaded ({error}): its models are counted with o200k_base plus 15 %"
        ]
