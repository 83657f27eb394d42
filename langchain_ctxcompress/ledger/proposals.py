"""What a summariser proposes for the ledger, and what of it code takes up (G5).

A model may end its summary with lines such as `[RULE] …`. None is believed: a rule or a fact must be found in what a
human message says in its own words, and then that sentence is what is kept, not the model's; a finished request must
have been asked and answered; a decision must stand in a message of the user or the agent. What a tool result or a
quoted file says is nobody's word here. A model that proposes nothing does nothing wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger.goals import same_text
from langchain_ctxcompress.ledger.lexicon import content_stems
from langchain_ctxcompress.ledger.merge import settle
from langchain_ctxcompress.ledger.records import DecisionRecord, Fact, Ledger, Request, Rule
from langchain_ctxcompress.ledger.request_status import request_weight
from langchain_ctxcompress.ledger.statements import STANDING_CUES, Judgement, judge
from langchain_ctxcompress.ledger.voice import Sentence, own_lines, sentences, split_sentences
from langchain_ctxcompress.messages import content_hash, extract_text_content, is_summary, kind_of

T = TypeVar("T")

_LINE = re.compile(
    r"[ \t]*(?:(?:[-*•>]|\d{1,3}[.)])[ \t]+)?[*_`]{0,3}\[(RULE|FACT|DONE|DECISION|CHECKPOINT|ARTIFACT)\][*_`]{0,3}"
    r"[ \t:]*(.*)$",
    re.IGNORECASE,
)
_LOCKED = re.compile(r"[ \t][-–—][ \t]{1,8}LOCKED$", re.IGNORECASE)
_MOST_PROPOSED = 40
"""Proposals of one summary that are looked at."""

_MOST_TEXT = 600
_SAME_OF_PROPOSAL = 0.7
_SAME_OF_SENTENCE = 0.5
"""Share of the stems of the proposal, and of the sentence, that both must have where one does not hold the other."""

_FEWEST_STEMS = 2
_SURE_ENOUGH = 0.9


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line by which a model proposes a record.

    Attributes:
        kind: `rule`, `fact`, `done` or `decision`.
        text: What it says.
    """

    kind: str
    text: str


def split_reply(reply: str, *, markers: bool = True) -> tuple[str, list[Proposal]]:
    """A model's reply without its proposal lines, and the proposals.

    Args:
        reply: All that the model wrote.
        markers: Whether lines with the markers of a goal are taken out too (`[CHECKPOINT]`, `[ARTIFACT]`): where there
            is a goal it states what they report.

    Returns:
        The summary, and at most 40 proposals. Where nothing but such lines was written, they are the summary.
    """
    kept: list[str] = []
    proposals: list[Proposal] = []
    for line in reply.splitlines():
        found = _LINE.match(line) if "[" in line[:24] else None
        kind = found[1].lower() if found else ""
        if found is None or (kind in {"checkpoint", "artifact"} and not markers):
            kept.append(line)
        elif kind in {"rule", "fact", "done", "decision"} and (text := _LOCKED.sub("", found[2].strip())[:_MOST_TEXT]):
            proposals.append(Proposal(kind, text))
    summary = "\n".join(kept).strip()
    return (summary if any(map(str.isalnum, summary)) else reply.strip()), proposals[:_MOST_PROPOSED]


def take_up(fresh: Ledger, proposals: Sequence[Proposal], messages: Sequence[BaseMessage]) -> Ledger:
    """The ledger of a stretch of conversation with those proposals that its messages bear out.

    Args:
        fresh: What was extracted from the messages (`extract_records`).
        proposals: What the model proposes.
        messages: The messages that were summarised. A proposal that none of them bears out is refused.

    Returns:
        The same ledger where nothing is taken up.
    """
    if not proposals:
        return fresh
    said = list(_said_by_user(messages))
    statements = [record for p in proposals if p.kind in {"rule", "fact"} for record in _statement(p, said, fresh)]
    decisions = list(_decisions([p for p in proposals if p.kind == "decision"], messages, fresh))
    requests = _finished(fresh.requests, [p for p in proposals if p.kind == "done"], messages)
    if not statements and not decisions and requests == fresh.requests:
        return fresh
    return settle(
        fresh.model_copy(
            update={
                "rules": (*fresh.rules, *(record for record in statements if isinstance(record, Rule))),
                "facts": (*fresh.facts, *(record for record in statements if isinstance(record, Fact))),
                "decisions": (*fresh.decisions, *decisions),
                "requests": requests,
            }
        )
    )


def finish(ledger: Ledger, proposals: Sequence[Proposal], messages: Sequence[BaseMessage]) -> Ledger:
    """The ledger with those of its open requests finished that the model says are done, where a message answers.

    Args:
        ledger: What is known of earlier messages too.
        proposals: What the model proposes.
        messages: The messages that were summarised.
    """
    done = [proposal for proposal in proposals if proposal.kind == "done"]
    requests = _finished(ledger.requests, done, messages) if done else ledger.requests
    return ledger if requests == ledger.requests else ledger.model_copy(update={"requests": requests})


def _said_by_user(messages: Sequence[BaseMessage]) -> Iterator[tuple[int, str, Sentence]]:
    """The user's own sentences, with the place and the name of their message."""
    for place, message in enumerate(messages):
        if kind_of(message) == "human" and not is_summary(message):
            source = message.id or content_hash(message)
            yield from ((place, source, sentence) for sentence in sentences(extract_text_content(message)))


def _statement(proposal: Proposal, said: Sequence[tuple[int, str, Sentence]], fresh: Ledger) -> Iterator[Rule | Fact]:
    """The user's sentence that the proposal quotes, as a record; none where nobody said it or it is known."""
    found = _best(proposal.text, said, lambda item: item[2].text)
    if found is None:
        return
    place, source, sentence = found
    judged = judge(sentence, 0.0)
    known = {same_text(record.text) for record in (*fresh.rules, *fresh.facts) if source in record.sources}
    if same_text(judged.text) in known or judged.question or request_weight(judged) > 0.45:
        return
    fields: dict[str, Any] = {
        "text": judged.text,
        "sources": (source,),
        "order": place,
        "weight": max(judged.weight, _SURE_ENOUGH),
        "key": judged.about,
        "slots": tuple(dict.fromkeys(value.value for value in judged.values)),
        "update": judged.update,
        "takes_back": judged.takes_back,
        "definite": judged.definite,
        "subject": judged.subject,
        "verb": judged.verb,
    }
    yield Rule(**fields) if _may_be_rule(proposal, judged) else Fact(**fields)


def _may_be_rule(proposal: Proposal, judged: Judgement) -> bool:
    """Whether a sentence has anything of a rule. Rules are never evicted, so a model's word for it is too little."""
    return proposal.kind == "rule" and judged.reading.has(*STANDING_CUES)


def _decisions(
    proposals: Sequence[Proposal], messages: Sequence[BaseMessage], fresh: Ledger
) -> Iterator[DecisionRecord]:
    if not proposals:
        return
    said = [
        (place, message.id or content_hash(message), sentence)
        for place, message in enumerate(messages)
        if kind_of(message) in {"human", "ai"} and not is_summary(message)
        for line in own_lines(extract_text_content(message))
        for sentence in split_sentences(line)
    ]
    known = {same_text(record.text) for record in fresh.decisions}
    for proposal in proposals:
        found = _best(proposal.text, said, lambda item: item[2])
        if found is not None and same_text(proposal.text) not in known:
            place, source, sentence = found
            key = tuple(sorted(content_stems(sentence)))
            yield DecisionRecord(text=sentence, sources=(source,), order=place, weight=0.8, key=key)


def _finished(
    requests: tuple[Request, ...], done: Sequence[Proposal], messages: Sequence[BaseMessage]
) -> tuple[Request, ...]:
    """The requests with those finished that are said to be done, where an AI message stands behind them."""
    opened = [request for request in requests if request.status == "open"]
    places = {message.id or content_hash(message): place for place, message in enumerate(messages)}
    last_answer = max((place for place, message in enumerate(messages) if _answers(message)), default=-1)
    closed: set[tuple[str, tuple[str, ...]]] = set()
    for proposal in done:
        found = _best(proposal.text, opened, lambda request: request.text)
        if found is not None and max((places.get(source, -1) for source in found.sources), default=-1) < last_answer:
            closed.add((found.text, found.sources))
    return tuple(
        request.model_copy(update={"status": "finished"}) if (request.text, request.sources) in closed else request
        for request in requests
    )


def _answers(message: BaseMessage) -> bool:
    return kind_of(message) == "ai" and bool(extract_text_content(message).strip())


def _best(proposed: str, items: Iterable[T], text_of: Callable[[T], str]) -> T | None:
    """The item that says what is proposed, the newest of the best; `None` where none does."""
    quoted, stems = same_text(proposed.strip("\"'“”«»„ ")), content_stems(proposed)
    best, best_share = None, 0.0
    for item in items:
        text = text_of(item)
        share = _share(quoted, stems, text)
        if share and share >= best_share:
            best, best_share = item, share
    return best


def _share(quoted: str, stems: frozenset[str], text: str) -> float:
    """How much of a proposal a sentence says: 1 where one quotes the other, 0 where it is too little."""
    said = same_text(text)
    if said == quoted:
        return 2.0
    if len(quoted) > 8 and (quoted in said or (len(said) > 8 and said in quoted)):
        return 1.0
    own = content_stems(text)
    both = len(stems & own)
    if both < _FEWEST_STEMS or both < _SAME_OF_PROPOSAL * len(stems) or both < _SAME_OF_SENTENCE * len(own):
        return 0.0
    return both / len(stems | own)
