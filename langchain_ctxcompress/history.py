"""`CompressedChatMessageHistory`: a drop-in history for chains, around any `BaseChatMessageHistory`.

LangChain has deprecated that class and `RunnableWithMessageHistory` (to be removed in langchain-core 2.0); the lasting
ways are `CompressionNode` and `CompressionMiddleware` with a checkpointer.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary, WeakValueDictionary

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.doors import compressor_of
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.ledger import Goal, Goals, read_goals
from langchain_ctxcompress.messages import ensure_ids, is_derived, require_messages
from langchain_ctxcompress.storage import guard_messages

P = ParamSpec("P")

_RUN_ENDS = frozenset({"_exit_history", "_aexit_history"})
"""The methods in which `RunnableWithMessageHistory` saves a run."""


class CompressedChatMessageHistory(BaseChatMessageHistory):
    """The inner history keeps every original; `messages` is the active context.

    After each save the list is compressed where it is due, so the view changes after a save and never between a run's
    load and its save. The summaries live in the compressor's store; what is shown follows from the inner history and
    that store, in every process.

    Args:
        inner: Any history; it is appended to and otherwise left alone. One that is older than this package is taken
            over as it is.
        compressor: The engine. Without it, `arguments` make one.
        session_id: Whose conversation it is; by default the compressor's own.
        goal: What the work is for: a `Goal`, its plain values, or several. The summary message restates it; until there
            is one, it is for the prompt around the history to state. `goals` is it with what was reported, and is the
            same in every process: the store has it.
        **arguments: Arguments of a `ContextCompressor`.
    """

    def __init__(
        self,
        inner: BaseChatMessageHistory,
        compressor: ContextCompressor | None = None,
        *,
        session_id: str | None = None,
        goal: Goals | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__()
        if not isinstance(inner, BaseChatMessageHistory):
            msg = f"inner is a {type(inner).__name__}: pass a BaseChatMessageHistory, as InMemoryChatMessageHistory"
            raise ConfigError(msg)
        self.inner = inner
        self.compressor = compressor_of(compressor, arguments)
        self.session_id = session_id or self.compressor.session_id
        self.goal = None if goal is None else read_goals(goal)
        self._lock = threading.RLock()
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    @classmethod
    def factory(
        cls,
        inner_factory: Callable[P, BaseChatMessageHistory],
        compressor: ContextCompressor | None = None,
        **arguments: Any,
    ) -> Callable[P, CompressedChatMessageHistory]:
        """Sessions for `RunnableWithMessageHistory(chain, CompressedChatMessageHistory.factory(get_history, …))`.

        All sessions share one compressor. The factory takes what the inner one takes: a session id, or several keys,
        which name the session together. While a session is in use, every caller is given the same object.

        Args:
            inner_factory: Makes or finds the inner history of a session.
            compressor: The engine. Without it, `arguments` make one.
            **arguments: Arguments of a `ContextCompressor`.

        Raises:
            ConfigError: Both a compressor and arguments for one are given.
        """
        shared = compressor_of(compressor, arguments)
        signature = inspect.signature(inner_factory)
        alive: WeakValueDictionary[str, CompressedChatMessageHistory] = WeakValueDictionary()
        lock = threading.Lock()

        @functools.wraps(inner_factory)
        def session(*args: P.args, **kwargs: P.kwargs) -> CompressedChatMessageHistory:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            keys = [str(value) for value in bound.arguments.values()]
            session_id = keys[0] if len(keys) == 1 else json.dumps(keys)
            with lock:
                history = alive.get(session_id)
                if history is None:
                    history = cls(inner_factory(*args, **kwargs), shared, session_id=session_id)
                    alive[session_id] = history
                return history

        return session

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base declares a plain attribute
        """The active context."""
        if _at_run_end():
            return []
        return self.compressor.view(self._identified(self.inner.messages), session_id=self.session_id)

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals as they stand, with what summaries reported."""
        return self.compressor.goals(self.session_id, given=self.goal)

    async def aget_messages(self) -> list[BaseMessage]:
        """The active context, without blocking the loop."""
        if _at_run_end():
            return []
        originals = self._identified(await self.inner.aget_messages())
        return await self.compressor.aview(originals, session_id=self.session_id)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store what is new, then compress where it is due.

        Summary messages and messages that are stored already are left out, so a run may save all that it was given.

        Raises:
            InvalidMessagesError: Something in the list is no message; nothing is stored.
        """
        with self._lock:
            stored = self._identified(self.inner.messages)
            fresh = self._fresh(stored, messages)
            guard_messages(fresh)  # before it is stored: it would stand in every prompt from then on
            if fresh:
                self.inner.add_messages(fresh)
            self.compressor.compress([*stored, *fresh], session_id=self.session_id, goal=self.goal)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """As `add_messages`, without blocking the loop."""
        async with self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            stored = self._identified(await self.inner.aget_messages())
            fresh = self._fresh(stored, messages)
            guard_messages(fresh)  # before it is stored: it would stand in every prompt from then on
            if fresh:
                await self.inner.aadd_messages(fresh)
            await self.compressor.acompress([*stored, *fresh], session_id=self.session_id, goal=self.goal)

    def clear(self) -> None:
        """Remove all of it: the archive and the summaries, then the inner history, which so can be cleared again."""
        with self._lock:
            self.compressor.forget(self.session_id)
            self.inner.clear()

    async def aclear(self) -> None:
        """As `clear`, without blocking the loop."""
        async with self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            await self.compressor.aforget(self.session_id)
            await self.inner.aclear()

    def _identified(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The originals with ids: those stored before this package may have none."""
        return ensure_ids(messages, self.session_id)

    def _fresh(self, stored: list[BaseMessage], messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """What is to be stored, with ids."""
        require_messages(messages)
        known = {message.id for message in stored}
        fresh: dict[str | int, BaseMessage] = {}
        for place, message in enumerate(messages):
            if not is_derived(message) and message.id not in known:
                fresh[message.id or place] = message
        return self._identified([*stored, *fresh.values()])[len(stored) :]


def _at_run_end() -> bool:
    """Whether `RunnableWithMessageHistory` asks in order to save a run.

    It then cuts as many messages as the history holds off the run's input, to find what is new. That is wrong as soon
    as another run has saved meanwhile: it would drop this run's question. With nothing to cut off, it saves all that
    the run was given, and `add_messages` knows what is stored already.
    """
    return sys._getframe(2).f_code.co_name in _RUN_ENDS
