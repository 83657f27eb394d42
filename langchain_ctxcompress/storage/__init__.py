"""What is kept: the session history, summary checkpoints, and the codec and routines they are stored with.

It may import `messages` and `errors`; it knows nothing of sizes, limits or strategies. LangGraph's `BaseStore` is the
one storage interface. Routines are generators that yield batches of store operations, so that sync and async share one
copy of the logic.
"""

from langchain_ctxcompress.storage.backends import open_store
from langchain_ctxcompress.storage.codec import decode_message, encode_message
from langchain_ctxcompress.storage.history import SessionHistory, session_ids
from langchain_ctxcompress.storage.records import SCHEMA_VERSION, CheckpointSummary, Quote, SessionInfo
from langchain_ctxcompress.storage.steps import StoreSteps, aexecute, arun, execute, run
from langchain_ctxcompress.storage.view import CheckpointChain, View, summary_message

__all__ = [
    "SCHEMA_VERSION",
    "CheckpointChain",
    "CheckpointSummary",
    "Quote",
    "SessionHistory",
    "SessionInfo",
    "StoreSteps",
    "View",
    "aexecute",
    "arun",
    "decode_message",
    "encode_message",
    "execute",
    "open_store",
    "run",
    "session_ids",
    "summary_message",
]
