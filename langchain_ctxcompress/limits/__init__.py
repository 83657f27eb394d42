"""How big it may be: limits and triggers, the window, the choice of candidates, model windows, tiers, validation.

It may import `tokens`, `messages` and `errors`. Everything here is pure: the same window and config give the same
answer, and nothing is changed.
"""

from langchain_ctxcompress.limits.config import PrunerConfig
from langchain_ctxcompress.limits.costs import CompressionCosts, estimate_costs, growth_of, rewritten_from
from langchain_ctxcompress.limits.models import input_limit, input_window, is_local, model_name
from langchain_ctxcompress.limits.packing import PackedContext, compress_to_fit, pack_context
from langchain_ctxcompress.limits.prompt_tiers import PromptTier, checkpoint_budget, should_compress
from langchain_ctxcompress.limits.reliability import (
    calculate_reliability,
    get_model_size,
    should_warn,
    warning_threshold,
)
from langchain_ctxcompress.limits.tiers import (
    PRIORITY_HISTORY,
    PRIORITY_LONG_TERM,
    PRIORITY_OUTLINE,
    PRIORITY_RECENT,
    PRIORITY_SYSTEM,
    ContextTier,
    create_context_tier,
)
from langchain_ctxcompress.limits.urgency import (
    PruneUrgency,
    classify_prune_urgency,
    select_turns_for_summarization,
    should_trigger_hard_prune,
    should_trigger_soft_prune,
)
from langchain_ctxcompress.limits.validation import (
    NextAction,
    Reducible,
    Suggestion,
    ValidationResult,
    suggest_actions,
    validate_against_provider,
    validate_size,
)
from langchain_ctxcompress.limits.window import ContextWindow

__all__ = [
    "PRIORITY_HISTORY",
    "PRIORITY_LONG_TERM",
    "PRIORITY_OUTLINE",
    "PRIORITY_RECENT",
    "PRIORITY_SYSTEM",
    "CompressionCosts",
    "ContextTier",
    "ContextWindow",
    "NextAction",
    "PackedContext",
    "PromptTier",
    "PruneUrgency",
    "PrunerConfig",
    "Reducible",
    "Suggestion",
    "ValidationResult",
    "calculate_reliability",
    "checkpoint_budget",
    "classify_prune_urgency",
    "compress_to_fit",
    "create_context_tier",
    "estimate_costs",
    "get_model_size",
    "growth_of",
    "input_limit",
    "input_window",
    "is_local",
    "model_name",
    "pack_context",
    "rewritten_from",
    "select_turns_for_summarization",
    "should_compress",
    "should_trigger_hard_prune",
    "should_trigger_soft_prune",
    "should_warn",
    "suggest_actions",
    "validate_against_provider",
    "validate_size",
    "warning_threshold",
]
