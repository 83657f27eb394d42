"""`SessionReport`: a session as its archive tells it, message by message and compression by compression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.limits import ContextTier
from langchain_ctxcompress.report.composition import window_tiers
from langchain_ctxcompress.storage import CheckpointSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class WindowSize:
    """The size of the window right after one message came.

    Attributes:
        place: The message's place in the session, from 0.
        tokens: What the model would be sent, in tokens, after any compression.
        before: What it would have been sent without that compression; `None` where there was none.
        checkpoint: The checkpoint that the compression made.
    """

    place: int
    tokens: int
    before: int | None = None
    checkpoint: CheckpointSummary | None = None


@dataclass(frozen=True)
class SessionReport:
    """A session to look at: `print` it, show it in a notebook, plot it, or write it as a page.

    Attributes:
        session_id: Whose conversation.
        messages: Every archived message, in the order of its first append.
        sizes: The size of each, in tokens.
        checkpoints: The summary checkpoints, oldest first.
        window: The active context as the checkpoints make it.
        count: Sizes of messages, in tokens.
        count_text: Size of a text, in tokens.
        soft_limit_tokens: The soft limit, in tokens; `None` where it is not known.
        hard_limit_tokens: The hard limit, in tokens; `None` where it is not known.
    """

    session_id: str
    messages: Sequence[BaseMessage]
    sizes: Sequence[int]
    checkpoints: Sequence[CheckpointSummary]
    window: Sequence[BaseMessage]
    count: Callable[[Sequence[BaseMessage]], list[int]] = field(repr=False)
    count_text: Callable[[str], int] = field(repr=False)
    soft_limit_tokens: int | None = None
    hard_limit_tokens: int | None = None

    @cached_property
    def tokens(self) -> int:
        """The size of the whole session, in tokens."""
        return sum(self.sizes)

    @cached_property
    def window_tokens(self) -> int:
        """The size of the active context, in tokens."""
        return sum(self.count(self.window))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each message stands in the session, by its id."""
        return {message.id or "": place for place, message in enumerate(self.messages)}

    @cached_property
    def replaced_by(self) -> dict[int, CheckpointSummary]:
        """The checkpoint that replaced a message, by the message's place."""
        places = self.places
        return {
            places[identity]: checkpoint
            for checkpoint in self.checkpoints
            for identity in checkpoint.covered
            if identity in places
        }

    @cached_property
    def compressions(self) -> list[CheckpointSummary]:
        """The checkpoints by which the window got smaller, oldest first."""
        return [checkpoint for checkpoint in self.checkpoints if checkpoint.tokens_after]

    @cached_property
    def curve(self) -> list[WindowSize]:
        """The size of the window after each message."""
        made: dict[int, CheckpointSummary] = {}
        for checkpoint in self.compressions:
            place = self.places.get(checkpoint.newest_id or checkpoint.next_id or checkpoint.last_id)
            if place is not None:
                made[place] = checkpoint
        sizes: list[WindowSize] = []
        tokens = 0
        for place, size in enumerate(self.sizes):
            tokens += size
            cause = made.get(place)
            if cause is None:
                sizes.append(WindowSize(place, tokens))
            else:
                tokens = cause.tokens_after
                sizes.append(WindowSize(place, tokens, cause.tokens_before, cause))
        return sizes

    @cached_property
    def tiers(self) -> list[ContextTier]:
        """What the active context is made of."""
        return window_tiers(self.window, count=self.count, count_text=self.count_text)

    @property
    def ledger(self) -> dict[str, list[dict[str, Any]]]:
        """The records of the newest checkpoint, by kind; empty where there is none."""
        held = next((checkpoint.ledger for checkpoint in reversed(self.checkpoints) if checkpoint.ledger), {})
        return {
            kind: found
            for kind, records in held.items()
            if isinstance(records, list) and (found := [record for record in records if isinstance(record, dict)])
        }

    def totals(self) -> list[tuple[str, str]]:
        """What is said first, as label and value."""
        share = f"{self.window_tokens / self.tokens:.0%}" if self.tokens else "–"
        return [
            ("messages in the archive", f"{len(self.messages):,}"),
            ("tokens in the archive", f"{self.tokens:,}"),
            ("compressions", f"{len(self.compressions):,}"),
            ("messages in the window", f"{len(self.window):,}"),
            ("tokens in the window", f"{self.window_tokens:,} ({share})"),
        ]

    def __repr__(self) -> str:
        return f"SessionReport({self.session_id!r}: {', '.join(f'{value} {label}' for label, value in self.totals())})"

    def __rich__(self) -> Table:
        from langchain_ctxcompress.report.tables import session_table

        return session_table(self)

    def _repr_html_(self) -> str:
        from langchain_ctxcompress.report.snippets import session_snippet

        return session_snippet(self)

    def to_html(self) -> str:
        """The session as one self-contained page."""
        from langchain_ctxcompress.report.page import session_page

        return session_page(self)

    def save_html(self, path: Path | str) -> Path:
        """Write the page.

        Args:
            path: The file; an older one is replaced.

        Returns:
            Where it is.
        """
        file = Path(path)
        file.write_text(self.to_html(), encoding="utf-8", errors="backslashreplace")
        return file

    def plot_tokens(self, *, whole: bool = False) -> Figure:
        """Tokens per step, with the limits and the compressions. Needs matplotlib (extra `report`).

        Args:
            whole: Whether the axis goes on to the end of the session without compression.
        """
        from langchain_ctxcompress.report.plots import plot_tokens

        return plot_tokens(self, whole=whole)

    def plot_window(self) -> Figure:
        """What the window is made of, as a coloured stack. Needs matplotlib (extra `report`)."""
        from langchain_ctxcompress.report.plots import plot_tiers

        return plot_tiers({"window": self.tiers})

    def plot_ledger(self) -> Figure:
        """The ledger's size from compression to compression. Needs matplotlib (extra `report`)."""
        from langchain_ctxcompress.report.plots import plot_ledger

        return plot_ledger(self)
