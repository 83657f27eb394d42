"""Imported by the fork server once: what a process imports and loads before its first compression."""

from __future__ import annotations

import langgraph.store.postgres
import langgraph.store.sqlite  # noqa: F401

from tests.storage.worker import compressor, said

compressor(None, "warm").compress([said(number) for number in range(60)], force=True)
