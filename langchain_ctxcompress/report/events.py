"""The events of a compression, as an application reads them (requirement L5).

They come on LangGraph's `custom` stream, as LangChain custom events of the name `ctxcompress`, and to the callback
`ContextCompressor(on_event=…)`. The record itself is the engine's, which makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from langchain_ctxcompress.engine.events import EVENT_NAME, CompressionEvent, EventKind

__all__ = ["CompressionEvent", "EventKind", "event_in"]


def event_in(chunk: Any) -> CompressionEvent | None:
    """The event in what a `custom` stream or a custom event carries; `None` where it is somebody else's.

    Args:
        chunk: One chunk of the stream, or the `data` of a custom event.
    """
    if not isinstance(chunk, Mapping) or chunk.get("type") != EVENT_NAME:
        return None
    try:
        return CompressionEvent.model_validate(dict(chunk))
    except ValidationError:
        return None
