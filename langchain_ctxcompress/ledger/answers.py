"""What the AI and its tools said: files that were changed, decisions that were marked, and exact values.

It is read less closely than the user's own words: nobody wrote it down to be kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress.ledger.artifacts import file_changes
from langchain_ctxcompress.ledger.lexicon import content_stems, read
from langchain_ctxcompress.ledger.records import (
    ArtifactRecord,
    DecisionRecord,
    Done,
    Fact,
    Request,
    Rule,
    Superseded,
    ValueRecord,
)
from langchain_ctxcompress.ledger.subjects import subject_of, subject_of_key
from langchain_ctxcompress.ledger.tasks import is_about, puts_off
from langchain_ctxcompress.ledger.values import ERROR_MENTION, find_values
from langchain_ctxcompress.ledger.voice import own_lines, split_sentences
from langchain_ctxcompress.messages import extract_text_content

SCANNED = 4_000
"""Characters of an AI message or tool result that are read for topics and values; its rest adds nothing the user
said."""
_VALUES_OF_RESULT = 12
_LONG_ANSWER = 200
_STEMS_OF_ANSWER = 400
_RESULTS_AT_HAND = 8
_RESULT_SEARCHED = 400_000
_AI_DECISION = "[decision]"
_KEPT_KINDS_OF_AI = frozenset({"id", "amount", "path", "url", "hash", "email", "branch", "version", "error"})


@dataclass(slots=True)
class LedgerDraft:
    """The records of a stretch of conversation, as far as it was read."""

    statements: list[Rule | Fact] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)
    artifacts: list[ArtifactRecord] = field(default_factory=list)
    values: list[ValueRecord] = field(default_factory=list)
    superseded: list[Superseded] = field(default_factory=list)
    first_reply: Literal["none", "moved_on", "not_done"] = "none"
    asked_before: Literal["", "answered", "undone", "redone", "finished"] = ""
    seen_paths: set[str] = field(default_factory=set)
    results: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_RESULTS_AT_HAND))
    """The newest tool results as a whole, with the names of their messages."""
    waiting: list[int] = field(default_factory=list)
    """The places of open requests that nothing answers yet; each message looks at these alone, not at all requests."""
    replied: list[int] = field(default_factory=list)
    """The places of open requests that were answered."""
    tasks: list[Request] = field(default_factory=list)
    """What the newest human message may ask for without a word that says so: a request once it was carried out."""
    worked: set[str] = field(default_factory=set)
    """Stems of the calls that were carried out since the newest human message."""
    done: list[Done] = field(default_factory=list)
    """What was done, answer by answer."""
    opening: Fact | None = None
    """The short answer of the first message, to a question that was asked before."""
    last_finished: int = -1
    """The greatest place of a finished request."""

    def ask(self, request: Request) -> None:
        """Add an open request."""
        self.waiting.append(len(self.requests))
        self.requests.append(request)

    def answer(self, text: str = "", order: int = 0) -> None:
        """An AI message that calls no tool answers what is open; one that does is still at work.

        Args:
            text: What it says: a few words that put work off answer nothing.
            order: Its place.
        """
        idle = bool(text) and not self.worked and puts_off(text)
        stems = frozenset(self.worked) | (content_stems(text[:SCANNED]) if text and not idle else frozenset())
        for place in self.waiting:
            request = self.requests[place]
            put_off = idle and request.terms > 0
            update: dict[str, Any] = {"put_off": True} if put_off else {"answered": True}
            if self.worked and is_about(request.about or request.key, stems, least=1):
                update["carried_out"] = True
            self.requests[place] = request.model_copy(update=update)
        self.replied += [place for place in self.waiting if not self.requests[place].put_off]
        self.waiting = []
        for task in self.tasks if self.worked else ():
            if is_about(task.about, stems, least=1):
                self.replied.append(len(self.requests))
                self.requests.append(task.model_copy(update={"answered": True, "carried_out": True}))
        if self.tasks and self.worked:
            self.tasks = []
        if stems and (self.worked or len(text) > _LONG_ANSWER):
            self.done.append(Done(order=order, stems=tuple(sorted(stems)[:_STEMS_OF_ANSWER])))
        if self.asked_before == "undone":
            self.asked_before = "redone"
        self.asked_before = self.asked_before or "answered"

    def go_on(self, *, complains: bool) -> None:
        """A new human message finishes what was answered; one that says that it is not done leaves the last one open.

        Args:
            complains: Whether it says so.
        """
        self.tasks = []
        self.worked = set()
        last = max((self.last_finished, *self.replied))
        for place in self.replied:
            undone = complains and place == last
            update: dict[str, Any] = {"answered": False} if undone else {"status": "finished"}
            self.requests[place] = self.requests[place].model_copy(update=update)
            if undone:
                self.waiting.append(place)
            else:
                self.last_finished = max(self.last_finished, place)
        self.replied = []
        if self.asked_before in {"answered", "redone"}:
            self.asked_before = "undone" if complains and last < 0 else "finished"


def read_answer(draft: LedgerDraft, messages: Sequence[BaseMessage], index: int, source: str) -> None:
    """Read an AI message: its calls, the decisions it marks, and the values in its words."""
    message = messages[index]
    if isinstance(message, AIMessage):
        failed = _failed_calls(messages, index)
        for call in message.tool_calls:
            _read_call(draft, call["name"], call["args"], source, index, failed=call["id"] in failed)
            if call["id"] not in failed:
                draft.worked |= content_stems(f"{call['name'].replace('_', ' ')} {call['args']}"[:SCANNED])
    text = extract_text_content(message)
    if text.strip() and not getattr(message, "tool_calls", None):
        draft.answer(text, index)
    for line in own_lines(text[: 4 * SCANNED]) if _AI_DECISION in text.lower() else ():
        body = line.strip().lstrip("-*• ")
        if body.lower().startswith(_AI_DECISION) and len(body) < 1_000:
            said = body[len(_AI_DECISION) :].strip()
            key = tuple(sorted(read(said[:600]).content))
            record = DecisionRecord(text=said, sources=(source,), order=index, weight=0.8, key=key)
            draft.decisions += [record] if said else []
    _add_values(draft, text[:SCANNED], source, index, by="ai", limit=_VALUES_OF_RESULT)


def read_result(draft: LedgerDraft, text: str, source: str, order: int, *, cleared: bool = False) -> None:
    """Read a tool result: kept at hand as a whole, and where it speaks of an error, which one it was.

    What stood in one that was cleared is not known any more: then what the answer says may well have been in it.
    """
    draft.results.append((source, "" if cleared else text[:_RESULT_SEARCHED] or " "))
    if not ERROR_MENTION.search(text[:SCANNED]):
        return
    _add_values(draft, text[:SCANNED], source, order, by="tool", limit=_VALUES_OF_RESULT)


def _failed_calls(messages: Sequence[BaseMessage], index: int) -> set[str]:
    failed: set[str] = set()
    for place in range(index + 1, len(messages)):
        message = messages[place]
        if not isinstance(message, ToolMessage):
            break
        if message.status == "error":
            failed.add(message.tool_call_id)
    return failed


def _read_call(draft: LedgerDraft, name: str, args: dict[str, Any], source: str, order: int, *, failed: bool) -> None:
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


def _add_values(
    draft: LedgerDraft, text: str, source: str, order: int, *, by: Literal["ai", "tool"], limit: int
) -> None:
    added = 0
    for sentence in split_sentences(text) if by == "ai" else (text,):
        for value in find_values(sentence):
            if value.kind not in _KEPT_KINDS_OF_AI or (by == "tool" and value.kind not in {"error"}):
                continue
            subject, key = subject_of(sentence, value)
            # What the answer takes up out of all that a result holds is met twice: here, and where it came from.
            told = next((name for name, result in draft.results if value.value in result), "") if by == "ai" else ""
            cleared = by == "ai" and not told and any(not result for _, result in draft.results)
            draft.values.append(
                ValueRecord(
                    text=value.value,
                    sources=(told, source) if told else (source,),
                    uses=2 if told or cleared else 1,
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
