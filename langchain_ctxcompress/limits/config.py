"""`PrunerConfig`: how big the active context may be, and what of it is never touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits.models import input_limit

if TYPE_CHECKING:
    from langchain_core.language_models import BaseLanguageModel

SOFT_SHARE, HARD_SHARE = 0.5, 0.8
"""Limits of `for_model`, as shares of the model's input window: half of it before a compression is worth its price,
and a fifth left for the answer, the tools and what a count cannot see."""

TARGET_SHARE = 0.6
"""Target as a share of the soft limit: far enough below it that the next compression is many steps away."""

KEEP_HUMAN_SHARE = 0.1
"""Tokens of the user's own words that are quoted, as a share of the target."""

SOFT_OF_HARD = 0.625
"""The soft limit of `for_limit`: the defaults' own ratio, 500,000 to 800,000."""

CACHED_PRICE, CACHE_WRITE_PRICE, OUTPUT_PRICE = 0.1, 1.0, 5.0
"""Prices in units of one input token that no cache holds. Anthropic bills a cache hit at 0.1 times the base input
price, output at 5 times, and what is written to the cache at 1.25 times (5 minutes) or 2 times (an hour):
https://platform.claude.com/docs/en/about-claude/pricing. OpenAI's newer models bill cached input at 0.1 times, and do
not bill writing to the cache: https://platform.openai.com/docs/pricing."""

STEPS_AHEAD = 50
"""Steps that a saving is counted for at most: how long a conversation goes on is not known."""

RUNGS = ("clear-tools", "middle-out", "ageing", "top-down-truncation", "emergency")
"""The rungs of the ladder, in the order in which it takes them."""


class PrunerConfig(BaseModel):
    """Limits and protected turns. All sizes are tokens, all turns are counts.

    Raises:
        ConfigError: A value is of the wrong type, out of range or contradicts another; the message names the field.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    soft_limit_tokens: int = Field(default=500_000, ge=1)
    """At or over it, a compression is due (tokens)."""
    hard_limit_tokens: int = Field(default=800_000, ge=2)
    """At or over it, the list is made smaller before the next model call, whatever it takes (tokens)."""
    target_tokens: int = Field(default=0, ge=0)
    """What a compression aims at (tokens); a further rung runs only while the list is over it. Default: 0.6 x soft."""
    pinned_prefix_turns: int = Field(default=1, ge=0)
    """Turns at the start that stay verbatim: usually the task. Default 1."""
    recent_turns: int = Field(default=5, ge=0)
    """Turns at the end that stay verbatim. Default 5."""
    min_candidate_turns: int = Field(default=3, ge=1)
    """With fewer turns between prefix and recent there is nothing to compress. Default 3."""
    keep_human_tokens: int = Field(default=-1, ge=-1)
    """Tokens of the newest replaced human messages that are quoted verbatim. Default: 10 % of the target."""
    encoding_model: str | None = None
    """Whose tokens are counted: a model name. Default: `o200k_base` without margin."""
    ledger: bool = True
    """Whether rules, requests, decisions, artifacts and exact values are kept as records and restated."""
    mode: str = "assistant"
    """What kind of conversation it is, and so what a summary keeps word for word: `developer`, `planning`, `debugger`,
    `assistant`, or one of `register_mode`. Default: `assistant`."""
    rungs: tuple[str, ...] = Field(default=RUNGS, strict=False)
    """Which rungs the ladder may take (P10); it takes them in its own order. Default: all. `ageing` holds for every
    strategy that writes summaries."""
    enabled: bool = True
    """`False` leaves every list as it is."""
    summariser_input: Literal["transcript", "prefix"] = "transcript"
    """What the summariser is shown: a `transcript` of what is replaced, with long tool results shortened, or the
    conversation as it is with one instruction at its end (`prefix`), which the agent's model reads from the provider's
    cache: the same model, the same tools. Default: `transcript`."""
    economic: bool = False
    """Whether a list is compressed before its soft limit where what the coming steps save exceeds what it costs."""
    min_gain: float | None = Field(default=None, allow_inf_nan=False)
    """Between the soft and the hard limit, a compression must save at least so much more than it costs, in units of one
    input token that no cache holds; else it is refused as `not_worth_it`. 0 refuses what pays less than it costs.
    Default: none is refused."""
    steps_ahead: int = Field(default=STEPS_AHEAD, ge=1)
    """Coming steps (model calls) that a saving is counted for at most. Default 50."""
    cached_price: float = Field(default=CACHED_PRICE, ge=0, allow_inf_nan=False)
    """Price of an input token that the provider's cache holds; one that it does not hold costs 1. Default 0.1."""
    cache_write_price: float = Field(default=CACHE_WRITE_PRICE, ge=0, allow_inf_nan=False)
    """Price of an input token that is read for the first time: 1, or 1.25 where writing to the cache is billed.
    Default 1."""
    output_price: float = Field(default=OUTPUT_PRICE, ge=0, allow_inf_nan=False)
    """Price of a token that the summariser writes. Default 5."""
    on_overflow: Literal["send", "raise"] = "send"
    """If what must stay is over the hard limit: send the smallest legal list, or raise `ContextLimitError`."""
    cut_newest_human: bool = False
    """Whether the newest human message may be cut when nothing else is left to cut."""

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise ConfigError(_explain(error)) from None

    def model_post_init(self, _context: Any, /) -> None:
        """Fill in the defaults that follow from other fields, and refuse values that contradict each other."""
        soft, hard = self.soft_limit_tokens, self.hard_limit_tokens
        if soft >= hard:
            default = " (the default)"
            raise ConfigError(
                f"soft_limit_tokens {soft}{'' if 'soft_limit_tokens' in self.model_fields_set else default} must be"
                f" below hard_limit_tokens {hard}{'' if 'hard_limit_tokens' in self.model_fields_set else default}:"
                " set both, or use PrunerConfig.for_limit(hard_limit_tokens)"
            )
        if "target_tokens" not in self.model_fields_set:
            self.__dict__["target_tokens"] = max(1, int(TARGET_SHARE * soft))
        if not 0 < self.target_tokens <= soft:
            msg = f"target_tokens {self.target_tokens} must be from 1 to soft_limit_tokens {soft}"
            raise ConfigError(msg)
        if unknown := [name for name in self.rungs if name not in RUNGS]:
            msg = f"rungs names {', '.join(map(repr, unknown))}; the rungs of the ladder are: {', '.join(RUNGS)}"
            raise ConfigError(msg)
        if self.keep_human_tokens < 0:
            self.__dict__["keep_human_tokens"] = int(KEEP_HUMAN_SHARE * self.target_tokens)

    @classmethod
    def for_limit(cls, limit_tokens: int, **fields: Any) -> PrunerConfig:
        """Limits for a window of a given size: hard at it, soft at 0.625 of it.

        Args:
            limit_tokens: The hard limit, in tokens; at least 2.
            **fields: Any other field.
        """
        soft = int(SOFT_OF_HARD * limit_tokens) if isinstance(limit_tokens, int) else 1
        return cls(**{"hard_limit_tokens": limit_tokens, "soft_limit_tokens": max(1, soft), **fields})

    @classmethod
    def for_model(
        cls, model: BaseLanguageModel[Any] | Any, *, window_tokens: int | None = None, **fields: Any
    ) -> PrunerConfig:
        """Limits for the model that is sent the conversation: soft at 0.5, hard at 0.8 of its input window (M3).

        Args:
            model: A chat model, bound or not; its `profile["max_input_tokens"]` is its window in tokens. One on a local
                runtime gets 85 % of the window that is asked of the runtime, 6,800 tokens where none is.
            window_tokens: Its window, where its profile states none, in tokens.
            **fields: Any other field.

        Raises:
            UnknownModelLimitError: Nothing says how large the model's window is.
            ConfigError: A value is out of range.
        """
        return cls.for_window(input_limit(model, window_tokens=window_tokens), **fields)

    @classmethod
    def for_window(cls, window_tokens: int, **fields: Any) -> PrunerConfig:
        """Limits for a model whose input window is known: soft at 0.5, hard at 0.8 of it.

        Args:
            window_tokens: The input window, in tokens.
            **fields: Any other field.

        Raises:
            ConfigError: A value is out of range, or of the wrong kind.
        """
        check_least("window_tokens", window_tokens, 2)
        soft, hard = int(SOFT_SHARE * window_tokens), int(HARD_SHARE * window_tokens)
        return cls(**{"soft_limit_tokens": soft, "hard_limit_tokens": hard, **fields})


def _explain(error: ValidationError) -> str:
    """One line a field: its name, what is wrong, and the value."""
    lines = []
    for problem in error.errors(include_url=False):
        name = ".".join(str(part) for part in problem["loc"]) or "PrunerConfig"
        if problem["type"] == "extra_forbidden":
            known = ", ".join(PrunerConfig.model_fields)
            lines.append(f"{name} is no setting of PrunerConfig; there are: {known}")
        elif problem["type"] == "value_error":
            lines.append(str(problem["ctx"]["error"]))
        else:
            lines.append(f"{name} is {problem['input']!r}: {problem['msg']}")
    return "; ".join(lines)
