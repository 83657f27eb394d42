"""What a conversation is: kinds, turns, legal boundaries, pins, identity, and text in and out of content blocks.

The lowest room. It knows LangChain's messages and nothing else of this package but `errors` and `arguments`:
no sizes, no limits, no storage. Everything in it is a pure function of the messages it is given, and never
changes them.
"""

from langchain_ctxcompress.messages.boundaries import Boundaries, dividers, is_only_reasoning
from langchain_ctxcompress.messages.calls import CallKey, answer_of, call_name, calls_of
from langchain_ctxcompress.messages.checking import no_message, require_list, require_messages
from langchain_ctxcompress.messages.content import apply_compressed_content, block_text, extract_text_content
from langchain_ctxcompress.messages.identity import (
    content_hash,
    derived_id,
    ensure_ids,
    naming_original,
    original_hash,
)
from langchain_ctxcompress.messages.kinds import MessageKind, kind_of
from langchain_ctxcompress.messages.marks import (
    ASKED,
    MARK_KEY,
    is_derived,
    is_pinned,
    is_summary,
    pin,
    summary_mark,
    unpin,
    was_asked,
)
from langchain_ctxcompress.messages.media import Medium, medium_of
from langchain_ctxcompress.messages.repair import Repair, in_order, repair_messages
from langchain_ctxcompress.messages.turns import ConversationTurn, count_turns, newest_human, split_turns

__all__ = [
    "ASKED",
    "MARK_KEY",
    "Boundaries",
    "CallKey",
    "ConversationTurn",
    "Medium",
    "MessageKind",
    "Repair",
    "answer_of",
    "apply_compressed_content",
    "block_text",
    "call_name",
    "calls_of",
    "content_hash",
    "count_turns",
    "derived_id",
    "dividers",
    "ensure_ids",
    "extract_text_content",
    "in_order",
    "is_derived",
    "is_only_reasoning",
    "is_pinned",
    "is_summary",
    "kind_of",
    "medium_of",
    "naming_original",
    "newest_human",
    "no_message",
    "original_hash",
    "pin",
    "repair_messages",
    "require_list",
    "require_messages",
    "split_turns",
    "summary_mark",
    "unpin",
    "was_asked",
]
