"""`PrunerConfig`: defaults, what follows from them, and every wrong value refused by name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from langchain_ctxcompress.errors import ConfigError, CtxCompressError, UnknownModelLimitError
from langchain_ctxcompress.limits import PrunerConfig, input_window
from tests.support.models import ScriptedChatModel


def with_window(tokens: Any) -> ScriptedChatModel:
    model = ScriptedChatModel()
    model.profile = {"max_input_tokens": tokens}
    return model


class TestDefaults:
    def test_as_designed(self) -> None:
        designed = {
            "soft_limit_tokens": 500_000,
            "hard_limit_tokens": 800_000,
            "target_tokens": 300_000,
            "pinned_prefix_turns": 1,
            "recent_turns": 5,
            "min_candidate_turns": 3,
            "keep_human_tokens": 30_000,
            "encoding_model": None,
            "enabled": True,
            "on_overflow": "send",
            "cut_newest_human": False,
        }
        assert {name: getattr(PrunerConfig(), name) for name in designed} == designed

    @given(st.integers(1, 10**9), st.integers(1, 10**9))
    def test_target_and_quotes_follow_from_the_soft_limit(self, soft: int, above: int) -> None:
        config = PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=soft + above)
        assert config.target_tokens == max(1, int(0.6 * soft))
        assert config.keep_human_tokens == int(0.1 * config.target_tokens)

    def test_quotes_follow_from_a_given_target(self) -> None:
        assert PrunerConfig(target_tokens=1_000).keep_human_tokens == 100
        assert PrunerConfig(target_tokens=1_000, keep_human_tokens=0).keep_human_tokens == 0
        assert PrunerConfig(keep_human_tokens=7).keep_human_tokens == 7

    def test_every_field_says_what_it_is_and_in_which_unit(self) -> None:
        import inspect

        source = inspect.getsource(PrunerConfig)
        for name in PrunerConfig.model_fields:
            field = source.split(f"    {name}:", 1)[1].split('"""', 2)
            assert field[1].strip(), f"{name} has no docstring"
            assert field[0].count("\n") <= 1, f"{name} has no docstring of its own"
            assert not name.endswith("_tokens") or "token" in field[1].lower(), f"{name} does not name its unit"


class TestWrongValues:
    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"soft_limit_tokens": 0}, ["soft_limit_tokens is 0"]),
            ({"soft_limit_tokens": -5}, ["soft_limit_tokens is -5"]),
            ({"soft_limit_tokens": 1.5}, ["soft_limit_tokens is 1.5"]),
            ({"soft_limit_tokens": "many"}, ["soft_limit_tokens is 'many'"]),
            ({"soft_limit_tokens": True}, ["soft_limit_tokens is True"]),
            ({"soft_limit_tokens": None}, ["soft_limit_tokens is None"]),
            ({"hard_limit_tokens": 1}, ["hard_limit_tokens is 1"]),
            ({"hard_limit_tokens": -1}, ["hard_limit_tokens is -1"]),
            ({"target_tokens": -1}, ["target_tokens is -1"]),
            ({"target_tokens": 0}, ["target_tokens 0", "1 to soft_limit_tokens 500000"]),
            ({"target_tokens": 500_001}, ["target_tokens 500001", "1 to soft_limit_tokens 500000"]),
            ({"pinned_prefix_turns": -1}, ["pinned_prefix_turns is -1"]),
            ({"recent_turns": -1}, ["recent_turns is -1"]),
            ({"recent_turns": 2.0}, ["recent_turns is 2.0"]),
            ({"min_candidate_turns": 0}, ["min_candidate_turns is 0"]),
            ({"keep_human_tokens": -2}, ["keep_human_tokens is -2"]),
            ({"encoding_model": 5}, ["encoding_model is 5"]),
            ({"enabled": "yes"}, ["enabled is 'yes'"]),
            ({"enabled": 1}, ["enabled is 1"]),
            ({"on_overflow": "explode"}, ["on_overflow is 'explode'", "'send'", "'raise'"]),
            ({"cut_newest_human": None}, ["cut_newest_human is None"]),
            ({"rungs": ("no-such-rung",)}, ["rungs names 'no-such-rung'", "the rungs of the ladder are:"]),
            ({"soft_limit": 5}, ["soft_limit is no setting", "soft_limit_tokens"]),
            ({"recent_turns": -1, "enabled": 3}, ["recent_turns is -1", "enabled is 3"]),
        ],
    )
    def test_refused_by_name_in_one_line(self, fields: dict[str, Any], words: list[str]) -> None:
        with pytest.raises(ConfigError) as caught:
            PrunerConfig(**fields)
        said = str(caught.value)
        assert "\n" not in said
        assert [word for word in words if word not in said] == [], said

    @pytest.mark.parametrize(("soft", "hard"), [(800, 800), (801, 800), (10**9, 2)])
    def test_soft_must_be_below_hard(self, soft: int, hard: int) -> None:
        with pytest.raises(ConfigError, match=f"soft_limit_tokens {soft} must be below hard_limit_tokens {hard}:"):
            PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=hard)

    def test_a_limit_that_contradicts_a_default_says_which_is_the_default(self) -> None:
        with pytest.raises(ConfigError, match=r"soft_limit_tokens 500000 \(the default\) must be below .* 2000:"):
            PrunerConfig(hard_limit_tokens=2_000)
        with pytest.raises(ConfigError, match=r"hard_limit_tokens 800000 \(the default\)"):
            PrunerConfig(soft_limit_tokens=900_000)

    def test_the_error_is_one_of_this_package_and_a_value_error(self) -> None:
        assert issubclass(ConfigError, CtxCompressError)
        assert issubclass(ConfigError, ValueError)
        with pytest.raises(ConfigError) as caught:
            PrunerConfig(recent_turns=-1)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__, "the reader is shown pydantic's error too"


class TestRecord:
    def test_frozen(self) -> None:
        config = PrunerConfig()
        with pytest.raises(ValidationError, match="frozen"):
            config.recent_turns = 3  # type: ignore[misc]
        assert config.recent_turns == 5

    @pytest.mark.parametrize(
        "config",
        [
            PrunerConfig(),
            PrunerConfig.for_limit(2),
            PrunerConfig.for_limit(2_000, encoding_model="gpt-4", on_overflow="raise", enabled=False),
            PrunerConfig(target_tokens=1, keep_human_tokens=0, cut_newest_human=True),
        ],
    )
    def test_json_and_back(self, config: PrunerConfig) -> None:
        assert PrunerConfig.model_validate_json(config.model_dump_json()) == config
        assert PrunerConfig(**config.model_dump()) == config
        assert hash(PrunerConfig(**config.model_dump())) == hash(config)

    def test_wrong_json_is_a_value_error_that_names_the_field(self) -> None:
        with pytest.raises(ValueError, match="recent_turns"):
            PrunerConfig.model_validate_json('{"recent_turns": -1}')


class TestForLimit:
    @given(st.integers(2, 10**9))
    def test_hard_at_it_and_soft_at_five_eighths(self, limit: int) -> None:
        config = PrunerConfig.for_limit(limit)
        assert config.hard_limit_tokens == limit
        assert config.soft_limit_tokens == max(1, int(0.625 * limit))
        assert 1 <= config.target_tokens <= config.soft_limit_tokens < config.hard_limit_tokens

    def test_the_ratio_is_that_of_the_defaults(self) -> None:
        assert PrunerConfig.for_limit(800_000) == PrunerConfig()

    def test_other_fields(self) -> None:
        config = PrunerConfig.for_limit(2_000, recent_turns=2, soft_limit_tokens=100)
        assert (config.recent_turns, config.soft_limit_tokens, config.target_tokens) == (2, 100, 60)

    @pytest.mark.parametrize("limit", [1, 0, -5, 1.5, "2000", True, None])
    def test_a_limit_that_is_none(self, limit: Any) -> None:
        with pytest.raises(ConfigError, match="hard_limit_tokens"):
            PrunerConfig.for_limit(limit)


class TestForModel:
    @given(st.integers(4, 10**8))
    def test_half_and_four_fifths_of_its_input_window(self, window: int) -> None:
        config = PrunerConfig.for_model(with_window(window))
        assert config.soft_limit_tokens == int(window * 0.5)
        assert config.hard_limit_tokens == int(window * 0.8)

    def test_a_bound_model_keeps_its_window(self) -> None:
        bound = with_window(200_000).bind(stop=["x"])
        assert PrunerConfig.for_model(bound).hard_limit_tokens == 160_000

    def test_other_fields(self) -> None:
        config = PrunerConfig.for_model(with_window(1_000), recent_turns=2, hard_limit_tokens=900)
        assert (config.soft_limit_tokens, config.hard_limit_tokens, config.recent_turns) == (500, 900, 2)

    @pytest.mark.parametrize("profile", [None, {}, {"max_input_tokens": None}, {"max_input_tokens": 0}, "200k"])
    def test_a_model_whose_window_is_not_known(self, profile: Any) -> None:
        model = SimpleNamespace(profile=profile)
        assert input_window(model) is None
        with pytest.raises(UnknownModelLimitError, match=r"SimpleNamespace .*PrunerConfig.for_limit"):
            PrunerConfig.for_model(model)

    def test_what_is_no_model(self) -> None:
        assert input_window(None) is None
        assert input_window(with_window(128_000)) == 128_000
        assert input_window(SimpleNamespace(profile={"max_input_tokens": True})) is None
        with pytest.raises(UnknownModelLimitError):
            PrunerConfig.for_model("gpt-4o")

    def test_a_window_too_small_for_two_limits(self) -> None:
        with pytest.raises(ConfigError, match="hard_limit_tokens is 1"):
            PrunerConfig.for_model(with_window(2))
