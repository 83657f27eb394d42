"""A caller's own hook that takes things out of messages before anything is archived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress.errors import StorageError, describe
from langchain_ctxcompress.messages import extract_text_content
from langchain_ctxcompress.storage.codec import decode_message, encode_message
from langchain_ctxcompress.storage.records import CheckpointSummary

RedactHook = Callable[[BaseMessage], BaseMessage]
"""Is given a message and returns it, or a changed copy, for the archive. Called again for a message that is archived
again, so it must give the same each time."""


class Redactor:
    """Applies a hook to all that a session stores: messages, and the texts of summary checkpoints.

    A text is passed to the hook as a human message. What was redacted does not come back from the archive.

    Args:
        hook: The caller's; `None` changes nothing.
    """

    def __init__(self, hook: RedactHook | None) -> None:
        self._hook = hook

    def message(self, message: BaseMessage) -> BaseMessage:
        """The message as it may be archived, with the id it had.

        Raises:
            StorageError: The hook failed. Nothing is archived then, so nothing may be replaced.
        """
        if self._hook is None:
            return message
        try:
            changed = self._hook(message)
        except Exception as error:  # whatever a caller's own code raises
            msg = f"redact failed for message {message.id!r}: {describe(error)}"
            raise StorageError(msg) from error
        if not isinstance(changed, BaseMessage):
            msg = f"redact returned a {type(changed).__name__} for message {message.id!r}: it must return a message"
            raise StorageError(msg)
        return changed if changed.id == message.id else changed.model_copy(update={"id": message.id})

    def text(self, text: str) -> str:
        """A text as it may be archived."""
        return extract_text_content(self.message(HumanMessage(text))) if self._hook and text else text

    def checkpoint(self, checkpoint: CheckpointSummary) -> CheckpointSummary:
        """A summary checkpoint as it may be archived."""
        if self._hook is None:
            return checkpoint
        quotes = [quote.model_copy(update={"text": self.text(quote.text)}) for quote in checkpoint.quotes]
        altered = {
            message_id: (said, encode_message(self.message(decode_message(data))))
            for message_id, (said, data) in checkpoint.altered.items()
        }
        return checkpoint.model_copy(
            update={
                "text": self.text(checkpoint.text),
                "rendered": self.text(checkpoint.rendered),
                "quotes": tuple(quotes),
                "altered": altered,
                "ledger": self._values(checkpoint.ledger, {}),
                "goals": tuple(self._values(goal, {}) for goal in checkpoint.goals),
                "goals_given": tuple(self._values(goal, {}) for goal in checkpoint.goals_given),
                "flagged": tuple(map(self.text, checkpoint.flagged)),
            }
        )

    def _values(self, value: Any, known: dict[str, str]) -> Any:
        """Plain values with every text in them as it may be archived; message ids stay."""
        if isinstance(value, str):
            if value not in known:
                known[value] = self.text(value)
            return known[value]
        if isinstance(value, list):
            return [self._values(inner, known) for inner in value]
        if isinstance(value, dict):
            return {key: inner if key == "sources" else self._values(inner, known) for key, inner in value.items()}
        return value
