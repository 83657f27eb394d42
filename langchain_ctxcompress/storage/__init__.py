"""What is kept: the session history, summary checkpoints, snapshots, and the boundary to what is sent.

It may import `messages` and `errors`; it knows nothing of sizes, limits or strategies. LangGraph's `BaseStore` is the
one storage interface. Routines are generators that yield batches of store operations, so that sync and async share one
copy of the logic.
"""

from langchain_ctxcompress.storage.backends import awipe, open_store, wipe
from langchain_ctxcompress.storage.boundaries import (
    guard_messages,
    guard_prompt,
    is_session_history,
    is_snapshot,
    prevent_history_in_prompt,
    prevent_snapshot_in_prompt,
)
from langchain_ctxcompress.storage.branches import Branch
from langchain_ctxcompress.storage.codec import decode_message, encode_message
from langchain_ctxcompress.storage.history import SessionHistory, session_ids
from langchain_ctxcompress.storage.keys import labels_of
from langchain_ctxcompress.storage.opening import OpenChain
from langchain_ctxcompress.storage.records import SCHEMA_VERSION, CheckpointSummary, Quote, SessionInfo
from langchain_ctxcompress.storage.redaction import RedactHook
from langchain_ctxcompress.storage.snapshot_parts import Purpose, Snapshot
from langchain_ctxcompress.storage.snapshots import RestoredSnapshot, SnapshotStore
from langchain_ctxcompress.storage.steps import StoreSteps, aexecute, arun, execute, run
from langchain_ctxcompress.storage.totals import CountMessages
from langchain_ctxcompress.storage.view import CheckpointChain, View, project, summary_message

__all__ = [
    "SCHEMA_VERSION",
    "Branch",
    "CheckpointChain",
    "CheckpointSummary",
    "CountMessages",
    "OpenChain",
    "Purpose",
    "Quote",
    "RedactHook",
    "RestoredSnapshot",
    "SessionHistory",
    "SessionInfo",
    "Snapshot",
    "SnapshotStore",
    "StoreSteps",
    "View",
    "aexecute",
    "arun",
    "awipe",
    "decode_message",
    "encode_message",
    "execute",
    "guard_messages",
    "guard_prompt",
    "is_session_history",
    "is_snapshot",
    "labels_of",
    "open_store",
    "prevent_history_in_prompt",
    "prevent_snapshot_in_prompt",
    "project",
    "run",
    "session_ids",
    "summary_message",
    "wipe",
]
