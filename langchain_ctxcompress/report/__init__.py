"""What was compressed, when and why, to look at: tables, plots, snippets for notebooks, and a page for the browser.

A report is made of what the archive holds, or of one result. It changes nothing and calls no model. Plots need
matplotlib (extra `report`); tables, snippets and the page need nothing besides the package. Text of a conversation is
data here too: it is escaped wherever it is shown. Events say the same while it happens.
"""

from __future__ import annotations

from langchain_ctxcompress.report.composition import COLORS, window_tiers
from langchain_ctxcompress.report.compression import CompressionReport
from langchain_ctxcompress.report.events import CompressionEvent, EventKind, event_in
from langchain_ctxcompress.report.session import SessionReport, WindowSize

__all__ = [
    "COLORS",
    "CompressionEvent",
    "CompressionReport",
    "EventKind",
    "SessionReport",
    "WindowSize",
    "event_in",
    "window_tiers",
]
