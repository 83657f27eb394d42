"""The typed records of a ledger: what users said that stays true, what was done, and the exact values.

Every record names the messages it came from. All are frozen, survive JSON, and are ordered by `order`, a position
that only grows over the life of a session.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1


class LedgerRecord(BaseModel):
    """What every record has.

    Attributes:
        text: The words it stands for: the user's own sentence, a path, a value.
        sources: Ids of the messages it came from, oldest first.
        order: Its place in the session; a greater one is newer.
        weight: How sure it is that it must last, from 0 to 1. Under pressure the lowest goes first.
        key: Stems of what it is about, sorted: two records about the same thing share them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    sources: tuple[str, ...] = ()
    order: int = 0
    weight: float = 1.0
    key: tuple[str, ...] = ()


class _Statement(LedgerRecord):
    """A sentence of the user.

    Attributes:
        slots: The exact values in it, as written.
        amended: Later sentences of the user that change a part of it, oldest first.
        update: Whether it announced a change.
        takes_back: Whether it takes something back: `permits` what was banned, or `forgets` what was said.
        definite: Whether it says what one definite thing is.
        subject: Stems of that thing.
        verb: Stem of the verb of an instruction.
    """

    slots: tuple[str, ...] = ()
    amended: tuple[str, ...] = ()
    update: bool = False
    takes_back: Literal["", "permits", "forgets"] = ""
    definite: bool = False
    subject: tuple[str, ...] = ()
    verb: str = ""


class Rule(_Statement):
    """A standing instruction, constraint or preference of the user. Never evicted."""

    kind: Literal["rule"] = "rule"


class Fact(_Statement):
    """Anything else the user said that lasts: a constraint in passing, a preference, a fact, the state of a goal."""

    kind: Literal["fact"] = "fact"


class Request(LedgerRecord):
    """Something the user asked for.

    Attributes:
        status: `open`, or `finished` when the answer was given and the user went on.
        answered: Whether an AI message that calls no tool stands behind it: what the user says next finishes it, unless
            they say that it is not done.
        terms: How much it is worth keeping with all it says, from 0 to 1: as much as if it had been told, not asked.
        about: Stems of what is to be done, without the terms; empty where they are those of `key`.
        put_off: Whether all that was answered is that it is not done yet: then only work on it finishes it.
        carried_out: Whether tool calls in front of its answer did it.
    """

    kind: Literal["request"] = "request"
    status: Literal["open", "finished"] = "open"
    answered: bool = False
    terms: float = 0.0
    about: tuple[str, ...] = ()
    put_off: bool = False
    carried_out: bool = False


class Done(BaseModel):
    """What an answer said or did, for the requests that were put off before.

    Attributes:
        order: Its place.
        stems: Stems of its words, and of the calls in front of it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    order: int
    stems: tuple[str, ...] = ()


class DecisionRecord(LedgerRecord):
    """A decision that the agent announced."""

    kind: Literal["decision"] = "decision"


class ArtifactRecord(LedgerRecord):
    """A file that a tool call made, changed or deleted; `text` is its path.

    Attributes:
        action: What the last call on it did.
    """

    kind: Literal["artifact"] = "artifact"
    action: Literal["created", "modified", "deleted"] = "modified"


class ValueRecord(LedgerRecord):
    """An exact value; `text` is the value as written.

    Attributes:
        value_kind: What sort of value it is: `amount`, `date`, `id`, `path` …
        subject: What it is the value of, in the words of the conversation.
        uses: How often it was met.
        by: Who said it first: `user`, `call` (an argument of a tool call), `ai` or `tool`.
        single: Whether its subject can have only one value at a time, so that a newer one supersedes it.
        update: Whether it was announced as a change.
        replaces: Values that the same sentence names as the old ones.
        things: Keys of the one thing it may measure. "The bakery's rent is $400" leaves one; "the bakery's rent rose
            to $500" two, since its last word may be a part of the thing or tell what became of it. Empty where the
            sentence measures no one thing.
    """

    kind: Literal["value"] = "value"
    value_kind: str = "id"
    subject: str = ""
    uses: int = 1
    by: Literal["user", "call", "ai", "tool"] = "user"
    single: bool = False
    update: bool = False
    replaces: tuple[str, ...] = ()
    things: tuple[tuple[str, ...], ...] = ()


class Superseded(BaseModel):
    """What is no longer true, kept so that nothing restates it.

    Attributes:
        text: The old value, or the old sentence.
        key: What it was about.
        order: The place of what superseded it: only older records are affected.
        whole: Whether a sentence went as a whole (else `text` is one value).
        joined: Whether the sentence with the old value is kept as it was said, with the newer one behind it.
        sources: Ids of the messages the old one came from.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    key: tuple[str, ...] = ()
    order: int = 0
    whole: bool = False
    joined: bool = False
    sources: tuple[str, ...] = ()


RecordT = TypeVar("RecordT", bound=LedgerRecord)


class Ledger(BaseModel):
    """All that must not be lost, as records that code owns.

    Attributes:
        rules: Standing instructions of the user.
        facts: Other lasting statements of the user.
        requests: What the user asked for.
        decisions: Decisions announced.
        artifacts: Files made, changed, deleted.
        values: Exact values.
        superseded: Values and sentences that no longer hold.
        first_reply: How the first human message extracted relates to what came before: it `moved_on`, or says the
            last thing is `not_done`; `none` without a human message.
        asked_before: What became of the last request that was open, without an answer, in front of the first message
            extracted: it was `answered`, or answered and `finished`, or answered and said to be `undone`, or after that
            answered again, `redone`; empty for none of it.
        done: What was done in the messages extracted; of a merged ledger nothing.
        asking: The question with which the last message extracted ends, where that is the assistant's.
        opening: The short answer with which the first message extracted opens: what it answers was said before.
        parts: Names of the stretches of conversation it was made of, the newest 256: one merged again counts
            nothing twice.
        heard: In how many messages each topic stem was met, for the most frequent: what everybody talks about all the
            time is less of a fact worth keeping.
        schema_version: Version of this layout.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    KINDS: ClassVar[tuple[str, ...]] = ("rules", "facts", "requests", "decisions", "artifacts", "values")

    rules: tuple[Rule, ...] = ()
    facts: tuple[Fact, ...] = ()
    requests: tuple[Request, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    artifacts: tuple[ArtifactRecord, ...] = ()
    values: tuple[ValueRecord, ...] = ()
    superseded: tuple[Superseded, ...] = ()
    first_reply: Literal["none", "moved_on", "not_done"] = "none"
    asked_before: Literal["", "answered", "undone", "redone", "finished"] = ""
    done: tuple[Done, ...] = ()
    asking: str = ""
    opening: Fact | None = None
    parts: tuple[str, ...] = ()
    heard: dict[str, int] = Field(default_factory=dict)
    schema_version: int = Field(default=SCHEMA_VERSION)

    def records(self) -> tuple[LedgerRecord, ...]:
        """All current records, rules first."""
        return (*self.rules, *self.facts, *self.requests, *self.decisions, *self.artifacts, *self.values)

    def __len__(self) -> int:
        """The number of current records."""
        return sum(len(getattr(self, kind)) for kind in self.KINDS)

    def __bool__(self) -> bool:
        """Whether there is any current record."""
        return len(self) > 0

    @property
    def last_order(self) -> int:
        """The greatest place of any record, -1 if there is none."""
        orders = [record.order for record in self.records()] + [gone.order for gone in self.superseded]
        return max(orders, default=-1)
