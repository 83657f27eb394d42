"""`CompressionTask`: one model call that a strategy asks for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.summarize.agent_call import AgentCall


class TaskStatus(StrEnum):
    """Where a task stands."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class TaskFailure(StrEnum):
    """Why a task gave no usable text."""

    ERROR = "error"
    TIMEOUT = "timeout"
    OVERFLOW = "overflow"
    EMPTY = "empty"
    INCOMPLETE = "incomplete"
    REFUSAL = "refusal"
    NOT_SMALLER = "not_smaller"
    COOLING_DOWN = "cooling_down"
    TOOL_CALL = "tool_call"


@dataclass(frozen=True, slots=True)
class CompressionTask:
    """One model call.

    Attributes:
        prompt: What the model is sent.
        max_tokens: How long the answer should be at most, in tokens.
        timeout: Seconds for the first attempt; a further attempt gets twice as long as the one before. `None` is the
            summariser's own.
        attempt: Attempts made so far.
        status: Where it stands.
        max_attempts: Attempts at most. `None` is the summariser's own number.
        cached_tokens: Tokens of the prompt that the provider's cache holds already: 0 but where the conversation is
            shown as it is.
        agent: Whose model is asked, with what bound to it; `None`: the summariser's own.
    """

    prompt: tuple[BaseMessage, ...]
    max_tokens: int
    timeout: float | None = None
    attempt: int = 0
    status: TaskStatus = TaskStatus.PENDING
    max_attempts: int | None = None
    cached_tokens: int = 0
    agent: AgentCall | None = None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What came of a task.

    Attributes:
        text: The answer, `""` where there is none.
        failure: Why there is none; `None` when there is.
        detail: The error, in one line.
        attempts: Attempts made.
        seconds: Time they took.
        input_tokens: What the model says it read; 0 where it does not say.
        output_tokens: What the model says it wrote; 0 where it does not say.
        cached_tokens: What of `input_tokens` it says it read from its cache; 0 where it does not say.
    """

    text: str = ""
    failure: TaskFailure | None = None
    detail: str = ""
    attempts: int = 1
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def ok(self) -> bool:
        """Whether there is a text to use."""
        return self.failure is None
