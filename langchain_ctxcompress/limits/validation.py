"""Whether something fits, and what to do next where it does not (requirements P9, M3, S1).

Pure, and made of sizes alone: whoever holds messages, checkpoints or a prompt counts them and asks here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.limits.config import PrunerConfig
from langchain_ctxcompress.limits.models import input_limit
from langchain_ctxcompress.limits.urgency import select_turns_for_summarization
from langchain_ctxcompress.limits.window import ContextWindow

SUMMARY_TOKENS = 500
SUMMARY_SHARE_PERCENT = 5
"""What a new summary takes at most: the larger of a detailed one and a share of what it replaces (P2)."""

MERGED_TOKENS = 100
"""What a merged checkpoint takes: a compact summary (P2)."""

MERGE_FROM = 3
"""So many checkpoints are worth a merge (P7)."""

CUT_TOKENS = 48
"""What a message that is cut keeps at least: some words of its head and tail around the marker."""

ROLL_OVER_TURNS = 5
"""Turns at the end that a rollover keeps (P8)."""

ANSWER_TOKENS = 1_000
"""Tokens of a model's window that are kept for the answer (M3)."""


class NextAction(StrEnum):
    """What makes a context smaller; the gentlest first."""

    COMPRESS = "compress"
    MERGE = "merge"
    TRUNCATE = "truncate"
    ROLL_OVER = "roll_over"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An action and what it is worth.

    Attributes:
        action: What to do.
        frees: Tokens it would free, about: a summary is not written yet.
    """

    action: NextAction
    frees: int


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Whether a size is within a limit.

    Attributes:
        valid: Whether it is.
        tokens: The size, in tokens.
        limit: The most it may be, in tokens.
        overage: Tokens over the limit; 0 where it is valid.
        message: The same in one line, for people.
        suggestions: What to do next, the best first; empty where it is valid or nothing can be made smaller.
    """

    valid: bool
    tokens: int
    limit: int
    overage: int
    message: str
    suggestions: tuple[Suggestion, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Reducible:
    """What of a context could be made smaller. All sizes are tokens.

    Attributes:
        candidates: The turns that a summary may replace, together.
        checkpoints: Each summary checkpoint.
        largest_message: The largest message that may be cut.
        older: The turns before the last five that may go, together.
    """

    candidates: int = 0
    checkpoints: tuple[int, ...] = ()
    largest_message: int = 0
    older: int = 0

    @classmethod
    def of(
        cls,
        window: ContextWindow,
        config: PrunerConfig,
        *,
        checkpoints: Sequence[int] = (),
        largest_message: int = 0,
    ) -> Reducible:
        """What of a window could be made smaller.

        Args:
            window: The turns with their sizes.
            config: Which turns are protected.
            checkpoints: Size of each summary checkpoint, in tokens; a window does not tell them apart.
            largest_message: Size of the largest message that may be cut, in tokens; a window has turns only.
        """
        candidates = sum(turn.token_count for turn in select_turns_for_summarization(window, config))
        turns = [turn for turn in window.turns if not turn.is_summary]
        older = sum(turn.token_count for turn in turns[:-ROLL_OVER_TURNS] if not turn.pinned)
        return cls(candidates, tuple(checkpoints), largest_message, older)


def validate_size(tokens: int, limit: int, reducible: Reducible | None = None) -> ValidationResult:
    """Whether `tokens` is within `limit`, and what to do where it is not.

    Args:
        tokens: The size, in tokens.
        limit: The most it may be, in tokens; at the limit it is valid.
        reducible: What could be made smaller; without it nothing is suggested.

    Raises:
        ConfigError: A number is negative.
    """
    check_least("tokens", tokens)
    check_least("limit", limit)
    overage = max(0, tokens - limit)
    if not overage:
        return ValidationResult(True, tokens, limit, 0, f"{tokens} tokens fit the limit of {limit}")
    suggestions = suggest_actions(reducible, overage) if reducible else ()
    message = f"{tokens} tokens are {overage} over the limit of {limit}"
    if suggestions:
        best = suggestions[0]
        message += f": {best.action.value.replace('_', ' ')} to free about {best.frees}"
    return ValidationResult(False, tokens, limit, overage, message, suggestions)


def validate_against_provider(
    tokens: int, model: Any, *, window_tokens: int | None = None, reducible: Reducible | None = None
) -> ValidationResult:
    """Whether a prompt fits the model with 1,000 tokens kept for the answer (M3).

    Args:
        tokens: Size of the prompt, in tokens.
        model: A chat model, bound or not.
        window_tokens: Its window, where its profile states none, in tokens.
        reducible: What could be made smaller, for suggestions.

    Raises:
        UnknownModelLimitError: The model's window is not known; the message says how to set it.
        ConfigError: A number is out of range.
    """
    limit = input_limit(model, window_tokens=window_tokens) - ANSWER_TOKENS
    return validate_size(tokens, max(0, limit), reducible)


def suggest_actions(reducible: Reducible, overage: int) -> tuple[Suggestion, ...]:
    """The actions that free something, the best first (P9).

    Those that free enough come first, the gentlest of them in front; then the others, the one that frees most in front.

    Args:
        reducible: What could be made smaller.
        overage: Tokens that have to go.
    """
    freed = {
        NextAction.COMPRESS: reducible.candidates - _summary_tokens(reducible.candidates),
        NextAction.MERGE: _merge_frees(reducible.checkpoints),
        NextAction.TRUNCATE: min(overage, reducible.largest_message - CUT_TOKENS),
        NextAction.ROLL_OVER: reducible.older,
    }
    useful = [Suggestion(action, frees) for action, frees in freed.items() if frees > 0]
    return tuple(sorted(useful, key=lambda it: (0, 0) if it.frees >= overage else (1, -it.frees)))


def _summary_tokens(source: int) -> int:
    return max(SUMMARY_TOKENS, source * SUMMARY_SHARE_PERCENT // 100)


def _merge_frees(checkpoints: Sequence[int]) -> int:
    return sum(checkpoints) - MERGED_TOKENS if len(checkpoints) >= MERGE_FROM else 0
