"""OpenTelemetry spans, where `opentelemetry-api` is installed; otherwise nothing.

The names are those of OpenTelemetry's conventions for generative AI (`gen_ai.*`); what is this package's own is called
`ctxcompress.*`. No span holds what a message says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from langchain_ctxcompress.errors import describe

TRACER = "langchain_ctxcompress"


class Span:
    """A span, or nothing.

    Args:
        span: OpenTelemetry's span; `None` where there is none.
    """

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def note(self, attributes: Mapping[str, Any]) -> None:
        """Set attributes; those that are `None` or empty are left out."""
        if self._span is not None:
            self._span.set_attributes({key: value for key, value in attributes.items() if value not in (None, "")})

    def failed(self, kind: str, detail: str) -> None:
        """Say that it failed."""
        if self._span is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute("error.type", kind)
            self._span.set_status(Status(StatusCode.ERROR, detail))


@contextmanager
def span(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Iterator[Span]:
    """A span around a piece of work, the current one in it.

    Args:
        name: Its name.
        attributes: Its attributes at the start.
        client: Whether it is a call to another service.
    """
    trace = _api()
    if trace is None:
        yield Span()
        return
    kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
    # An exception is not recorded with its text and its traceback, as the API would do it: both may quote a message.
    quiet = {"record_exception": False, "set_status_on_exception": False}
    with trace.get_tracer(TRACER).start_as_current_span(name, kind=kind, **quiet) as current:
        opened = Span(current)
        opened.note(attributes)
        try:
            yield opened
        except Exception as error:
            opened.failed(type(error).__name__, describe(error))
            raise


@cache
def _api() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace
