"""At home in LangGraph: the node, and how it reads a state and updates it by id.

It may import `compressor` and every room below it; nothing but the command line imports it.
"""

from langchain_ctxcompress.graph.node import CompressionNode
from langchain_ctxcompress.graph.state import CompressionState, session_of, update_by_id

__all__ = ["CompressionNode", "CompressionState", "session_of", "update_by_id"]
