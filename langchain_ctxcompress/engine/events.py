"""What a compression says of itself while it goes on: typed events, for streams, callbacks and logs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from langchain_ctxcompress.engine.result import CompressionResult, Outcome
from langchain_ctxcompress.errors import log_failure
from langchain_ctxcompress.strategies import Reason

logger = logging.getLogger("langchain_ctxcompress.compressor")

EVENT_NAME = "ctxcompress"
"""The name of the custom event, and the `type` of what the `custom` stream carries."""

STARTED = "started"
"""What a step that starts work in the background says in its result's `detail`."""

EventCallback = Callable[["CompressionEvent"], None]


class EventKind(StrEnum):
    """What happened."""

    STARTED = "started"
    """Work began, in the step or in the background."""
    READY = "ready"
    """Work in the background is done; a later step applies it."""
    APPLIED = "applied"
    """The list was made smaller, or put in order."""
    SKIPPED = "skipped"
    """A compression is due and was left out; the reason says why."""
    FAILED = "failed"
    """The list is still too large, or could not be archived."""


class CompressionEvent(BaseModel):
    """One thing that happened, in plain values: `model_dump(mode="json")` is what streams carry."""

    model_config = ConfigDict(frozen=True)

    kind: EventKind
    session_id: str
    """Whose conversation."""
    reason: str = ""
    """A `Reason`; `""` where it is not known yet."""
    detail: str = ""
    """More, in one line, for people."""
    background: bool = False
    """Whether the work is, or was, done beside the conversation."""
    tokens_before: int = 0
    """Size of all that would be sent (tokens)."""
    tokens_after: int = 0
    """Size of all that is sent now (tokens)."""
    seconds: float = 0.0
    """Time the work took, in the background too; 0 where it only starts."""
    model_calls: int = 0
    """Attempts made on the summariser."""
    input_tokens: int = 0
    """What the summariser says it read (tokens)."""
    output_tokens: int = 0
    """What it says it wrote (tokens)."""
    checkpoint_id: str = ""
    """The newest summary checkpoint that was made."""
    warnings: tuple[str, ...] = ()
    """What there is to warn of, such as how far summaries can still be trusted (M2)."""


class EventSink(Protocol):
    """Takes events, within a step or on its loop."""

    def tell(self, event: CompressionEvent) -> None:
        """Take an event."""

    async def atell(self, event: CompressionEvent) -> None:
        """Take an event on the loop."""


def event_of(session_id: str, result: CompressionResult) -> CompressionEvent | None:
    """The event with which a step ends; `None` where nothing was due, or it was said that work started."""
    if result.reason in (Reason.BELOW_SOFT_LIMIT, Reason.DISABLED):
        return None
    if result.reason is Reason.IN_BACKGROUND and result.detail == STARTED:
        return None
    kind = EventKind.APPLIED if result.changed else EventKind.SKIPPED
    if result.outcome is Outcome.FAILED:
        kind = EventKind.FAILED
    return CompressionEvent(
        kind=kind,
        session_id=session_id,
        reason=str(result.reason),
        detail=result.detail,
        background=result.reason is Reason.IN_BACKGROUND or result.background_seconds > 0,
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        seconds=result.seconds + result.background_seconds,
        model_calls=result.model_calls,
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        checkpoint_id=result.checkpoint.checkpoint_id if result.checkpoint else "",
        warnings=result.warnings,
    )


class Telling:
    """Hands events to a callback, then to where the step itself wants them. What they raise costs nothing (law 4).

    Args:
        on_event: The compressor's callback.
        sink: The step's own.
    """

    def __init__(self, on_event: EventCallback | None = None, sink: EventSink | None = None) -> None:
        self._on_event = on_event
        self._sink = sink

    def tell(self, event: CompressionEvent) -> None:
        """Hand an event on."""
        self._call(event)
        if self._sink is not None:
            try:
                self._sink.tell(event)
            except Exception as error:  # noqa: BLE001 - law 4
                log_failure(logger, "an event could not be handed on; the work goes on", error)

    async def atell(self, event: CompressionEvent) -> None:
        """As `tell`, on the loop."""
        self._call(event)
        if self._sink is not None:
            try:
                await self._sink.atell(event)
            except Exception as error:  # noqa: BLE001 - law 4
                log_failure(logger, "an event could not be handed on; the work goes on", error)

    def _call(self, event: CompressionEvent) -> None:
        if self._on_event is not None:
            try:
                self._on_event(event)
            except Exception as error:  # noqa: BLE001 - law 4
                log_failure(logger, "on_event failed; the work goes on", error)
