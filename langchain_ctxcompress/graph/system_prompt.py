"""The system prompt of a graph's model call: from a provider, with the goals that nothing else restates (G4).

A system prompt is never compressed: it is no part of the list, and counts as what is sent besides it. Goals stand in
the summary message as soon as there is one; until then, and where they were changed since, they come with the system
prompt.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage

from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.graph.state import value_in
from langchain_ctxcompress.ledger import Goal, Goals, goal_values, read_goals, render_goals
from langchain_ctxcompress.messages import extract_text_content, is_summary
from langchain_ctxcompress.strategies.rendering import goals_section

GOAL_KEY = "ctx_goal"
"""Where a state holds its goals: one or several, as plain values (`goal.model_dump(mode="json")`)."""

SYSTEM_PROMPT_KEY = "ctx_system_prompt"
"""Where the node leaves the system prompt for the model node, where the state has such a key."""


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a provider may build a system prompt of.

    Attributes:
        goals: The goals as they stand, the most important first. They are restated in any case: a provider that names
            them does so for its own sake.
        messages: The messages that are sent with it.
        state: The graph's state.
    """

    goals: tuple[Goal, ...]
    messages: tuple[BaseMessage, ...]
    state: Any = None


SystemPrompt = str | Callable[..., str]
"""A text, or a provider: a callable that takes a `PromptContext`, or nothing, and returns the text."""


class SystemPromptSource:
    """Makes the system prompt of one call.

    Args:
        provider: The caller's; `None` for one that has only the goals in it.

    Raises:
        ConfigError: It is neither a text nor callable.
    """

    def __init__(self, provider: SystemPrompt | None) -> None:
        if provider is not None and not isinstance(provider, str) and not callable(provider):
            msg = f"system_prompt is a {type(provider).__name__}: pass a text, or a callable that returns one"
            raise ConfigError(msg)
        self._provider = provider
        self._takes_context = callable(provider) and _takes_an_argument(provider)

    @property
    def none(self) -> bool:
        """Whether there is no prompt but the goals."""
        return not self._provider

    def __call__(self, goals: Sequence[Goal], messages: Sequence[BaseMessage], state: Any = None) -> str:
        """The system prompt for these messages; `""` where there is nothing to say.

        Raises:
            ConfigError: The provider returned no text.
        """
        text: Any = self._provider or ""
        if callable(text):
            text = text(PromptContext(tuple(goals), tuple(messages), state)) if self._takes_context else text()
        if not isinstance(text, str):
            msg = f"the system_prompt provider returned a {type(text).__name__}: it must return a text"
            raise ConfigError(msg)
        return "\n\n".join(filter(None, (text, not_restated(goals, messages))))


def not_restated(goals: Sequence[Goal], messages: Sequence[BaseMessage]) -> str:
    """The goals as text where no summary message among the messages states them as they are; else `""`."""
    if not goals:
        return ""
    section = goals_section(render_goals(goals))
    summaries = (m for m in messages if isinstance(m, BaseMessage) and is_summary(m))
    return "" if any(section in extract_text_content(message) for message in summaries) else section


def goals_in(state: Any, default: Goals | None) -> tuple[Goal, ...] | None:
    """The goals of a state, else those of the door; `None` where neither has any.

    Raises:
        ConfigError: What stands there is no goal.
    """
    found = value_in(state, GOAL_KEY)
    given = default if found is None else found
    return None if given is None else read_goals(given)


def goal_update(state: Any, default: Goals | None, goals: Sequence[Goal]) -> dict[str, Any]:
    """The update of the state where its goals were reported on; empty where they are what they were."""
    known = goals_in(state, default)
    return {GOAL_KEY: goal_values(goals)} if known is not None and tuple(goals) != known else {}


def behind_system(messages: Sequence[BaseMessage], text: str) -> list[BaseMessage]:
    """The messages with a system prompt behind those that lead them."""
    if not text:
        return list(messages)
    at = next((place for place, m in enumerate(messages) if not isinstance(m, SystemMessage)), len(messages))
    return [*messages[:at], SystemMessage(text), *messages[at:]]


def _takes_an_argument(provider: Callable[..., str]) -> bool:
    try:
        parameters = inspect.signature(provider).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not say
        return True
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)
