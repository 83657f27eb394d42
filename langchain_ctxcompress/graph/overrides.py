"""What one thread has otherwise: limits, mode, goal, instructions, on or off, from config or context of the run.

`{"configurable": {"thread_id": "7", "ctxcompress": {"hard_limit_tokens": 32_000, "instructions": "keep the SQL"}}}`,
or a `ctxcompress` key or attribute of the context that the graph is invoked with. The config holds over the context.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableConfig

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.ledger import Goal, Goals, read_goals
from langchain_ctxcompress.limits import PrunerConfig

OVERRIDE_KEY = "ctxcompress"
"""Where overrides stand, in `configurable` and in the context."""

_DOORS_OWN = frozenset(
    {"self", "messages", "session_id", "force", "overhead_tokens", "config", "store", "events", "goal", "agent"}
)
"""Arguments of `compress` that a door gives, and no thread."""

_FOLLOWS_SOFT = ("target_tokens", "keep_human_tokens")
_FOLLOWS_HARD = ("soft_limit_tokens", *_FOLLOWS_SOFT)


@dataclass(frozen=True, slots=True)
class Overrides:
    """The overrides of one run.

    Attributes:
        limits: Fields of `PrunerConfig`.
        arguments: Arguments of `ContextCompressor.compress`.
        goal: The goals of a thread whose state has none; `None`: those of the door.
    """

    limits: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    goal: tuple[Goal, ...] | None = None

    @classmethod
    def of(cls, config: RunnableConfig | None, context: Any = None) -> Overrides:
        """The overrides that a run was given.

        Args:
            config: The run's config.
            context: The context that the graph was invoked with.

        Raises:
            ConfigError: There is no such setting, or it has a value it cannot have; the message names the key.
        """
        in_context = context.get(OVERRIDE_KEY) if isinstance(context, Mapping) else getattr(context, OVERRIDE_KEY, None)
        in_config = ((config or {}).get("configurable") or {}).get(OVERRIDE_KEY)
        if in_context is None and in_config is None:
            return _NONE
        given = {**_mapping(in_context, "context"), **_mapping(in_config, "configurable")}
        goal = read_goals(given.pop("goal")) if given.get("goal") is not None else None
        limits = {key: value for key, value in given.items() if key in PrunerConfig.model_fields}
        arguments = {key: value for key, value in given.items() if key not in limits}
        known = _arguments()
        for key, value in arguments.items():
            if key not in known:
                every = ", ".join(sorted({*known, *PrunerConfig.model_fields, "goal"}))
                msg = f"{OVERRIDE_KEY}[{key!r}] is no setting of a thread; there are: {every}"
                raise ConfigError(msg)
            wanted = known[key]
            if wanted is not None and not isinstance(value, wanted):
                msg = f"{OVERRIDE_KEY}[{key!r}] is {value!r}: it must be a {wanted.__name__}"
                raise ConfigError(msg)
        return cls(limits, arguments, goal)

    @property
    def none(self) -> bool:
        """Whether the run was given none."""
        return self is _NONE

    def goal_or(self, own: Goals | None) -> Goals | None:
        """The goals of a thread whose state has none: its own, else those of the door."""
        return own if self.goal is None else self.goal

    def config(self, base: PrunerConfig) -> PrunerConfig:
        """The limits of the run.

        A new hard limit takes the soft one with it (at 0.625 of it) where no soft one is given, and a new soft limit
        the target.

        Args:
            base: What holds where nothing else is said.

        Raises:
            ConfigError: A value is of the wrong type, out of range or contradicts another; the message names the key.
        """
        if not self.limits:
            return base
        follows: tuple[str, ...] = ()
        if "hard_limit_tokens" in self.limits and "soft_limit_tokens" not in self.limits:
            follows = _FOLLOWS_HARD
        elif "soft_limit_tokens" in self.limits:
            follows = _FOLLOWS_SOFT
        kept = {name: getattr(base, name) for name in base.model_fields_set if name not in follows}
        fields = {**kept, **self.limits}
        try:
            if follows is _FOLLOWS_HARD:
                return PrunerConfig.for_limit(fields.pop("hard_limit_tokens"), **fields)
            return PrunerConfig(**fields)
        except ConfigError as error:
            msg = f"{OVERRIDE_KEY} of this run: {error}"
            raise ConfigError(msg) from None


_NONE = Overrides()


def _mapping(given: Any, where: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        msg = f"{where}[{OVERRIDE_KEY!r}] is {given!r}: it must be a mapping of settings"
        raise ConfigError(msg)
    return given


@cache
def _arguments() -> dict[str, type | None]:
    """What a thread may set of the arguments of `compress`, with its type where that is a plain one."""
    parameters = inspect.signature(ContextCompressor.compress).parameters
    plain = {"str": str, "bool": bool, "int": int}
    return {name: plain.get(str(p.annotation)) for name, p in parameters.items() if name not in _DOORS_OWN}
