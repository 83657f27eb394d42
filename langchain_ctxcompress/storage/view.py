"""The active context as a function of what is stored: which checkpoints stand for which messages of a list.

Checkpoints of one active context form a chain (`previous`); the newest is its head, and the chain covers every message
that left. A list refers to its head by the summary message, or by the messages themselves where a client sent the
originals again. So any process can rebuild the same view from the list and the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from langchain_core.messages import BaseMessage, HumanMessage

from langchain_ctxcompress.messages import (
    MARK_KEY,
    Boundaries,
    dividers,
    is_pinned,
    is_summary,
    kind_of,
    newest_human,
    summary_mark,
)
from langchain_ctxcompress.storage.reach import Reach
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
        stand = _stand(messages, reach, head)
        held = _held(messages, reach, stand)
        puts_back = place is None and bool(head.rendered)
        if puts_back:
            stand = _taken_over(messages, reach, head, stand, held)
        held |= _partings(messages, reach, held, stand if puts_back else None)
        kept: list[BaseMessage] = []
        returned: list[BaseMessage] = []
        gap = 0
        restored = False
        for index, message in enumerate(messages):
            gap = len(kept) if index == stand else gap
            if index in held:
                kept.append(message)
            elif index != place and reach.covers(message):
                returned.append(message)
            elif (shorter := reach.shortened(message)) is not None:
                kept.append(shorter)
                restored = True
            elif index == place and head.renewed and message.content != head.rendered:
                kept.append(summary_message(head))  # it shows what was taken back since
                restored = True
            else:
                kept.append(message)
        if puts_back and (returned or head.first_id in {message.id for message in kept}):
            kept.insert(gap, _put_back(head, reach, kept, messages, stand))
            restored = True
        elif place is not None and stand is not None and stand < place:
            kept.insert(gap, kept.pop(next(i for i, message in enumerate(kept) if is_summary(message))))
            restored = True
        remnants = tuple(message for message in kept if is_pinned(message) and reach.is_remnant(message))
        return View(kept, head, tuple(returned), restored, remnants)

    def _named_head(self, message: BaseMessage) -> CheckpointSummary | None:
        ids = (summary_mark(message) or {}).get("checkpoint_ids") or [""]
        return self.by_id.get(ids[-1])

    def implied_head(self, messages: Sequence[BaseMessage]) -> CheckpointSummary | None:
        """The newest checkpoint that the list stands on although it does not name it.

        It holds what was replaced last, as it was, or something that came behind: any of them may be gone by now. A
        fork from before a compression holds part of what it covers and nothing of what came after, and stays as it is.
        """
        present = {message.id: message for message in messages}
        for record in reversed(self.records):
            if record.strategy == REPAIR:
                continue  # it lists orphans that were dropped, and stands in no chain
            reach = self.reach(record)
            if record.rendered and present.keys().isdisjoint(reach.covered):
                continue  # somebody removed the summary message: it stays removed
            last = present.get(record.last_id)
            if (last is not None and reach.covers(last)) or not present.keys().isdisjoint(record.beyond):
                return record
        return None


def _put_back(
    head: CheckpointSummary,
    reach: Reach,
    kept: Sequence[BaseMessage],
    messages: Sequence[BaseMessage],
    stand: int | None,
) -> HumanMessage:
    """The summary message, under another id where the first message stays and bears its own.

    It is that of the message whose place it takes, else of one that is not in the list: an id tells a place.
    """
    summary = summary_message(head)
    there = {message.id for message in kept}
    if summary.id not in there:
        return summary
    if stand is not None and messages[stand].id not in there:
        return summary.model_copy(update={"id": messages[stand].id})
    free = [message_id for message_id in reach.covered if message_id not in there]
    given = {message.id for message in messages}
    unused = next((message_id for message_id in free if message_id not in given), None)
    return summary.model_copy(update={"id": unused or next(iter(free), f"{summary.id}-summary")})


def _held(messages: Sequence[BaseMessage], reach: Reach, stand: int | None) -> set[int]:
    """The places of messages that came back and stay, with all of their spans (law 6).

    Those that were pinned since, and the newest human message, where what came after it is gone.
    """
    gone = [p for p, m in enumerate(messages) if reach.covers(m) and not is_summary(m)]
    places = {p for p, m in enumerate(messages) if is_pinned(m) and (reach.covers(m) or reach.shortened(m))}
    newest = _newest_human(messages, gone, stand)
    places.update(p for p in newest if reach.covers(messages[p]) or reach.cuts(messages[p]))
    return Boundaries(messages).close(places) if places else places


def _partings(messages: Sequence[BaseMessage], reach: Reach, held: set[int], summary: int | None) -> set[int]:
    """The places of human messages that came back and stay, so that the list stays legal (law 1).

    Without them it would begin with the model's words, or a call would come to follow them directly.
    """
    gone = {p for p, m in enumerate(messages) if reach.covers(m) and not is_summary(m) and p not in held}
    stay = set(range(len(messages))) - gone
    return _opening(messages, stay, summary) | dividers(messages, stay, summary)


def _taken_over(
    messages: Sequence[BaseMessage], reach: Reach, head: CheckpointSummary, stand: int | None, held: set[int]
) -> int | None:
    """The place at which the summary message is put back: where the first message stays, that of the first that goes.

    The first message stays where it was pinned since, or is a new revision: it is not replaced any more. What goes may
    all stand behind what was kept, since a reducer put it there: then it tells no place.
    """
    if stand is None or messages[stand].id != head.first_id or (stand not in held and reach.covers(messages[stand])):
        return stand
    found = next((p for p, m in enumerate(messages) if p not in held and reach.covers(m)), stand)
    first = _first_behind(messages, head)
    return found if first is None or found < first else stand


def _stand(messages: Sequence[BaseMessage], reach: Reach, head: CheckpointSummary) -> int | None:
    """The place at which the summary message belongs; `None` where the list holds nothing that it stands for.

    That is where it stands, or a message bears its id now, else before all that it stands for; and before what was kept
    behind that: a reducer puts it last where its id was removed in the same step.
    """
    place = next((p for p, m in enumerate(messages) if is_summary(m)), None)
    if place is None and head.rendered:
        place = next((p for p, m in enumerate(messages) if m.id == head.first_id), None)
    if place is None:
        place = next((p for p, m in enumerate(messages) if reach.covers(m)), None)
    first = _first_behind(messages, head)
    return place if place is None or first is None else min(place, first)


def _first_behind(messages: Sequence[BaseMessage], head: CheckpointSummary) -> int | None:
    """The place of the first message that was kept behind all that was replaced; an id that stands twice tells none."""
    if not head.behind:
        return None
    behind = {head.next_id, *head.behind}
    often = Counter(message.id or "" for message in messages if message.id in behind)
    return next((place for place, message in enumerate(messages) if often[message.id or ""] == 1), None)


def _newest_human(messages: Sequence[BaseMessage], gone: Sequence[int], stand: int | None) -> list[int]:
    """The places of the newest human message: one that was replaced only if none that is younger was kept.

    What was replaced may stand last all the same: a reducer puts what a client sends again behind all that is younger.
    """
    back = set(gone)
    stay = [place for place in range(len(messages)) if place not in back]
    younger = (messages[place] for place in stay if stand is not None and place > stand)
    if any(kind_of(message) == "human" and not is_pinned(message) for message in younger):
        return [stay[place] for place in newest_human([messages[place] for place in stay])]
    return newest_human(messages)


def _opening(messages: Sequence[BaseMessage], stay: set[int], stand: int | None) -> set[int]:
    """The human message before the first that stays, if that is the model's and no summary is put back before it."""
    spoken = [place for place, message in enumerate(messages) if kind_of(message) != "system"]
    first = next((place for place in spoken if place in stay), None)
    if first is None or kind_of(messages[first]) != "ai" or kind_of(messages[spoken[0]]) != "human":
        return set()
    if stand is not None and stand < first:
        return set()
    return {max(place for place in spoken if place < first and kind_of(messages[place]) == "human")}
