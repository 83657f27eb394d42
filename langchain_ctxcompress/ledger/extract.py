"""From messages to records: the user's words, the tool calls, and the exact values in play.

Called with the newly covered messages only; `merge` joins the result with what is known. Time is linear in the size
of the messages.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.ledger.answers import SCANNED, LedgerDraft, read_answer, read_result
from langchain_ctxcompress.ledger.fields import Field, read_fields
from langchain_ctxcompress.ledger.lasting_clauses import LONG_MOMENT, SIGNS_OF_WORD, TOLD, Heard, lasting_clauses
from langchain_ctxcompress.ledger.lexicon import content_stems, read
from langchain_ctxcompress.ledger.merge import settle
from langchain_ctxcompress.ledger.records import Fact, Ledger, Request, Rule, Superseded, ValueRecord
from langchain_ctxcompress.ledger.replies import answered, is_short_answer, question_of
from langchain_ctxcompress.ledger.request_status import reply_of, request_weight, shorten_request
from langchain_ctxcompress.ledger.statements import FACT_WEIGHT, Judgement, judge
from langchain_ctxcompress.ledger.subjects import measured_things, subject_of, subject_of_key
from langchain_ctxcompress.ledger.succession import speaks_of_a_way
from langchain_ctxcompress.ledger.taking_back import taken_back
from langchain_ctxcompress.ledger.tasks import MOST_TEXT, main_stems, may_be_carried_out, told_weight, with_terms
from langchain_ctxcompress.ledger.values import FoundValue
from langchain_ctxcompress.ledger.voice import Sentence, sentences
from langchain_ctxcompress.messages import content_hash, extract_text_content, is_derived, is_summary, kind_of

_FEW_WORDS = 6
_PERMISSION = 0.5
_INSTEAD = 0.85
"""What is said in the place of something that was taken back."""

_LOOSE = frozenset({"quantity", "percent", "time"})
_SENTENCES_OF_MESSAGE = 200
_TASKS_OF_MESSAGE = 20
_WHOLE = 600


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a human message stands: its id, its position, and the question in front of it; `None`: not known here."""

    source: str
    order: int
    asked: str | None = ""


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
    draft = LedgerDraft()
    for index, message in enumerate(messages):
        kind = kind_of(message)
        if is_summary(message) or kind in {"system", "other"}:
            continue
        source = message.id or content_hash(message)
        if kind == "human":
            echo = _answer_stems(messages, stems, index)
            asked = question_of(messages[index - 1]) if index else None
            _read_human(draft, extract_text_content(message), _Place(source, index, asked), Heard(heard, echo))
        elif kind == "ai":
            read_answer(draft, messages, index, source)
        elif kind == "tool":
            read_result(draft, extract_text_content(message), source, index, cleared=is_derived(message))
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
            asked_before=draft.asked_before,
            done=tuple(draft.done),
            asking=question_of(messages[-1]) if messages else "",
            opening=draft.opening,
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
    return text if kind_of(message) == "human" and len(text) < 8 * SCANNED else text[:SCANNED]


def _answer_stems(messages: Sequence[BaseMessage], stems: list[frozenset[str]], index: int) -> frozenset[str]:
    """Stems of the AI message that answers directly: its "noted, no nuts" does not make the nuts a topic."""
    after = index + 1
    return stems[after] if after < len(messages) and kind_of(messages[after]) == "ai" else frozenset()


def _read_human(draft: LedgerDraft, text: str, place: _Place, heard: Heard) -> None:
    fields = read_fields(text)
    if fields:
        _add_fields(draft, fields, place)
    said = sentences(text)[:_SENTENCES_OF_MESSAGE]
    judgements = [judge(sentence, heard.novelty(read(sentence.spoken).content)) for sentence in said]
    if judgements:
        reply = reply_of(judgements)
        draft.first_reply = reply if draft.first_reply == "none" else draft.first_reply
        draft.go_on(complains=reply == "not_done")
    answers = len(said) == 1 and place.asked != "" and is_short_answer(judgements[0])
    if answers:
        _add_answer(draft, judgements[0], place)
    for sentence, judgement in zip(said, judgements, strict=True):
        within = lasting_clauses(sentence, judgement, heard)
        _add_statement(draft, judgement, place, values_alone=bool(within) or (answers and bool(place.asked)))
        for clause in within:
            _add_statement(draft, clause, place)
    _add_request(draft, said, judgements, place, heard)


def _add_answer(draft: LedgerDraft, judged: Judgement, place: _Place) -> None:
    """A short answer, with its question; where that was asked before this stretch, `merge` knows it."""
    fact = Fact(
        text=judged.text,
        sources=(place.source,),
        order=place.order,
        weight=judged.weight,
        key=judged.about,
        slots=tuple(dict.fromkeys(value.value for value in judged.values)),
    )
    if place.asked:
        draft.statements.append(answered(fact, place.asked))
    else:
        draft.opening = fact


def _add_statement(draft: LedgerDraft, judged: Judgement, place: _Place, *, values_alone: bool = False) -> None:
    said_values = tuple(dict.fromkeys(value.value for value in judged.values))
    weight = judged.weight
    replaced = _replaced_values(judged)
    for value in judged.values:
        if value.value not in replaced:
            _add_user_value(draft, judged, value, replaced.values(), place)
    kind = judged.kind
    if behind := taken_back(judged.text):
        kind, weight = (kind if kind == "rule" else "fact"), max(weight, _INSTEAD)
    if kind == "moment" and judged.about and judged.takes_back == "permits":
        kind, weight = "fact", max(weight, _PERMISSION)
    elif kind == "moment" and judged.about and judged.takes_back == "forgets":
        gone = Superseded(text=judged.text, key=judged.about, order=place.order, whole=True, sources=(place.source,))
        draft.superseded.append(gone)
        return
    if kind == "moment" and judged.update and said_values and not judged.reading.has("ask", "want"):
        kind, weight = "fact", max(weight, FACT_WEIGHT)
    if judged.definite and not judged.question and any(value.kind not in _LOOSE for value in judged.values):
        kind, weight = (kind if kind == "rule" else "fact"), max(weight, TOLD)
    if kind == "moment" and not judged.question and judged.takes_back == "" and _tells_a_value(judged, said_values):
        # Little on its own, yet it may give anew what an earlier message said: what is known of that decides.
        kind, weight = "fact", min(weight, FACT_WEIGHT)
    if kind == "moment" and any(speaks_of_a_way(judged.text, value) for value in said_values):
        kind, weight = "fact", min(weight, FACT_WEIGHT)  # "can you push the table to 20:30?"
    if kind == "moment" or values_alone:
        return
    if behind:
        said = Superseded(text=" ".join(behind), key=behind, order=place.order, whole=True, sources=(place.source,))
        draft.superseded.append(said)
    record: dict[str, Any] = {
        "text": judged.text,
        "sources": (place.source,),
        "order": place.order,
        "weight": weight,
        "key": judged.about,
        "slots": said_values,
        "update": judged.update,
        "takes_back": "" if behind else judged.takes_back,
        "definite": judged.definite,
        "subject": judged.subject,
        "verb": judged.verb,
    }
    draft.statements.append(Rule(**record) if kind == "rule" else Fact(**record))


def _tells_a_value(judged: Judgement, values: Sequence[str]) -> bool:
    """Whether a sentence that is worth little as a whole is short, and gives a value or a change of what it names."""
    short = len(judged.reading.words) <= (LONG_MOMENT * SIGNS_OF_WORD if judged.reading.unspaced else LONG_MOMENT)
    return bool(values or judged.update) and bool(judged.about) and short and not judged.reading.has("ask", "want")


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
    draft: LedgerDraft, judged: Judgement, value: FoundValue, replaced: Iterable[FoundValue], place: _Place
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


def _add_fields(draft: LedgerDraft, fields: list[Field], place: _Place) -> None:
    """The fields of a message that is data alone: as one statement, and each as a value under its name."""
    draft.go_on(complains=False)
    draft.first_reply = "moved_on" if draft.first_reply == "none" else draft.first_reply
    subjects = [subject_of_key(each.name) for each in fields]
    draft.statements.append(
        Fact(
            text="; ".join(f"{each.name}: {each.value}" for each in fields),
            sources=(place.source,),
            order=place.order,
            weight=TOLD,
            key=tuple(sorted({stem for _, stems in subjects for stem in stems})),
            slots=tuple(dict.fromkeys(each.value for each in fields)),
            definite=True,
        )
    )
    for each, (subject, stems) in zip(fields, subjects, strict=True):
        draft.values.append(
            ValueRecord(
                text=each.value,
                sources=(place.source,),
                order=place.order,
                weight=0.5,
                key=stems,
                value_kind=each.kind,
                subject=subject,
                by="user",
            )
        )


def _add_request(
    draft: LedgerDraft, said: list[Sentence], judgements: list[Judgement], place: _Place, heard: Heard
) -> None:
    """The request of a message, with its terms; and what else in it may be a request, if it is carried out."""
    best = -1
    best_weight = 0.45
    for at, judged in enumerate(judgements):
        if judged.kind == "rule":
            continue
        weight = request_weight(judged)
        if weight > best_weight:
            best, best_weight = at, weight
    taken: range = range(0)
    if best >= 0:
        taken = range(*with_terms(said, judgements, best))
        draft.ask(_request(said, judgements, taken, place, heard, weight=best_weight, best=best))
    for at, sentence in enumerate(said[:_TASKS_OF_MESSAGE]):
        if at not in taken and may_be_carried_out(sentence, judgements[at]):
            taken = range(*with_terms(said, judgements, at))
            draft.tasks.append(_request(said, judgements, taken, place, heard, weight=best_weight, best=at))


def _request(
    said: list[Sentence],
    judgements: list[Judgement],
    taken: range,
    place: _Place,
    heard: Heard,
    *,
    weight: float,
    best: int,
) -> Request:
    judged = judgements[best]
    if len(taken) > 1:
        whole = " ".join((judgements[taken[0]].text, *(said[at].text for at in taken[1:])))[:_WHOLE]
        judged = judge(Sentence(whole, whole, "", bullet=False), heard.novelty(read(whole).content))
    told = told_weight(judged, heard.novelty(judged.reading.content))
    text = shorten_request(judged.text, MOST_TEXT) if told else shorten_request(judgements[best].text)
    return Request(
        text=text,
        sources=(place.source,),
        order=place.order,
        weight=round(min(1.0, weight), 3),
        key=tuple(sorted(judged.reading.content if told else judgements[best].reading.content)),
        terms=told,
        about=main_stems(said[taken[0]]),
    )
