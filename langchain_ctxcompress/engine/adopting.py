"""Taking up a draft that was worked out for an earlier state of a list (law 8: by id, never by index)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.engine.background import Drafted
from langchain_ctxcompress.messages import content_hash, is_pinned, is_summary, original_hash, repair_messages
from langchain_ctxcompress.storage import CheckpointChain
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest


def continues(earlier: Sequence[BaseMessage], messages: Sequence[BaseMessage]) -> bool:
    """Whether a list is an earlier one with more at its end, by id and content."""
    return len(messages) >= len(earlier) and all(map(_same, earlier, messages))


def could_fit(earlier: CompressionRequest, request: CompressionRequest) -> bool:
    """Whether a compression of the earlier list may leave the one of now under its hard limit."""
    freed = sum(earlier.sizes[place] for place in earlier.candidates)
    return request.tokens - freed < request.config.hard_limit_tokens


def adopt(drafted: Drafted, request: CompressionRequest, chain: CheckpointChain) -> CompressionDraft | None:
    """The draft as one of the list of now; `None` where it holds no longer.

    Where the list only grew, what is new is put behind it. Where it was changed otherwise, the draft is used if all
    that it replaces is still there: messages that say something else by now stay as they are, the others give way.

    Args:
        drafted: The draft, with the list it was made for.
        request: The list of now.
        chain: The session's checkpoints.
    """
    draft, earlier = drafted.draft, drafted.request
    if not drafted.current or _head_id(earlier) != _head_id(request):
        return None
    if continues(earlier.messages, request.messages):
        grown = len(earlier.messages)
        return replace(
            draft,
            messages=(*draft.messages, *request.messages[grown:]),
            sizes=(*draft.sizes, *request.sizes[grown:]),
        )
    return _still_valid(draft, request, chain)


def _still_valid(
    draft: CompressionDraft, request: CompressionRequest, chain: CheckpointChain
) -> CompressionDraft | None:
    """The draft on a list that was edited meanwhile; `None` where a message that it replaces was removed.

    A removed one may have been removed on purpose, and a fork never held it: a summary must not bring it back.
    """
    if not draft.checkpoints:
        return None
    said = {message_id: said for record in draft.checkpoints for message_id, said in record.covered.items()}
    there = {message.id or "": message for message in request.messages}
    unchanged = sum(1 for message_id, hashed in said.items() if _says(there.get(message_id), hashed))
    if not said.keys() <= there.keys() or 2 * unchanged < len(said):
        return None
    originals = [message for message in request.messages if not is_summary(message)]
    view = chain.with_records(draft.checkpoints).apply(originals, head=draft.checkpoints[-1])
    messages = tuple(repair_messages(view.messages).messages)
    return replace(draft, messages=messages, sizes=tuple(request.tools.count(messages)))


def _same(one: BaseMessage, other: BaseMessage) -> bool:
    if one is other:
        return True
    return one.id == other.id and is_pinned(one) == is_pinned(other) and content_hash(one) == content_hash(other)


def _says(message: BaseMessage | None, said: str) -> bool:
    return message is not None and original_hash(message) == said


def _head_id(request: CompressionRequest) -> str:
    return request.head.checkpoint_id if request.head else ""
