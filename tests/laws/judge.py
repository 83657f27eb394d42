"""What the laws ask of one compression, judged without the package's own eyes: one line for each finding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage, message_to_dict

from langchain_ctxcompress import CompressionResult, ContextCompressor, Reason
from tests.support.legality import (
    divided,
    fingerprint,
    invented,
    is_summary,
    mark_kind,
    order_violations,
    protected,
    protected_indices,
    protected_missing,
    violations,
)
from tests.support.sizes import independent_tokens

STRATEGIES = ("ladder", "middle-out", "top-down-truncation", "emergency", "clear-tools", "bands", "pack")

SHORTENED = ("cut", "cleared", "compressed")
"""Marks of messages that stand where they stood, and say less: emergency's, clear-tools' and bands'."""


def as_bytes(message: BaseMessage, *, with_id: bool = True) -> str:
    """Gives all that a message holds as text; without its id where the input had none."""
    return json.dumps(message_to_dict(message if with_id else message.model_copy(update={"id": None})))


def illegal(compressor: ContextCompressor, output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Law 1: what no provider takes, what changed its place, what nobody said.

    A message that was cut where it stands is known by its original, where the input gave it no id to know it by.
    """
    if original and all(isinstance(message, ToolMessage) for message in original):  # D6: it stays as it is
        same = [as_bytes(m, with_id=False) for m in output] == [as_bytes(m, with_id=False) for m in original]
        return [] if same else ["changed: results and nothing else are no list that can be mended"]
    ids = {message.id for message in original}
    known = [
        (compressor.expand_message(m.id or "") or m).model_copy(update={"id": None})
        if mark_kind(m) in SHORTENED and m.id not in ids
        else m
        for m in output
    ]
    found = violations(output) + violations(known, original=original)
    # A call that followed words of the model as it came, and now follows other ones, is no more broken than it was.
    broken = [f"(ai, id={original[call].id!r}) follows" for _, humans, call in divided(original) if not humans]
    found = [line for line in found if not (line.startswith("call-after-words") and any(b in line for b in broken))]
    standing = [m for m in known if mark_kind(m) != "repair" or m.id in ids]  # a new one says what others said before
    return found + order_violations(standing, original) + invented(known, original)


def voice_lost(output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Law 6: every protected message that is not there byte for byte (a message without an id may have got one)."""
    found = protected_missing(output, original)
    there = Counter(as_bytes(message, with_id=False) for message in output)
    wanted = Counter(as_bytes(original[index], with_id=False) for index in protected_indices(original))
    return found + [f"not byte-identical: {said:.120}" for said, number in wanted.items() if there[said] < number]


def lost(
    compressor: ContextCompressor,
    output: Sequence[BaseMessage],
    original: Sequence[BaseMessage],
    *,
    session_id: str | None = None,
) -> list[str]:
    """Law 2: every message that is neither in the output nor comes back byte for byte.

    Where an id stands twice in the input, the newest of the two is what the id brings back.
    """
    history = compressor.history(session_id)
    checkpoints = history.checkpoints()
    expanded = [m for c in checkpoints for m in compressor.expand(c.checkpoint_id, session_id=session_id) or []]
    covered = {message_id for checkpoint in checkpoints for message_id in checkpoint.covered}
    there = {message.id for message in output if not is_summary(message)}
    shown = Counter(as_bytes(message, with_id=False) for message in output)
    archived = {as_bytes(message, with_id=False) for message in (*expanded, *history.messages())}
    often = Counter(message.id for message in original)
    found: list[str] = []
    for index, message in enumerate(original):
        said = as_bytes(message, with_id=False)
        if is_summary(message):
            continue
        if message.id is None:
            if said not in shown and said not in archived:
                found.append(f"lost: message {index} without an id is nowhere")
            continue
        if message.id not in there and message.id not in covered:
            found.append(f"uncovered: message {index} ({message.id}) left, and no checkpoint covers it")
        if as_bytes(message) in {as_bytes(m) for m in output if m.id == message.id}:
            continue
        back = compressor.expand_message(message.id, session_id=session_id)
        alike = [as_bytes(m) for m in original if m.id == message.id]
        if back is None or as_bytes(back) not in (alike if often[message.id] > 1 else [as_bytes(message)]):
            found.append(f"lost: message {index} ({message.id}) comes back as {back!r:.200}")
    return found


def made_by_repair(output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The error results that were made for unanswered calls."""
    said = {fingerprint(message) for message in original}
    return [m for m in output if isinstance(m, ToolMessage) and m.status == "error" and fingerprint(m) not in said]


def grown(output: Sequence[BaseMessage], original: Sequence[BaseMessage], *, slack: int = 0) -> list[str]:
    """Law 3: more tokens than before. Results made for unanswered calls are the price of a legal list."""
    price = independent_tokens(made_by_repair(output, original))
    before, after = independent_tokens(original), independent_tokens(output)
    return [f"grown: from {before} to {after} tokens"] if after > before + price + slack else []


def over(output: Sequence[BaseMessage], original: Sequence[BaseMessage], limit: int) -> list[str]:
    """Law 4: over the hard limit although what must stay is under it.

    What must stay: protected messages with their partners, results made for unanswered calls, the human message in
    front where all else would begin with the model's words, and those that part words of the model from a call.
    """
    size = independent_tokens(output)
    parting = [output[index] for _, humans, _ in divided(output) for index in humans[-1:]]
    must = [*protected(original, partners=True), *made_by_repair(output, original)]
    must += [message for message in parting if message not in must and not is_summary(message)]
    first = next((message for message in must if not isinstance(message, SystemMessage)), None)
    if not isinstance(first, HumanMessage):
        must += [message for message in output if isinstance(message, HumanMessage)][:1]
    stays = independent_tokens(must)
    return [f"too large: {size} tokens, limit {limit}, what must stay takes {stays}"] if size > limit >= stays else []


def progress(before: Sequence[BaseMessage], result: CompressionResult) -> list[str]:
    """Law 5: a further run that changed the list although it freed nothing."""
    if result.messages == list(before) or result.tokens_after < result.tokens_before:
        return []
    return [f"no progress: {result.tokens_before} to {result.tokens_after} tokens, {result.outcome} {result.reason}"]


def refused(result: CompressionResult) -> list[str]:
    """What befalls users' strategies alone: the package's own neither fail nor make a draft that is refused."""
    wrong = result.reason in (Reason.STRATEGY_FAILED, Reason.INVALID_RESULT)
    return [f"refused: {result.reason}: {result.detail}"] if wrong else []
