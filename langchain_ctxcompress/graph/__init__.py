"""At home in LangGraph: the node, how it reads a state and updates it by id, and the tools an agent may be given.

It may import `compressor` and every room below it; nothing but the command line imports it.
"""

from langchain_ctxcompress.graph.agent import compressed_react_agent
from langchain_ctxcompress.graph.compacting import create_compact_tool
from langchain_ctxcompress.graph.node import CompressionNode
from langchain_ctxcompress.graph.reducer import merge_messages
from langchain_ctxcompress.graph.state import CompressionState, session_of, update_by_id
from langchain_ctxcompress.graph.tools import create_recall_tool

__all__ = [
    "CompressionNode",
    "CompressionState",
    "compressed_react_agent",
    "create_compact_tool",
    "create_recall_tool",
    "merge_messages",
    "session_of",
    "update_by_id",
]
