"""How far a model's summaries can be trusted (requirement M2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress import calculate_reliability, get_model_size
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits import should_warn, warning_threshold
from tests.support.models import ScriptedChatModel

billions = st.floats(0.1, 2_000)


class LocalModel(ScriptedChatModel):
    """Looks as Ollama's chat model does."""

    model: str = "mistral:latest"
    num_ctx: int | None = None


class HostedModel(ScriptedChatModel):
    model_name: str = "gpt-4o"


class TestSize:
    @pytest.mark.parametrize(
        ("name", "size"),
        [
            ("llama3:7b", 7),
            ("qwen2.5-1.5b", 1.5),
            ("unknown", 7),
            ("", 7),
            ("gpt-4o", 7),
            ("claude-sonnet-4-5", 7),
            ("Llama-3.1-70B-Instruct", 70),
            ("ollama/llama3.2:3b-instruct-q4_K_M", 3),
            ("meta-llama/Llama-3.1-405B", 405),
            ("mixtral-8x7b", 56),
            ("qwen3-30b-a3b", 30),
            ("gemma-3n-e4b", 4),
            ("SmolLM2-135M-Instruct", 0.135),
            ("qwen2.5:0.5b", 0.5),
        ],
    )
    def test_m2_from_the_name(self, name: str, size: float) -> None:
        assert get_model_size(name) == size

    @pytest.mark.parametrize(
        "name", ["mistral-4bit", "some-model[1m]", "llama-128k", "ft:gpt-4o:org::9f3b", "model-q4b", "v1.2.3b4"]
    )
    def test_what_looks_like_a_size_and_is_none(self, name: str) -> None:
        assert get_model_size(name) == 7

    @given(st.integers(1, 999), st.sampled_from(["x-{}b", "x:{}B", "x_{}b-instruct", "org/x-2.5-{}b.gguf"]))
    def test_any_number(self, size: int, name: str) -> None:
        assert get_model_size(name.format(size)) == size


class TestReliability:
    @pytest.mark.parametrize(
        ("name", "base"),
        [
            ("x-405b", 0.95),
            ("x-70b", 0.95),
            ("x-69b", 0.85),
            ("x-30b", 0.85),
            ("x-29b", 0.7),
            ("x-13b", 0.7),
            ("x-12b", 0.5),
            ("llama3:7b", 0.5),
            ("x-6.9b", 0.3),
            ("qwen2.5-1.5b", 0.3),
        ],
    )
    def test_m2_by_size(self, name: str, base: float) -> None:
        assert calculate_reliability(name, 0) == base
        assert calculate_reliability(name, 1) == pytest.approx(base * 0.9)
        assert calculate_reliability(name, 5) == pytest.approx(base * 0.9**5)

    @pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", HostedModel(), ScriptedChatModel()])
    def test_m2_a_hosted_model_has_no_score_unless_a_size_is_set(self, model: Any) -> None:
        assert calculate_reliability(model, 9) is None
        assert calculate_reliability(model, 0, size=70) == 0.95
        assert should_warn(model, 1_000) is False
        assert should_warn(model, 10, size=70) is True

    def test_a_local_model_without_a_size_in_its_name_counts_as_7b(self) -> None:
        assert calculate_reliability(LocalModel(), 0) == 0.5
        assert calculate_reliability(LocalModel(model="llama3.2:1b"), 0) == 0.3
        assert calculate_reliability(LocalModel().bind(stop=["x"]), 0) == 0.5

    def test_a_size_that_is_set_holds_over_the_name(self) -> None:
        assert calculate_reliability("llama3:7b", 0, size=13) == 0.7
        assert calculate_reliability(13, 0) == 0.7

    @given(billions, billions, st.integers(0, 50), st.integers(0, 50))
    def test_falls_with_compressions_and_grows_with_size(self, one: float, two: float, few: int, many: int) -> None:
        one, two = sorted((one, two))
        few, many = sorted((few, many))
        scores = [calculate_reliability(size, number) or 0.0 for size, number in ((one, many), (one, few), (two, few))]
        assert scores == sorted(scores)
        assert all(0 < score <= 0.95 for score in scores)

    def test_wrong_numbers(self) -> None:
        with pytest.raises(ConfigError, match="compressions is -1"):
            calculate_reliability("llama3:7b", -1)
        with pytest.raises(ConfigError, match="size is 0"):
            calculate_reliability("gpt-4o", 0, size=0)


class TestWarning:
    @pytest.mark.parametrize(
        ("size", "after"), [(0.1, 3), (3, 3), (3.1, 5), (7, 5), (7.1, 7), (13, 7), (13.1, 10), (405, 10)]
    )
    def test_m2_after_how_many_compressions(self, size: float, after: int) -> None:
        assert warning_threshold(size) == after
        assert should_warn(size, after - 1) is False
        assert should_warn(size, after) is True
        assert should_warn(size, after + 1) is True

    def test_by_name(self) -> None:
        assert should_warn("qwen2.5-1.5b", 3) is True
        assert should_warn("llama3:7b", 3) is False
