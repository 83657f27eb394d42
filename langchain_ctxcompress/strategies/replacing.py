"""Taking messages out of a list: the one place where a draft is made, so that what leaves is always covered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger import goal_values
from langchain_ctxcompress.messages import (
    extract_text_content,
    is_summary,
    naming_original,
)
from langchain_ctxcompress.storage import CheckpointSummary, Quote, encode_message, summary_message
from langchain_ctxcompress.strategies.ageing import sooner_and_sooner
from langchain_ctxcompress.strategies.base import CompressionDraft, CompressionRequest, RungReport
from langchain_ctxcompress.strategies.covering import covering, first_place, id_of, made_of, named, said_of, staying
from langchain_ctxcompress.strategies.quotes import newest_within
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.remembering import Remembered, ledger_room, remember
from langchain_ctxcompress.strategies.rendering import (
    exchange_ledger,
    quotes_of,
    read_ledger,
    read_summaries,
    render_summary,
)

SUMMARY_SHARE = 0.25
"""Share of the target from which on the summary message ages sooner (P7)."""


def summarised(
    request: CompressionRequest,
    places: Collection[int],
    text: str,
    quotes: tuple[Quote, ...],
    *,
    strategy: str,
    summariser: str,
    remembered: Remembered,
    level: int = 3,
    flagged: tuple[str, ...] = (),
    covered: CheckpointSummary | None = None,
) -> CompressionDraft:
    """The list with `places` replaced by the summary message, which shows the new text after the earlier ones.

    Args:
        request: The list.
        places: What is replaced; whole spans.
        text: The summary of it.
        quotes: The human messages in it, whole.
        strategy: Who replaces.
        summariser: Who wrote the text: `model` or `extractive`.
        remembered: The ledger after it.
        level: How much the text says (P2).
        flagged: Values that were taken out of the text.
        covered: What `covering` says of these places, where it was asked before.
    """
    places = frozenset(places)
    record = (covered or covering(request, places, strategy)).model_copy(
        update={
            "level": level,
            "text": text,
            "quotes": quotes,
            "summariser": summariser,
            "ledger": remembered.values,
            "goals": tuple(goal_values(remembered.goals.now)),
            "flagged": flagged,
        }
    )
    record = named(record)
    earlier = [checkpoint for checkpoint in request.shown if checkpoint.level] or shown_in(request)
    return _shown(request, places, record, earlier, remembered)


def dropped(
    request: CompressionRequest,
    places: Collection[int],
    *,
    strategy: str,
    reason: Reason,
    ledger: Mapping[str, Any] | None = None,
) -> CompressionDraft:
    """The list without `places`, which a checkpoint of level 0 covers.

    What of them must not be lost goes into the ledger first. The summary message stays where it is not among them, and
    restates it as far as that leaves the list under its hard limit; without one the next summary does. Who has made a
    `ledger` of them already gives it, and nothing is restated here.
    """
    head, places = request.head, frozenset(places)
    kept = [place for place in range(len(request.messages)) if place not in places]
    summary = next((place for place in kept if is_summary(request.messages[place])), None)
    messages = [request.messages[place] for place in kept]
    sizes = [request.sizes[place] for place in kept]
    record = covering(request, places, strategy)
    if head is not None and summary is not None:
        record = record.model_copy(update={"rendered": head.rendered, "shown": head.shown})
    if ledger is None:
        spare = min((request.tokens - _left(request, kept)) // 2, _room(request, kept))
        standing = _ledger_tokens(request, summary)
        told = remember(
            request, sorted(places), max(0, min(ledger_room(request.config.target_tokens), standing + spare))
        )
        ledger = told.values
        rendered = exchange_ledger(record.rendered, told.text) if record.rendered else ""
        count = request.tools.count_text
        if rendered and count(rendered) - count(record.rendered) <= spare:  # with its headings and its frame
            record = record.model_copy(update={"rendered": rendered})
    record = record.model_copy(update={"ledger": dict(ledger)})
    record = named(record)
    if head is not None and summary is not None:
        place = kept.index(summary)
        messages[place] = summary_message(record)
        sizes[place] = request.tools.count([messages[place]])[0]
    tokens_after = request.overhead_tokens + sum(sizes)
    record = record.model_copy(update={"tokens_after": tokens_after})
    report = RungReport(strategy, request.tokens - tokens_after, reason)
    return CompressionDraft(tuple(messages), tuple(sizes), (record,), reason, rungs=(report,))


def _room(request: CompressionRequest, kept: Sequence[int]) -> int:
    """Tokens that what is kept leaves under the hard limit."""
    return request.config.hard_limit_tokens - 1 - _left(request, list(kept))


def _ledger_tokens(request: CompressionRequest, summary: int | None) -> int:
    """Size of the ledger in the summary message, in tokens; 0 without one."""
    lines = read_ledger(extract_text_content(request.messages[summary])) if summary is not None else []
    return request.tools.count_text("\n".join(lines))


def nothing_read(request: CompressionRequest) -> Mapping[str, Any] | None:
    """The `ledger` for `dropped` of a strategy that writes no summaries, which alone would restate one.

    Reading what is dropped costs a hundred times what dropping it does. So it is read where summaries were written
    before (`None`), and where there is none nothing is: what is dropped is found in the archive.
    """
    written = request.summary_place is not None or (request.head is not None and request.head.ledger)
    return None if written else {}


def altered(
    request: CompressionRequest,
    changes: Mapping[int, BaseMessage],
    *,
    strategy: str,
    reason: Reason,
    sizes: Mapping[int, int] | None = None,
) -> CompressionDraft:
    """The list with some messages exchanged for shorter ones of the same id, which a checkpoint of level 0 names.

    The mark of each shorter message is given the hash of what its original says.

    Args:
        request: The list.
        changes: The shorter messages by their place; the summary message may be among them.
        strategy: Who cuts.
        reason: Why.
        sizes: The sizes of the shorter messages by their place, in tokens, where they were counted before.
    """
    if not changes:
        return CompressionDraft(request.messages, request.sizes, reason=reason)
    known = sizes or {}
    changes = {
        place: message if is_summary(message) else naming_original(message, request.messages[place])
        for place, message in changes.items()
    }
    messages = [changes.get(place, message) for place, message in enumerate(request.messages)]
    summary = next((place for place, message in enumerate(messages) if is_summary(message)), None)
    cut = {place: message for place, message in changes.items() if place != summary}
    stays = staying(request, changes)
    record = covering(request, (), strategy).model_copy(
        update={
            "altered": {
                id_of(message): (made_of(message, request.messages[place]), encode_message(message))
                for place, message in sorted(cut.items(), key=lambda entry: entry[0])
                if not stays or said_of(request.messages[place]) not in stays
            },
            "next_id": request.head.next_id if request.head else "",
        }
    )
    if summary is not None:
        shown = request.head.shown if request.head else ()
        record = record.model_copy(update={"rendered": extract_text_content(messages[summary]), "shown": shown})
    record = named(record)
    if summary is not None and request.head is not None:
        messages[summary] = summary_message(record)
    after = [known.get(place, size) for place, size in enumerate(request.sizes)]
    places = [place for place in ([*changes] if summary is None else [*cut, summary]) if place not in known]
    for place, size in zip(places, request.tools.count([messages[place] for place in places]), strict=True):
        after[place] = size
    freed = sum(request.sizes) - sum(after)
    report = RungReport(strategy, freed, reason)
    return CompressionDraft(tuple(messages), tuple(after), (record,), reason, rungs=(report,))


def reworded(
    request: CompressionRequest,
    rendered: str,
    shown: Sequence[CheckpointSummary],
    made: Sequence[CheckpointSummary],
    *,
    strategy: str,
) -> CompressionDraft:
    """The list with other words in its summary message, which stands for the same messages as before.

    Args:
        request: The list; it has a summary message, and a head.
        rendered: What the summary message says now.
        shown: The checkpoints that it shows, oldest first.
        made: Those of them that are new.
        strategy: Who says it in other words.
    """
    place, head = request.summary_place, request.head
    if place is None or head is None:
        return CompressionDraft(request.messages, request.sizes)
    record = covering(request, (), strategy).model_copy(
        update={"rendered": rendered, "shown": tuple(c.checkpoint_id for c in shown), "next_id": head.next_id}
    )
    record = named(record)
    messages, sizes = list(request.messages), list(request.sizes)
    messages[place] = summary_message(record)
    sizes[place] = request.tools.count([messages[place]])[0]
    return CompressionDraft(tuple(messages), tuple(sizes), (*made, record))


def shown_in(request: CompressionRequest) -> list[CheckpointSummary]:
    """The checkpoints that the summary message shows although the store does not know them (it was lost)."""
    place = request.summary_place
    if place is None or request.head is not None:
        return []
    message = request.messages[place]
    return [
        CheckpointSummary(
            checkpoint_id=identity,
            session_id=request.session_id,
            number=number,
            level=3,
            text=text,
            replaced_tokens=request.tools.count_text(text),
        )
        for number, (identity, text) in enumerate(read_summaries(extract_text_content(message)), 1)
    ]


def _shown(
    request: CompressionRequest,
    places: Collection[int],
    record: CheckpointSummary,
    earlier: list[CheckpointSummary],
    remembered: Remembered,
) -> CompressionDraft:
    """The draft with the summary message that shows `earlier` and `record`, aged until it keeps to its share."""
    tools, config = request.tools, request.config
    quotes = newest_within(quotes_of([*earlier, record]), config.keep_human_tokens, tools)
    goals = remembered.goals_text
    share = SUMMARY_SHARE * config.target_tokens
    owned = tools.count_text(remembered.text) + tools.count_text(goals)
    rendered, shown = "", [record]
    ages = "ageing" in config.rungs
    for shown in sooner_and_sooner([*earlier, record], tools) if ages else [[*earlier, record]]:
        texts = [(checkpoint.checkpoint_id, remembered.masked(checkpoint.text)) for checkpoint in shown]
        rendered = render_summary(texts, quotes, count=record.count, ledger=remembered.text, goals=goals)
        if tools.count_text(rendered) - owned <= share:
            break
    # What is not quoted now never is again: each merged checkpoint would else repeat all that was ever said (P7).
    quoted = {quote.message_id for quote in quotes}
    merged = [
        checkpoint.model_copy(update={"quotes": tuple(q for q in checkpoint.quotes if q.message_id in quoted)})
        for checkpoint in shown
        if checkpoint.strategy == "ageing" and checkpoint not in earlier
    ]
    lost = [checkpoint for checkpoint in earlier if request.head is None]
    record = record.model_copy(
        update={"rendered": rendered, "shown": tuple(checkpoint.checkpoint_id for checkpoint in shown)}
    )
    message = summary_message(record)
    size = tools.count([message])[0]
    kept = [
        place
        for place in range(len(request.messages))
        if place not in places and not is_summary(request.messages[place])
    ]
    tokens_after = _left(request, kept) + size
    record = record.model_copy(update={"tokens_after": tokens_after})
    position = _position(request, places, kept)
    messages = [request.messages[place] for place in kept]
    sizes = [request.sizes[place] for place in kept]
    messages.insert(position, message)
    sizes.insert(position, size)
    report = RungReport(record.strategy, request.tokens - tokens_after)
    return CompressionDraft(tuple(messages), tuple(sizes), (*lost, *merged, record), rungs=(report,))


def _position(request: CompressionRequest, places: Collection[int], kept: list[int]) -> int:
    """Where the summary message goes among the kept: its own place, else that of the message whose id it bears."""
    standing = request.summary_place
    at = first_place(request, places) if standing is None else standing
    return sum(1 for place in kept if place < at)


def _left(request: CompressionRequest, kept: list[int]) -> int:
    return request.overhead_tokens + sum(request.sizes[place] for place in kept)
