"""This package and its peers behind one door: each is given a session step by step, and says what it would send."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, trim_messages

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.summarize import ChatModelSummariser
from langchain_ctxcompress.tokens import MessageCounter

Count = Callable[[Any], int]

SEARCHED = 5
"""Messages that a search may return."""


class Contestant(ABC):
    """One way of keeping a conversation in its window.

    Args:
        model: The summariser.
        window: The most that should be sent, in tokens.

    Attributes:
        name: What it is called in the table.
        searches: Whether what was replaced can be searched.
        rounds: How often the list was made smaller.
        errors: What it raised; the list was then sent as it was.
    """

    name: ClassVar[str]
    searches: ClassVar[bool] = False

    def __init__(self, model: BaseChatModel, window: int) -> None:
        self.model = model
        self.window = window
        self.rounds = 0
        self.errors: list[str] = []
        counter = MessageCounter()
        self.count: Count = lambda messages: sum(counter(list(messages)))
        self.setup()

    @abstractmethod
    def setup(self) -> None:
        """Makes what is needed."""

    @abstractmethod
    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Takes what came in since the last model call; gives what the model would be sent."""

    def find(self, _question: str) -> Iterable[str]:
        """The texts that a search for a question returns."""
        return ()


class Ours(Contestant):
    """This package."""

    strategy: ClassVar[str] = "ladder"
    uses_model: ClassVar[bool] = True
    searches = True

    def setup(self) -> None:
        config = self.limits()
        model = ChatModelSummariser(self.model, timeout=600) if self.uses_model else None
        self.compressor = ContextCompressor(model, config=config, strategy=self.strategy, session_id="eval")
        self.messages: list[BaseMessage] = []

    def limits(self) -> PrunerConfig:
        """The limits that the window asks for."""
        return PrunerConfig.for_limit(self.window)

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        result = self.compressor.compress([*self.messages, *new])
        self.rounds += result.tokens_after < result.tokens_before
        if result.outcome not in ("applied", "noop"):
            self.errors.append(f"{result.outcome}: {result.reason}")
        self.messages = result.messages
        return self.messages

    def find(self, question: str) -> Iterable[str]:
        return [message.text for message in self.compressor.history().search(question, limit=SEARCHED)]


class Ladder(Ours):
    name = "ladder, lossy model"


class LadderAlone(Ours):
    name = "ladder, no model"
    uses_model = False


class MiddleOut(Ours):
    name = "middle-out, lossy model"
    strategy = "middle-out"


class Bands(Ours):
    name = "bands, lossy model"
    strategy = "bands"


class ClearTools(Ours):
    name = "clear-tools"
    strategy = "clear-tools"
    uses_model = False


class Pack(Ours):
    name = "pack"
    strategy = "pack"
    uses_model = False


class TopDown(Ours):
    name = "top-down-truncation"
    strategy = "top-down-truncation"
    uses_model = False


class Trimming(Contestant):
    """`trim_messages` before each call, on the whole conversation."""

    name = "trim_messages"

    def setup(self) -> None:
        self.messages: list[BaseMessage] = []

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        self.messages += new
        sent = trim_messages(
            self.messages,
            max_tokens=self.window,
            token_counter=self.count,
            strategy="last",
            start_on="human",
            include_system=True,
        )
        self.rounds += len(sent) < len(self.messages)
        return sent


class LangMem(Contestant):
    """langmem's `SummarizationNode`, with its running summary; the state keeps the whole list."""

    name = "langmem"

    def setup(self) -> None:
        from langmem.short_term import SummarizationNode

        self.node = SummarizationNode(
            model=self.model,
            max_tokens=self.window,
            max_summary_tokens=400,
            token_counter=self.count,
            output_messages_key="sent",
        )
        self.messages: list[BaseMessage] = []
        self.context: dict[str, Any] = {}

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        self.messages += new
        before = self.context.get("running_summary")
        try:
            update = self.node.invoke({"messages": self.messages, "context": self.context})
        except ValueError as error:
            self.errors.append(str(error))
            return self.messages
        self.context = update.get("context", self.context)
        self.rounds += self.context.get("running_summary") is not before
        return list(update["sent"])


class Middleware(Contestant):
    """LangChain's `SummarizationMiddleware`; it replaces the state's list."""

    name = "SummarizationMiddleware"

    def setup(self) -> None:
        from langchain.agents.middleware import SummarizationMiddleware

        self.middleware = SummarizationMiddleware(
            model=self.model,
            trigger=("tokens", self.window),
            keep=("tokens", self.window // 2),
            token_counter=self.count,
            trim_tokens_to_summarize=None,
        )
        self.messages: list[BaseMessage] = []

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        self.messages += new
        update = self.middleware.before_model({"messages": self.messages}, None)  # type: ignore[arg-type, typeddict-item]
        if update is not None:
            self.messages = list(update["messages"][1:])
            self.rounds += 1
        return self.messages


class DeepAgents(Contestant):
    """The summarisation of deepagents; the state keeps the whole list, and what was summarised is in a file.

    Its agent finds things in that file with a tool of deepagents that finds lines; the search here is kinder: it ranks
    them by how much of the question they say.
    """

    name = "deepagents"
    searches = True

    def setup(self) -> None:
        from deepagents.backends import FilesystemBackend
        from deepagents.middleware.summarization import SummarizationMiddleware

        self.folder = TemporaryDirectory()
        self.middleware = SummarizationMiddleware(
            model=self.model,
            backend=FilesystemBackend(root_dir=self.folder.name, virtual_mode=True),
            trigger=("tokens", self.window),
            keep=("tokens", self.window // 2),
            token_counter=self.count,
            trim_tokens_to_summarize=None,
        )
        self.messages: list[BaseMessage] = []
        self.system: SystemMessage | None = None
        self.state: dict[str, Any] = {}

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        from langchain.agents.middleware import ExtendedModelResponse, ModelRequest, ModelResponse

        for message in new:
            if isinstance(message, SystemMessage):
                self.system = message
            else:
                self.messages.append(message)
        sent: list[BaseMessage] = []

        def answer(request: ModelRequest) -> ModelResponse:
            sent.extend(request.messages)
            return ModelResponse(result=[AIMessage("")])

        state: Any = {"messages": self.messages, **self.state}
        request = ModelRequest(
            model=self.model, messages=list(self.messages), system_message=self.system, state=state, tools=[]
        )
        response = self.middleware.wrap_model_call(request, answer)
        if isinstance(response, ExtendedModelResponse) and response.command is not None:
            self.state |= {key: value for key, value in (response.command.update or {}).items() if key != "messages"}
            self.rounds += 1
        return [*([self.system] if self.system else []), *sent]

    def find(self, question: str) -> Iterable[str]:
        words = {word.casefold() for word in question.split()}
        files = sorted(Path(self.folder.name).rglob("*.md"))
        lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n")]
        said = [(sum(word in line.casefold() for word in words), line) for line in lines]
        return [line for count, line in sorted(said, key=lambda entry: -entry[0])[:SEARCHED] if count]


OURS: tuple[type[Contestant], ...] = (Ladder, LadderAlone, MiddleOut, Bands, Pack, ClearTools, TopDown)

PEERS: tuple[type[Contestant], ...] = (LangMem, Middleware, DeepAgents, Trimming)


def available(names: Sequence[str] = ()) -> tuple[type[Contestant], ...]:
    """Everybody whose library is installed.

    Args:
        names: Names or parts of names; without any, all.
    """
    import importlib.util

    missing = {LangMem: "langmem", Middleware: "langchain", DeepAgents: "deepagents"}
    peers = [peer for peer in PEERS if importlib.util.find_spec(missing.get(peer, "langchain_core")) is not None]
    if not names:
        return (*OURS, *peers)
    return tuple(each for each in (*OURS, *peers) if any(part in each.name for part in names))
