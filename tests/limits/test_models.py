"""How large a model's input may be (requirement M3)."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI

from langchain_ctxcompress import PrunerConfig, validate_against_provider
from langchain_ctxcompress.errors import ConfigError, UnknownModelLimitError
from langchain_ctxcompress.limits import Reducible, input_limit, input_window, is_local, model_name
from tests.support.models import ScriptedChatModel


class OllamaLike(ScriptedChatModel):
    """The fields by which Ollama's chat model is known."""

    model: str = "llama3.2"
    base_url: str | None = None
    num_ctx: int | None = None


class LlamaCppLike(ScriptedChatModel):
    model_path: str = "/models/small.gguf"
    n_ctx: int = 512


def openai(url: str | None = None, name: str = "qwen3", **fields: Any) -> ChatOpenAI:
    return ChatOpenAI(model=name, base_url=url, api_key="none", **fields)  # type: ignore[arg-type]


def with_profile(tokens: Any, model: Any = None) -> Any:
    model = model or ScriptedChatModel()
    model.profile = {"max_input_tokens": tokens}
    return model


class TestOrder:
    @given(st.integers(2, 10**8), st.integers(2, 10**8))
    def test_m3_the_profile_first(self, window: int, given_window: int) -> None:
        assert input_limit(with_profile(window)) == window
        assert input_limit(with_profile(window), window_tokens=given_window) == window

    def test_a_profile_that_comes_with_the_provider(self) -> None:
        assert input_limit(openai(name="gpt-4o")) == 128_000

    @given(st.integers(2, 10**8))
    def test_m3_then_what_is_given(self, window: int) -> None:
        assert input_limit(ScriptedChatModel(), window_tokens=window) == window
        assert input_limit(OllamaLike(num_ctx=4_096), window_tokens=window) == window

    @pytest.mark.parametrize(
        "model",
        [
            OllamaLike(num_ctx=32_000),
            LlamaCppLike(n_ctx=32_000),
            OllamaLike().bind(options={"num_ctx": 32_000}),
            OllamaLike(num_ctx=4_096).bind(options={"num_ctx": 32_000}).bind(stop=["x"]),
            OllamaLike(num_ctx=32_000).with_retry(),
            openai("http://localhost:11434/v1", extra_body={"options": {"num_ctx": 32_000}}),
        ],
        ids=["field", "llama.cpp", "bound", "bound-over-field", "retry", "extra-body"],
    )
    def test_m3_then_85_percent_of_the_window_asked_of_a_local_runtime(self, model: Any) -> None:
        assert input_limit(model) == 27_200

    @pytest.mark.parametrize(
        "model",
        [
            OllamaLike(),
            OllamaLike(base_url="http://ollama:11434"),
            LlamaCppLike(n_ctx=0),
            openai("http://localhost:8080/v1"),
            openai("http://127.0.0.1:1234"),
        ],
    )
    def test_m3_then_6800_for_a_local_runtime(self, model: Any) -> None:
        assert input_limit(model) == 6_800
        config = PrunerConfig.for_model(model)
        assert (config.soft_limit_tokens, config.hard_limit_tokens) == (3_400, 5_440)

    @pytest.mark.parametrize(
        "model",
        [ScriptedChatModel(), openai("https://llm.example.org/v1"), openai("http://10.0.0.7:8000"), None, "gpt-4o"],
    )
    def test_m3_else_an_error_that_says_how_to_set_it(self, model: Any) -> None:
        assert input_window(model) is None
        with pytest.raises(UnknownModelLimitError, match=r"PrunerConfig\.for_limit") as caught:
            input_limit(model)
        assert all(word in str(caught.value) for word in ("window_tokens", "profile"))
        with pytest.raises(UnknownModelLimitError):
            PrunerConfig.for_model(model)

    def test_the_error_names_the_model(self) -> None:
        with pytest.raises(UnknownModelLimitError, match="ChatOpenAI 'qwen3'"):
            input_limit(openai("https://llm.example.org/v1").bind(stop=["x"]))

    def test_a_runtime_that_was_asked_for_less_than_the_profile_gets_no_more(self) -> None:
        assert input_limit(with_profile(128_000, OllamaLike(num_ctx=8_000))) == 6_800
        assert input_limit(with_profile(4_000, OllamaLike(num_ctx=8_000))) == 4_000

    @pytest.mark.parametrize("window", [1, 0, -5])
    def test_a_window_that_is_none(self, window: int) -> None:
        with pytest.raises(ConfigError, match=f"window_tokens is {window}"):
            input_limit(ScriptedChatModel(), window_tokens=window)

    def test_for_model_takes_a_window(self) -> None:
        config = PrunerConfig.for_model(ScriptedChatModel(), window_tokens=100_000, recent_turns=2)
        assert (config.soft_limit_tokens, config.hard_limit_tokens, config.recent_turns) == (50_000, 80_000, 2)

    def test_what_is_assumed_is_said_once(self, caplog: pytest.LogCaptureFixture) -> None:
        model = OllamaLike(model="said-once")
        with caplog.at_level(logging.WARNING):
            assert [input_window(model) for _ in range(3)] == [6_800] * 3
        assert len([record for record in caplog.records if "said-once" in record.getMessage()]) == 1


class TestLocal:
    @pytest.mark.parametrize(
        "url",
        [
            "http://localhost:11434/v1",
            "https://LOCALHOST",
            "localhost:8000",
            "http://api.localhost/v1",
            "http://127.0.0.1",
            "http://127.9.9.9:1",
            "http://[::1]:8080/v1",
            "http://0.0.0.0:8000",
        ],
    )
    def test_loopback(self, url: str) -> None:
        assert is_local(SimpleNamespace(base_url=url))
        assert is_local(SimpleNamespace(openai_api_base=url))

    @pytest.mark.parametrize(
        "url",
        [
            "https://api.openai.com/v1",
            "https://localhost.example.org",
            "http://10.0.0.7:8000",
            "http://notlocalhost",
            "http://[broken",
            "",
            None,
            7,
        ],
    )
    def test_not_loopback(self, url: Any) -> None:
        assert not is_local(SimpleNamespace(base_url=url))

    def test_a_field_for_the_window(self) -> None:
        assert is_local(OllamaLike())
        assert is_local(OllamaLike(base_url="http://gpu-box:11434").bind(stop=["x"]))
        assert not is_local(SimpleNamespace(num_ctx=True))
        assert not is_local(ScriptedChatModel())

    def test_model_name(self) -> None:
        assert model_name(OllamaLike().bind(stop=["x"])) == "llama3.2"
        assert model_name(openai(name="gpt-4o")) == "gpt-4o"
        assert model_name(ScriptedChatModel()) == ""


class TestValidateAgainstProvider:
    @pytest.mark.parametrize(("tokens", "overage"), [(0, 0), (6_999, 0), (7_000, 0), (7_001, 1), (9_000, 2_000)])
    def test_m3_1000_tokens_are_kept_for_the_answer(self, tokens: int, overage: int) -> None:
        result = validate_against_provider(tokens, with_profile(8_000))
        assert (result.valid, result.tokens, result.limit, result.overage) == (not overage, tokens, 7_000, overage)

    def test_a_window_smaller_than_the_answer(self) -> None:
        result = validate_against_provider(1, with_profile(500))
        assert (result.valid, result.limit, result.overage) == (False, 0, 1)

    def test_given_and_unknown(self) -> None:
        assert validate_against_provider(9_000, ScriptedChatModel(), window_tokens=10_000).valid
        with pytest.raises(UnknownModelLimitError):
            validate_against_provider(1, ScriptedChatModel())

    def test_suggestions_pass_through(self) -> None:
        result = validate_against_provider(9_000, with_profile(8_000), reducible=Reducible(older=5_000))
        assert [(s.action.value, s.frees) for s in result.suggestions] == [("roll_over", 5_000)]
