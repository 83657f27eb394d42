"""Two ledgers become one: duplicates join, what is newer supersedes what it replaces, what is taken back goes.

The work is done in the order in which things were said, against what is live at that moment, and candidates are
looked up by shared stems, so that a long session does not make it slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter

from langchain_ctxcompress.ledger.records import ArtifactRecord, DecisionRecord, Done, Ledger, Request, Superseded
from langchain_ctxcompress.ledger.replies import answered
from langchain_ctxcompress.ledger.statement_book import StatementBook
from langchain_ctxcompress.ledger.tasks import is_about
from langchain_ctxcompress.ledger.value_book import ValueBook

_MAX_REQUESTS = 60
_NEWEST_REQUESTS = 20
_COMPLAINED = frozenset({"undone", "redone"})
_MAX_DECISIONS = 300
_MAX_ARTIFACTS = 400
_MAX_SUPERSEDED = 400
_MAX_SOURCES = 64
_MAX_PARTS = 256
_MAX_HEARD = 1_000


def merge(old: Ledger, new: Ledger) -> Ledger:
    """Join what is known with what was newly extracted.

    Args:
        old: The ledger so far.
        new: The records of later messages (`extract_records`). Records that `old` has from the same message are not
            added again, so merging twice changes nothing.

    Returns:
        A ledger in which only what still holds is current. Rules are all kept; facts, values and the rest are
        bounded by number.
    """
    return _join(old, _after(new, old.last_order))


def settle(ledger: Ledger) -> Ledger:
    """The ledger of one stretch of raw records, with duplicates joined and superseded ones taken out.

    Args:
        ledger: Records as extracted, in order.

    Returns:
        The settled ledger.
    """
    return _join(Ledger(), ledger).model_copy(update={"done": ledger.done})


def _after(new: Ledger, last: int) -> Ledger:
    """The new ledger with its places moved behind those of the old one."""
    orders = [record.order for record in new.records()] + [gone.order for gone in new.superseded]
    if last < 0 or not orders or min(orders) > last:
        return new
    shift = last + 1
    update = {
        kind: tuple(record.model_copy(update={"order": record.order + shift}) for record in getattr(new, kind))
        for kind in (*Ledger.KINDS, "superseded")
    }
    done = tuple(each.model_copy(update={"order": each.order + shift}) for each in new.done)
    opening = new.opening and new.opening.model_copy(update={"order": new.opening.order + shift})
    return new.model_copy(update={**update, "done": done, "opening": opening})


def _join(old: Ledger, new: Ledger) -> Ledger:
    values = ValueBook(old.values, old.superseded)
    changes = values.add_all(new.values)
    statements = StatementBook((*old.rules, *old.facts), old.superseded)
    said = (answered(new.opening, old.asking),) if new.opening is not None and old.asking else ()
    statements.add_all((*new.rules, *new.facts, *said), new.superseded, changes)
    values.take_out(statements.outdated)
    superseded = _superseded(old.superseded, new.superseded, values.superseded, statements.superseded)
    return Ledger(
        rules=statements.rules(),
        facts=statements.facts(),
        requests=_requests(old, new),
        decisions=_decisions(old, new),
        artifacts=_artifacts(old, new),
        values=values.current(),
        superseded=superseded,
        first_reply=new.first_reply if old.first_reply == "none" else old.first_reply,
        asked_before=old.asked_before if old.parts else new.asked_before,
        asking=old.asking if set(new.parts) <= set(old.parts) else new.asking,
        opening=old.opening if old.parts else new.opening,
        parts=tuple(dict.fromkeys((*old.parts, *new.parts)))[-_MAX_PARTS:],
        heard=_heard(old, new),
    )


def _superseded(*groups: tuple[Superseded, ...] | list[Superseded]) -> tuple[Superseded, ...]:
    seen: dict[tuple[str, tuple[str, ...]], Superseded] = {}
    for gone in (gone for group in groups for gone in group):
        seen.setdefault((gone.text, gone.sources), gone)
    ordered = sorted(seen.values(), key=lambda gone: (gone.order, gone.text))
    return tuple(ordered[-_MAX_SUPERSEDED:])


def _heard(old: Ledger, new: Ledger) -> dict[str, int]:
    """In how many messages each stem was met: the most frequent 1,000, which are the ones that tell."""
    if set(new.parts) <= set(old.parts):
        return old.heard
    heard = Counter(old.heard)
    heard.update(new.heard)
    by_name = sorted(heard.items())
    if len(by_name) <= _MAX_HEARD:
        return dict(by_name)
    # Sorting keeps the order of what is equal, also in reverse: of stems as frequent, the first by name.
    return dict(sorted(sorted(by_name, key=itemgetter(1), reverse=True)[:_MAX_HEARD]))


def _requests(old: Ledger, new: Ledger) -> tuple[Request, ...]:
    """Requests in order, one for each text: what is asked again in the same words is open again, not there twice."""
    again = set(new.parts) <= set(old.parts)  # the same ledger merged again is no later message
    opened = [request for request in old.requests if request.status == "open"]
    last = max((request.order for request in opened), default=-1)
    last_answered = max((request.order for request in opened if request.answered), default=-1)
    merged: dict[str, Request] = {}
    for request in sorted(old.requests, key=lambda request: request.order):
        newest = request.order == (last if new.asked_before in _COMPLAINED else last_answered)
        _put(merged, request if again else _gone_on(request, new, newest=newest))
    for request in sorted(new.requests, key=lambda request: request.order):
        _put(merged, request)
    ordered = sorted(merged.values(), key=lambda request: request.order)
    return _most_telling([_taken_up(request, ordered, new.done) for request in ordered])


def _taken_up(request: Request, asked: Sequence[Request], done: Iterable[Done]) -> Request:
    """A request that was put off, finished where it was worked on later, or asked for anew."""
    if request.status == "finished" or not request.put_off:
        return request
    stems = request.about or request.key
    again = any(each.order > request.order and each.terms and is_about(stems, set(each.key)) for each in asked)
    if again or any(each.order > request.order and is_about(stems, set(each.stems)) for each in done):
        return request.model_copy(update={"status": "finished"})
    return request


def _most_telling(requests: list[Request]) -> tuple[Request, ...]:
    """The newest requests, and of the older ones those that say most of what is worth keeping: 60 in all."""
    over = len(requests) - _MAX_REQUESTS
    if over <= 0:
        return tuple(requests)
    older = sorted(requests[:-_NEWEST_REQUESTS], key=lambda request: (request.terms, request.order))
    gone = {id(request) for request in older[:over]}
    return tuple(request for request in requests if id(request) not in gone)


def _gone_on(request: Request, new: Ledger, *, newest: bool) -> Request:
    """A request after what came behind it: only an answer, and a later human message, finish it."""
    if request.status == "finished" or request.put_off:
        return request
    left = request.answered and new.first_reply != "none" and not (newest and new.first_reply == "not_done")
    if new.asked_before == "finished" or left or (new.asked_before in _COMPLAINED and not newest):
        return request.model_copy(update={"status": "finished"})
    untouched = new.first_reply == "none" and new.asked_before == ""
    answered = request.answered if untouched else new.asked_before in {"answered", "redone"}
    return request if answered == request.answered else request.model_copy(update={"answered": answered})


def _put(merged: dict[str, Request], request: Request) -> None:
    same = " ".join(request.text.lower().split())
    known = merged.get(same)
    if known is None:
        merged[same] = request
    elif not set(request.sources) <= set(known.sources):  # else it is the one that is known, read again
        sources = tuple(dict.fromkeys((*known.sources, *request.sources)))[-_MAX_SOURCES:]
        merged[same] = request.model_copy(update={"sources": sources})


def _decisions(old: Ledger, new: Ledger) -> tuple[DecisionRecord, ...]:
    merged: dict[str, DecisionRecord] = {}
    for decision in (*old.decisions, *new.decisions):
        same = " ".join(decision.text.lower().split()).rstrip(".")
        known = merged.get(same)
        if known is None:
            merged[same] = decision
        else:
            merged[same] = known.model_copy(update={"sources": join_sources(known.sources, decision.sources)})
    return tuple(sorted(merged.values(), key=lambda decision: decision.order)[-_MAX_DECISIONS:])


def _artifacts(old: Ledger, new: Ledger) -> tuple[ArtifactRecord, ...]:
    merged: dict[str, ArtifactRecord] = {artifact.text: artifact for artifact in old.artifacts}
    old_sources = {artifact.text: artifact.sources for artifact in old.artifacts}
    for artifact in sorted(new.artifacts, key=lambda record: record.order):
        known = merged.get(artifact.text)
        if known is None:
            merged[artifact.text] = artifact
            continue
        before = old_sources.get(artifact.text, ())
        if artifact.sources and artifact.sources[-1] in before:
            continue
        changed = known.action == "created" and artifact.action == "modified"
        merged[artifact.text] = artifact.model_copy(
            update={
                "action": "created" if changed else artifact.action,
                "sources": join_sources(known.sources, artifact.sources),
            }
        )
    return tuple(sorted(merged.values(), key=lambda artifact: (artifact.order, artifact.text))[-_MAX_ARTIFACTS:])


def join_sources(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The sources of two records that became one, the first 64."""
    return tuple(dict.fromkeys((*first, *second)))[:_MAX_SOURCES]
