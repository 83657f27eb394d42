"""How big it may be: limits and pruning triggers, the window, the choice of candidates, tiers of a prompt.

It may import `tokens`, `messages` and `errors`. Everything here is pure: the same window and config give the same
answer, and nothing is changed.
"""

from langchain_ctxcompress.limits.config import PrunerConfig, input_window
from langchain_ctxcompress.limits.tiers import ContextTier, create_context_tier
from langchain_ctxcompress.limits.urgency import (
    PruneUrgency,
    classify_prune_urgency,
    select_turns_for_summarization,
    should_trigger_hard_prune,
    should_trigger_soft_prune,
)
from langchain_ctxcompress.limits.window import ContextWindow

__all__ = [
    "ContextTier",
    "ContextWindow",
    "PruneUrgency",
    "PrunerConfig",
    "classify_prune_urgency",
    "create_context_tier",
    "input_window",
    "select_turns_for_summarization",
    "should_trigger_hard_prune",
    "should_trigger_soft_prune",
]
