"""`emergency`: the last resort over the hard limit. Says less of the past, cuts what is largest, drops what may go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import (
    MARK_KEY,
    apply_compressed_content,
    extract_text_content,
    is_pinned,
    is_summary,
    kind_of,
    newest_human,
)
from langchain_ctxcompress.storage import summary_message
from langchain_ctxcompress.strategies.base import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    Reason,
    RungReport,
    Steps,
    Tools,
)
from langchain_ctxcompress.strategies.remembering import ledger_of, restated
from langchain_ctxcompress.strategies.rendering import render_summary
from langchain_ctxcompress.strategies.replacing import altered, dropped
from langchain_ctxcompress.strategies.top_down import droppable, opening, places_to_drop
from langchain_ctxcompress.summarize import shorten_summary

SMALLEST_SUMMARY = 100
"""Tokens: a level-1 summary (P2)."""

SMALLEST_CUT = 48
"""Tokens of a message that is cut to the least: some words of its head and tail around the marker."""

HEAD_SHARE = 0.6
"""Share of a cut text that is its head; the tail of a tool's output often holds the error."""

SMALLEST_VALUE = 8
"""Tokens of an argument that is cut to the least."""

LONG_ARGUMENT = 200
"""Characters from which on an argument of a tool call may be cut."""


class Emergency(CompressionStrategy):
    """Makes the list fit the hard limit by whatever may still go."""

    name = "emergency"

    def run(self, request: CompressionRequest) -> Steps:
        """Shorten the summary message, then cut the largest messages, then drop all that is not protected."""
        yield from ()
        limit = request.config.hard_limit_tokens - 1
        draft = CompressionDraft(request.messages, request.sizes, reason=Reason.EMERGENCY)
        for action in (_shorten_summary_message, _cut_largest, _drop_unprotected, _cut_newest_human):
            step = request.after(draft)
            if step.tokens <= limit:
                break
            draft = draft.then(action(step, step.tokens - limit))
        freed = request.tokens - request.overhead_tokens - draft.tokens
        if not freed:
            return request.unchanged(Reason.PROTECTED_SET_OVER_HARD_LIMIT, self.name)
        over = request.after(draft).tokens > limit
        reason = Reason.PROTECTED_SET_OVER_HARD_LIMIT if over else Reason.EMERGENCY
        report = RungReport(self.name, freed, reason)
        return CompressionDraft(draft.messages, draft.sizes, draft.checkpoints, reason, rungs=(report,))


def _shorten_summary_message(request: CompressionRequest, needed: int) -> CompressionDraft:
    """A short text and ledger in place of all that the summary message shows; the checkpoints stay as they are."""
    place = next((place for place, message in enumerate(request.messages) if is_summary(message)), None)
    if place is None or request.head is None:
        return _as_it_is(request)
    tools, head = request.tools, request.head
    room = max(SMALLEST_SUMMARY, request.sizes[place] - needed - SMALLEST_SUMMARY)
    _, ledger = restated(request, ledger_of(request), place, room - SMALLEST_SUMMARY)
    left = max(SMALLEST_SUMMARY, room - tools.count_text(ledger))
    text = shorten_summary("\n".join(c.text for c in request.shown), left, count=tools.count_text)
    newest = request.shown[-1] if request.shown else head
    rendered = render_summary([(newest.checkpoint_id, text)], (), count=head.count, ledger=ledger)
    message = summary_message(head.model_copy(update={"rendered": rendered}))
    if tools.count([message])[0] >= request.sizes[place]:
        return _as_it_is(request)  # it was shortened before
    return _exchanged(request, {place: message})


def _cut_largest(request: CompressionRequest, needed: int) -> CompressionDraft:
    """Cut unprotected messages head and tail, the largest first, until enough is freed."""
    changes: dict[int, BaseMessage] = {}
    untouchable = _untouchable(request)
    free = [place for place in range(len(request.messages)) if place not in untouchable]
    for place in sorted(free, key=lambda place: (-request.sizes[place], place)):
        if needed <= 0 or request.sizes[place] <= SMALLEST_CUT:
            break
        message = cut_message(request.messages[place], max(SMALLEST_CUT, request.sizes[place] - needed), request.tools)
        freed = request.sizes[place] - request.tools.count([message])[0]
        if freed > 0:
            changes[place] = message
            needed -= freed
    return _exchanged(request, changes)


def _drop_unprotected(request: CompressionRequest, needed: int) -> CompressionDraft:
    """Drop what is not protected from the front, the summary message last of all."""
    spans = sorted(droppable(request, opening(request, set())), key=lambda span: is_summary(request.messages[span[0]]))
    gone = places_to_drop(request, request.tokens - needed, spans)
    return dropped(request, gone, strategy=Emergency.name, reason=Reason.EMERGENCY) if gone else _as_it_is(request)


def _cut_newest_human(request: CompressionRequest, needed: int) -> CompressionDraft:
    """Cut the newest human messages, where the user opted in; never a pinned one."""
    if not request.config.cut_newest_human:
        return _as_it_is(request)
    changes: dict[int, BaseMessage] = {}
    for place in sorted(newest_human(request.messages), key=lambda place: -request.sizes[place]):
        if needed > 0 and not is_pinned(request.messages[place]):
            room = max(SMALLEST_CUT, request.sizes[place] - needed)
            changes[place] = cut_message(request.messages[place], room, request.tools)
            needed -= request.sizes[place] - request.tools.count([changes[place]])[0]
    return _exchanged(request, changes)


def _untouchable(request: CompressionRequest) -> set[int]:
    """System, pinned, newest human and summary messages themselves; their spans may be cut, since no call is lost."""
    own = {p for p, m in enumerate(request.messages) if kind_of(m) == "system" or is_pinned(m) or is_summary(m)}
    return own | set(newest_human(request.messages))


def cut_message(message: BaseMessage, max_tokens: int, tools: Tools) -> BaseMessage:
    """A message cut head and tail to about `max_tokens`, with a marker that names the original; its id stays.

    Long text arguments of calls are cut as well, since a file written by a tool can be all of a message's size.
    """
    text = extract_text_content(message)
    whole = tools.count([message])[0]
    update: dict[str, Any] = {"additional_kwargs": {**message.additional_kwargs, MARK_KEY: {"kind": "cut"}}}
    room = max_tokens - (whole - tools.count_text(text))
    cut = message
    if text and room < tools.count_text(text):
        cut = apply_compressed_content(message, cut_text(text, max(room, 0), tools, message.id or ""))
    cut = cut.model_copy(update=update)
    if isinstance(cut, AIMessage) and cut.tool_calls and tools.count([cut])[0] > max_tokens:
        return _cut_arguments(cut, max_tokens, tools)
    return cut


def _cut_arguments(message: AIMessage, max_tokens: int, tools: Tools) -> AIMessage:
    """The message with its long arguments cut until it is at most `max_tokens`, or they are cut to the least."""
    update: dict[str, Any] = {}
    if isinstance(message.content, list):  # Anthropic's content says again what the calls say
        update["content"] = [b for b in message.content if not (isinstance(b, dict) and b.get("type") == "tool_use")]
    long = sum(1 for call in message.tool_calls for _ in _long_values(call["args"]))
    each = max(SMALLEST_VALUE, (max_tokens - SMALLEST_CUT) // max(1, long))
    while True:
        calls = [{**call, "args": _cut_value(call["args"], each, tools)} for call in message.tool_calls]
        cut = message.model_copy(update={**update, "tool_calls": calls})
        size = tools.count([cut])[0]
        if size <= max_tokens or each <= SMALLEST_VALUE:
            return cut
        each = max(SMALLEST_VALUE, each * max_tokens // size)  # JSON writes line ends and quotes as two characters


def cut_text(text: str, max_tokens: int, tools: Tools, message_id: str) -> str:
    """The head and the tail of a text around a marker, in about `max_tokens`; at least the marker."""
    marker = f"\n[… {tools.count_text(text)} tokens, cut; the original is message {message_id}]\n"
    room = max_tokens - tools.count_text(marker)
    if room < 8:
        return marker.strip()
    head = tools.truncate(text, int(room * HEAD_SHARE))
    rest = room - int(room * HEAD_SHARE)
    tail = text[len(head) :][-rest * 8 :]  # 8 characters a token are rare, so the tail is in there
    while tail and tools.count_text(tail) > rest:
        tail = tail[max(1, len(tail) // 8) :]
    return head + marker + tail


def _long_values(value: Any) -> Iterator[str]:
    """The long texts in an argument, however deep."""
    if isinstance(value, str) and len(value) > LONG_ARGUMENT:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _long_values(inner)


def _cut_value(value: Any, max_tokens: int, tools: Tools) -> Any:
    if isinstance(value, dict):
        return {key: _cut_value(inner, max_tokens, tools) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cut_value(inner, max_tokens, tools) for inner in value]
    if isinstance(value, str) and len(value) > LONG_ARGUMENT and tools.count_text(value) > max_tokens:
        return tools.truncate(value, max_tokens) + " […]"
    return value


def _exchanged(request: CompressionRequest, changes: dict[int, BaseMessage]) -> CompressionDraft:
    return altered(request, changes, strategy=Emergency.name, reason=Reason.EMERGENCY)


def _as_it_is(request: CompressionRequest) -> CompressionDraft:
    return _exchanged(request, {})
