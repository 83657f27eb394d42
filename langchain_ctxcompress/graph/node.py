"""`CompressionNode`: a node that compresses a graph's messages before the model node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.doors import compressor_of
from langchain_ctxcompress.engine import CompressionResult, Outcome
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.graph.announcing import StepEvents
from langchain_ctxcompress.graph.cautions import caution
from langchain_ctxcompress.graph.claims import claims
from langchain_ctxcompress.graph.compacting import COMPACT_KEY, flag_in, focus_asked, with_focus
from langchain_ctxcompress.graph.overrides import Overrides
from langchain_ctxcompress.graph.state import LLM_INPUT_KEY, STATE_KEY, messages_in, session_of, update_by_id, value_in
from langchain_ctxcompress.graph.system_prompt import (
    GOAL_KEY,
    SYSTEM_PROMPT_KEY,
    SystemPrompt,
    SystemPromptSource,
    behind_system,
    goal_update,
    goals_in,
)
from langchain_ctxcompress.ledger import Goals, read_goals
from langchain_ctxcompress.summarize import AgentCall
from langchain_ctxcompress.tokens import continues

if TYPE_CHECKING:
    from langgraph.runtime import Runtime
    from langgraph.store.base import BaseStore

Mode = Literal["replace", "view"]

_TOLD = (GOAL_KEY, SYSTEM_PROMPT_KEY, COMPACT_KEY)
"""What a state may say besides its messages."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One call of a node: the state and its messages, the run's config and runtime, what its thread has otherwise."""

    state: Any
    messages: list[BaseMessage]
    config: RunnableConfig | None
    runtime: Runtime[Any] | None
    overrides: Overrides

    @property
    def store(self) -> BaseStore | None:
        """The graph's store."""
        return self.runtime.store if self.runtime else None


class CompressionNode(Runnable[Any, dict[str, Any]]):
    """Put it before each model call: `graph.add_node("compress", CompressionNode(compressor))`.

    Works in any `StateGraph` with messages, sync and async. In replace mode the state itself gets smaller; in view mode
    it keeps everything, and the model's input stands under `llm_input_messages`. The session is the thread (in a
    subgraph: the thread and the path to it); the archive is the compressor's store, else the graph's. A thread may have
    limits and instructions of its own (`graph.overrides`), and ask for a compression (`graph.compacting`). Events are
    told on the `custom` stream and as LangChain custom events of the name `ctxcompress`.

    Args:
        compressor: The engine. Without it, `arguments` make one.
        mode: `replace` or `view`.
        messages_key: Where the state holds its messages.
        llm_input_key: Where view mode puts the model's input.
        state_key: Where view mode says what it did, as a plain dict.
        background: At the soft limit, let the summariser work beside the graph: the step goes on with its list as it
            is, a later step applies the summary, and only a step at the hard limit waits. Without a chat model as the
            summariser there is nothing to wait for, and the list is compressed in the step.
        goal: The goals of states that have none under `ctx_goal`. What summaries report of them is written back there.
        system_prompt: A text, or a provider of it (a `PromptContext` is passed to one that takes an argument). It is
            never compressed, and counts. View mode puts it in front of the model's input; replace mode leaves it under
            `ctx_system_prompt` for the model node. Goals that no summary message restates yet follow it.
        overhead_tokens: Size of what your model node sends besides the messages and `system_prompt` (tool schemas), in
            tokens; it counts towards the limits.
        agent: What your model node calls its model with (model, tools, system message), for
            `PrunerConfig(summariser_input="prefix")`. By default the compressor's model, without tools, behind
            `system_prompt`.
        **arguments: Arguments of a `ContextCompressor`.

    Raises:
        ConfigError: The mode is unknown, or both a compressor and arguments for one are given.
    """

    def __init__(
        self,
        compressor: ContextCompressor | None = None,
        *,
        mode: Mode = "replace",
        messages_key: str = "messages",
        llm_input_key: str = LLM_INPUT_KEY,
        state_key: str = STATE_KEY,
        background: bool = True,
        goal: Goals | None = None,
        system_prompt: SystemPrompt | None = None,
        overhead_tokens: int = 0,
        agent: AgentCall | None = None,
        **arguments: Any,
    ) -> None:
        if mode not in ("replace", "view"):
            msg = f"mode is {mode!r}: it must be 'replace' or 'view'"
            raise ConfigError(msg)
        check_least("overhead_tokens", overhead_tokens, unit="tokens")
        self.compressor = compressor_of(compressor, arguments)
        self.mode = mode
        self.messages_key = messages_key
        self.llm_input_key = llm_input_key
        self.state_key = state_key
        self.background = background
        self.goal = None if goal is None else read_goals(goal)
        self._system_prompt = SystemPromptSource(system_prompt)
        self.overhead_tokens = overhead_tokens
        self.agent = agent

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.compressor!r}, mode={self.mode!r})"

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_kwargs: Any) -> dict[str, Any]:  # noqa: A002
        """Compress the messages of a state.

        Args:
            input: The state: a mapping, a dataclass or a Pydantic model.
            config: The run's config; its thread is the session.

        Returns:
            The update of the state; empty where nothing has to change.
        """
        step = self._step(input, config)
        if self._nothing_to_do(step):
            return {}
        return self._update(step, self.compressor.compress(step.messages, **self._settings(step)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_kwargs: Any) -> dict[str, Any]:  # noqa: A002
        """As `invoke`, without blocking the loop."""
        step = self._step(input, config)
        if self._nothing_to_do(step):
            return {}
        return self._update(step, await self.compressor.acompress(step.messages, **self._settings(step)))

    def _step(self, state: Any, config: RunnableConfig | None) -> _Step:
        runtime = _runtime()
        overrides = Overrides.of(config, runtime.context if runtime else None)
        return _Step(state, messages_in(state, self.messages_key), config, runtime, overrides)

    def _nothing_to_do(self, step: _Step) -> bool:
        """Whether the step is one of the many that need nothing and tell nothing: no settings and no result are made.

        Where goals, a prompt or a wish are there, the step is looked at in full.
        """
        state = step.state
        plain = self.mode == "replace" and step.overrides.none and self.goal is None and self._system_prompt.none
        if not plain or any(value_in(state, key) for key in _TOLD) or focus_asked(state, step.messages) is not None:
            return False
        return self.compressor.leaves_alone(
            step.messages,
            session_id=session_of(step.config),
            overhead_tokens=self.overhead_tokens,
            store=step.store,
            background=self.background,
        )

    def _settings(self, step: _Step) -> dict[str, Any]:
        """How this state's list is compressed: the system prompt that goes with it counts as sent besides it."""
        overrides = step.overrides
        settings = {"background": self.background, **overrides.arguments}
        if (focus := focus_asked(step.state, step.messages)) is not None:
            settings = with_focus(settings, focus)
        goals = goals_in(step.state, overrides.goal_or(self.goal))
        prompt = self._system_prompt(goals or (), step.messages, step.state)
        return {
            "goal": goals,
            **settings,
            "overhead_tokens": self.overhead_tokens + self._size(prompt),
            "session_id": session_of(step.config),
            "agent": self._agent(prompt),
            "config": overrides.config(self.compressor.config),
            "store": step.store,
            "events": StepEvents(step.config, step.runtime.stream_writer if step.runtime else None),
        }

    def _agent(self, prompt: str) -> AgentCall | None:
        """What the model node calls its model with, as far as the node knows."""
        summariser = self.compressor.summariser
        if self.agent is not None or summariser is None:
            return self.agent
        return AgentCall(summariser.model, system=SystemMessage(prompt) if prompt else None)

    def _size(self, prompt: str) -> int:
        return self.compressor.count([SystemMessage(prompt)])[0] if prompt else 0

    def _update(self, step: _Step, result: CompressionResult) -> dict[str, Any]:
        state, messages = step.state, step.messages
        update: dict[str, Any] = {COMPACT_KEY: None} if flag_in(state) else {}
        update |= goal_update(state, step.overrides.goal_or(self.goal), result.goals)
        prompt = self._system_prompt(result.goals, result.messages, state)
        if self.mode == "view":
            return {**update, self.llm_input_key: behind_system(result.messages, prompt), self.state_key: _said(result)}
        if prompt != (value_in(state, SYSTEM_PROMPT_KEY) or ""):
            update[SYSTEM_PROMPT_KEY] = prompt
        if result.outcome is Outcome.NOOP:
            return update
        if len(messages) == len(result.messages) and continues(messages, result.messages):
            return update
        caution(self.compressor, step.config, step.store)
        changes = update_by_id(messages, result.messages)
        if not claims.claim(step.config, self.messages_key, changes):
            return update
        return {**update, self.messages_key: changes}


def _said(result: CompressionResult) -> dict[str, Any]:
    """What a step did, in plain values: own classes are refused by a strict checkpointer."""
    return {
        "outcome": str(result.outcome),
        "reason": str(result.reason),
        "tokens_before": result.tokens_before,
        "tokens_after": result.tokens_after,
        "checkpoint_ids": [checkpoint.checkpoint_id for checkpoint in result.checkpoints],
    }


def _runtime() -> Runtime[Any] | None:
    """What the running graph offers: its store, its context, its `custom` stream; `None` outside of a graph."""
    try:
        return _reader()()
    except (RuntimeError, KeyError):  # not in a graph
        return None


@cache
def _reader() -> Callable[[], Runtime[Any]]:
    """LangGraph's own; an import statement at each step takes as long as the reading."""
    from langgraph.runtime import get_runtime

    return get_runtime
