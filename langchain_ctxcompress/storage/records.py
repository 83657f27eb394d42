"""The records a session is made of. Each carries a `schema_version`; an unknown one is an error that names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from langchain_ctxcompress.errors import RecordError

SCHEMA_VERSION = 1

REPAIR = "repair"
"""The strategy of a checkpoint that lists orphan results which were dropped before any strategy ran."""


def _with_zone(moment: datetime) -> datetime:
    """A time without a zone, as an older or a foreign writer may leave it, is taken as UTC: all can be compared."""
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_with_zone)]
"""A point in time, with its zone."""


class Record(BaseModel):
    """What all records have in common."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = SCHEMA_VERSION
    ctxcompress_record: str = ""
    """What the record is. It stands in every serialised form of it, so that one is recognised in a prompt."""

    @classmethod
    def load(cls, value: Mapping[str, Any], *, name: str) -> Self:
        """The record as the store holds it.

        Args:
            value: The stored value.
            name: What an error calls the record.

        Raises:
            RecordError: The record is damaged, or newer than this version of the package.
        """
        if not isinstance(value, Mapping):
            msg = f"{name} is damaged: it holds a {type(value).__name__}"
            raise RecordError(msg)
        version = value.get("schema_version")
        if version != SCHEMA_VERSION:
            msg = (
                f"{name} has schema_version {version!r}; this version of langchain_ctxcompress reads {SCHEMA_VERSION}:"
                " upgrade the package, or remove the record"
            )
            raise RecordError(msg)
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            fields = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors(include_url=False))
            msg = f"{name} is damaged (fields: {fields})"
            raise RecordError(msg) from error

    def dump(self) -> dict[str, Any]:
        """The record as the store holds it: a fresh dict of JSON values."""
        return self.model_dump(mode="json")


class Quote(Record):
    """A human message that was replaced, quoted verbatim in the summary message.

    Attributes:
        message_id: The message.
        text: Its words; cut where it alone was over the budget.
        answered: Whether an AI message came after it, so that it is not carried out twice.
    """

    ctxcompress_record: str = "quote"
    message_id: str
    text: str
    answered: bool = True


class CheckpointSummary(Record):
    """A summary checkpoint: a summary text, and what it covers.

    A mechanical rung that drops messages without a summary leaves one too, with `level` 0 and no text, so that every id
    that left the active context is covered by some checkpoint.

    Attributes:
        checkpoint_id: Its id; it follows from what it covers and says.
        session_id: Whose conversation it belongs to.
        number: Its place among the session's checkpoints, from 1.
        level: 1 compact, 2 moderate, 3 detailed; 0 where messages were dropped without a summary.
        text: The summary.
        quotes: Human messages of the covered part, quoted verbatim, oldest first.
        covered: The ids of the replaced messages and the hash of what each said, in order.
        ledger: What must not be lost of all that the chain covers, as plain values.
        goals: The goals as they stand after it, as plain values.
        goals_given: The same goals as the caller wrote them.
        flagged: Values that the model's summary stated although they are in no source; they were taken out.
        altered: Messages that were cut where they stand: by id, the hash of what the original says, and the shortened
            message, encoded.
        previous: The checkpoint before it in the same active context, `""` for the first. What the active context
            covers is what the chain of them covers.
        shown: The checkpoints whose texts stand in the summary message, oldest first.
        merged: The checkpoints whose texts were merged into this one's.
        first_id: The first message the chain replaced; the summary message bears its id.
        last_id: The last replaced message.
        next_id: The first message that was kept behind them, else the last in front of them; `""` if none was kept.
        newest_id: The last message of the list at that time.
        behind: What was kept behind all that was replaced, in order; the newest of it.
        count: Messages that the chain replaced.
        strategy: Which strategy made it.
        summariser: Who wrote the text: `model`, `extractive`, or `""`.
        tokens_before: Size of the active context before, in tokens.
        tokens_after: Size of the active context after, in tokens.
        replaced_tokens: Size of the replaced messages, in tokens.
        rendered: The text of the summary message that was put in their place.
        stale: Whether a message it covered was forgotten, so that its text was taken back and is to be written anew.
        renewed: How often its text was taken back; a summary message that shows an earlier one is exchanged.
        created_at: When.
    """

    ctxcompress_record: str = "checkpoint"
    checkpoint_id: str
    session_id: str
    number: int = Field(ge=1)
    level: int = Field(ge=0, le=3)
    text: str = ""
    quotes: tuple[Quote, ...] = ()
    covered: dict[str, str] = Field(default_factory=dict)
    ledger: dict[str, Any] = Field(default_factory=dict)
    goals: tuple[dict[str, Any], ...] = ()
    goals_given: tuple[dict[str, Any], ...] = ()
    flagged: tuple[str, ...] = ()
    altered: dict[str, tuple[str, str]] = Field(default_factory=dict)
    previous: str = ""
    shown: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    first_id: str = ""
    last_id: str = ""
    next_id: str = ""
    newest_id: str = ""
    behind: tuple[str, ...] = ()
    count: int = 0
    strategy: str = ""
    summariser: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    replaced_tokens: int = 0
    rendered: str = ""
    stale: bool = False
    renewed: int = 0
    created_at: Moment = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def ratio(self) -> float:
        """Tokens after, as a share of tokens before; 1.0 where nothing was there."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0

    @property
    def beyond(self) -> set[str]:
        """Ids that a list from before it does not hold: what was kept behind, and what was cut last where it stands."""
        return {self.next_id, self.newest_id, *self.behind, *list(self.altered)[-1:]} - {""}

    def dump(self) -> dict[str, Any]:
        """The record as the store holds it; message ids as they are (pydantic alters a lone surrogate in a key)."""
        altered = {message_id: list(cut) for message_id, cut in self.altered.items()}
        return {**super().dump(), "covered": dict(self.covered), "altered": altered}


def checkpoint_value(checkpoint: CheckpointSummary) -> dict[str, Any]:
    """A checkpoint as the value of an item. The record is text, so that no backend alters what it says."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ctxcompress_record": "checkpoint",
        "record": json.dumps(checkpoint.dump()),
    }


class SessionInfo(Record):
    """Metadata of a session (S3).

    Attributes:
        session_id: The session.
        started_at: First append.
        updated_at: Last append or compression.
        messages: Messages appended.
        tokens: Their size in tokens; messages that were appended without a counter count as 0.
        compressions: Summary checkpoints made.
    """

    ctxcompress_record: str = "session"
    session_id: str
    started_at: Moment | None = None
    updated_at: Moment | None = None
    messages: int = 0
    tokens: int = 0
    compressions: int = 0
