"""What a compressor would do with a list, before it does it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_kind, check_least, check_text
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.originals import Originals

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from langchain_ctxcompress.engine import Background, CompressionPlan, Driver, Job
    from langchain_ctxcompress.ledger import Goals
    from langchain_ctxcompress.storage import RedactHook
    from langchain_ctxcompress.strategies import CompressionStrategy
    from langchain_ctxcompress.summarize import AgentCall, SummaryMode

logger = logging.getLogger("langchain_ctxcompress.compressor")

A_CONFIG = "a PrunerConfig, such as PrunerConfig.for_limit(8000)"
"""What an error says of a config."""


class Plans(Originals):
    """The side of a compressor that looks ahead: what would become of a list, and whether it is left alone."""

    mode: SummaryMode | None
    namespace: tuple[str, ...]
    store_given: bool
    strategy: CompressionStrategy
    background: Background
    _driver: Driver
    _redact: RedactHook | None
    _settled: Callable[..., Any]

    def plan(
        self,
        messages: Sequence[BaseMessage],
        *,
        session_id: str | None = None,
        force: bool = False,
        instructions: str = "",
        overhead_tokens: int = 0,
        config: PrunerConfig | None = None,
        store: BaseStore | None = None,
        goal: Goals | None = None,
        mode: str | SummaryMode | None = None,
        agent: AgentCall | None = None,
    ) -> CompressionPlan:
        """What `compress` would do, given the same. No model is called and nothing is written.

        Args:
            messages: As for `compress`.
            session_id: As for `compress`.
            force: As for `compress`.
            instructions: As for `compress`.
            overhead_tokens: As for `compress`.
            config: As for `compress`.
            store: As for `compress`.
            goal: As for `compress`.
            mode: As for `compress`.
            agent: As for `compress`.

        Raises:
            InvalidMessagesError: The list holds something that is no message.
            TokenCountError: A message cannot be counted.
            ConfigError: An argument is of the wrong kind.
        """
        from langchain_ctxcompress import engine

        job = self._job(
            messages,
            session_id,
            config=config,
            store=store,
            force=force,
            instructions=instructions,
            overhead_tokens=overhead_tokens,
            goal=goal,
            mode=mode,
            agent=agent,
        )
        return self._driver.run(engine.plan(job), job.store)

    async def aplan(
        self,
        messages: Sequence[BaseMessage],
        *,
        session_id: str | None = None,
        force: bool = False,
        instructions: str = "",
        overhead_tokens: int = 0,
        config: PrunerConfig | None = None,
        store: BaseStore | None = None,
        goal: Goals | None = None,
        mode: str | SummaryMode | None = None,
        agent: AgentCall | None = None,
    ) -> CompressionPlan:
        """As `plan`, without blocking the loop."""
        from langchain_ctxcompress import engine

        job = self._job(
            messages,
            session_id,
            config=config,
            store=store,
            force=force,
            instructions=instructions,
            overhead_tokens=overhead_tokens,
            goal=goal,
            mode=mode,
            agent=agent,
        )
        return await self._driver.arun(engine.plan(job), job.store)

    def leaves_alone(
        self,
        messages: Sequence[BaseMessage],
        *,
        session_id: str | None = None,
        overhead_tokens: int = 0,
        store: BaseStore | None = None,
        background: bool = False,
    ) -> bool:
        """Whether `compress` would leave a list as it is, where that can be told from what came to it.

        That is so at most steps of a session: a door asks it first, and saves the making of a result. The list is
        remembered, as `compress` does. Where it says no, `compress` has to look.

        Args:
            messages: As for `compress`.
            session_id: As for `compress`.
            overhead_tokens: As for `compress`.
            store: As for `compress`.
            background: As for `compress`.

        Raises:
            TokenCountError: A message cannot be counted.
            StorageBoundaryError: A message holds what is never sent to a model.
        """
        if store is not None and not self.store_given and store is not self._sessions.store:
            return False
        session = self._sessions.get(session_id or self.session_id)
        seen = session.seen
        known = seen is not None and not seen.goals.now and not session.chain.partial
        if not known or not self.config.enabled or logger.isEnabledFor(logging.DEBUG):
            return False
        work = self.background if background else None
        count = self._tools.count
        found = self._settled(session, messages, self.config, count, overhead_tokens=overhead_tokens, background=work)
        return found is not None

    def _job(
        self,
        messages: Sequence[BaseMessage],
        session_id: str | None,
        *,
        config: PrunerConfig | None = None,
        store: BaseStore | None = None,
        force: bool = False,
        instructions: str = "",
        overhead_tokens: int = 0,
        background: bool = False,
        goal: Goals | None = None,
        mode: str | SummaryMode | None = None,
        agent: AgentCall | None = None,
    ) -> Job:
        from langchain_ctxcompress.engine import Job, Sessions
        from langchain_ctxcompress.ledger import read_goals
        from langchain_ctxcompress.summarize import AgentCall, resolve_mode

        check_least("overhead_tokens", overhead_tokens, unit="tokens")
        check_text("instructions", instructions)
        if config is not None:
            check_kind("config", config, PrunerConfig, A_CONFIG)
        if agent is not None:
            check_kind("agent", agent, AgentCall, "an AgentCall")
        if store is not None and not self.store_given and store is not self.store:
            from langgraph.store.base import BaseStore

            check_kind("store", store, BaseStore, "a LangGraph store (a path or a URL is for the compressor)")
            # the graph's: from then on it is this compressor's
            self._sessions = Sessions(store, self.namespace, self._redact, self._tools.count)
        summariser = self._driver.summariser
        return Job(
            messages,
            self._sessions.get(session_id or self.session_id),
            config or self.config,
            self.strategy,
            self._tools,
            overhead_tokens=overhead_tokens,
            force=force,
            instructions=instructions,
            mode=resolve_mode(mode or self.mode or (config or self.config).mode),
            goals=None if goal is None else read_goals(goal),
            summariser=summariser is not None,
            agent=agent,
            model=summariser.model if summariser else None,
            summariser_window=summariser.window_tokens if summariser else None,
            background=self.background if background else None,
        )
