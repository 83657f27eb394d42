"""Who is replayed for the bill: nothing, a floor, the peers as they ship and with an exact count, and this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import PrivateAttr

from benchmarks.eval.contestants import Contestant, Ladder, LadderAlone, LangMem, Middleware, Trimming
from benchmarks.eval.summariser import LossySummariser
from langchain_ctxcompress import PrunerConfig, split_turns
from langchain_ctxcompress.limits.config import SOFT_OF_HARD
from langchain_ctxcompress.messages import is_summary


class WatchedSummariser(LossySummariser):
    """The same summariser; what it was shown is kept, so that what the cache held of it can be told."""

    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """What it was shown, call by call."""
        return self._prompts

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self._prompts.append(list(messages))
        # What a summary message says is known already; to draw from it again would be no news.
        news = [message for message in messages if not is_summary(message)]
        return super()._generate(news, *args, **options)


class Nothing(Contestant):
    """No compression."""

    name = "no compression"

    def setup(self) -> None:
        self.messages: list[BaseMessage] = []

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        self.messages += new
        return self.messages


class Floor(Contestant):
    """At the trigger, all but system prompt, first turn and last five turns goes, and nothing takes its place.

    Nobody who keeps these and waits for the trigger can be cheaper.
    """

    name = "floor: first and last five turns alone"

    def setup(self) -> None:
        self.messages: list[BaseMessage] = []

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        self.messages = [*self.messages, *new]
        if self.count(self.messages) >= self.window:
            turns = split_turns(self.messages)
            front = len(self.messages) - sum(len(turn.messages) for turn in turns)
            kept = [message for turn in (*turns[:1], *turns[1:][-5:]) for message in turn.messages]
            self.messages = [*self.messages[:front], *kept]
            self.rounds += 1
        return self.messages


class ShippedLangMem(LangMem):
    """langmem with nothing but its size set: it counts approximately, and so goes over it."""

    name = "langmem, as shipped"

    def setup(self) -> None:
        from langmem.short_term import SummarizationNode

        self.node = SummarizationNode(model=self.model, max_tokens=self.window, output_messages_key="sent")
        self.messages: list[BaseMessage] = []
        self.context: dict[str, Any] = {}


class ShippedMiddleware(Middleware):
    """LangChain's middleware with nothing but its trigger set: it counts approximately, and keeps 20 messages."""

    name = "SummarizationMiddleware, as shipped"
    exact: ClassVar[bool] = False

    def setup(self) -> None:
        from langchain.agents.middleware import SummarizationMiddleware

        count = {"token_counter": self.count} if self.exact else {}
        self.middleware = SummarizationMiddleware(model=self.model, trigger=("tokens", self.window), **count)
        self.messages: list[BaseMessage] = []


class ExactMiddleware(ShippedMiddleware):
    name = "SummarizationMiddleware, exact count"
    exact = True


class ExactLangMem(LangMem):
    name = "langmem, exact count"


def at_trigger(trigger: int, **fields: Any) -> PrunerConfig:
    """Limits whose soft one is the trigger, and whose ratio is the default's.

    Args:
        trigger: From how many tokens on a list is compressed.
        **fields: Any other field.
    """
    return PrunerConfig(soft_limit_tokens=trigger, hard_limit_tokens=int(trigger / SOFT_OF_HARD), **fields)


class AtTrigger(Ladder):
    """This package with its soft limit at the trigger, and all else by default."""

    name = "langchain-ctxcompress"
    fields: ClassVar[dict[str, Any]] = {}

    def limits(self) -> PrunerConfig:
        return at_trigger(self.window, **self.fields)


class Prefix(AtTrigger):
    name = "langchain-ctxcompress, prefix"
    fields: ClassVar[dict[str, Any]] = {"summariser_input": "prefix"}


class Economic(AtTrigger):
    name = "langchain-ctxcompress, economic"
    fields: ClassVar[dict[str, Any]] = {"economic": True}


class Both(AtTrigger):
    name = "langchain-ctxcompress, economic and prefix"
    fields: ClassVar[dict[str, Any]] = {"economic": True, "summariser_input": "prefix"}


class AloneAtTrigger(LadderAlone):
    name = "langchain-ctxcompress, no model"

    def limits(self) -> PrunerConfig:
        return at_trigger(self.window)


SHIPPED: tuple[type[Contestant], ...] = (ShippedLangMem, ShippedMiddleware)
EXACT: tuple[type[Contestant], ...] = (ExactLangMem, ExactMiddleware, Trimming)
OURS: tuple[type[Contestant], ...] = (AtTrigger, Prefix, Economic, Both, AloneAtTrigger)
CONTESTANTS: tuple[type[Contestant], ...] = (Nothing, Floor, *EXACT, *SHIPPED, *OURS)
