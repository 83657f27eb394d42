"""Conversation files: JSON and JSONL, in OpenAI's chat format and in LangChain's, read line by line and written whole.

It knows `messages` and `errors`, and nothing of sizes, limits or storage. A broken line is one error that names file
and line, and costs no other line. What a compression left as it was is written as it was read, every field of it.
"""

from langchain_ctxcompress.conversations.conversation import ENTRY_KEY, Conversation, Place
from langchain_ctxcompress.conversations.file import STDIN, ConversationFile
from langchain_ctxcompress.conversations.formats import MessageFormat
from langchain_ctxcompress.conversations.output import STDOUT, OutputFile

__all__ = [
    "ENTRY_KEY",
    "STDIN",
    "STDOUT",
    "Conversation",
    "ConversationFile",
    "MessageFormat",
    "OutputFile",
    "Place",
]
