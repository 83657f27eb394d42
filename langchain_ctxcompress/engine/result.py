"""What a compression returns: the list, what became of it and why, and what a plan says beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import Goal
from langchain_ctxcompress.limits import CompressionCosts, PruneUrgency, ValidationResult
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies import Reason, RungReport

if TYPE_CHECKING:
    from langchain_ctxcompress.report import CompressionReport


class Outcome(StrEnum):
    """What became of a list."""

    APPLIED = "applied"
    """It is smaller, or was put in order."""
    NOOP = "noop"
    """It is what it was."""
    DEGRADED = "degraded"
    """It is smaller, but in a lesser way than asked: the summariser failed, or emergency measures were needed."""
    FAILED = "failed"
    """It is still too large, or nothing could be done; nothing is lost."""


@dataclass(frozen=True, slots=True)
class CompressionPlan:
    """What a compression would do, at no cost.

    Attributes:
        urgency: How soon the list must get smaller.
        tokens: Size of all that is sent, in tokens.
        reason: What would be the reason of the result.
        turns: Turns in the list.
        candidate_turns: Turns that would be replaced.
        candidate_tokens: Their size, in tokens.
        model_calls: Model calls of the first round.
        model_tokens: What they would read, in tokens.
        tokens_after: Size of all that would be sent afterwards, in tokens: exactly, where no model is asked; with one,
            what it is at most as long as the model keeps to the length it is asked for. `None` where nothing is due.
        costs: What it would cost and save, by the prices of the config; `None` where nothing would change.
    """

    urgency: PruneUrgency
    tokens: int
    reason: Reason
    turns: int = 0
    candidate_turns: int = 0
    candidate_tokens: int = 0
    model_calls: int = 0
    model_tokens: int = 0
    tokens_after: int | None = None
    costs: CompressionCosts | None = None


@dataclass(frozen=True, slots=True, repr=False)
class CompressionResult:
    """What a compression did.

    Attributes:
        messages: The active context.
        outcome: What became of the list.
        reason: Why.
        tokens_before: Size of all that would have been sent, in tokens.
        tokens_after: Size of all that is sent now, in tokens.
        checkpoint: The newest checkpoint that this compression made; `None` if it made none.
        checkpoints: All that it made, oldest first.
        turns_kept: Turns that stay as they were.
        turns_replaced: Turns that left.
        model_calls: Attempts made on the summariser.
        seconds: Time it took, in this call.
        background_seconds: Time that was spent on it before, in the background.
        input_tokens: What the summariser says it read, in tokens.
        output_tokens: What it says it wrote, in tokens.
        costs: What that cost, and what it saves, by the prices of the config and what the summariser says it read and
            wrote; `None` where the list is what it was.
        rungs: What was tried, and what each freed.
        detail: More about the reason, in one line, for people.
        snapshots: The ids of the snapshots that were taken before last resorts, in their order (P8).
        validation: Whether the list fits its hard limit, and what to do next where it does not; `None` where it was
            not looked at.
        reliability: How far the session's summaries can be trusted, from 0 to 1; `None` without a chat model, and where
            its size is not known (M2).
        warnings: What there is to say of that.
        goals: The goals as they stand, with what the summary reported; the most important first.
    """

    messages: list[BaseMessage]
    outcome: Outcome
    reason: Reason
    tokens_before: int
    tokens_after: int
    checkpoint: CheckpointSummary | None = None
    checkpoints: tuple[CheckpointSummary, ...] = ()
    turns_kept: int = 0
    turns_replaced: int = 0
    model_calls: int = 0
    seconds: float = 0.0
    background_seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    rungs: tuple[RungReport, ...] = ()
    detail: str = ""
    snapshots: tuple[str, ...] = ()
    validation: ValidationResult | None = None
    reliability: float | None = None
    warnings: tuple[str, ...] = ()
    goals: tuple[Goal, ...] = ()
    costs: CompressionCosts | None = None

    def __repr__(self) -> str:
        """What was done, without the messages: they may be thousands."""
        made = f", checkpoint={self.checkpoint.checkpoint_id!r}" if self.checkpoint else ""
        return (
            f"{type(self).__name__}(outcome={str(self.outcome)!r}, reason={str(self.reason)!r},"
            f" tokens_before={self.tokens_before}, tokens_after={self.tokens_after},"
            f" messages=[{len(self.messages)} messages]{made})"
        )

    @property
    def changed(self) -> bool:
        """Whether the list differs from the one that was given."""
        return self.outcome in (Outcome.APPLIED, Outcome.DEGRADED) or bool(self.checkpoints)

    @property
    def tokens_freed(self) -> int:
        """Tokens that need not be sent any more."""
        return self.tokens_before - self.tokens_after

    def report(self) -> CompressionReport:
        """This compression to look at: in a terminal by rich, in a notebook, or as plots."""
        from langchain_ctxcompress.report import CompressionReport

        return CompressionReport(self)
