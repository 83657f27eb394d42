"""Compression on request: the tool `compact_context` for the agent, and a flag in the state for the application.

The tool only asks, by a mark on its result: the compression itself is made before the next model call, by the node or
the middleware, which may change the list. Once the model has answered, the request is past.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.graph.state import value_in
from langchain_ctxcompress.messages import MARK_KEY
from langchain_ctxcompress.summarize.prompts import framed_focus

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

COMPACT_KEY = "ctxcompress_compact"
"""The flag: `True`, or what the summary should keep. The step that carries it out sets it back to `None`."""

NAME = "compact_context"
KIND = "compact"

DESCRIPTION = (
    "Compress this conversation now: its middle is replaced by a summary before you go on, and nothing is lost."
    " Use it when a piece of work is done and its details are not needed any more."
    " focus: what the summary should keep in detail."
)


def create_compact_tool() -> BaseTool:
    """The tool `compact_context` for an agent: compress now, with a focus (requirement L7).

    It takes effect in a graph with a `CompressionNode`, or an agent with a `CompressionMiddleware`: they see its result
    and compress before the next model call, whatever the limits say.
    """
    from langchain_core.tools import InjectedToolCallId, StructuredTool
    from pydantic import BaseModel, Field

    class CompactArgs(BaseModel):
        """What `compact_context` is asked for."""

        focus: str = Field(default="", description="What the summary should keep in detail.")
        tool_call_id: Annotated[str, InjectedToolCallId]

    def compact(tool_call_id: str, focus: str = "") -> ToolMessage:
        return ToolMessage(
            "The conversation is compressed before you go on.",
            name=NAME,
            tool_call_id=tool_call_id,
            additional_kwargs={MARK_KEY: {"kind": KIND, "focus": focus}},
        )

    async def acompact(tool_call_id: str, focus: str = "") -> ToolMessage:
        return compact(tool_call_id, focus)

    return StructuredTool.from_function(
        func=compact, coroutine=acompact, name=NAME, description=DESCRIPTION, args_schema=CompactArgs
    )


def flag_in(state: Any) -> bool | str | None:
    """The flag of a state, `None` where it is not set.

    Raises:
        ConfigError: It is neither a truth value nor a text.
    """
    flag = value_in(state, COMPACT_KEY)
    if not isinstance(flag, bool | str | None):
        msg = f"{COMPACT_KEY} is {flag!r}: it must be True, or what the summary should keep"
        raise ConfigError(msg)
    return flag or None


def focus_asked(state: Any, messages: Sequence[BaseMessage]) -> str | None:
    """What a compression that was asked for should keep, `""` for nothing special; `None` where none was asked for.

    The application's flag is as it was given; what a model asked for by the tool is framed as data, since a text that
    it read may have told it to.
    """
    flag = flag_in(state)
    if flag is not None:
        return flag if isinstance(flag, str) else ""
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            return None
        mark = message.additional_kwargs.get(MARK_KEY)
        if isinstance(mark, dict) and mark.get("kind") == KIND:
            return framed_focus(str(mark.get("focus") or ""))
    return None


def with_focus(settings: dict[str, Any], focus: str) -> dict[str, Any]:
    """The settings of a compression that was asked for: it is made whatever the limits say, and looks at the focus too.

    Args:
        settings: Those of the run; its own instructions stay.
        focus: What `focus_asked` gave.
    """
    said = (str(settings.get("instructions") or ""), focus)
    return {**settings, "force": True, "instructions": "\n".join(filter(None, said))}
