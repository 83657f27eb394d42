"""The ledger in a compression: what the replaced messages add to it, and what of it the summary message restates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import HumanMessage
from pydantic import ValidationError

from langchain_ctxcompress.ledger import (
    GoalSet,
    Ledger,
    Request,
    extract_records,
    finish,
    mask_stale,
    merge,
    missing_from,
    render,
    render_goals,
    split_reply,
    take_up,
)
from langchain_ctxcompress.messages import extract_text_content, is_summary
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies.base import CompressionRequest
from langchain_ctxcompress.strategies.rendering import read_ledger
from langchain_ctxcompress.strategies.summarising import WrittenSummary

SMALL_SHARE = 1.0
"""Share of a small target that the ledger may take: of 1,500 tokens all, in which some 60 statements can stand. What is
left under the hard limit bounds it first, and a session in which little was said that lasts takes little of it."""

SMALL_TARGET = 1_500
GROWTH = 0.1
"""Beyond a small target the ledger grows by a tenth of what the target does."""

MOST = 4_000
"""No ledger takes more, but for rules and goals: beyond it, looking things up is better than restating them."""

SHOWN_FINISHED = 3
"""Finished requests that are restated; what the user asked last is what a model is tempted to do again."""


def ledger_of(request: CompressionRequest) -> Ledger:
    """The ledger of what the summary message stands for.

    The newest checkpoints hold it. Of an older one (a fork), or where the store was lost, what the summary message
    restates is read again, so that at least the rules go on.
    """
    head = request.head
    if head is not None and head.ledger and (stored := stored_ledger(head)):
        return stored
    place = request.summary_place
    summary = extract_text_content(request.messages[place]) if place is not None else ""
    origin = head.first_id if head else ""
    said = [HumanMessage(line, id=f"{origin}#{number}") for number, line in enumerate(read_ledger(summary))]
    return extract_records(said) if said else Ledger()


def stored_ledger(head: CheckpointSummary) -> Ledger:
    """The ledger that a checkpoint holds; an empty one where it holds none, or none that can still be read."""
    try:
        return Ledger.model_validate(head.ledger)
    except ValidationError:  # of a version whose records were other ones
        return Ledger()


@dataclass(frozen=True, slots=True)
class Remembered:
    """The ledger of a compression.

    Attributes:
        ledger: What all replaced messages said that must not be lost.
        text: What of it is restated.
        current: The ledger with what the messages that stay say: what holds now.
        goals: The goals, restated word for word.
        before: The ledger of what was replaced before.
        fresh: The records of what is replaced now.
        room: Tokens that the restated part may take.
        known: Texts that were masked, so that each is read once.
    """

    ledger: Ledger
    text: str
    current: Ledger
    goals: GoalSet = field(default_factory=GoalSet)
    before: Ledger = field(default_factory=Ledger)
    fresh: Ledger = field(default_factory=Ledger)
    room: int = 0
    known: dict[str, str] = field(default_factory=dict, compare=False)

    def masked(self, text: str) -> str:
        """A text without what no longer holds; one that was masked before is not read again."""
        if text not in self.known:
            self.known[text] = mask_stale(text, self.current)
        return self.known[text]

    @property
    def goals_text(self) -> str:
        """The goals as the summary message restates them; `""` for none."""
        return render_goals(self.goals.now)

    @property
    def values(self) -> dict[str, Any]:
        """The ledger as plain values, for a checkpoint."""
        return self.ledger.model_dump(mode="json", exclude_defaults=True)

    def after(self, request: CompressionRequest, replaced: Sequence[int], written: WrittenSummary) -> Remembered:
        """What is remembered once the summary is written: with what it proposes, and only what it does not say itself.

        Args:
            request: The list.
            replaced: The places of the messages.
            written: The summary.
        """
        source = [request.messages[place] for place in replaced]
        goals = self.goals.reported(written.report, source)
        if not request.config.ledger or written.summariser != "model":
            return replace(self, goals=goals)
        _, proposals = split_reply(written.report)
        before, fresh = finish(self.before, proposals, source), take_up(self.fresh, proposals, source)
        same = before is self.before and fresh is self.fresh
        ledger = self.ledger if same else merge(before, fresh)
        current, text = restated(request, ledger, max(replaced, default=-1), self.room, said=written.text)
        return Remembered(ledger, text, current, goals, before, fresh, self.room)


def remember(request: CompressionRequest, replaced: Sequence[int], room: int) -> Remembered:
    """The ledger after messages are replaced, and what of it is restated.

    Args:
        request: The list.
        replaced: The places of the messages.
        room: Tokens that the restated part may take; rules and goals take what they need.
    """
    before, fresh = ledger_of(request), Ledger()
    ledger = before
    if request.config.ledger:
        fresh = extract_records([request.messages[place] for place in replaced])
        ledger = merge(before, fresh)
    current, text = restated(request, ledger, max(replaced, default=-1), room)
    return Remembered(ledger, text, current, request.goals, before, fresh, room)


def restated(
    request: CompressionRequest, ledger: Ledger, last: int, room: int, *, said: str = ""
) -> tuple[Ledger, str]:
    """What holds now, and the ledger as the summary message shows it.

    What the messages that stay say is newer than what the replaced ones said, so it supersedes; it is not itself
    restated, since it is there to be read. Of a summary, what it leaves out is restated: rules and open requests always
    are, since they are looked for in their own place.

    Args:
        request: The list.
        ledger: The ledger of all that is replaced.
        last: The place of the last replaced message.
        room: Tokens that the restated part may take.
        said: The summary that stands beside it, where a model wrote it.
    """
    if not ledger:
        return ledger, ""
    behind = [message for place, message in enumerate(request.messages) if place > last and not is_summary(message)]
    newer = extract_records(behind)
    joined = merge(ledger, newer)
    there = {source for record in newer.records() for source in record.sources}
    kept = {
        kind: tuple(record for record in getattr(joined, kind) if not set(record.sources) <= there)
        for kind in Ledger.KINDS
    }
    # What is asked again in a message that stays is read there, also where the replaced ones asked it too.
    asked = [request for request in kept["requests"] if request.sources[-1] not in there]
    kept["requests"] = _open_and_last_finished(asked)
    shown = joined.model_copy(update=kept)
    if said:
        missing = missing_from(said, shown)
        shown = missing.model_copy(update={"rules": shown.rules, "requests": shown.requests})
    return joined, render(shown, max_tokens=max(room, 0), count=request.tools.count_text)


def _open_and_last_finished(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Open requests, those that say what a second version must heed, and the last few finished ones of the rest."""
    finished = [request for request in requests if request.status == "finished"][-SHOWN_FINISHED:]
    return tuple(request for request in requests if request.status == "open" or request.terms or request in finished)


def ledger_room(target_tokens: int) -> int:
    """Tokens that the restated ledger may take, for a target of a given size."""
    small = SMALL_SHARE * min(target_tokens, SMALL_TARGET)
    return int(min(small + GROWTH * max(0, target_tokens - SMALL_TARGET), MOST))
