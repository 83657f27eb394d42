"""What a request sends besides its messages: system prompt, tool schemas, and the schema of a structured answer."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from langchain_core.messages import BaseMessage

MOST_TOOLS = 512
"""Tools whose size is remembered; an agent has some tens."""

TOOL_FRAME = 10
"""Tokens around each tool's schema."""


class OverheadCounter:
    """Counts what is sent besides the messages; each tool once.

    Args:
        count_text: Size of a text in tokens.
        count: Sizes of messages in tokens.
    """

    def __init__(self, count_text: Callable[[str], int], count: Callable[[list[BaseMessage]], list[int]]) -> None:
        self._count_text = count_text
        self._count = count
        self._tools: OrderedDict[int, tuple[Any, int]] = OrderedDict()

    def __call__(self, system: BaseMessage | None, tools: Iterable[Any], response_format: Any = None) -> int:
        """The size in tokens.

        Args:
            system: The system message.
            tools: Tools, or their schemas as dicts.
            response_format: What `create_agent` was given for structured answers.
        """
        size = self._count([system])[0] if system is not None else 0
        size += sum(map(self._tool, tools))
        schema = getattr(response_format, "schema", response_format)
        return size + (self._tool(schema) if schema is not None else 0)

    def _tool(self, tool: Any) -> int:
        known = self._tools.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        size = self._count_text(_schema_text(tool)) + TOOL_FRAME
        self._tools[id(tool)] = (tool, size)  # the tool is kept, so that its id stays its own
        if len(self._tools) > MOST_TOOLS:
            self._tools.popitem(last=False)
        return size


def _schema_text(tool: Any) -> str:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    if isinstance(tool, dict):
        return json.dumps(tool, default=str)
    try:
        return json.dumps(convert_to_openai_tool(tool), default=str)
    except (ValueError, TypeError, AttributeError):  # a provider's own kind of tool: its text is near enough
        return str(tool)
