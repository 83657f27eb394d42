"""One entry of a session's log: one revision of one message, as its writer archived it.

An entry is told by the message and the hash of its bytes (`Revision`); a place in a branch by the message and what it
says (`Said`), so that a revision that only differs in its metadata stands in the same place.
"""

from __future__ import annotations

from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage.codec import decode_message, encode_message, record_hash

Revision = tuple[str, str]
"""A message id, and the hash of one revision's bytes."""

Said = tuple[str, str]
"""A message id, and the hash of what one revision says; an empty hash where that is not known."""


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """One revision of one message in the log.

    Attributes:
        message_id: The message.
        record: Hash of the stored bytes.
        content: Hash of what the message says.
        order: Nanoseconds since the epoch when it was appended; growing within a writer.
        data: The encoded message.
        parent: What it followed in the list it was archived from: `None` is whatever was archived before it, and an
            empty id says that it began the list.
    """

    message_id: str
    record: str
    content: str
    order: int
    data: str
    parent: Said | None = None

    @classmethod
    def of(cls, message: BaseMessage, order: int, parent: Said | None = None) -> Entry:
        """The entry for a message that has an id."""
        data = encode_message(message)
        return cls(message.id or "", record_hash(data), content_hash(message), order, data, parent)

    @property
    def said(self) -> Said:
        """The message, and what it says: its place in a branch."""
        return self.message_id, self.content

    def __repr__(self) -> str:
        return f"Entry(ctxcompress_record='entry', message_id={self.message_id!r}, record={self.record!r})"

    def message(self) -> BaseMessage:
        """The message, byte for byte.

        Raises:
            RecordError: The record is damaged.
        """
        return decode_message(self.data, record=f"message {self.message_id!r}")
