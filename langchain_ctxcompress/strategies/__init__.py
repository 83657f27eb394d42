"""How candidates get smaller: the protocol of a strategy, the strategies, and the ladder that combines them.

It may import `summarize`, `limits`, `tokens`, `storage`, `messages` and `errors`. No strategy does I/O: one that wants
a model yields tasks, and what it returns is a draft that the compressor archives, checks and applies.
"""

from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    Reason,
    RungReport,
    Steps,
    Tools,
)
from langchain_ctxcompress.strategies.emergency import Emergency
from langchain_ctxcompress.strategies.ladder import Ladder
from langchain_ctxcompress.strategies.middle_out import MiddleOut
from langchain_ctxcompress.strategies.registry import register_strategy, resolve_strategy, strategy_names
from langchain_ctxcompress.strategies.top_down import TopDownTruncation

__all__ = [
    "CompressionDraft",
    "CompressionRequest",
    "CompressionStrategy",
    "Emergency",
    "Ladder",
    "MiddleOut",
    "Reason",
    "RungReport",
    "Steps",
    "Tools",
    "TopDownTruncation",
    "register_strategy",
    "resolve_strategy",
    "strategy_names",
]
