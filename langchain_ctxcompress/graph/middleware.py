"""`CompressionMiddleware`: compression for `create_agent`, on the request as it is really sent."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, cast

from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ExtendedModelResponse, OmitFromOutput, PrivateStateAttr
except ImportError as error:  # pragma: no cover - the tests install the extra
    missing = "CompressionMiddleware needs the extra: pip install 'langchain-ctxcompress[agents]'"
    raise ImportError(missing) from error

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.doors import compressor_of
from langchain_ctxcompress.engine import CompressionResult
from langchain_ctxcompress.graph.announcing import StepEvents
from langchain_ctxcompress.graph.cautions import caution, unknown_window
from langchain_ctxcompress.graph.compacting import COMPACT_KEY, flag_in, focus_asked, with_focus
from langchain_ctxcompress.graph.overhead import OverheadCounter
from langchain_ctxcompress.graph.overrides import Overrides
from langchain_ctxcompress.graph.state import session_of, update_by_id
from langchain_ctxcompress.graph.system_prompt import SystemPrompt, SystemPromptSource, goal_update, goals_in
from langchain_ctxcompress.ledger import Goals, read_goals
from langchain_ctxcompress.limits import PrunerConfig, input_window
from langchain_ctxcompress.summarize import AgentCall, is_overflow

logger = logging.getLogger(__name__)

RECORD_KEY = "ctxcompress_request"
"""Where the state holds what the last request looked like; private to the middleware."""

UNKNOWN = {"overhead_tokens": 0, "window_tokens": None, "compressed": False}
"""The record of a thread whose first request is still to come."""

MOST_AGENTS = 256
"""Threads whose last request is remembered for `summariser_input="prefix"`: models and tools are shared, not copied."""

RESCUE_SHARE = 0.7
"""After an overflow: the hard limit of the second try, as a share of what was sent. The window is not known better."""


class CompressionAgentState(AgentState[Any]):
    """The agent's state with the middleware's own record, which is neither taken as input nor shown as output.

    Attributes:
        ctxcompress_request: Tokens besides the messages, the model's window, and whether the list was compressed since
            the last answer.
        ctxcompress_compact: Set it to compress at the next step, whatever the limits say: `True`, or what the summary
            should keep. The step sets it back to `None`.
        ctx_goal: What the work is for: a goal or several as plain values. What summaries report of them is written
            back here.
    """

    ctxcompress_request: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    ctxcompress_compact: NotRequired[Annotated[bool | str | None, OmitFromOutput]]
    ctx_goal: NotRequired[Any]


@dataclass(frozen=True, slots=True)
class _Compressed:
    """A request after compression, and what the state has to learn of it."""

    request: ModelRequest[Any]
    result: CompressionResult | None
    record: dict[str, Any]


class CompressionMiddleware(AgentMiddleware[CompressionAgentState, Any, Any]):
    """Compresses an agent's messages: `create_agent(model, tools, middleware=[CompressionMiddleware(compressor)])`.

    What triggers is the request as it is sent: messages, system prompt, tool schemas. Without a config of the
    compressor's own, the limits follow the model that is really called. If the model says that the prompt was too
    long, the list is compressed further and sent once more.

    Args:
        compressor: The engine. Without it, `arguments` make one.
        background: At the soft limit, let the summariser work beside the agent: the step goes on with its list as it
            is, a later step applies the summary, and only a step at the hard limit waits. Without a chat model as the
            summariser there is nothing to wait for, and the list is compressed in the step.
        goal: The goals of threads whose state has none under `ctx_goal`.
        system_prompt: A text, or a provider of it (a `PromptContext` is passed to one that takes an argument). It
            stands behind the agent's own, is never compressed, and counts. Goals that no summary message restates yet
            follow it.
        **arguments: Arguments of a `ContextCompressor`.

    Raises:
        ConfigError: An argument is none of these.
    """

    state_schema = CompressionAgentState

    def __init__(
        self,
        compressor: ContextCompressor | None = None,
        *,
        background: bool = True,
        goal: Goals | None = None,
        system_prompt: SystemPrompt | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__()
        self.goal = None if goal is None else read_goals(goal)
        self._system_prompt = SystemPromptSource(system_prompt)
        self.compressor = compressor_of(compressor, arguments)
        self.background = background
        self.tools = []
        self._agents: dict[str, AgentCall] = {}
        self._lock = threading.Lock()
        self._overhead = OverheadCounter(self.compressor.count_text, self.compressor.count)

    def before_model(self, state: CompressionAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Compress the state where it is due, by what the last request was like; a step of its own.

        The first request of a thread is not known yet: `wrap_model_call` sees to it.
        """
        messages = list(state["messages"])
        focus = focus_asked(state, messages)
        record = _known(state) or ({} if focus is None else UNKNOWN)
        if not record:
            return None
        result = self.compressor.compress(messages, **self._settings(record, runtime, state, focus))
        return self._update(state, result, record, runtime)

    async def abefore_model(self, state: CompressionAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `before_model`, without blocking the loop."""
        messages = list(state["messages"])
        focus = focus_asked(state, messages)
        record = _known(state) or ({} if focus is None else UNKNOWN)
        if not record:
            return None
        result = await self.compressor.acompress(messages, **self._settings(record, runtime, state, focus))
        return self._update(state, result, record, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Record what the request is like; compress it here where it is new and due, or was refused as too long."""
        prompted = self._prompted(request)
        record = self._record(prompted)
        self._remember(prompted)
        result = None
        if self._is_due(request, record):
            result = self.compressor.compress(
                request.messages, **self._settings(record, request.runtime, request.state)
            )
        ready = self._ready(request, prompted, result, record)
        try:
            response = handler(ready.request)
        except Exception as error:
            if not is_overflow(error):
                raise
            settings = self._rescue(ready, error)
            again = self.compressor.compress(ready.request.messages, **settings)
            ready = self._ready(request, prompted, again, record)
            response = handler(ready.request)
        return self._response(request, ready, response)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """As `wrap_model_call`, without blocking the loop."""
        prompted = self._prompted(request)
        record = self._record(prompted)
        self._remember(prompted)
        result = None
        if self._is_due(request, record):
            result = await self.compressor.acompress(
                request.messages, **self._settings(record, request.runtime, request.state)
            )
        ready = self._ready(request, prompted, result, record)
        try:
            response = await handler(ready.request)
        except Exception as error:
            if not is_overflow(error):
                raise
            settings = self._rescue(ready, error)
            again = await self.compressor.acompress(ready.request.messages, **settings)
            ready = self._ready(request, prompted, again, record)
            response = await handler(ready.request)
        return self._response(request, ready, response)

    def _prompted(self, request: ModelRequest[Any], result: CompressionResult | None = None) -> ModelRequest[Any]:
        """The request with the provider's system prompt, and the goals that no message of it restates."""
        goals = result.goals if result is not None else goals_in(request.state, self._goal(request.runtime)) or ()
        text = self._system_prompt(goals, request.messages, request.state)
        if not text:
            return request
        own = request.system_message
        if own is None:
            return request.override(system_message=SystemMessage(text))
        whole = isinstance(own.content, str)
        content: Any = f"{own.content}\n\n{text}" if whole else [*own.content, {"type": "text", "text": text}]
        return request.override(system_message=own.model_copy(update={"content": content}))

    def _update(
        self, state: CompressionAgentState, result: CompressionResult, record: dict[str, Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        update: dict[str, Any] = {COMPACT_KEY: None} if flag_in(state) else {}
        if result.changed:
            caution(self.compressor, get_config(), runtime.store if runtime is not None else None)
            changes = update_by_id(list(state["messages"]), result.messages)
            update |= {"messages": changes, RECORD_KEY: {**record, "compressed": True}}
            update |= goal_update(state, self._goal(runtime), result.goals)
        return update or None

    def _goal(self, runtime: Runtime[Any] | None) -> Goals | None:
        """The goals of a thread whose state has none."""
        return _overrides(get_config(), runtime).goal_or(self.goal)

    def _record(self, request: ModelRequest[Any]) -> dict[str, Any]:
        """What the request is like, in plain values."""
        known = _known(request.state) or {}
        window = input_window(request.model)
        if not window and not self.compressor.config_given:
            unknown_window(request.model)
        return {
            "overhead_tokens": self._overhead(request.system_message, request.tools, request.response_format),
            "window_tokens": window,
            "compressed": bool(known.get("compressed")),
        }

    def _remember(self, request: ModelRequest[Any]) -> None:
        """What a thread's model is called with, for a summary that is asked for behind the same prompt."""
        if self.compressor.summariser is None:
            return
        session = session_of(get_config()) or ""
        settings = dict(request.model_settings or {})
        with self._lock:
            self._agents.pop(session, None)
            self._agents[session] = AgentCall(request.model, tuple(request.tools), request.system_message, settings)
            while len(self._agents) > MOST_AGENTS:
                self._agents.pop(next(iter(self._agents)))

    def _config(self, record: dict[str, Any], overrides: Overrides) -> PrunerConfig:
        """The limits: the compressor's own, else those that fit the model that is called; over both the thread's."""
        window = record.get("window_tokens")
        if self.compressor.config_given or not window:
            return overrides.config(self.compressor.config)
        return overrides.config(PrunerConfig.for_window(window))

    def _settings(
        self, record: dict[str, Any], runtime: Runtime[Any] | None, state: Any, focus: str | None = None
    ) -> dict[str, Any]:
        config = get_config()
        overrides = _overrides(config, runtime)
        settings = {"background": self.background, **overrides.arguments}
        if focus is not None:
            settings = with_focus(settings, focus)
        limits, session = self._config(record, overrides), session_of(config)
        agent = self._agents.get(session or "")
        if agent is None and limits.summariser_input == "prefix":  # a thread that this process has not called yet
            limits = limits.model_copy(update={"summariser_input": "transcript"})
        return {
            "goal": goals_in(state, overrides.goal_or(self.goal)),
            **settings,
            "agent": agent,
            "session_id": session,
            "overhead_tokens": record["overhead_tokens"],
            "config": limits,
            "store": runtime.store if runtime is not None else None,
            "events": StepEvents(config, runtime.stream_writer if runtime is not None else None),
        }

    def _is_due(self, request: ModelRequest[Any], record: dict[str, Any]) -> bool:
        """Whether the request is over its soft limit although `before_model` has run, or it has not been able to.

        That is so on a thread's first request, and when model, tools or prompt changed since the last one.
        """
        known = _known(request.state)
        if known and (known["overhead_tokens"], known["window_tokens"]) == (
            record["overhead_tokens"],
            record["window_tokens"],
        ):
            return False
        tokens = record["overhead_tokens"] + sum(self.compressor.count(request.messages))
        limits = self._config(record, _overrides(get_config(), request.runtime))
        return limits.enabled and bool(tokens >= limits.soft_limit_tokens)

    def _ready(
        self,
        request: ModelRequest[Any],
        prompted: ModelRequest[Any],
        result: CompressionResult | None,
        record: dict[str, Any],
    ) -> _Compressed:
        """The request with the compressed list, and no reference to what the provider remembers of the old one."""
        compressed = record["compressed"] or bool(result and result.changed)
        if result is not None and result.changed:
            request = request.override(messages=cast("list[Any]", result.messages))
        request = prompted if result is None else self._prompted(request, result)
        if compressed and getattr(request.model, "use_previous_response_id", False):
            fresh = request.model.model_copy(update={"use_previous_response_id": False})
            request = request.override(model=fresh)
        return _Compressed(request, result, record)

    def _rescue(self, ready: _Compressed, error: Exception) -> dict[str, Any]:
        """Settings for the second try: smaller than what was just refused."""
        sent = ready.record["overhead_tokens"] + sum(self.compressor.count(ready.request.messages))
        limit = max(2, int(RESCUE_SHARE * sent))
        logger.warning("the model refused %d tokens (%s): compressing to %d", sent, type(error).__name__, limit)
        settings = self._settings(ready.record, ready.request.runtime, ready.request.state)
        kept = settings["config"].model_dump(
            exclude={"soft_limit_tokens", "hard_limit_tokens", "target_tokens", "keep_human_tokens"}
        )
        return {**settings, "config": PrunerConfig.for_limit(limit, **kept), "force": True}

    def _response(
        self, request: ModelRequest[Any], ready: _Compressed, response: ModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """The answer, with the update of the state beside it where there is one.

        It is applied after the answer is in the state, so it must go by id: rewriting the whole list would remove the
        answer.
        """
        update: dict[str, Any] = {}
        record = {**ready.record, "compressed": False}
        if record != _known(request.state):
            update[RECORD_KEY] = record
        if ready.result is not None and ready.result.changed:
            there = {message.id for message in request.state["messages"]}
            changes = update_by_id(request.messages, ready.result.messages)
            if all(change.id in there for change in changes):  # the mark that rewrites a list is the id of none
                update["messages"] = changes
                update |= goal_update(request.state, self._goal(request.runtime), ready.result.goals)
        return ExtendedModelResponse(response, Command(update=update)) if update else response


def _known(state: Any) -> dict[str, Any] | None:
    record: dict[str, Any] | None = state.get(RECORD_KEY)
    return record


def _overrides(config: RunnableConfig, runtime: Runtime[Any] | None) -> Overrides:
    return Overrides.of(config, runtime.context if runtime is not None else None)
