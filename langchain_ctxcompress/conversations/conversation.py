"""`Conversation`: one conversation of a file, with where it stood, and how it is written back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.conversations.formats import MessageFormat, read_messages, unchanged, written_message
from langchain_ctxcompress.errors import ConversationFileError, InvalidMessagesError
from langchain_ctxcompress.messages import ensure_ids, is_summary, summary_mark

ENTRY_KEY = "ctxcompress"
"""The key of a conversation under which is written what a compression did to it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands.

    Attributes:
        file: The name of the file as it was given.
        line: Its line, from 1; `None` where the file is one JSON document.
        part: Its number in a list of conversations, from 1; `None` where it is no part of a list.
    """

    file: str
    line: int | None = None
    part: int | None = None

    def __str__(self) -> str:
        """As people read it: "runs.jsonl:12", "runs.json: conversation 3"."""
        line = "" if self.line is None else f":{self.line}"
        part = "" if self.part is None else f": conversation {self.part}"
        return f"{self.file}{line}{part}"

    @property
    def number(self) -> str:
        """Line and part as one label, unique within the file."""
        return ".".join(str(number) for number in (self.line, self.part) if number is not None) or "1"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation as it was read.

    Attributes:
        place: Where it stood.
        record: All of its fields; of a bare list, the messages alone.
        format: The format of its messages.
        messages: The messages, one for each in the record; without ids where the file has none.
    """

    place: Place
    record: Mapping[str, Any]
    format: MessageFormat
    messages: tuple[BaseMessage, ...]

    @classmethod
    def read(cls, value: Any, place: Place) -> Conversation:
        """The conversation that a value of a file holds.

        Args:
            value: An object with `messages`, or a list of messages.
            place: Where it stands.

        Raises:
            ConversationFileError: It holds none, or a message cannot be read; the error names place and message.
        """
        record = {"messages": value} if isinstance(value, list) else value
        if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
            msg = f"{place}: is no conversation: it must be a list of messages, or an object with one under `messages`"
            raise ConversationFileError(msg)
        try:
            found, messages = read_messages(record["messages"])
        except InvalidMessagesError as error:
            msg = f"{place}: {error}"
            raise ConversationFileError(msg) from error
        return cls(place, record, found, tuple(messages))

    @property
    def name(self) -> str:
        """The conversation's own id, as a text; empty where it has none. It need not be unique."""
        own = self.record.get("id")
        return str(own) if isinstance(own, str | int) and not isinstance(own, bool) else ""

    def session_id(self, settings: str = "") -> str:
        """The session whose archive holds the originals: file name, line, own id, and a digest of the rest.

        The same conversation compressed again with the same settings is the same session, so nothing is archived twice;
        other words or other settings make another one. A conversation that holds a summary message goes on with the
        session that the summary names: there its originals are.

        Args:
            settings: All that decides what the compression gives.
        """
        mark = next((mark for message in self.messages if (mark := summary_mark(message))), {})
        named = mark.get("session_id")
        if isinstance(named, str) and named:
            return named
        text = json.dumps([self.record["messages"], settings], sort_keys=True)
        digest = hashlib.blake2b(text.encode("ascii"), digest_size=5).hexdigest()
        file = self.place.file.replace("\\", "/").rsplit("/", 1)[-1]
        return ":".join(part for part in (file, self.place.number, self.name, digest) if part)

    def with_ids(self, session_id: str) -> list[BaseMessage]:
        """The messages, with an id on each: its own, or one that the same session always gives it."""
        return ensure_ids(self.messages, session_id)

    def written(
        self, messages: Sequence[BaseMessage], given: Sequence[BaseMessage], entry: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The record with other messages, in the format it was read in.

        Args:
            messages: What is to be written.
            given: What was compressed: the messages of this conversation, one for each, with ids.
            entry: What stands under `ENTRY_KEY`.

        Returns:
            The record: all other fields as they were, and each message that was not changed as it was. LangChain's
            format gets the ids; OpenAI's has none, and gets one only where the file has them, since its API takes none.
        """
        raw = self.record["messages"]
        by_object = {id(message): place for place, message in enumerate(given)}
        by_id = {message.id: place for place, message in enumerate(given)}
        with_ids = any(one.get("id") for one in raw)
        written: list[dict[str, Any]] = []
        for message in messages:
            place = by_object.get(id(message), by_id.get(message.id))
            if place is not None and unchanged(message, given[place]):
                written.append(self._as_read(raw[place], message))
            else:
                source = None if place is None or is_summary(message) else raw[place]
                made = written_message(message, source, self.format)
                if self.format == "openai" and with_ids and "id" not in made:
                    made["id"] = message.id
                written.append(made)
        return {**self.record, "messages": written, ENTRY_KEY: dict(entry)}

    def _as_read(self, raw: dict[str, Any], message: BaseMessage) -> dict[str, Any]:
        if self.format == "openai" or raw["data"].get("id"):
            return raw
        return {**raw, "data": {**raw["data"], "id": message.id}}
