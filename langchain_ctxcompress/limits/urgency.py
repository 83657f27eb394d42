"""The pruning triggers, and the turns that may be compressed (requirements T1 to T6). All pure."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from itertools import accumulate

from langchain_ctxcompress.arguments import check_kind
from langchain_ctxcompress.limits.config import PrunerConfig
from langchain_ctxcompress.limits.window import ContextWindow
from langchain_ctxcompress.messages import ConversationTurn, newest_human


class PruneUrgency(StrEnum):
    """How soon a list must get smaller."""

    NONE = "none"
    """It is under its soft limit."""
    SOFT = "soft"
    """It is at or over its soft limit: when it suits."""
    HARD = "hard"
    """It is at or over its hard limit: before the next model call, whatever it takes."""


def should_trigger_soft_prune(window: ContextWindow, config: PrunerConfig) -> bool:
    """Whether the window is at or over the soft limit (T1).

    Raises:
        ConfigError: An argument is of the wrong kind.
    """
    _check(window, config)
    return window.total_token_estimate >= config.soft_limit_tokens


def should_trigger_hard_prune(window: ContextWindow, config: PrunerConfig) -> bool:
    """Whether the window is at or over the hard limit (T2).

    Raises:
        ConfigError: An argument is of the wrong kind.
    """
    _check(window, config)
    return window.total_token_estimate >= config.hard_limit_tokens


def classify_prune_urgency(window: ContextWindow, config: PrunerConfig) -> PruneUrgency:
    """`HARD` at or over the hard limit, `SOFT` at or over the soft one, else `NONE` (T3).

    Raises:
        ConfigError: An argument is of the wrong kind.
    """
    if should_trigger_hard_prune(window, config):
        return PruneUrgency.HARD
    return PruneUrgency.SOFT if should_trigger_soft_prune(window, config) else PruneUrgency.NONE


def select_turns_for_summarization(window: ContextWindow, config: PrunerConfig) -> list[ConversationTurn]:
    """The candidates: the middle turns, in order (T5).

    Left out are the first `pinned_prefix_turns`, every pinned turn, the last `recent_turns`, and the turns of the
    newest human messages. The summary message counts neither as prefix nor as recent and is never a candidate: it is
    rewritten by each compression. Fewer than `min_candidate_turns` gives an empty list.

    Raises:
        ConfigError: An argument is of the wrong kind.
    """
    _check(window, config)
    turns = [turn for turn in window.turns if not turn.is_summary]
    middle = range(config.pinned_prefix_turns, len(turns) - config.recent_turns)
    newest = _newest_human_turns(turns)
    candidates = [turns[place] for place in middle if turns[place].pinned is not True and place not in newest]
    return candidates if len(candidates) >= config.min_candidate_turns else []


def _check(window: object, config: object) -> None:
    """Refuse an argument of the wrong kind."""
    check_kind("window", window, ContextWindow, "a ContextWindow, as ContextWindow.of makes of messages")
    check_kind("config", config, PrunerConfig, "a PrunerConfig")


def _newest_human_turns(turns: list[ConversationTurn]) -> set[int]:
    """The places of the turns that hold the newest human messages."""
    flat = [message for turn in turns for message in turn.messages]
    ends = list(accumulate(len(turn.messages) for turn in turns))
    return {bisect_right(ends, index) for index in newest_human(flat)}
