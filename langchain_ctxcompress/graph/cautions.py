"""What a graph should be told once in a process, in the log: settings that work today and lose something tomorrow."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from langchain_core.runnables import RunnableConfig

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from langchain_ctxcompress.compressor import ContextCompressor

logger = logging.getLogger("langchain_ctxcompress.graph")

CHECKPOINTER = "__pregel_checkpointer"
"""Where LangGraph's runs hold their checkpointer in their config."""


def caution(compressor: ContextCompressor, config: RunnableConfig | None, store: BaseStore | None) -> None:
    """Warn where messages that were just replaced in a state may not be found again, or by others than those meant.

    Args:
        compressor: Who replaced them.
        config: The run's config.
        store: The store of the graph, if it has one.
    """
    configurable = (config or {}).get("configurable") or {}
    if configurable.get("thread_id") is None:
        _no_thread()
        return
    if compressor.store_given or store is not None:
        return
    checkpointer = configurable.get(CHECKPOINTER)
    if checkpointer is not None and not _in_memory(checkpointer):
        _outlived(type(checkpointer).__name__)


def unknown_window(model: object) -> None:
    """Warn that a middleware without a config cannot follow a model whose window is not known."""
    _unknown_window(type(model).__name__)


def _in_memory(checkpointer: object) -> bool:
    from langgraph.checkpoint.memory import InMemorySaver

    return isinstance(checkpointer, InMemorySaver)


@functools.lru_cache(maxsize=1)
def _no_thread() -> None:
    logger.warning(
        "this run has no thread_id, and all runs of a compressor without one share one session of its archive:"
        ' give each conversation its own, config={"configurable": {"thread_id": ...}}'
    )


@functools.lru_cache(maxsize=8)
def _outlived(checkpointer: str) -> None:
    logger.warning(
        "the state (%s) outlives this process, the originals that were just replaced in it do not: pass a store to"
        ' the compressor, such as store="archive.db", or compile the graph with one',
        checkpointer,
    )


@functools.lru_cache(maxsize=8)
def _unknown_window(model: str) -> None:
    logger.warning(
        "the window of the model (%s) is not known, so the limits are the defaults of PrunerConfig, far above most"
        " windows: give the compressor a config, such as PrunerConfig.for_limit(tokens), or the model a profile with"
        " max_input_tokens",
        model,
    )
