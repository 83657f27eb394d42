"""`compare`: every strategy on the same conversations, each with an archive of its own, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from langchain_ctxcompress.cli.batch import Batch
from langchain_ctxcompress.cli.kept import Kept
from langchain_ctxcompress.cli.reports import Row, identity
from langchain_ctxcompress.cli.reports import names as names_of
from langchain_ctxcompress.cli.settings import CompressorSettings
from langchain_ctxcompress.cli.terminal import emit_json, emit_line, emit_table, say
from langchain_ctxcompress.conversations import Conversation
from langchain_ctxcompress.errors import ConfigError, CtxCompressError

if TYPE_CHECKING:
    from langchain_ctxcompress.compressor import ContextCompressor

UNDER_LIMIT = "below_soft_limit"


@dataclass
class _Tried:
    """What a strategy did to all conversations."""

    before: int = 0
    after: int = 0
    calls: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    kept: Kept = field(default_factory=Kept)

    def add(self, row: Row, kept: Kept) -> None:
        self.before += row["tokens_before"]
        self.after += row["tokens_after"]
        self.calls += row["model_calls"]
        self.seconds += row["seconds"]
        self.outcomes[row["outcome"]] += 1
        self.reasons[row["reason"]] += 1
        self.kept = self.kept + kept


def compare_conversations(
    paths: Sequence[str], settings: CompressorSettings, names: Sequence[str], *, as_json: bool
) -> int:
    """Compress every conversation with every strategy; nothing is written, and every archive is in memory.

    Args:
        paths: The files.
        settings: Limits and summariser.
        names: The strategies; all that are registered where none is named.
        as_json: Give one JSON document instead of tables.

    Returns:
        The exit code. That a conversation stays too large under some strategy is what the command is to show.
    """
    compressors = _compressors(settings, names)
    batch, results = Batch(paths), list[Row]()
    tried = {name: _Tried() for name in compressors}
    last: Conversation | None = None
    for conversation in batch:
        try:
            rows = list(_each(conversation, compressors, settings.label))
        except CtxCompressError as error:
            batch.refuse(f"{conversation.place}: {error}")
            continue
        last = conversation
        strategies: list[Row] = []
        for row, kept in rows:
            tried[row["strategy"]].add(row, kept)
            strategies.append({**row, **asdict(kept)})
        own = {**identity(conversation), "messages": len(conversation.messages)}
        results.append({**own, "tokens": rows[0][0]["tokens_before"], "strategies": strategies})
    config = settings.config()
    limits = {"soft": config.soft_limit_tokens, "hard": config.hard_limit_tokens}
    if as_json:
        totals = [_total(name, one) for name, one in tried.items()] if results else []
        emit_json({"results": results, "totals": totals, "limits": limits, "errors": batch.errors})
    elif last is not None:
        name = names_of(last)[0] if len(results) == 1 else f"{len(results):,} conversations"
        _show(name, results, tried, limits)
    if results and all(set(one.reasons) == {UNDER_LIMIT} for one in tried.values()):
        largest = max(result["tokens"] for result in results)
        say(
            f"nothing is at or over its soft limit of {limits['soft']:,} tokens, so no strategy did anything;"
            f" try --limit {max(2, largest * 3 // 4)}"
        )
    return batch.exit_code


def _compressors(settings: CompressorSettings, names: Sequence[str]) -> dict[str, ContextCompressor]:
    """A compressor for each strategy, the default one first.

    Raises:
        CtxCompressError: An option is wrong, or a strategy is unknown or cannot be loaded.
    """
    from langchain_ctxcompress.strategies import strategy_names

    default = settings.strategy
    chosen = list(dict.fromkeys(names)) or sorted(strategy_names(), key=lambda name: (name != default, name))
    compressors: dict[str, ContextCompressor] = {}
    for name in chosen:
        try:
            compressors[name] = replace(settings, strategy=name).compressor()
        except (ImportError, AttributeError) as error:  # an entry point of another package
            msg = f"strategy {name!r} cannot be loaded: {error}"
            raise ConfigError(msg) from error
    return compressors


def _each(
    conversation: Conversation, compressors: dict[str, ContextCompressor], label: str
) -> Iterator[tuple[Row, Kept]]:
    """What each strategy does to a conversation."""
    session_id = conversation.session_id(label)
    given = conversation.with_ids(session_id)
    next(iter(compressors.values())).count_text("")  # what is loaded once is not the first strategy's time
    for name, compressor in compressors.items():
        result = compressor.compress(given, session_id=session_id)
        kept = Kept.of(given, result.messages, compressor.history(session_id).get)
        compressor.forget(session_id)
        row: Row = {
            "strategy": name,
            "outcome": result.outcome.value,
            "reason": result.reason.value,
            "tokens_before": result.tokens_before,
            "tokens_after": result.tokens_after,
            "messages_after": len(result.messages),
            "model_calls": result.model_calls,
            "seconds": round(result.seconds, 4),
        }
        yield row, kept


def _total(name: str, one: _Tried) -> Row:
    return {
        "strategy": name,
        "outcomes": dict(one.outcomes),
        "reasons": dict(one.reasons),
        "tokens_before": one.before,
        "tokens_after": one.after,
        "model_calls": one.calls,
        "seconds": round(one.seconds, 4),
        **asdict(one.kept),
    }


def _show(name: str, results: Sequence[Row], tried: dict[str, _Tried], limits: dict[str, int]) -> None:
    """Two tables that fit 80 columns: what it costs, and what is kept."""
    messages, tokens = (sum(result[key] for result in results) for key in ("messages", "tokens"))
    emit_table(
        f"{name}: {tokens:,} tokens in {messages:,} messages; soft limit {limits['soft']:,}, hard {limits['hard']:,}",
        ("strategy", "tokens", "left", "calls", "seconds", "outcome", "reason"),
        [
            (
                strategy,
                one.after,
                f"{100 * one.after / max(one.before, 1):.0f} %",
                one.calls,
                f"{one.seconds:.2f}",
                _counted(one.outcomes),
                _counted(one.reasons),
            )
            for strategy, one in tried.items()
        ],
        whole=("strategy", "outcome", "reason"),
    )
    emit_line("")
    emit_table(
        "What is kept, and how many of the originals that left come back",
        ("strategy", "turns kept", "shortened", "replaced", "user's words", "come back"),
        [
            (
                strategy,
                one.kept.turns_verbatim,
                one.kept.turns_shortened,
                one.kept.turns_replaced,
                f"{one.kept.user_share} %",
                f"{one.kept.originals_back:,} of {one.kept.originals:,}" if one.kept.originals else "none left",
            )
            for strategy, one in tried.items()
        ],
        whole=("strategy",),
    )


def _counted(names: Counter[str]) -> str:
    """The name where there is but one conversation, else each with its number; in words, so that lines can break."""
    alone = names.total() == 1
    said = (
        name.replace("_", " ") if alone else f"{number:,} {name.replace('_', ' ')}"
        for name, number in names.most_common()
    )
    return ", ".join(said)
