"""Chat models that say what a test tells them to, and remember what they were asked.

`ScriptedChatModel(replies=["first", "second"])` gives one reply a call, the last one again and again. A reply is a
text, a list of content blocks, an `AIMessage`, an exception (it is raised), or a callable that is given the prompt and
gives one of these. `replies` may be one callable for all calls.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

from tests.support.legality import violations
from tests.support.sizes import independent_tokens


class ScriptedChatModel(BaseChatModel):
    """A chat model with a script.

    Attributes:
        replies: What it says; see the module's docstring.
        delay: Time each call takes, in seconds. `release()` ends all delays, those under way too.
        finish_reason: Goes into `response_metadata["finish_reason"]`, where a reply does not bring its own.
        details: Further entries of `response_metadata`, for the words of other providers.
        streams: Whether the model streams; without it LangChain calls it whole, whoever listens.
    """

    replies: Any = "ok"
    delay: float = 0.0
    finish_reason: str | None = "stop"
    details: dict[str, Any] = Field(default_factory=dict)
    streams: bool = True

    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _options: list[dict[str, Any]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _released: threading.Event = PrivateAttr(default_factory=threading.Event)
    _running: int = PrivateAttr(default=0)
    _peak: int = PrivateAttr(default=0)
    _cancelled: int = PrivateAttr(default=0)

    def __init__(self, replies: Any = "ok", **fields: Any) -> None:
        super().__init__(replies=replies, **fields)
        self.disable_streaming = not self.streams

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def calls(self) -> int:
        """How often it was called, failed calls too."""
        return len(self._prompts)

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """Every prompt it was given, in the order the calls began."""
        with self._lock:
            return [list(prompt) for prompt in self._prompts]

    @property
    def options(self) -> list[dict[str, Any]]:
        """The keyword arguments of each call (`stop`, bound tools, …), in the order the calls began."""
        with self._lock:
            return [dict(option) for option in self._options]

    @property
    def peak(self) -> int:
        """How many calls ran at the same time, at most."""
        return self._peak

    @property
    def cancelled(self) -> int:
        """How many async calls were cancelled while they waited."""
        return self._cancelled

    def release(self) -> None:
        """Ends every delay, so that no thread of a call that nobody waits for outlives its test."""
        self._released.set()

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=list(tools), **options)

    def check(self, prompt: list[BaseMessage]) -> None:
        """Is called with each prompt before it is answered; `CheckingModel` judges it here."""

    def _open(self, prompt: list[BaseMessage], options: dict[str, Any]) -> int:
        with self._lock:
            self._prompts.append(list(prompt))
            self._options.append(options)
            place = len(self._prompts) - 1
        self.check(prompt)
        return place

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
            self._peak = max(self._peak, self._running)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    def _reply(self, place: int, prompt: list[BaseMessage]) -> AIMessage:
        scripted = isinstance(self.replies, list)
        reply = self.replies[min(place, len(self.replies) - 1)] if scripted else self.replies
        if isinstance(reply, type) and issubclass(reply, BaseException):
            reply = reply("scripted")
        elif callable(reply):
            reply = reply(prompt)
        if isinstance(reply, BaseException):
            raise reply
        message = reply.model_copy(deep=True) if isinstance(reply, AIMessage) else AIMessage(reply)
        finish = {} if self.finish_reason is None else {"finish_reason": self.finish_reason}
        message.response_metadata = {**finish, **self.details, **message.response_metadata}
        return message

    def _answer(self, prompt: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        place = self._open(prompt, options)
        with self._counted():
            if self.delay:
                self._released.wait(self.delay)
            return self._reply(place, prompt)

    async def _aanswer(self, prompt: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        place = self._open(prompt, options)
        with self._counted():
            try:
                end = asyncio.get_running_loop().time() + self.delay
                while not self._released.is_set() and (left := end - asyncio.get_running_loop().time()) > 0:
                    await asyncio.sleep(min(left, 0.05))
            except asyncio.CancelledError:
                with self._lock:
                    self._cancelled += 1
                raise
            return self._reply(place, prompt)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole(self._answer(messages, {"stop": stop, **kwargs}))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole(await self._aanswer(messages, {"stop": stop, **kwargs}))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _pieces(self._answer(messages, {"stop": stop, **kwargs})):
            if run_manager is not None:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _pieces(await self._aanswer(messages, {"stop": stop, **kwargs})):
            if run_manager is not None:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


class CheckingModel(ScriptedChatModel):
    """A scripted model that judges each prompt before it answers.

    Attributes:
        limit: The most a prompt may hold by the independent count, in tokens; `None`: any.
        room: Tokens a prompt may be over `limit` for all that is sent besides, or a function of the prompt.
    """

    limit: int | None = None
    room: int | Callable[[list[BaseMessage]], int] = 0

    _failures: list[str] = PrivateAttr(default_factory=list)
    _sizes: list[int] = PrivateAttr(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """What was wrong with the prompts: one line for each finding, with the number of the call."""
        with self._lock:
            return list(self._failures)

    @property
    def sizes(self) -> list[int]:
        """The size of each prompt by the independent count, in tokens."""
        with self._lock:
            return list(self._sizes)

    def check(self, prompt: list[BaseMessage]) -> None:
        found = violations(prompt, open_end=False)
        size = independent_tokens(prompt)
        room = self.room(prompt) if callable(self.room) else self.room
        if self.limit is not None and size > self.limit + room:
            found.append(f"too-large: the prompt holds {size} tokens, the limit is {self.limit}")
        with self._lock:
            self._sizes.append(size)
            self._failures += [f"call {len(self._sizes) - 1}: {finding}" for finding in found]


def _whole(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _pieces(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Gives a message word by word: its text, then all that is known only at the end (blocks come whole)."""
    text = message.content if isinstance(message.content, str) else ""
    for word in re.findall(r"\S*\s*", text)[:-1]:
        yield ChatGenerationChunk(message=AIMessageChunk(word, id=message.id))
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            "" if text else message.content,
            id=message.id,
            name=message.name,
            tool_calls=message.tool_calls,
            invalid_tool_calls=message.invalid_tool_calls,
            additional_kwargs=message.additional_kwargs,
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
            chunk_position="last",
        )
    )
