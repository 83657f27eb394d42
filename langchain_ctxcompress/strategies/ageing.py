"""Ageing: older checkpoints say less, and the oldest are merged, so that a session's summaries stay bounded (P7).

Ageing needs no model. A checkpoint's text stays in the store as it was written; what the summary message shows of it
follows from the text and from how many newer ones there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langchain_ctxcompress.messages import derived_id
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies.tools import Tools
from langchain_ctxcompress.summarize import shorten_summary, summary_budget


@dataclass(frozen=True, slots=True)
class AgeRule:
    """When a checkpoint ages.

    Attributes:
        moderate: With so many newer ones it is level 2.
        compact: With so many newer ones it is level 1.
        merge: So many level-1 checkpoints are merged into one.
    """

    moderate: int = 5
    compact: int = 10
    merge: int = 3

    def level(self, newer: int) -> int:
        """The level of a checkpoint with so many newer ones."""
        return 1 if newer >= self.compact else 2 if newer >= self.moderate else 3


STANDARD = AgeRule()
"""P7: five newer ones make level 2, ten make level 1, three of level 1 are merged."""

SOONER = (STANDARD, AgeRule(3, 6), AgeRule(2, 4), AgeRule(1, 2), AgeRule(1, 1, 2))
"""What is tried in turn while the summary message is over its share of the target."""


def age(checkpoints: Sequence[CheckpointSummary], rule: AgeRule, tools: Tools) -> list[CheckpointSummary]:
    """The checkpoints as they are to be shown.

    Args:
        checkpoints: Those that are shown now, oldest first, the new one last.
        rule: When they age.
        tools: Counting.

    Returns:
        Oldest first. A checkpoint that says less has the same id; one that others were merged into is new and names
        them in `merged`.
    """
    aged = [_at_level(c, rule.level(len(checkpoints) - 1 - place), tools) for place, c in enumerate(checkpoints)]
    oldest = [checkpoint for checkpoint in aged if checkpoint.level == 1]
    if len(oldest) < rule.merge:
        return aged
    return [merge_checkpoints(oldest, tools), *(checkpoint for checkpoint in aged if checkpoint.level != 1)]


def sooner_and_sooner(checkpoints: Sequence[CheckpointSummary], tools: Tools) -> Iterator[list[CheckpointSummary]]:
    """The checkpoints aged by the standard rule, then by ever sooner ones."""
    for rule in SOONER:
        yield age(checkpoints, rule, tools)


def _at_level(checkpoint: CheckpointSummary, level: int, tools: Tools) -> CheckpointSummary:
    """The checkpoint at a level; ageing never goes back."""
    if level >= checkpoint.level:
        return checkpoint
    most = summary_budget(level, checkpoint.replaced_tokens).most
    text = shorten_summary(checkpoint.text, most, count=tools.count_text)
    return checkpoint.model_copy(update={"level": level, "text": text})


def merge_checkpoints(
    checkpoints: Sequence[CheckpointSummary], tools: Tools, *, most: int | None = None
) -> CheckpointSummary:
    """One level-1 checkpoint that stands for one or several. It covers nothing itself: what it covers, they do.

    Args:
        checkpoints: Those it stands for, oldest first.
        tools: Counting.
        most: Tokens that its text may take, where that is less than a level-1 summary's.
    """
    source = sum(checkpoint.replaced_tokens for checkpoint in checkpoints)
    budget = summary_budget(1, source).most
    texts = "\n".join(filter(None, (checkpoint.text.strip() for checkpoint in checkpoints)))
    text = shorten_summary(texts, budget if most is None else min(most, budget), count=tools.count_text)
    ids = tuple(checkpoint.checkpoint_id for checkpoint in checkpoints)
    last = checkpoints[-1]
    return CheckpointSummary(
        checkpoint_id=checkpoint_name(last.session_id, "merge", *ids, text),
        session_id=last.session_id,
        number=last.number,
        level=1,
        text=text,
        quotes=tuple(quote for checkpoint in checkpoints for quote in checkpoint.quotes),
        merged=ids,
        strategy="ageing",
        summariser="extractive",
        replaced_tokens=source,
    )


def checkpoint_name(*parts: str) -> str:
    """A checkpoint's id: short, because it stands in the summary message, and made of what the checkpoint is."""
    return "c" + derived_id(*parts).replace("-", "")[:12]
