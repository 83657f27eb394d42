"""`run_demo`: records the session, compresses it as it goes, and shows what it cost and that nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_core.messages import BaseMessage
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from langchain_ctxcompress.demo.recording import record_session, session_tokens, write_session
from langchain_ctxcompress.demo.replay import Replay, Step, WatchedCompressor
from langchain_ctxcompress.engine import CompressionResult
from langchain_ctxcompress.limits import PrunerConfig
from langchain_ctxcompress.tokens import count_message

DEFAULT_LIMIT = 16_000
"""Hard limit of the demo's window, in tokens: small, so that a session of 75,000 has to be compressed many times."""

SHOWN_LINES = 8
"""Lines of the original that are shown."""


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demo measured.

    Attributes:
        steps: Model steps played.
        limit: The hard limit, in tokens.
        tokens_before: Size of the whole session, in tokens.
        tokens_after: Size of the window at the end, in tokens.
        largest_prompt: The most the model was sent in one step, in tokens.
        compressions: How often the list was made smaller.
        turns_kept: Turns that are in the window at the end, word for word.
        turns_replaced: Turns that are not.
        model_calls: Calls of a chat model that the compressions made.
        seconds: Time of the whole replay.
        seconds_compressing: Time of it that the compressions took.
        messages_replaced: Messages of the session that are not in the window.
        messages_fetched: How many of them came back from the archive equal to what was recorded.
    """

    steps: int
    limit: int
    tokens_before: int
    tokens_after: int
    largest_prompt: int
    compressions: int
    turns_kept: int
    turns_replaced: int
    model_calls: int
    seconds: float
    seconds_compressing: float
    messages_replaced: int
    messages_fetched: int

    @property
    def held(self) -> bool:
        """Whether every prompt was within the limit and every replaced message came back."""
        return self.largest_prompt <= self.limit and self.messages_fetched == self.messages_replaced


def run_demo(
    console: Console, *, limit: int = DEFAULT_LIMIT, out: Path | None = None, tasks: int | None = None
) -> DemoReport:
    """Record a long agent session and play it through a LangGraph graph that compresses it as it goes.

    No model, no key and no network: the agent is scripted, its tools are real, the summaries are extractive.

    Args:
        console: Where progress and results are shown; it need not be a terminal.
        limit: Hard limit of the window, in tokens; the soft limit is 0.625 of it.
        out: A folder for `session.jsonl` (what was recorded) and `window.jsonl` (what is left of it in the window).
        tasks: How many of the user's tasks to record; all by default.

    Returns:
        What was measured.

    Raises:
        ConfigError: The limit is no size a window can have.
    """
    compressor = WatchedCompressor(config=PrunerConfig.for_limit(limit), session_id="demo")
    console.print("Recording an agent at work on Python's standard library, with real tools …")
    session = record_session(out / "session.jsonl" if out else None, tasks=tasks)
    console.print(f"{len(session)} messages, {session_tokens(session):,} tokens; the window holds {limit:,}.\n")

    replay = Replay(session, compressor)
    started = time.perf_counter()
    _play(console, replay)
    report = _measure(replay, limit, time.perf_counter() - started)
    if out is not None:
        write_session(replay.window(), out / "window.jsonl")
    console.print(_table(report))
    _show_original(console, replay)
    if out is not None:
        console.print(f"Written: {out / 'session.jsonl'}, {out / 'window.jsonl'}", markup=False, soft_wrap=True)
    return report


def _play(console: Console, replay: Replay) -> None:
    """Play every step, with a progress line in a terminal, and a line for each compression anywhere."""
    columns = (
        TextColumn("step"),
        MofNCompleteColumn(),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[tokens]:>6,} tokens in the window, {task.fields[compressions]} compressions"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        line: TaskID | None = None
        for step in replay.steps():
            line = progress.add_task("", total=step.total, tokens=0, compressions=0) if line is None else line
            progress.update(line, advance=1, tokens=step.tokens, compressions=len(replay.compressor.applied))
            if step.compression is not None:
                progress.console.print(_compression_line(step, step.compression), highlight=False)


def _compression_line(step: Step, result: CompressionResult) -> str:
    """What one compression did, on one line."""
    return (
        f"step {step.number:>3} of {step.total}: {result.tokens_before:>6,} → {result.tokens_after:>6,} tokens,"
        f" {result.turns_replaced} turns replaced, {result.turns_kept} kept"
    )


def _measure(replay: Replay, limit: int, seconds: float) -> DemoReport:
    results = replay.compressor.applied
    replaced = replay.replaced()
    return DemoReport(
        steps=len(replay.prompts),
        limit=limit,
        tokens_before=session_tokens(replay.session),
        tokens_after=replay.window_tokens(),
        largest_prompt=max(replay.prompts),
        compressions=len(results),
        turns_kept=replay.turns_kept(),
        turns_replaced=sum(result.turns_replaced for result in results),
        model_calls=sum(result.model_calls for result in results),
        seconds=seconds,
        seconds_compressing=sum(result.seconds for result in results),
        messages_replaced=len(replaced),
        messages_fetched=sum(_came_back(replay, message) for message in replaced),
    )


def _came_back(replay: Replay, message: BaseMessage) -> bool:
    """Whether the archive gives a recorded message back, every field of it."""
    found = replay.compressor.expand_message(message.id or "")
    return found is not None and found.model_dump() == message.model_dump()


def _table(report: DemoReport) -> Table:
    table = Table(title="The session in its window", title_justify="left", show_header=False)
    table.add_column("what")
    table.add_column("value", justify="right")
    rows: Sequence[tuple[str, str]] = (
        ("tokens before (the whole session)", f"{report.tokens_before:,}"),
        ("tokens after (the window at the end)", f"{report.tokens_after:,}"),
        (f"largest prompt of {report.steps} steps (limit {report.limit:,})", f"{report.largest_prompt:,}"),
        ("compressions", f"{report.compressions}"),
        ("turns kept word for word", f"{report.turns_kept}"),
        ("turns replaced", f"{report.turns_replaced}"),
        ("model calls for the summaries", f"{report.model_calls}"),
        ("replaced messages fetched back, equal", f"{report.messages_fetched} of {report.messages_replaced}"),
        ("time of all steps", f"{report.seconds:.2f} s"),
        ("time of it for compressions", f"{report.seconds_compressing:.2f} s"),
    )
    for row in rows:
        table.add_row(*row)
    return table


def _show_original(console: Console, replay: Replay) -> None:
    """Show one original that is in the window no more: the longest of the tool results."""
    replaced = [message for message in replay.replaced() if message.type == "tool"]
    if not replaced:
        console.print("Nothing had to be compressed: the session fits in the window.")
        return
    recorded = max(replaced, key=lambda message: len(message.text))
    message = replay.compressor.expand_message(recorded.id or "")
    if message is None:
        console.print(f"{recorded.id} did not come back from the archive.")
        return
    lines = message.text.splitlines()
    shown = "\n".join(lines[:SHOWN_LINES])
    if len(lines) > SHOWN_LINES:
        shown += f"\n… {len(lines) - SHOWN_LINES} more lines"
    equal = "equal to what was recorded" if _came_back(replay, recorded) else "NOT equal to what was recorded"
    title = f"fetched back: {recorded.id}, output of {message.name}, {count_message(message):,} tokens, {equal}"
    console.print(Panel(escape(shown), title=escape(title), title_align="left", expand=False))
