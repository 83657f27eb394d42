"""`compress`: every conversation made smaller, written in its order, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langchain_ctxcompress.cli.batch import Batch
from langchain_ctxcompress.cli.reports import Row, identity, names
from langchain_ctxcompress.cli.settings import CompressorSettings, default_store, shown_store
from langchain_ctxcompress.cli.terminal import BAD_INPUT, OK, STILL_TOO_LARGE, emit_json, emit_line, emit_table, say
from langchain_ctxcompress.conversations import STDOUT, Conversation, OutputFile
from langchain_ctxcompress.errors import ConfigError, CtxCompressError

if TYPE_CHECKING:
    from langchain_ctxcompress.engine import CompressionResult


@dataclass
class _Compressed:
    """What a run has done so far."""

    rows: list[Row] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    first_failure: str = ""

    @property
    def failed(self) -> int:
        return self.outcomes["failed"]

    def add(self, conversation: Conversation, result: CompressionResult, entry: Row) -> None:
        self.outcomes[result.outcome.value] += 1
        if result.outcome.value == "failed" and not self.first_failure:
            self.first_failure = f"{conversation.place}: {result.reason.value}: {result.detail}"
        self.rows.append(
            {
                **identity(conversation),
                **entry,
                "messages_before": len(conversation.messages),
                "messages_after": len(result.messages),
                "turns_kept": result.turns_kept,
                "turns_replaced": result.turns_replaced,
                "model_calls": result.model_calls,
                "seconds": round(result.seconds, 4),
                "detail": result.detail,
                "names": names(conversation),
            }
        )

    def total(self, key: str) -> int:
        return sum(row[key] for row in self.rows)


def compress_conversations(
    paths: Sequence[str], settings: CompressorSettings, *, out: str | None, store: str | None, as_json: bool
) -> int:
    """Compress every conversation, and write them to `out` in their order.

    Args:
        paths: The files.
        settings: Limits, strategy and summariser.
        out: Where the conversations are written, "-" for stdout; `None` shows what was done and writes nothing.
        store: Where the originals go. By default a file in the user's data directory if `out` is given, else memory:
            nothing is replaced then.
        as_json: Give one JSON document instead of a table.

    Returns:
        The exit code.
    """
    if as_json and out == STDOUT:
        msg = "--json and --out - would both write to stdout: name a file for one of them"
        raise ConfigError(msg)
    kept_in = store if store is not None or out is None else default_store()
    batch, compressor = Batch(paths), settings.compressor(kept_in)
    done = _Compressed()
    with OutputFile(out) if out is not None else nullcontext() as output:
        for conversation in batch:
            session_id = conversation.session_id(settings.label)
            given = conversation.with_ids(session_id)
            try:
                result = compressor.compress(given, session_id=session_id)
            except CtxCompressError as error:
                batch.refuse(f"{conversation.place}: {error}")
                continue
            entry = _entry(result, session_id)
            if output is not None:
                output.write(conversation.written(result.messages, given, entry))
            done.add(conversation, result, entry)
    _show(done, batch, out=out, store=kept_in, as_json=as_json)
    if done.failed:
        say(f"{done.failed} of {len(done.rows)} conversations failed; the first: {done.first_failure}")
    return BAD_INPUT if batch.errors else STILL_TOO_LARGE if done.failed else OK


def _entry(result: CompressionResult, session_id: str) -> Row:
    """What stands beside a written conversation: what became of it, and by which ids its originals come back."""
    from langchain_ctxcompress.messages import summary_mark

    shown = [mark["checkpoint_ids"][-1] for message in result.messages if (mark := summary_mark(message))]
    own = result.checkpoint.checkpoint_id if result.checkpoint else None
    return {
        "outcome": result.outcome.value,
        "reason": result.reason.value,
        "tokens_before": result.tokens_before,
        "tokens_after": result.tokens_after,
        "checkpoint_id": own or (shown[0] if shown else None),
        "session_id": session_id,
    }


_COLUMNS = {
    "tokens before": "tokens_before",
    "after": "tokens_after",
    "turns kept": "turns_kept",
    "replaced": "turns_replaced",
    "model calls": "model_calls",
}


def _show(done: _Compressed, batch: Batch, *, out: str | None, store: str | None, as_json: bool) -> None:
    """The table or the JSON document, and where everything is."""
    where = None if store is None else shown_store(store)
    if as_json:
        results = [{key: value for key, value in row.items() if key != "names"} for row in done.rows]
        keys = ("tokens_before", "tokens_after", "turns_replaced", "model_calls")
        totals = {"conversations": len(results), **{key: done.total(key) for key in keys}}
        shown = {"results": results, "totals": totals, "outcomes": dict(done.outcomes)}
        emit_json({**shown, "store": where, "out": out, "errors": batch.errors})
        return
    if not done.rows:
        return
    if out != STDOUT:
        values = tuple(_COLUMNS.values())
        rows = [(*row["names"], *(row[key] for key in values), row["outcome"], row["reason"]) for row in done.rows]
        outcomes = ", ".join(f"{number} {name}" for name, number in sorted(done.outcomes.items()))
        footer = (f"{len(rows):,} conversations", "", *(f"{done.total(key):,}" for key in values), "", "")
        columns = ("conversation", "id", *_COLUMNS, "outcome", "reason")
        emit_table(f"Compressed: {outcomes}", columns, rows, footer, wide_only=("id", "turns kept", "model calls"))
    if out is not None:
        tell = say if out == STDOUT else emit_line
        name = "stdout" if out == STDOUT else out
        tell(f"{len(done.rows)} conversations written to {name}; their originals are in {where}")
