"""Stopping code at a place of one's choosing: at the nth await of a coroutine, at the nth line of a call.

Whoever cancels a task or presses Ctrl-C chooses no place; a test that tries every one of them must.
"""

from __future__ import annotations

import asyncio
import linecache
import sys
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = "langchain_ctxcompress"


class Awaits:
    """Counts the awaits of a task and of all tasks that are made under it, and cancels the first at the nth.

    Args:
        at: Which await it is cancelled at; 0: none.

    Attributes:
        seen: How many awaits there were.
    """

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.seen = 0
        self._root: asyncio.Task[Any] | None = None

    def run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Runs the work on a loop of its own, to its end or to the cancellation.

        Returns:
            What it returned; `asyncio.CancelledError` (the class) where it was cancelled.

        Raises:
            AssertionError: A task that it made is still there although the loop had time to end it.
        """

        async def root() -> Any:
            loop = asyncio.get_running_loop()
            loop.set_task_factory(self._counted)
            self._root = loop.create_task(work())
            await asyncio.wait([self._root])
            loop.set_task_factory(None)
            left = asyncio.all_tasks() - {asyncio.current_task(), self._root}
            if left:
                await asyncio.wait(left, timeout=10)
            assert not [task for task in left if not task.done()], "a task outlives the cancelled step"
            return asyncio.CancelledError if self._root.cancelled() else self._root.result()

        return asyncio.run(root())

    def _counted(self, loop: asyncio.AbstractEventLoop, coro: Any, **settings: Any) -> asyncio.Task[Any]:
        return asyncio.Task(_Counted(coro, self._suspended), loop=loop, **settings)

    def _suspended(self) -> None:
        self.seen += 1
        if self.seen == self.at:
            assert self._root is not None
            self._root.cancel()


class _Counted(Coroutine[Any, Any, Any]):
    """A coroutine that tells of each of its suspensions."""

    def __init__(self, coro: Any, suspended: Callable[[], None]) -> None:
        self._coro = coro
        self._suspended = suspended

    def send(self, value: Any) -> Any:
        return self._told(self._coro.send(value))

    def throw(self, *error: Any) -> Any:
        return self._told(self._coro.throw(*error))

    def close(self) -> None:
        self._coro.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coro.__await__()  # type: ignore[no-any-return]

    def _told(self, waited: Any) -> Any:
        self._suspended()
        return waited


class Lines:
    """Counts the lines of the package that a call runs in its own thread, and presses Ctrl-C at the nth.

    Left out is where Python itself lets no Ctrl-C through: between the end of a `with` block and its `__exit__`; and
    where it throws one away: in the callback of a weak reference.

    Args:
        at: The line; 0: none.
        most: Visits of one line that are counted: a loop over words need not be interrupted at each word.

    Attributes:
        seen: How many lines there were.
        place: Where it was interrupted, for the message of a failing test.
    """

    def __init__(self, at: int = 0, *, most: int = 2) -> None:
        self.at = at
        self.most = most
        self.seen = 0
        self.place = ""
        self._visits: dict[tuple[str, int], int] = {}

    def run(self, work: Callable[[], Any]) -> Any:
        """Runs the call.

        Returns:
            What it returned; `KeyboardInterrupt` (the class) where it was interrupted.
        """
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            return work()
        except KeyboardInterrupt:
            return KeyboardInterrupt
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        callback = frame.f_code.co_name == "_forget" and frame.f_code.co_filename.endswith("meter.py")
        inside = PACKAGE in Path(frame.f_code.co_filename).parts and not callback
        return self._line if inside else None

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line" and not _leaves(frame):
            where = (frame.f_code.co_filename, frame.f_lineno)
            visits = self._visits[where] = self._visits.get(where, 0) + 1
            if visits <= self.most:
                self.seen += 1
                if self.seen == self.at:
                    self.place = f"{Path(where[0]).name}:{where[1]}"
                    raise KeyboardInterrupt
        return self._line


def _leaves(frame: FrameType) -> bool:
    """Whether the line is that of a `with`, which is visited once more when its block is left."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return line.lstrip().startswith(("with ", "async with "))
