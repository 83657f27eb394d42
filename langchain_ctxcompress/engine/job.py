"""What the engine works on and asks for: a job, its list put in order, and the calls that drivers carry out."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.engine.sessions import Session
from langchain_ctxcompress.ledger import Goal
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.storage import View
from langchain_ctxcompress.strategies import CompressionRequest, CompressionStrategy, Tools
from langchain_ctxcompress.summarize import AgentCall, CompressionTask, Mode, SummaryMode
from langchain_ctxcompress.tokens import Measured

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op

    from langchain_ctxcompress.engine.background import Background, Drafted, Work
    from langchain_ctxcompress.engine.events import CompressionEvent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreCall:
    """A batch of store operations to be carried out."""

    ops: list[Op]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Tasks to be run on the summariser."""

    tasks: list[CompressionTask]


@dataclass(frozen=True, slots=True)
class StartCall:
    """A job to be started in the background; the answer says whether it was."""

    background: Background
    session_id: str
    work: Work
    steps: EngineSteps[Drafted]


@dataclass(frozen=True, slots=True)
class WaitCall:
    """A job to be waited for; the answer says whether it is done."""

    work: Work


@dataclass(frozen=True, slots=True)
class ReportCall:
    """An event to be told."""

    event: CompressionEvent


@dataclass(frozen=True, slots=True)
class SpanCall:
    """What follows is one piece of work, to be shown as such in a trace."""

    session_id: str
    tokens: int


Call = StoreCall | ModelCall | StartCall | WaitCall | ReportCall | SpanCall
EngineSteps = Generator[Call, Any, T]


@dataclass(frozen=True)
class Job:
    """One compression: the list, whose it is, and with what it is compressed.

    Attributes:
        messages: The list as given.
        session: The archive and checkpoints it belongs to.
        config: The limits.
        strategy: How it gets smaller.
        tools: Counting and cutting.
        overhead_tokens: Size of what is sent besides the list.
        force: Compress whatever the limits say.
        instructions: The caller's own, for the summariser.
        mode: What kind of conversation it is.
        goals: The goals the caller passes; `None` goes on with those the session has.
        summariser: Whether there is a chat model.
        agent: What the agent's model is called with; `None` where nobody says.
        model: The chat model itself, for what is known of its size; `None` without one.
        summariser_window: Its window in tokens; `None` where it is not known.
        background: Where a compression may be worked out while the conversation goes on; `None`: within the step.
    """

    messages: Sequence[BaseMessage]
    session: Session
    config: PrunerConfig
    strategy: CompressionStrategy
    tools: Tools
    overhead_tokens: int = 0
    force: bool = False
    instructions: str = ""
    mode: str | SummaryMode = Mode.ASSISTANT
    goals: tuple[Goal, ...] | None = None
    summariser: bool = False
    agent: AgentCall | None = None
    model: Any = None
    summariser_window: int | None = None
    background: Background | None = None

    @property
    def prefix(self) -> AgentCall | None:
        """Whose prompt the summariser is shown; `None` where it is shown a transcript."""
        if not self.summariser or self.config.summariser_input != "prefix":
            return None
        return self.agent or AgentCall(self.model)

    @property
    def session_id(self) -> str:
        """Whose conversation it is."""
        return self.session.history.session_id

    @property
    def store(self) -> BaseStore:
        """Where it is archived."""
        return self.session.history.store


@dataclass(frozen=True)
class Prepared:
    """The list in order: ids given, checkpoints applied, what was broken repaired, everything counted."""

    originals: list[BaseMessage]
    view: View
    orphans: tuple[BaseMessage, ...]
    request: CompressionRequest
    measured: Measured

    @property
    def in_order(self) -> bool:
        """Whether the list was in order as it came."""
        return not self.view.changed and list(map(id, self.request.messages)) == list(map(id, self.originals))
