"""`ContextCompressor`: the engine behind every door."""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_callable, check_kind, check_text
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.messages import require_list
from langchain_ctxcompress.plans import A_CONFIG, Plans

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable
    from langgraph.store.base import BaseStore

    from langchain_ctxcompress.engine import CompressionResult, CoolDown
    from langchain_ctxcompress.engine.events import EventCallback, EventSink
    from langchain_ctxcompress.ledger import Goals
    from langchain_ctxcompress.storage import RedactHook
    from langchain_ctxcompress.strategies import CompressionStrategy
    from langchain_ctxcompress.summarize import AgentCall, ChatModelSummariser, SummaryMode

# The rooms behind a compressor are imported when the first one is made: a program that only names the class, or only
# makes a config, starts without them.
logger = logging.getLogger(__name__)


class ContextCompressor(Plans):
    """Keeps message lists inside their window, and archives what it replaces. Safe to share between threads and loops.

    Args:
        model: The summariser: a chat model, a name for `init_chat_model` (extra `agents`), a `ChatModelSummariser` with
            settings of its own, or `None` for the extractive one, which needs no model, no key and no network.
        config: The limits; by default 500,000 and 800,000 tokens, said once in the log.
        strategy: A strategy or its name.
        store: Where originals are archived: a LangGraph store, the path of a SQLite file, a `sqlite:` or `postgresql:`
            URL, or `None` for memory.
        session_id: Whose conversation a list is where no call says; by default an id of this compressor's own.
        namespace: Keeps tenants apart in one store.
        cooldown: When a failing summariser is left alone, and for how long.
        mode: What kind of conversation it is (`PrunerConfig.mode` otherwise): `developer`, `planning`, `debugger`,
            `assistant`, or one of `register_mode`.
        redact: Is given each message before it is archived, and returns it or a changed copy (summary texts too, as
            human messages). What it takes out does not come back from the archive.
        on_event: Is called with each `CompressionEvent` (started, ready, applied, skipped, failed), in whatever thread
            it happens; it should be quick. What it raises is logged.

    Raises:
        SummariserError: The model cannot be set up.
        UnknownStrategyError: No strategy has that name.
        ConfigError: The store is none, no mode has that name, or an argument is of the wrong kind.
        StorageError: The store cannot be opened.
    """

    def __init__(
        self,
        model: BaseChatModel | Runnable[Any, Any] | ChatModelSummariser | str | None = None,
        *,
        config: PrunerConfig | None = None,
        strategy: str | CompressionStrategy = "ladder",
        store: BaseStore | Path | str | None = None,
        session_id: str | None = None,
        namespace: Sequence[str] = (),
        cooldown: CoolDown | None = None,
        redact: RedactHook | None = None,
        on_event: EventCallback | None = None,
        mode: str | SummaryMode | None = None,
    ) -> None:
        from langchain_ctxcompress.engine import Background, CoolDown, Driver, Sessions, settled
        from langchain_ctxcompress.storage import labels_of, open_store
        from langchain_ctxcompress.strategies import Tools, resolve_strategy
        from langchain_ctxcompress.summarize import resolve_mode, summariser_of
        from langchain_ctxcompress.tokens import MessageCounter

        if session_id is not None:
            check_text("session_id", session_id)
        if cooldown is not None:
            check_kind("cooldown", cooldown, CoolDown, "a CoolDown")
        if redact is not None:
            check_callable("redact", redact, "a callable that is given a message and returns one")
        if on_event is not None:
            check_callable("on_event", on_event, "a callable that is given a CompressionEvent")
        self.config_given = config is not None
        if config is None:
            config = PrunerConfig()
            _say_defaults(config.soft_limit_tokens, config.hard_limit_tokens)
        check_kind("config", config, PrunerConfig, A_CONFIG)
        self.config = config
        self.strategy = resolve_strategy(strategy)
        self.mode = mode if mode is None else resolve_mode(mode)
        resolve_mode(config.mode)
        self.session_id = session_id or f"session-{uuid4().hex}"
        self.store_given = store is not None
        self.namespace = labels_of(namespace)
        self.background = Background()
        self._settled = settled
        self._driver = Driver(summariser_of(model), cooldown or CoolDown(), on_event)
        self._redact = redact
        self._tools = Tools.of(MessageCounter(config.encoding_model))
        self._sessions = Sessions(open_store(store), namespace, redact, self._tools.count)

    @property
    def summariser(self) -> ChatModelSummariser | None:
        """The chat-model summariser; `None` where the extractive one writes."""
        return self._driver.summariser

    @property
    def cooldown(self) -> CoolDown:
        """When a failing summariser is left alone."""
        return self._driver.cooldown

    def count(self, messages: Sequence[BaseMessage]) -> list[int]:
        """The size of each message in tokens; a message object is counted once.

        Raises:
            InvalidMessagesError: Something in the list is no message.
            TokenCountError: A message cannot be counted.
        """
        require_list(messages)
        return self._tools.count(messages)

    def count_text(self, text: str) -> int:
        """The size of a text in tokens."""
        return self._tools.count_text(text)

    def compress(
        self,
        messages: Sequence[BaseMessage],
        *,
        session_id: str | None = None,
        force: bool = False,
        instructions: str = "",
        overhead_tokens: int = 0,
        config: PrunerConfig | None = None,
        store: BaseStore | None = None,
        background: bool = False,
        events: EventSink | None = None,
        goal: Goals | None = None,
        mode: str | SummaryMode | None = None,
        agent: AgentCall | None = None,
    ) -> CompressionResult:
        """Make a list smaller where it is at or over its soft limit.

        Args:
            messages: The conversation; it is not changed.
            session_id: Whose archive it belongs to.
            force: Compress what there is to compress, whatever the limits say.
            instructions: A wish for the summariser, such as "keep the SQL".
            overhead_tokens: Size of what is sent besides the messages (system prompt, tool schemas), in tokens.
            config: Limits for this call instead of the compressor's.
            store: The store of the graph that calls; it is taken where the compressor was given none.
            background: At the soft limit, start the work beside the conversation and return the list as it is; a later
                call applies it, at the hard limit after waiting for it. Without a chat model there is nothing to wait
                for: the list is compressed at once.
            events: Takes this call's events, besides `on_event`.
            goal: What the work is for: a `Goal`, its plain values, or several. It is restated word for word and guides
                the summary; `result.goals` is it with what was reported. `None` goes on with those the session has,
                `()` ends them; the same goal passed again keeps its progress.
            mode: What kind of conversation it is, for this call.
            agent: What the agent's model is called with, for `summariser_input="prefix"`: its tools and system prompt.
                By default the summariser, which is then the agent's model, without tools.

        Returns:
            The new list, what became of it, and why.

        Raises:
            InvalidMessagesError: The list holds something that is no message.
            TokenCountError: A message cannot be counted.
            StorageBoundaryError: A message holds what is never sent to a model.
            ConfigError: `goal` is no goal, no mode has that name, or an argument is of the wrong kind.
            ContextLimitError: What must stay is over the hard limit, and the config says to raise.
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
            background=background,
            goal=goal,
            mode=mode,
            agent=agent,
        )
        result = engine.at_once(job)
        if result is None:
            result = self._driver.run(engine.compress(job), job.store, events)
        engine.log_result(job, result)
        return result

    async def acompress(
        self,
        messages: Sequence[BaseMessage],
        *,
        session_id: str | None = None,
        force: bool = False,
        instructions: str = "",
        overhead_tokens: int = 0,
        config: PrunerConfig | None = None,
        store: BaseStore | None = None,
        background: bool = False,
        events: EventSink | None = None,
        goal: Goals | None = None,
        mode: str | SummaryMode | None = None,
        agent: AgentCall | None = None,
    ) -> CompressionResult:
        """As `compress`, without blocking the loop."""
        from langchain_ctxcompress import engine

        job = self._job(
            messages,
            session_id,
            config=config,
            store=store,
            force=force,
            instructions=instructions,
            overhead_tokens=overhead_tokens,
            background=background,
            goal=goal,
            mode=mode,
            agent=agent,
        )
        result = engine.at_once(job)
        if result is None:
            result = await self._driver.arun(engine.compress(job), job.store, events)
        engine.log_result(job, result)
        return result

    def close(self) -> None:
        """Stop all work in the background; what it has written so far is dropped. The compressor can still be used."""
        self.background.close()


@functools.lru_cache(maxsize=1)
def _say_defaults(soft: int, hard: int) -> None:
    """Once a process: the default limits hold, and how to set others."""
    logger.info(
        "no config is given: soft limit %d, hard limit %d tokens; PrunerConfig.for_model(model) fits yours", soft, hard
    )
