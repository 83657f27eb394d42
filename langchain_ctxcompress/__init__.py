"""Keeps a long conversation inside its model's window, and loses nothing.

Three doors, one engine: `CompressionNode` for a LangGraph graph, `CompressionMiddleware` for `create_agent`, and
`CompressedChatMessageHistory` for chains. The names below are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_ctxcompress.compressor import ContextCompressor as ContextCompressor
    from langchain_ctxcompress.engine import ActiveContext as ActiveContext
    from langchain_ctxcompress.engine import CompressionEvent as CompressionEvent
    from langchain_ctxcompress.engine import CompressionPlan as CompressionPlan
    from langchain_ctxcompress.engine import CompressionResult as CompressionResult
    from langchain_ctxcompress.engine import Outcome as Outcome
    from langchain_ctxcompress.errors import ConfigError as ConfigError
    from langchain_ctxcompress.errors import ContextLimitError as ContextLimitError
    from langchain_ctxcompress.errors import CtxCompressError as CtxCompressError
    from langchain_ctxcompress.errors import StorageBoundaryError as StorageBoundaryError
    from langchain_ctxcompress.graph import CompressionNode as CompressionNode
    from langchain_ctxcompress.graph.middleware import CompressionMiddleware as CompressionMiddleware
    from langchain_ctxcompress.history import CompressedChatMessageHistory as CompressedChatMessageHistory
    from langchain_ctxcompress.ledger import Goal as Goal
    from langchain_ctxcompress.ledger import parse_goal_markers as parse_goal_markers
    from langchain_ctxcompress.ledger import update_goal as update_goal
    from langchain_ctxcompress.limits import ContextTier as ContextTier
    from langchain_ctxcompress.limits import ContextWindow as ContextWindow
    from langchain_ctxcompress.limits import PackedContext as PackedContext
    from langchain_ctxcompress.limits import PromptTier as PromptTier
    from langchain_ctxcompress.limits import PrunerConfig as PrunerConfig
    from langchain_ctxcompress.limits import PruneUrgency as PruneUrgency
    from langchain_ctxcompress.limits import ValidationResult as ValidationResult
    from langchain_ctxcompress.limits import calculate_reliability as calculate_reliability
    from langchain_ctxcompress.limits import checkpoint_budget as checkpoint_budget
    from langchain_ctxcompress.limits import classify_prune_urgency as classify_prune_urgency
    from langchain_ctxcompress.limits import compress_to_fit as compress_to_fit
    from langchain_ctxcompress.limits import create_context_tier as create_context_tier
    from langchain_ctxcompress.limits import get_model_size as get_model_size
    from langchain_ctxcompress.limits import pack_context as pack_context
    from langchain_ctxcompress.limits import select_turns_for_summarization as select_turns_for_summarization
    from langchain_ctxcompress.limits import should_compress as should_compress
    from langchain_ctxcompress.limits import should_trigger_hard_prune as should_trigger_hard_prune
    from langchain_ctxcompress.limits import should_trigger_soft_prune as should_trigger_soft_prune
    from langchain_ctxcompress.limits import validate_against_provider as validate_against_provider
    from langchain_ctxcompress.messages import ConversationTurn as ConversationTurn
    from langchain_ctxcompress.messages import apply_compressed_content as apply_compressed_content
    from langchain_ctxcompress.messages import extract_text_content as extract_text_content
    from langchain_ctxcompress.messages import is_pinned as is_pinned
    from langchain_ctxcompress.messages import pin as pin
    from langchain_ctxcompress.messages import split_turns as split_turns
    from langchain_ctxcompress.messages import unpin as unpin
    from langchain_ctxcompress.storage import CheckpointSummary as CheckpointSummary
    from langchain_ctxcompress.storage import SessionHistory as SessionHistory
    from langchain_ctxcompress.storage import SnapshotStore as SnapshotStore
    from langchain_ctxcompress.storage import prevent_history_in_prompt as prevent_history_in_prompt
    from langchain_ctxcompress.storage import prevent_snapshot_in_prompt as prevent_snapshot_in_prompt
    from langchain_ctxcompress.strategies import BandTask as BandTask
    from langchain_ctxcompress.strategies import CompressionBand as CompressionBand
    from langchain_ctxcompress.strategies import CompressionStrategy as CompressionStrategy
    from langchain_ctxcompress.strategies import Reason as Reason
    from langchain_ctxcompress.strategies import TurnBandMapping as TurnBandMapping
    from langchain_ctxcompress.strategies import acompress_messages as acompress_messages
    from langchain_ctxcompress.strategies import apply_compression_results as apply_compression_results
    from langchain_ctxcompress.strategies import compress_messages as compress_messages
    from langchain_ctxcompress.strategies import create_compression_tasks as create_compression_tasks
    from langchain_ctxcompress.strategies import map_turns_to_bands as map_turns_to_bands
    from langchain_ctxcompress.strategies import pack_messages as pack_messages
    from langchain_ctxcompress.strategies import register_strategy as register_strategy
    from langchain_ctxcompress.summarize import AgentCall as AgentCall
    from langchain_ctxcompress.summarize import ChatModelSummariser as ChatModelSummariser
    from langchain_ctxcompress.summarize import CompressionLevel as CompressionLevel
    from langchain_ctxcompress.summarize import PreservationStrategy as PreservationStrategy
    from langchain_ctxcompress.summarize import SummaryMode as SummaryMode
    from langchain_ctxcompress.summarize import register_mode as register_mode
    from langchain_ctxcompress.tokens import count_tokens as count_tokens
    from langchain_ctxcompress.tokens import estimate_tokens as estimate_tokens
    from langchain_ctxcompress.tokens import truncate_to_tokens as truncate_to_tokens

_HOMES: dict[str, tuple[str, ...]] = {
    "compressor": ("ContextCompressor",),
    "errors": ("ConfigError", "ContextLimitError", "CtxCompressError", "StorageBoundaryError"),
    "graph.middleware": ("CompressionMiddleware",),
    "graph": ("CompressionNode",),
    "history": ("CompressedChatMessageHistory",),
    "ledger": ("Goal", "parse_goal_markers", "update_goal"),
    "limits": (
        "ContextTier",
        "ContextWindow",
        "PackedContext",
        "PromptTier",
        "PruneUrgency",
        "PrunerConfig",
        "ValidationResult",
        "calculate_reliability",
        "checkpoint_budget",
        "classify_prune_urgency",
        "compress_to_fit",
        "create_context_tier",
        "get_model_size",
        "pack_context",
        "select_turns_for_summarization",
        "should_compress",
        "should_trigger_hard_prune",
        "should_trigger_soft_prune",
        "validate_against_provider",
    ),
    "messages": (
        "ConversationTurn",
        "apply_compressed_content",
        "extract_text_content",
        "is_pinned",
        "pin",
        "split_turns",
        "unpin",
    ),
    "engine": ("ActiveContext", "CompressionEvent", "CompressionPlan", "CompressionResult", "Outcome"),
    "storage": (
        "CheckpointSummary",
        "SessionHistory",
        "SnapshotStore",
        "prevent_history_in_prompt",
        "prevent_snapshot_in_prompt",
    ),
    "strategies": (
        "BandTask",
        "CompressionBand",
        "CompressionStrategy",
        "Reason",
        "TurnBandMapping",
        "acompress_messages",
        "apply_compression_results",
        "compress_messages",
        "create_compression_tasks",
        "map_turns_to_bands",
        "pack_messages",
        "register_strategy",
    ),
    "summarize": (
        "AgentCall",
        "ChatModelSummariser",
        "CompressionLevel",
        "PreservationStrategy",
        "SummaryMode",
        "register_mode",
    ),
    "tokens": ("count_tokens", "estimate_tokens", "truncate_to_tokens"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - made of the table above, so that a name stands in one place
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    home = _HOME_OF.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
