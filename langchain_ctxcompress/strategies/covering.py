"""The checkpoint of a draft: what it covers, what the summary message bears for an id, and the name that follows."""

from __future__ import annotations

from collections.abc import Collection

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import goal_values
from langchain_ctxcompress.messages import is_derived, is_summary, kind_of, original_hash
from langchain_ctxcompress.storage import CheckpointSummary
from langchain_ctxcompress.strategies.ageing import checkpoint_name
from langchain_ctxcompress.strategies.base import CompressionRequest


def covering(request: CompressionRequest, places: Collection[int], strategy: str) -> CheckpointSummary:
    """The checkpoint that covers `places`, still without a text or an id."""
    head = request.head
    gone = [request.messages[place] for place in sorted(places) if not is_summary(request.messages[place])]
    stays = staying(request, places)
    last = max(places, default=len(request.messages))
    return CheckpointSummary(
        checkpoint_id="",
        session_id=request.session_id,
        number=request.next_number,
        level=0,
        # What stands there twice and stays once has not left: covered, it would be taken for one that came back.
        covered=dict(said for said in map(said_of, gone) if said not in stays),
        previous=head.checkpoint_id if head else "",
        ledger=head.ledger if head else {},
        goals=tuple(goal_values(request.goals.now)),
        goals_given=tuple(goal_values(request.goals.given)),
        first_id=_first_id(request, places),
        last_id=id_of(gone[-1]) if gone else head.last_id if head else "",
        next_id=_next_id(request, places, last),
        count=(head.count if head else 0) + len(gone),
        strategy=strategy,
        tokens_before=request.tokens,
        replaced_tokens=sum(request.sizes[place] for place in places),
    )


def _next_id(request: CompressionRequest, places: Collection[int], last: int) -> str:
    """The first message that stays behind `last`; where there is none, the last that stays in front of it."""
    stays = (place for place in range(last + 1, len(request.messages)) if _told(request, places, place))
    behind = next(stays, None)
    if behind is None:
        before = range(min(last, len(request.messages) - 1), -1, -1)
        behind = next((place for place in before if _told(request, places, place)), None)
    return "" if behind is None else id_of(request.messages[behind])


def _told(request: CompressionRequest, places: Collection[int], place: int) -> bool:
    """Whether a message stays, and is neither the summary nor a system message."""
    message = request.messages[place]
    return place not in places and not is_summary(message) and kind_of(message) != "system"


def staying(request: CompressionRequest, places: Collection[int]) -> set[tuple[str, str]]:
    """What stays and bears the id of a message that does not; the others need not be looked at."""
    ids = {request.messages[place].id for place in places}
    messages = (message for place, message in enumerate(request.messages) if place not in places)
    return {said_of(message) for message in messages if message.id in ids}


def _first_id(request: CompressionRequest, places: Collection[int]) -> str:
    """The id of the summary message: the one it has, else that of the first replaced message."""
    standing = request.summary_place
    if standing is not None:
        return id_of(request.messages[standing])
    return id_of(request.messages[first_place(request, places)]) if places else ""


def first_place(request: CompressionRequest, places: Collection[int]) -> int:
    """The first replaced message whose id no kept message bears: two messages of one id would overwrite each other."""
    stays = {message.id for place, message in enumerate(request.messages) if place not in places}
    return next((place for place in sorted(places) if request.messages[place].id not in stays), min(places))


def named(record: CheckpointSummary) -> CheckpointSummary:
    """The checkpoint under its id, which follows from what it covers and says."""
    touched = "\x1e".join(f"{i}\x1f{said}" for i, said in (*record.covered.items(), *record.altered.items()))
    name = checkpoint_name(record.session_id, record.previous, str(record.number), touched, record.text)
    return record.model_copy(update={"checkpoint_id": name})


def made_of(message: BaseMessage, original: BaseMessage) -> str:
    """The hash of what the original of a shortened message says: its mark holds it, where it has one."""
    return original_hash(message if is_derived(message) else original)


def said_of(message: BaseMessage) -> tuple[str, str]:
    """A message by its id, and the hash of what it says, or its original said."""
    return id_of(message), original_hash(message)


def id_of(message: BaseMessage) -> str:
    """The id of a message; all of them have one by now."""
    return message.id or ""
