"""Records the demo session: a scripted agent's long review of standard-library modules, with real tool output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import BaseMessage, convert_to_openai_messages

from langchain_ctxcompress.conversations import OutputFile
from langchain_ctxcompress.demo.script import SessionScript
from langchain_ctxcompress.demo.tasks import TASKS
from langchain_ctxcompress.demo.workbench import Workbench
from langchain_ctxcompress.tokens import MessageCounter

SESSION_ID = "stdlib-review"

SYSTEM_PROMPT = """\
You are a code reviewer. You work on the sources of Python's standard library with these tools: {tools}.
Read before you answer. Say what you saw and where. If a tool fails, find out why before you go on."""


def record_session(path: Path | None = None, *, tasks: int | None = None) -> list[BaseMessage]:
    """Record the session: run the agent's script, its tools included.

    Takes about a second, and gives the same messages each time on the same Python.

    Args:
        path: Where to write it as a conversation file, too; missing folders are made.
        tasks: How many of the user's tasks to record; all of them by default, which is more than 60,000 tokens.

    Returns:
        The messages, with ids, in order: system, human, AI with tool calls, tool results, AI.
    """
    workbench = Workbench()
    script = SessionScript(workbench)
    script.system(SYSTEM_PROMPT.format(tools=", ".join(workbench.tool_names)))
    for task in TASKS[:tasks]:
        task(script)
    if path is not None:
        write_session(script.messages, path)
    return script.messages


def session_tokens(messages: Sequence[BaseMessage]) -> int:
    """The size of a session in tokens, by the default encoding."""
    return sum(MessageCounter()(messages))


def write_session(messages: Sequence[BaseMessage], path: Path) -> None:
    """Write a conversation file: one JSON object on one line, the messages in OpenAI's chat format.

    Args:
        messages: The conversation.
        path: The file; missing folders are made, an older file is replaced, and so is a link.

    Raises:
        ConversationFileError: It cannot be written.
    """
    line = {
        "id": SESSION_ID,
        "source": "a scripted agent at work on Python's standard library",
        "tokens": session_tokens(messages),
        "messages": convert_to_openai_messages(messages),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with OutputFile(str(path), follow=False) as file:
        file.write(line)
