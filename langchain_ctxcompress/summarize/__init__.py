"""How text gets smaller: levels and budgets, prompts, the chat-model summariser, the extractive one, and guards.

It may import `limits`, `tokens`, `storage` (the guard that every prompt passes), `messages` and `errors`. Only
`chat_model` talks to a model; everything else is pure.
"""

from langchain_ctxcompress.summarize.agent_call import AgentCall
from langchain_ctxcompress.summarize.chat_model import ChatModelSummariser
from langchain_ctxcompress.summarize.extractive import extract_summary, shorten_summary
from langchain_ctxcompress.summarize.guards import is_overflow, judge_reply
from langchain_ctxcompress.summarize.levels import SummaryBudget, summary_budget
from langchain_ctxcompress.summarize.modes import (
    Mode,
    PreservationStrategy,
    SummaryMode,
    mode_names,
    register_mode,
    resolve_mode,
)
from langchain_ctxcompress.summarize.prompts import prefix_instruction, summary_prompt
from langchain_ctxcompress.summarize.resolving import resolve_model, summariser_of
from langchain_ctxcompress.summarize.rewriting import TARGET_SHARE, CompressionLevel, rewrite_budget, rewrite_prompt
from langchain_ctxcompress.summarize.tasks import CompressionTask, TaskFailure, TaskResult, TaskStatus
from langchain_ctxcompress.summarize.transcript import Transcript, split_transcript, transcript

__all__ = [
    "TARGET_SHARE",
    "AgentCall",
    "ChatModelSummariser",
    "CompressionLevel",
    "CompressionTask",
    "Mode",
    "PreservationStrategy",
    "SummaryBudget",
    "SummaryMode",
    "TaskFailure",
    "TaskResult",
    "TaskStatus",
    "Transcript",
    "extract_summary",
    "is_overflow",
    "judge_reply",
    "mode_names",
    "prefix_instruction",
    "register_mode",
    "resolve_mode",
    "resolve_model",
    "rewrite_budget",
    "rewrite_prompt",
    "shorten_summary",
    "split_transcript",
    "summariser_of",
    "summary_budget",
    "summary_prompt",
    "transcript",
]
