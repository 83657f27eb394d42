"""The protocol of a strategy: a generator that asks for model calls, and never does I/O itself.

A strategy `yield`s a list of `CompressionTask`, is sent the list of `TaskResult`, and returns its draft. A mechanical
one yields nothing, one in two rounds yields twice. So there is one copy of the logic for sync and async, a plan is the
generator run to its first `yield`, and logic is tested without a model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from langchain_ctxcompress.ledger import Goal, GoalSet
from langchain_ctxcompress.limits import ContextWindow, PrunerConfig, PruneUrgency, select_turns_for_summarization
from langchain_ctxcompress.messages import (
    Boundaries,
    ConversationTurn,
    dividers,
    is_pinned,
    is_summary,
    kind_of,
    newest_human,
)
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.tools import Tools
from langchain_ctxcompress.summarize import AgentCall, CompressionTask, Mode, SummaryMode, TaskResult

Steps = Generator[list[CompressionTask], list[TaskResult], "CompressionDraft"]


@dataclass(frozen=True, slots=True)
class RungReport:
    """What one rung did.

    Attributes:
        name: The strategy.
        freed: Tokens it freed.
        reason: Why it did what it did.
        detail: More, in one line, for people.
    """

    name: str
    freed: int = 0
    reason: Reason = Reason.COMPRESSED
    detail: str = ""


@dataclass(frozen=True)
class CompressionRequest:
    """What a strategy is given. The messages are repaired and all have ids.

    Attributes:
        messages: The active context.
        sizes: The size of each, in tokens.
        config: The limits.
        urgency: How soon it must get smaller.
        tools: Counting and cutting.
        session_id: Whose conversation.
        overhead_tokens: Size of what is sent besides the messages.
        head: The newest summary checkpoint the list stands on.
        shown: The checkpoints whose texts stand in the summary message, oldest first.
        next_number: The number of the next checkpoint.
        summariser: Whether a chat model may be asked; otherwise the extractive summariser writes.
        summariser_window: The summariser's input window in tokens; `None` where it is not known.
        instructions: The caller's own, for the summariser.
        agent: What the agent's model is called with, where the summariser is shown the conversation as that model is;
            `None`: it is shown a transcript.
        mode: What kind of conversation it is (P4).
        goals: What the work is for: restated word for word, never compressed.
        given: The list before any rung; empty where this is the first.
        began_with_human: Whether the list did before any rung, system messages apart; `None` where this is the first.
    """

    messages: tuple[BaseMessage, ...]
    sizes: tuple[int, ...]
    config: PrunerConfig
    urgency: PruneUrgency
    tools: Tools
    session_id: str = ""
    overhead_tokens: int = 0
    head: CheckpointSummary | None = None
    shown: tuple[CheckpointSummary, ...] = ()
    next_number: int = 1
    summariser: bool = False
    summariser_window: int | None = None
    instructions: str = ""
    agent: AgentCall | None = None
    mode: str | SummaryMode = Mode.ASSISTANT
    goals: GoalSet = field(default_factory=GoalSet)
    began_with_human: bool | None = None
    given: tuple[BaseMessage, ...] = ()

    @cached_property
    def begins_with_human(self) -> bool:
        """Whether the list begins with a human message, and has to go on so: Anthropic and Gemini refuse another."""
        if self.began_with_human is not None:
            return self.began_with_human
        return next((k for m in self.messages if (k := kind_of(m)) != "system"), "") == "human"

    @cached_property
    def window(self) -> ContextWindow:
        """The messages as turns."""
        return ContextWindow.of(self.messages, lambda _: list(self.sizes), overhead_tokens=self.overhead_tokens)

    @property
    def tokens(self) -> int:
        """Size of all that is sent, in tokens."""
        return self.overhead_tokens + sum(self.sizes)

    @cached_property
    def boundaries(self) -> Boundaries:
        """The legal cuts."""
        return Boundaries(self.messages)

    @cached_property
    def verbatim(self) -> frozenset[int]:
        """The places of system, pinned and newest human messages themselves: no strategy rewords them."""
        own = (place for place, m in enumerate(self.messages) if kind_of(m) == "system" or is_pinned(m))
        return frozenset((*own, *newest_human(self.messages)))

    @cached_property
    def protected(self) -> frozenset[int]:
        """The places of what no strategy removes: system, pinned and newest human messages.

        Their spans stay with them: a pinned result keeps its call.
        """
        return frozenset(self.boundaries.close(self.verbatim))

    @cached_property
    def prefix(self) -> frozenset[int]:
        """The places of the first turns."""
        return frozenset(place for turn in self._turns[: self.config.pinned_prefix_turns] for place in turn.indices)

    @cached_property
    def recent(self) -> frozenset[int]:
        """The places of the last turns."""
        first = max(0, len(self._turns) - self.config.recent_turns)
        return frozenset(place for turn in self._turns[first:] for place in turn.indices)

    @cached_property
    def _turns(self) -> list[ConversationTurn]:
        """The turns but for the summary message, which is neither a first nor a last one."""
        return [turn for turn in self.window.turns if not turn.is_summary]

    @cached_property
    def candidates(self) -> frozenset[int]:
        """The places of what may be replaced: the candidate turns, in whole spans, without protected messages.

        A human message that alone parts the model's words from a call stays; the summary message parts them as well.
        """
        turns = select_turns_for_summarization(self.window, self.config)
        places = {place for turn in turns for place in turn.indices} - self.protected
        places = self.boundaries.within(places)
        stand = min(places, default=None) if self.summary_place is None else None
        places -= dividers(self.messages, set(range(len(self.messages))) - places, stand)
        return frozenset(places - self.between_protected)

    @cached_property
    def between_protected(self) -> frozenset[int]:
        """The human messages that part protected words of the model from a protected call.

        They stay from the first rung on: what a later one leaves may be the protected messages alone.
        """
        return frozenset(dividers(self.messages, self.protected))

    @cached_property
    def why_none(self) -> Reason:
        """Why there is nothing to replace: what stays verbatim is over the trigger alone, or there is little besides.

        A middle of fewer turns than the least is still not what stays: it may be all that is too much.
        """
        anything = self.config.model_copy(update={"min_candidate_turns": 0})
        middle = {i for turn in select_turns_for_summarization(self.window, anything) for i in turn.indices}
        stays = self.tokens - sum(self.sizes[place] for place in middle - self.protected)
        over = stays >= self.config.soft_limit_tokens
        return Reason.PROTECTED_TAIL_OVER_TRIGGER if over else Reason.TOO_FEW_CANDIDATES

    @cached_property
    def summary_place(self) -> int | None:
        """The place of the summary message; `None` where there is none."""
        return next((place for place, message in enumerate(self.messages) if is_summary(message)), None)

    def after(self, draft: CompressionDraft) -> CompressionRequest:
        """The request for the next rung, on what this draft left."""
        records = [record for record in draft.checkpoints if record.checkpoint_id]
        known = {record.checkpoint_id: record for record in (*self.shown, *records)}
        head = records[-1] if records else self.head
        return replace(
            self,
            messages=draft.messages,
            sizes=draft.sizes,
            head=head,
            shown=tuple(known[i] for i in head.shown if i in known) if head else (),
            next_number=self.next_number + len(records),
            goals=goals_of(head) if records else self.goals,
            began_with_human=self.begins_with_human,
            given=self.given or self.messages,
        )

    def unchanged(self, reason: Reason, name: str, detail: str = "") -> CompressionDraft:
        """A draft that leaves everything as it is."""
        return CompressionDraft(self.messages, self.sizes, reason=reason, rungs=(RungReport(name, 0, reason, detail),))


@dataclass(frozen=True, slots=True)
class EmergencyAction:
    """A last resort that a strategy took, as its draft announces it: the engine saves what was there before it (P8).

    Attributes:
        name: What is done.
        messages: The list as it is before.
        checkpoints: The checkpoints that list stands on: those it shows, and its head.
        goals: The goals as they stand before.
    """

    name: str
    messages: tuple[BaseMessage, ...]
    checkpoints: tuple[CheckpointSummary, ...] = ()
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True, slots=True)
class CompressionDraft:
    """What a strategy returns.

    Attributes:
        messages: The new list.
        sizes: The size of each, in tokens.
        checkpoints: New checkpoints, oldest first: every message that left is covered by one of them.
        reason: Why it is as it is.
        degraded: Whether something had to be done in a lesser way (the summariser failed).
        rungs: What was tried.
        model_calls: Attempts made on the summariser.
        actions: The last resorts in it, in order; a snapshot is taken for each before the draft is applied.
        input_tokens: What it says it read, in tokens; the engine fills it in.
        output_tokens: What it says it wrote, in tokens; the engine fills it in.
        cached_tokens: What of that came from the provider's cache, in tokens; the engine fills it in.
        background_seconds: Time it took, where it was made in the background; the engine fills it in.
    """

    messages: tuple[BaseMessage, ...]
    sizes: tuple[int, ...]
    checkpoints: tuple[CheckpointSummary, ...] = ()
    reason: Reason = Reason.COMPRESSED
    degraded: bool = False
    rungs: tuple[RungReport, ...] = ()
    model_calls: int = 0
    actions: tuple[EmergencyAction, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    background_seconds: float = 0.0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Size of the messages, in tokens, without what is sent besides them."""
        return sum(self.sizes)

    def then(self, later: CompressionDraft) -> CompressionDraft:
        """This draft and, on top of it, a later rung's."""
        return replace(
            later,
            checkpoints=(*self.checkpoints, *later.checkpoints),
            reason=later.reason if later.reason is not Reason.TOO_FEW_CANDIDATES else self.reason,
            degraded=self.degraded or later.degraded,
            rungs=(*self.rungs, *later.rungs),
            model_calls=self.model_calls + later.model_calls,
            actions=(*self.actions, *later.actions),
            input_tokens=self.input_tokens + later.input_tokens,
            output_tokens=self.output_tokens + later.output_tokens,
            background_seconds=self.background_seconds + later.background_seconds,
            cached_tokens=self.cached_tokens + later.cached_tokens,
        )


class CompressionStrategy(ABC):
    """A way of making a list smaller. Derive from it, and hand it to `register_strategy`.

    Attributes:
        name: What it is called by.
        requires_llm: Whether it is of no use without a chat model.
    """

    name: ClassVar[str]
    requires_llm: ClassVar[bool] = False

    @abstractmethod
    def run(self, request: CompressionRequest) -> Steps:
        """Make the list smaller.

        Args:
            request: The list, its sizes, and what it must fit.

        Yields:
            Lists of tasks; their results are sent back.

        Returns:
            The draft. Cuts must come from `request.boundaries`; the messages of `request.protected` must stay.
        """


def goals_of(record: CheckpointSummary | None) -> GoalSet:
    """The goals that a checkpoint holds; none where it holds none, or none that can still be read."""
    if record is None or not record.goals:
        return GoalSet()
    try:
        now, given = ([Goal.model_validate(goal) for goal in goals] for goals in (record.goals, record.goals_given))
    except ValidationError:  # of a version whose records were other ones, or taken out by a redaction
        return GoalSet()
    return GoalSet(tuple(now), tuple(given))
