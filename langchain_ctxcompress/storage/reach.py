"""What a chain of checkpoints did to messages: which it replaced or dropped, and which it cut where they stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import content_hash, is_derived, is_pinned, original_hash, was_asked
from langchain_ctxcompress.storage.codec import decode_message
from langchain_ctxcompress.storage.records import CheckpointSummary


@dataclass(frozen=True, slots=True)
class Reach:
    """What a chain of checkpoints did to messages, by id.

    Attributes:
        covered: The hash of what each replaced or dropped message said.
        altered: For each message that was cut where it stands, the hash of what it said, and the shorter one, encoded.
        left: What was left of a covered message when it was replaced, encoded, where it had been cut before.
    """

    covered: dict[str, str] = field(default_factory=dict)
    altered: dict[str, tuple[str, str]] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)

    def touches(self, message: BaseMessage) -> bool:
        """Whether the id of a message is in it."""
        return message.id in self.covered or message.id in self.altered

    def add(self, record: CheckpointSummary) -> None:
        """Add what the next checkpoint did. What it touched may be what was left of a cut original."""
        for message_id, said in record.covered.items():
            self.covered[message_id] = self._original(message_id, said)
            if message_id in self.altered:
                self.left[message_id] = self.altered.pop(message_id)[1]
        for message_id, (said, data) in record.altered.items():
            self.altered[message_id] = (self._original(message_id, said), data)

    def _original(self, message_id: str, said: str) -> str:
        """The hash of what the original says, where `said` is the hash of what was left of it."""
        original, data = self.altered.get(message_id, ("", ""))
        if said == original:
            return said
        cut = data and content_hash(decode_message(data, record=f"message {message_id!r}")) == said
        return original if cut else said

    def covers(self, message: BaseMessage) -> bool:
        """Whether a message was replaced, and it or its original says what was said then; else it is a new revision."""
        said = self.covered.get(message.id or "")
        return said is not None and (said == original_hash(message) or self.is_remnant(message))

    def shortened(self, message: BaseMessage) -> BaseMessage | None:
        """The shorter message that was put in place of this one; `None` where there is none, or this is it."""
        said, data = self.altered.get(message.id or "", ("", ""))
        if not data or is_derived(message):
            return None
        again = said == content_hash(message) or (not is_pinned(message) and self.is_remnant(message))
        return decode_message(data, record=f"message {message.id!r}") if again else None

    def cuts(self, message: BaseMessage) -> bool:
        """Whether a message was shortened, and not because the user allowed that of the newest human message."""
        shorter = self.shortened(message)
        return shorter is not None and not was_asked(shorter)

    def is_remnant(self, message: BaseMessage) -> bool:
        """Whether a message says what was left of an original although its mark is gone, as under a pin."""
        data = self.altered.get(message.id or "", ("", ""))[1] or self.left.get(message.id or "", "")
        if not data or is_derived(message):
            return False
        return content_hash(decode_message(data, record=f"message {message.id!r}")) == content_hash(message)
