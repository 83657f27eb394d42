"""Where a step in a graph tells its events: the `custom` stream, and LangChain's custom events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig

from langchain_ctxcompress.engine.events import EVENT_NAME, CompressionEvent


class StepEvents:
    """The sink of one step.

    Args:
        config: The run's config: who listens to custom events.
        writer: Writes to the `custom` stream; `None` outside of a graph.
    """

    def __init__(self, config: RunnableConfig | None, writer: Callable[[Any], None] | None) -> None:
        self._config = config
        self._writer = writer

    def tell(self, event: CompressionEvent) -> None:
        """Write an event to the stream, and dispatch it."""
        from langchain_core.callbacks import dispatch_custom_event

        data = self._written(event)
        if data is not None:
            dispatch_custom_event(EVENT_NAME, data, config=self._config)

    async def atell(self, event: CompressionEvent) -> None:
        """As `tell`, for a run on the loop."""
        from langchain_core.callbacks import adispatch_custom_event

        data = self._written(event)
        if data is not None:
            await adispatch_custom_event(EVENT_NAME, data, config=self._config)

    def _written(self, event: CompressionEvent) -> dict[str, Any] | None:
        """The event as plain values, after it was written; `None` where no run could be told of it."""
        from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config

        data = {"type": EVENT_NAME, **event.model_dump(mode="json")}
        if self._writer is not None:
            self._writer(data)
        within_run = get_callback_manager_for_config(ensure_config(self._config)).parent_run_id is not None
        return data if within_run else None
