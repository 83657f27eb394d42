"""What a scripted agent does with its tools: it is asked, calls one tool or several at once, reads, and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from langchain_ctxcompress.demo.workbench import ToolError, Workbench

PAGE_LINES = 100
"""Lines of source the agent reads at a time."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line a tool pointed to.

    Attributes:
        path: The file, relative to the library's folder.
        line: The line number, from 1.
        text: What the tool says of it.
    """

    path: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """`file:line`, as the user wants it."""
        return f"{self.path}:{self.line}"


class SessionScript:
    """Writes a session message by message; tool calls are really run.

    Message and call ids are numbers in order, so that two recordings are the same.

    Attributes:
        messages: The session so far.
        notes: What the agent found out and may be asked for later, by name.
    """

    def __init__(self, workbench: Workbench) -> None:
        self.messages: list[BaseMessage] = []
        self.notes: dict[str, str] = {}
        self._workbench = workbench
        self._calls = 0

    def system(self, text: str) -> None:
        """The rules of the agent's maker."""
        self._add(SystemMessage(text))

    def human(self, text: str) -> None:
        """A request, a rule or a fact of the user."""
        self._add(HumanMessage(text))

    def answer(self, text: str) -> None:
        """The agent says something to the user."""
        self._add(AIMessage(text))

    def use(self, *calls: tuple[str, dict[str, Any]], thought: str = "") -> list[str]:
        """The agent calls tools, all in one message.

        Args:
            *calls: The name and the arguments of each.
            thought: What it says beside the calls.

        Returns:
            What the tools put out, in the order of the calls.
        """
        made = [ToolCall(name=name, args=args, id=self._next_call_id(), type="tool_call") for name, args in calls]
        self._add(AIMessage(thought, tool_calls=made))
        outputs: list[str] = []
        for call in made:
            try:
                output = self._workbench.run(call["name"], call["args"])
                result = ToolMessage(output, tool_call_id=call["id"] or "", name=call["name"])
            except ToolError as error:
                output = str(error)
                result = ToolMessage(output, tool_call_id=call["id"] or "", name=call["name"], status="error")
            self._add(result)
            outputs.append(output)
        return outputs

    def read_through(self, path: str, *, watch_for: str, thought: str) -> list[Hit]:
        """The agent reads a file page by page.

        Args:
            path: The file, relative to the library's folder.
            watch_for: A regular expression; what it looks for on each page.
            thought: What it says before the first page.

        Returns:
            The lines that match, in order.
        """
        wanted = re.compile(watch_for)
        found: list[Hit] = []
        first = 1
        while True:
            last = first + PAGE_LINES - 1
            (page,) = self.use(("read_file", {"path": path, "first": first, "last": last}), thought=thought)
            on_page = [
                Hit(path, int(match[1]), match[2].strip())
                for line in page.splitlines()
                if (match := re.match(r" *(\d+)  (.*)", line)) and wanted.search(match[2])
            ]
            found += on_page
            if not page.endswith("more lines)"):
                return found
            seen = ", ".join(str(hit.line) for hit in on_page[:6]) or "none"
            thought = f"{path} read up to line {last}; lines of interest on that page: {seen}. Next page."
            first = last + 1

    def _next_call_id(self) -> str:
        self._calls += 1
        return f"call_{self._calls:04d}"

    def _add(self, message: BaseMessage) -> None:
        message.id = f"demo-{len(self.messages) + 1:04d}"
        self.messages.append(message)


def hits_of(output: str) -> list[Hit]:
    """The lines of an output that name a place, as `search` and `outline` write them."""
    found = (re.match(r"([\w./]+\.py):(\d+): (.*)", line) for line in output.splitlines())
    return [Hit(match[1], int(match[2]), match[3]) for match in found if match]


def bullets(hits: list[Hit], limit: int = 12) -> str:
    """A list of places for an answer, the first `limit` of them one a line."""
    lines = [f"- {hit.place} `{hit.text[:80]}`" for hit in hits[:limit]]
    if len(hits) > limit:
        lines.append(f"- and {len(hits) - limit} more: " + ", ".join(hit.place for hit in hits[limit : limit + 20]))
    return "\n".join(lines)
