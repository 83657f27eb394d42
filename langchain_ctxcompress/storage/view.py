"""The active context as a function of what is stored: which checkpoints stand for which messages of a list.

Checkpoints of one active context form a chain (`previous`); the newest is its head, and the chain covers every message
that left. A list refers to its head by the summary message, or by the messages themselves where a client sent the
originals again. So any process can rebuild the same view from the list and the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress.messages import (
    MARK_KEY,
    Boundaries,
    content_hash,
    dividers,
    is_derived,
    is_pinned,
    is_summary,
    kind_of,
    newest_human,
    original_hash,
    summary_mark,
    was_asked,
)
from langchain_ctxcompress.storage.codec import decode_message
from langchain_ctxcompress.storage.records import REPAIR, SCHEMA_VERSION, CheckpointSummary


def summary_message(head: CheckpointSummary) -> HumanMessage:
    """The summary message of a chain; its id is that of the first message it replaces, so that it takes its place."""
    mark = {
        "kind": "summary",
        "schema_version": SCHEMA_VERSION,
        "session_id": head.session_id,
        "checkpoint_ids": list(dict.fromkeys((*head.shown, head.checkpoint_id))),
        "first_id": head.first_id,
        "last_id": head.last_id,
        "count": head.count,
    }
    return HumanMessage(head.rendered, id=head.first_id, additional_kwargs={MARK_KEY: mark})


def project(history: Sequence[BaseMessage], checkpoints: Sequence[CheckpointSummary]) -> list[BaseMessage]:
    """The active context, made of what is stored alone: any process can make it at any time.

    Args:
        history: The messages as archived: `history.messages()`, or those of a branch.
        checkpoints: The session's summary checkpoints.

    Returns:
        What the model was sent, and whatever was archived since.
    """
    oldest_first = sorted(checkpoints, key=lambda record: (record.number, record.created_at, record.checkpoint_id))
    return CheckpointChain(oldest_first).apply(history).messages


@dataclass(frozen=True)
class View:
    """A list with the checkpoints applied.

    Attributes:
        messages: The active context: originals that came back are gone, the summary message is in its place.
        head: The newest checkpoint of the chain that the list stands on; `None` where nothing was compressed.
        returned: Originals that were left out again, in order.
        restored: Whether the summary message, or a shortened one, had to be put back.
        remnants: Pinned messages that say what was left of a shortened original: they stay, and are no revision of it.
    """

    messages: list[BaseMessage]
    head: CheckpointSummary | None = None
    returned: tuple[BaseMessage, ...] = ()
    restored: bool = False
    remnants: tuple[BaseMessage, ...] = ()

    @property
    def originals(self) -> list[BaseMessage]:
        """What of the messages is to be archived."""
        if not self.remnants:
            return self.messages
        left = set(map(id, self.remnants))
        return [message for message in self.messages if id(message) not in left]

    @property
    def changed(self) -> bool:
        """Whether the view differs from the list."""
        return bool(self.returned) or self.restored


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

    @property
    def touched(self) -> set[str | None]:
        """Every id in it."""
        return {*self.covered, *self.altered}

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

    def is_remnant(self, message: BaseMessage) -> bool:
        """Whether a message says what was left of an original although its mark is gone, as under a pin."""
        data = self.altered.get(message.id or "", ("", ""))[1] or self.left.get(message.id or "", "")
        if not data or is_derived(message):
            return False
        return content_hash(decode_message(data, record=f"message {message.id!r}")) == content_hash(message)


class CheckpointChain:
    """The checkpoints of a session, and the chains they form.

    Args:
        records: The checkpoints, oldest first.
        partial: Whether the session has others, which do not matter to the lists that are asked for.
        numbered: The greatest number that is known to be in use.
    """

    def __init__(self, records: Sequence[CheckpointSummary] = (), *, partial: bool = False, numbered: int = 0) -> None:
        self.records = tuple(records)
        self.partial = partial
        self._numbered = numbered
        self._reach: tuple[str, Reach] = ("", Reach())

    @cached_property
    def by_id(self) -> dict[str, CheckpointSummary]:
        """The checkpoints by id."""
        return {record.checkpoint_id: record for record in self.records}

    @property
    def next_number(self) -> int:
        """The number of the next checkpoint."""
        return max(self._numbered, *(record.number for record in self.records), 0) + 1

    def with_records(self, records: Sequence[CheckpointSummary]) -> CheckpointChain:
        """The chain with further checkpoints."""
        further = [r for r in records if r.checkpoint_id not in self.by_id]
        if not further:
            return self  # with what it knows of its chains
        return CheckpointChain(
            sorted((*self.records, *further), key=lambda record: record.number),
            partial=self.partial,
            numbered=self._numbered,
        )

    def exchanged(self, record: CheckpointSummary) -> CheckpointChain:
        """The chain with a checkpoint in place of the one that has its id."""
        records = [record if own.checkpoint_id == record.checkpoint_id else own for own in self.records]
        return CheckpointChain(records, partial=self.partial, numbered=self._numbered)

    def shown(self, head: CheckpointSummary | None) -> tuple[CheckpointSummary, ...]:
        """The checkpoints whose texts stand in the summary message of `head`."""
        return tuple(self.by_id[i] for i in head.shown if i in self.by_id) if head else ()

    def reach(self, head: CheckpointSummary) -> Reach:
        """What the chain up to `head` did to messages; later checkpoints hold over earlier ones."""
        if self._reach[0] != head.checkpoint_id:
            chain: dict[str, CheckpointSummary] = {}
            record: CheckpointSummary | None = head
            while record and record.checkpoint_id not in chain:
                chain[record.checkpoint_id] = record
                record = self.by_id.get(record.previous)
            reach = Reach()
            for record in reversed(chain.values()):
                reach.add(record)
            self._reach = (head.checkpoint_id, reach)  # one head is asked for again and again, older ones hardly ever
        return self._reach[1]

    def covered_by(self, checkpoint_id: str) -> dict[str, str] | None:
        """What one checkpoint itself covers or cuts, with all that was merged into it; `None` for an unknown one."""
        if checkpoint_id not in self.by_id:
            return None
        records: dict[str, CheckpointSummary] = {}
        waiting = [checkpoint_id]
        while waiting:  # what was merged may have been merged before: in a long session hundreds of levels deep
            record = self.by_id.get(waiting.pop())
            if record is not None and record.checkpoint_id not in records:
                records[record.checkpoint_id] = record
                waiting.extend(record.merged)
                if not (record.covered or record.altered or record.merged):
                    waiting.append(record.previous)  # it only shortened the summary message, which stands for the same
        covered: dict[str, str] = {}
        for record in reversed(records.values()):
            covered.update(record.covered)
            covered.update((message_id, said) for message_id, (said, _) in record.altered.items())
        return covered

    def apply(self, messages: Sequence[BaseMessage], *, head: CheckpointSummary | None = None) -> View:
        """The active context of a list whose messages all have ids.

        A covered message that says what it said is left out again. A message with a covered id and other words is a new
        revision and stays.

        Args:
            messages: The list.
            head: The checkpoint it is to stand on, if it names none; by default the newest that it stands on.
        """
        place = next((i for i, message in enumerate(messages) if is_summary(message)), None)
        if place is None and not self.records:
            return View(list(messages))
        head = self._named_head(messages[place]) if place is not None else head or self.implied_head(messages)
        if head is None:
            return View(list(messages))
        reach = self.reach(head)
        held = _held(messages, reach, head, stands=place is not None)
        kept: list[BaseMessage] = []
        returned: list[BaseMessage] = []
        gaps: dict[str | None, int] = {}
        restored = False
        for index, message in enumerate(messages):
            if index in held:
                kept.append(message)
            elif index != place and reach.covers(message):
                returned.append(message)
                gaps.setdefault(message.id, len(kept))
            elif (shorter := reach.shortened(message)) is not None:
                kept.append(shorter)
                restored = True
            elif index == place and head.renewed and message.content != head.rendered:
                kept.append(summary_message(head))  # it shows what was taken back since
                restored = True
            else:
                kept.append(message)
        if place is None and head.rendered and returned:
            stands = summary_message(head)
            if any(message.id == stands.id for message in kept):  # a new revision of the first one bears that id
                stands = stands.model_copy(update={"id": returned[0].id})
            kept.insert(gaps.get(stands.id, gaps[returned[0].id]), stands)
            restored = True
        remnants = tuple(message for message in kept if is_pinned(message) and reach.is_remnant(message))
        return View(kept, head, tuple(returned), restored, remnants)

    def _is_whole(self, head: CheckpointSummary) -> bool:
        """Whether all of a chain is known, and it did anything: one that was read in part shows less than it did."""
        if not self.partial:
            return bool(self.reach(head).touched)
        passed: set[str] = set()
        record: CheckpointSummary | None = head
        while record and record.checkpoint_id not in passed:
            passed.add(record.checkpoint_id)
            if not record.previous:
                return bool(self.reach(head).touched)
            record = self.by_id.get(record.previous)
        return False

    def _named_head(self, message: BaseMessage) -> CheckpointSummary | None:
        ids = (summary_mark(message) or {}).get("checkpoint_ids") or [""]
        return self.by_id.get(ids[-1])

    def implied_head(self, messages: Sequence[BaseMessage]) -> CheckpointSummary | None:
        """The newest checkpoint that the list stands on although it does not name it.

        Its chain must be there whole (the originals were sent again), or what came right behind it must be: a fork from
        before a compression holds part of what it covers and nothing of what came after, and stays as it is.
        """
        present = {message.id for message in messages}
        for record in reversed(self.records):
            if record.strategy == REPAIR:
                continue  # it lists orphans that were dropped, and stands in no chain
            reach = self.reach(record)
            if record.rendered and present.isdisjoint(reach.covered):
                continue  # somebody removed the summary message: it stays removed
            if not present.isdisjoint({record.next_id, record.newest_id} - {""}) or (
                self._is_whole(record) and reach.touched <= present
            ):
                return record
        return None


def _was_cut(message: BaseMessage, reach: Reach) -> bool:
    """Whether a message was shortened, and not because the user allowed that of the newest human message."""
    shorter = reach.shortened(message)
    return shorter is not None and not was_asked(shorter)


def _held(messages: Sequence[BaseMessage], reach: Reach, head: CheckpointSummary, *, stands: bool) -> set[int]:
    """The places of messages that came back and stay, with all of their spans (laws 1 and 6).

    Those that were pinned since; the newest human message, where what came after it is gone; and the human messages
    without which the list would begin with the model's words, or a call would come to follow them directly.
    """
    places = {p for p, m in enumerate(messages) if is_pinned(m) and (reach.covers(m) or reach.shortened(m))}
    places.update(p for p in newest_human(messages) if reach.covers(messages[p]) or _was_cut(messages[p], reach))
    held = Boundaries(messages).close(places) if places else places
    gone = [p for p, m in enumerate(messages) if p not in held and reach.covers(m) and not is_summary(m)]
    stand = None
    if head.rendered and not stands and gone:  # where the summary message is put back
        stand = next((place for place in gone if messages[place].id == head.first_id), gone[0])
    stay = set(range(len(messages))).difference(gone)
    return held | _opening(messages, stay, stand) | dividers(messages, stay, stand)


def _opening(messages: Sequence[BaseMessage], stay: set[int], stand: int | None) -> set[int]:
    """The human message before the first that stays, if that is the model's and no summary is put back before it."""
    spoken = [place for place, message in enumerate(messages) if kind_of(message) != "system"]
    first = next((place for place in spoken if place in stay), None)
    if first is None or kind_of(messages[first]) != "ai" or kind_of(messages[spoken[0]]) != "human":
        return set()
    if stand is not None and stand < first:
        return set()
    return {max(place for place in spoken if place < first and kind_of(messages[place]) == "human")}
