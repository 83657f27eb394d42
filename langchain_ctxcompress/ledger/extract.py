"""From messages to records: the user's words, the tool calls, and the exact values in play.

Called with the newly covered messages only; `merge` joins the result with what is known. Time is linear in the size
of the messages.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress.ledger.artifacts import file_changes
from langchain_ctxcompress.ledger.lexicon import content_stems, read
from langchain_ctxcompress.ledger.merge import settle
from langchain_ctxcompress.ledger.records import (
    ArtifactRecord,
    DecisionRecord,
    Fact,
    Ledger,
    Request,
    Rule,
    Superseded,
    ValueRecord,
)
from langchain_ctxcompress.ledger.request_status import reply_of, request_weight, shorten_request
from langchain_ctxcompress.ledger.statements import FACT_WEIGHT, Judgement, judge
from langchain_ctxcompress.ledger.subjects import measured_things, subject_of, subject_of_key
from langchain_ctxcompress.ledger.values import ERROR_MENTION, FoundValue, find_values
from langchain_ctxcompress.ledger.voice import own_lines, sentences, split_sentences
from langchain_ctxcompress.messages import content_hash, extract_text_content, is_summary, kind_of

_SCANNED = 4_000
"""Characters of an AI message or tool result that are read for topics and values; its rest adds nothing the user
said."""
_FEW_WORDS = 6
_PERMISSION = 0.5
_SENTENCES_OF_MESSAGE = 200
_VALUES_OF_RESULT = 12
_AI_DECISION = "[decision]"
_KEPT_KINDS_OF_AI = frozenset({"id", "amount", "path", "url", "hash", "email", "branch", "version", "error"})


@dataclass(slots=True)
class _Draft:
    """The records found so far."""

    statements: list[Rule | Fact] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    closed: int = 0  # so many of the requests are finished; those behind them are open
    decisions: list[DecisionRecord] = field(default_factory=list)
    artifacts: list[ArtifactRecord] = field(default_factory=list)
    values: list[ValueRecord] = field(default_factory=list)
    superseded: list[Superseded] = field(default_factory=list)
    first_reply: Literal["none", "moved_on", "not_done"] = "none"
    seen_paths: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a human message stands: its id, and its position."""

    source: str
    order: int


@dataclass(frozen=True, slots=True)
class _Heard:
    """How many messages say each stem, and the stems of the one that answers: an echo does not make a topic."""

    messages: Counter[str]
    echo: frozenset[str]

    def novelty(self, content: Sequence[str]) -> float:
        """The share of topic stems that no other message says."""
        fresh = sum(1 for word in content if self.messages[word] - (word in self.echo) <= 1)
        return fresh / len(content) if content else 0.0


def extract_records(messages: Sequence[BaseMessage]) -> Ledger:
    """Extract the records of a stretch of conversation.

    Args:
        messages: Messages in order; summary messages and system messages among them are skipped.

    Returns:
        A settled ledger: what was superseded within the stretch is no longer current in it. Each record's sources
        are ids of these messages (a message without an id is named by the hash of its content).
    """
    texts = [_text_for_topics(message) for message in messages]
    stems = [content_stems(text) for text in texts]
    heard: Counter[str] = Counter()
    for found in stems:
        heard.update(found)
    draft = _Draft()
    for index, message in enumerate(messages):
        kind = kind_of(message)
        if is_summary(message) or kind in {"system", "other"}:
            continue
        source = message.id or content_hash(message)
        if kind == "human":
            echo = _answer_stems(messages, stems, index)
            _read_human(draft, extract_text_content(message), _Place(source, index), _Heard(heard, echo))
        elif kind == "ai":
            _read_ai(draft, messages, index, source)
        elif kind == "tool" and ERROR_MENTION.search(texts[index]):
            _add_values(draft, texts[index][:_SCANNED], source, index, by="tool", limit=_VALUES_OF_RESULT)
    return settle(
        Ledger(
            rules=tuple(record for record in draft.statements if isinstance(record, Rule)),
            facts=tuple(record for record in draft.statements if isinstance(record, Fact)),
            requests=tuple(draft.requests),
            decisions=tuple(draft.decisions),
            artifacts=tuple(draft.artifacts),
            values=tuple(draft.values),
            superseded=tuple(draft.superseded),
            first_reply=draft.first_reply,
            parts=(_part_name(messages),) if messages else (),
            heard=dict(heard),
        )
    )


def _part_name(messages: Sequence[BaseMessage]) -> str:
    """The name of a stretch: the same for the same messages, in every process."""
    ends = (messages[0], messages[-1])
    said = "\x1f".join([*(message.id or content_hash(message) for message in ends), str(len(messages))])
    return hashlib.blake2b(said.encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()


def _text_for_topics(message: BaseMessage) -> str:
    text = extract_text_content(message)
    return text if kind_of(message) == "human" and len(text) < 8 * _SCANNED else text[:_SCANNED]


def _answer_stems(messages: Sequence[BaseMessage], stems: list[frozenset[str]], index: int) -> frozenset[str]:
    """Stems of the AI message that answers directly: its "noted, no nuts" does not make the nuts a topic."""
    after = index + 1
    return stems[after] if after < len(messages) and kind_of(messages[after]) == "ai" else frozenset()


def _read_human(draft: _Draft, text: str, place: _Place, heard: _Heard) -> None:
    judgements = [
        judge(sentence, heard.novelty(read(sentence.spoken).content))
        for sentence in sentences(text)[:_SENTENCES_OF_MESSAGE]
    ]
    if draft.first_reply == "none" and judgements:
        draft.first_reply = reply_of(judgements)
    _close_requests(draft, judgements)
    for judgement in judgements:
        _add_statement(draft, judgement, place)
    _add_request(draft, judgements, place)


def _add_statement(draft: _Draft, judged: Judgement, place: _Place) -> None:
    said_values = tuple(dict.fromkeys(value.value for value in judged.values))
    weight = judged.weight
    replaced = _replaced_values(judged)
    for value in judged.values:
        if value.value not in replaced:
            _add_user_value(draft, judged, value, replaced.values(), place)
    kind = judged.kind
    if kind == "moment" and judged.about and judged.takes_back == "permits":
        kind, weight = "fact", max(weight, _PERMISSION)
    elif kind == "moment" and judged.about and judged.takes_back == "forgets":
        gone = Superseded(text=judged.text, key=judged.about, order=place.order, whole=True, sources=(place.source,))
        draft.superseded.append(gone)
        return
    if kind == "moment" and judged.update and said_values and not judged.reading.has("ask", "want"):
        kind, weight = "fact", max(weight, FACT_WEIGHT)
    if kind == "moment":
        return
    record: dict[str, Any] = {
        "text": judged.text,
        "sources": (place.source,),
        "order": place.order,
        "weight": weight,
        "key": judged.about,
        "slots": said_values,
        "update": judged.update,
        "takes_back": judged.takes_back,
        "definite": judged.definite,
        "subject": judged.subject,
        "verb": judged.verb,
    }
    draft.statements.append(Rule(**record) if kind == "rule" else Fact(**record))


def _replaced_values(judged: Judgement) -> dict[str, FoundValue]:
    """The values that a sentence names only to replace them: "from 4 to 6", "14 May, not 3 May"."""
    replaced: dict[str, FoundValue] = {}
    if not judged.update:
        return replaced
    for first, second in pairwise(judged.values):
        between = judged.text[first.end : second.start]
        if first.kind != second.kind or first.value == second.value or read(between.strip() or "-").content:
            continue
        if read(between).has("instead", "not") and not read(between).has("contrast"):
            replaced[second.value] = second
        else:
            replaced[first.value] = first
    return replaced


def _add_user_value(
    draft: _Draft, judged: Judgement, value: FoundValue, replaced: Iterable[FoundValue], place: _Place
) -> None:
    subject, key = subject_of(judged.text, value)
    if value.kind == "quantity" and not subject and not judged.update:
        return
    alone = sum(other.kind == value.kind for other in judged.values) == 1
    about = tuple(word for word in judged.about if word != judged.verb)
    if alone and about and len(about) <= _FEW_WORDS:
        key = about
    measures = alone and not judged.question and not judged.reading.unspaced
    things = measured_things(judged.text, value, judged.subject if judged.definite else None) if measures else ()
    draft.values.append(
        ValueRecord(
            text=value.value,
            sources=(place.source,),
            order=place.order,
            weight=0.5,
            key=key,
            value_kind=value.kind,
            subject=subject,
            by="user",
            single=judged.definite,
            update=judged.update,
            replaces=tuple(old.value for old in replaced if old.kind == value.kind),
            things=things,
        )
    )


def _add_request(draft: _Draft, judgements: list[Judgement], place: _Place) -> None:
    best: Judgement | None = None
    best_weight = 0.45
    for judged in judgements:
        if judged.kind == "rule":
            continue
        weight = request_weight(judged)
        if weight > best_weight:
            best, best_weight = judged, weight
    if best is not None:
        record = Request(
            text=shorten_request(best.text),
            sources=(place.source,),
            order=place.order,
            weight=round(min(1.0, best_weight), 3),
            key=tuple(sorted(best.reading.content)),
        )
        draft.requests.append(record)


def _close_requests(draft: _Draft, judgements: list[Judgement]) -> None:
    """A new human message closes what was asked before; one that says that it is not done leaves the last one open."""
    until = len(draft.requests) - (reply_of(judgements) == "not_done") if judgements else 0
    for place in range(draft.closed, until):
        draft.requests[place] = draft.requests[place].model_copy(update={"status": "finished"})
    draft.closed = max(draft.closed, until)


def _read_ai(draft: _Draft, messages: Sequence[BaseMessage], index: int, source: str) -> None:
    message = messages[index]
    if isinstance(message, AIMessage):
        failed = _failed_calls(messages, index)
        for call in message.tool_calls:
            _read_call(draft, call["name"], call["args"], source, index, failed=call["id"] in failed)
    text = extract_text_content(message)
    for line in own_lines(text[: 4 * _SCANNED]) if _AI_DECISION in text.lower() else ():
        body = line.strip().lstrip("-*• ")
        if body.lower().startswith(_AI_DECISION) and len(body) < 1_000:
            said = body[len(_AI_DECISION) :].strip()
            key = tuple(sorted(read(said[:600]).content))
            record = DecisionRecord(text=said, sources=(source,), order=index, weight=0.8, key=key)
            draft.decisions += [record] if said else []
    _add_values(draft, text[:_SCANNED], source, index, by="ai", limit=_VALUES_OF_RESULT)


def _failed_calls(messages: Sequence[BaseMessage], index: int) -> set[str]:
    failed: set[str] = set()
    for place in range(index + 1, len(messages)):
        message = messages[place]
        if not isinstance(message, ToolMessage):
            break
        if message.status == "error":
            failed.add(message.tool_call_id)
    return failed


def _read_call(draft: _Draft, name: str, args: dict[str, Any], source: str, order: int, *, failed: bool) -> None:
    changes = list(file_changes(name, args))
    for path, action in changes if not failed else ():
        known = path in draft.seen_paths
        draft.seen_paths.add(path)
        shown = "modified" if action == "created" and known else action
        draft.artifacts.append(ArtifactRecord(text=path, sources=(source,), order=order, weight=0.6, action=shown))
    changed = {path for path, _ in changes}
    for key, text in _short_arguments(args):
        if text in changed:
            continue
        found = next(find_values(text), None)
        if found and found.value == text.strip() and found.kind not in {"quantity", "time", "percent"}:
            subject, stems = subject_of_key(key)
            draft.values.append(
                ValueRecord(
                    text=found.value,
                    sources=(source,),
                    order=order,
                    weight=0.4,
                    key=stems,
                    value_kind=found.kind,
                    subject=subject,
                    by="call",
                )
            )


def _short_arguments(args: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in list(args.items())[:30]:
        items = value[:10] if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, str) and 2 < len(item) <= 120 and " " not in item.strip():
                yield str(key), item


def _add_values(draft: _Draft, text: str, source: str, order: int, *, by: Literal["ai", "tool"], limit: int) -> None:
    added = 0
    for sentence in split_sentences(text) if by == "ai" else (text,):
        for value in find_values(sentence):
            if value.kind not in _KEPT_KINDS_OF_AI or (by == "tool" and value.kind not in {"error"}):
                continue
            subject, key = subject_of(sentence, value)
            draft.values.append(
                ValueRecord(
                    text=value.value,
                    sources=(source,),
                    order=order,
                    weight=0.2,
                    key=key,
                    value_kind=value.kind,
                    subject=subject,
                    by=by,
                )
            )
            added += 1
            if added == limit:
                return
