"""How candidates get smaller: the protocol of a strategy, the strategies, and the ladder that combines them.

It may import `summarize`, `limits`, `tokens`, `storage`, `messages` and `errors`. No strategy does I/O: one that wants
a model yields tasks, and what it returns is a draft that the compressor archives, checks and applies.
"""

from langchain_ctxcompress.strategies.band_mapping import CompressionBand, TurnBandMapping, map_turns_to_bands
from langchain_ctxcompress.strategies.band_runner import BandResult, BandStats, acompress_messages, compress_messages
from langchain_ctxcompress.strategies.band_tasks import BandTask, apply_compression_results, create_compression_tasks
from langchain_ctxcompress.strategies.bands import Bands
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    EmergencyAction,
    RungReport,
    Steps,
)
from langchain_ctxcompress.strategies.clear_tools import ClearTools
from langchain_ctxcompress.strategies.emergency import Emergency
from langchain_ctxcompress.strategies.ladder import Ladder
from langchain_ctxcompress.strategies.middle_out import MiddleOut
from langchain_ctxcompress.strategies.pack import Pack, pack_messages
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.registry import register_strategy, resolve_strategy, strategy_names
from langchain_ctxcompress.strategies.replacing import dropped
from langchain_ctxcompress.strategies.tools import Tools
from langchain_ctxcompress.strategies.top_down import TopDownTruncation

__all__ = [
    "BandResult",
    "BandStats",
    "BandTask",
    "Bands",
    "ClearTools",
    "CompressionBand",
    "CompressionDraft",
    "CompressionRequest",
    "CompressionStrategy",
    "Emergency",
    "EmergencyAction",
    "Ladder",
    "MiddleOut",
    "Pack",
    "Reason",
    "RungReport",
    "Steps",
    "Tools",
    "TopDownTruncation",
    "TurnBandMapping",
    "acompress_messages",
    "apply_compression_results",
    "compress_messages",
    "create_compression_tasks",
    "dropped",
    "map_turns_to_bands",
    "pack_messages",
    "register_strategy",
    "resolve_strategy",
    "strategy_names",
]
