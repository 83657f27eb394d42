"""Summary checkpoints in the store: written, read all at once, or only those that matter to a list.

A session of a million messages has hundreds of checkpoints, which together name every one of them. So each message id
has an item that says which checkpoints it matters to, and a list is opened at the cost of the list.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_ctxcompress.errors import RecordError, describe
from langchain_ctxcompress.storage.codec import decode_message
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label
from langchain_ctxcompress.storage.records import SCHEMA_VERSION, CheckpointSummary, checkpoint_value
from langchain_ctxcompress.storage.steps import StoreSteps

logger = logging.getLogger(__name__)

Checkpoints = list[CheckpointSummary]

MOST_CHECKPOINTS = 1_000_000
"""Checkpoints of one session that are read at once."""


class CheckpointStore:
    """The checkpoints of one session.

    Args:
        keys: Where it lies.
        session_id: The session, as a log line names it.
    """

    def __init__(self, keys: SessionKeys, session_id: str) -> None:
        self._keys = keys
        self._session_id = session_id

    def put(self, checkpoint: CheckpointSummary, *, again: bool = False) -> StoreSteps[None]:
        """Write a checkpoint; the same one again changes nothing.

        Args:
            checkpoint: The checkpoint.
            again: It stands in the store already, and covers now what it covered then, or less.
        """
        from langgraph.store.base import PutOp

        if not again:  # first, so that whoever finds the checkpoint finds it by its messages, too
            yield from self._point(checkpoint)
        identity, number = checkpoint.checkpoint_id, {"schema_version": SCHEMA_VERSION, "number": checkpoint.number}
        yield [
            PutOp(self._keys.numbers, identity, number, index=False),
            PutOp(self._keys.checkpoints, identity, checkpoint_value(checkpoint), index=False),
        ]

    def all(self) -> StoreSteps[Checkpoints]:
        """The checkpoints, oldest first; a damaged one is logged and left out."""
        from langgraph.store.base import SearchOp

        return self._read((yield [SearchOp(self._keys.checkpoints, limit=MOST_CHECKPOINTS)])[0])

    def newest(self, most: int) -> StoreSteps[dict[str, int]]:
        """Ids and numbers of the checkpoints that were made last, at most so many.

        They have small items of their own, since a search reads whole ones and a checkpoint is large.
        """
        from langgraph.store.base import SearchOp

        items = (yield [SearchOp(self._keys.numbers, limit=most)])[0]
        return {item.key: _number(item.value.get("number")) for item in items}

    def named(self, checkpoint_ids: Iterable[str]) -> StoreSteps[Checkpoints]:
        """The checkpoints of these ids, oldest first; those that are not there or damaged are left out."""
        from langgraph.store.base import GetOp

        ids = [i for i in dict.fromkeys(checkpoint_ids) if i]
        items = (yield [GetOp(self._keys.checkpoints, i) for i in ids]) if ids else []
        return self._read(item for item in items if item is not None)

    def one(self, checkpoint_id: str) -> StoreSteps[CheckpointSummary | None]:
        """One checkpoint; `None` where there is none.

        Raises:
            RecordError: It is damaged or of an unknown version.
        """
        from langgraph.store.base import GetOp

        item = (yield [GetOp(self._keys.checkpoints, checkpoint_id)])[0]
        return _loaded(item.value, checkpoint_id) if item else None

    def of_messages(self, message_ids: Iterable[str]) -> StoreSteps[set[str]]:
        """The ids of the checkpoints that any of these messages matters to."""
        from langgraph.store.base import GetOp

        labels = [encode_label(i) for i in dict.fromkeys(message_ids)]
        items = (yield [GetOp(self._keys.touched, label) for label in labels]) if labels else []
        return {i for item in items if item is not None for i in _ids(item.value.get("by"))}

    def epoch(self) -> StoreSteps[str]:
        """The epoch of the session: another one since means that something was removed from it."""
        from langgraph.store.base import GetOp

        session = (yield [GetOp(self._keys.sessions, self._keys.session_key)])[0]
        return str(session.value.get("epoch", "")) if session else ""

    def whole(self, checkpoints: Iterable[CheckpointSummary]) -> Checkpoints:
        """Those whose shortened messages can all be read; one that is damaged is logged and costs no other (S5)."""
        found: Checkpoints = []
        for checkpoint in checkpoints:
            try:
                for message_id, (_, data) in checkpoint.altered.items():
                    decode_message(data, record=f"message {message_id!r} of checkpoint {checkpoint.checkpoint_id}")
            except RecordError as error:
                logger.warning("session %s: %s; it is left out", self._session_id, error)
            else:
                found.append(checkpoint)
        return found

    def behind(self, checkpoint_id: str) -> StoreSteps[Checkpoints]:
        """A checkpoint, and all that its originals are told by: what was merged into it, and what it only re-tells."""
        found: dict[str, CheckpointSummary] = {}
        asked: set[str] = set()
        waiting = {checkpoint_id}
        while waiting := waiting - asked:
            asked |= waiting
            read = yield from self.named(sorted(waiting))
            found |= {record.checkpoint_id: record for record in read}
            waiting = {i for record in read for i in record.merged}
            waiting |= {r.previous for r in read if not (r.covered or r.altered or r.merged)}
        return sorted(found.values(), key=_age)

    def _point(self, checkpoint: CheckpointSummary) -> StoreSteps[None]:
        """Name the checkpoint at each message that it replaced or cut, and at the one that it stands in front of."""
        from langgraph.store.base import GetOp, PutOp

        ids = dict.fromkeys((*checkpoint.covered, *checkpoint.altered, *checkpoint.beyond))
        labels = [encode_label(i) for i in ids if i]
        items = (yield [GetOp(self._keys.touched, label) for label in labels]) if labels else []
        puts: list[Any] = []
        for label, item in zip(labels, items, strict=True):
            by = _ids(item.value.get("by")) if item else []
            if checkpoint.checkpoint_id not in by:
                value = {"schema_version": SCHEMA_VERSION, "by": [*by, checkpoint.checkpoint_id]}
                puts.append(PutOp(self._keys.touched, label, value, index=False))
        if puts:
            yield puts

    def _read(self, items: Iterable[Any]) -> Checkpoints:
        found: Checkpoints = []
        for item in items:
            try:
                found.append(_loaded(item.value, item.key))
            except RecordError as error:  # one damaged record costs no other (S5)
                logger.warning("session %s: %s; it is left out", self._session_id, error)
        return sorted(found, key=_age)


def _age(checkpoint: CheckpointSummary) -> tuple[Any, ...]:
    return checkpoint.number, checkpoint.created_at, checkpoint.checkpoint_id


def _number(value: Any) -> int:
    """A number as it was written; 0 where it is damaged: what it counts is read from the checkpoint itself."""
    return value if isinstance(value, int) else 0


def _ids(value: Any) -> list[str]:
    """Ids as they were written; those that are damaged are left out."""
    return [i for i in value if isinstance(i, str)] if isinstance(value, list) else []


def _loaded(value: Mapping[str, Any], key: str) -> CheckpointSummary:
    name = f"checkpoint {key}"
    try:
        record = json.loads(value["record"]) if value.get("schema_version") == SCHEMA_VERSION else value
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{name} is damaged: {describe(error)}"
        raise RecordError(msg) from error
    return CheckpointSummary.load(record, name=name)
