"""The page `docs/reliability.md`, made of what the faults, the soak and the state machine measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WHERE = {
    "model": "Faults of the model",
    "store": "Faults of the store",
    "process": "Kills",
}
ABOUT = {
    "model": (
        "A server on loopback answers every request of the summariser with the fault; `ChatOpenAI` is its client, a"
        " node in a graph the door. `hang` and `drip` are waited for 0.4 s here (60 s by default). `good` and"
        " `slow` are"
        " no faults: they show what is seen without one."
    ),
    "store": "Half of all batches of the store meet the fault, drawn by seed; the model works.",
    "process": (
        "A process that appends and compresses is killed at a random moment; a new one looks for every message whose"
        " append had returned."
    ),
}


def page(rows: Sequence[Any], records: Path) -> str:
    """The page.

    Args:
        rows: What came of each fault.
        records: The folder of `soak.json` and its like; one that is missing is left out.
    """
    parts = [
        "# Reliability",
        (
            "What was done to the package on purpose, what its users saw of it, and what was lost. Each figure on this"
            " page was written by the command beside it."
        ),
        "```sh\npython -m benchmarks.faults --write docs/reliability.md\n```",
    ]
    for where, title in WHERE.items():
        own = [row for row in rows if row.where == where]
        if own:
            parts += [f"## {title}", ABOUT[where], _table(own)]
    for name, section in (("soak", _soak), ("state_machine", _machine), ("expressions", _expressions)):
        path = records / f"{name}.json"
        if path.exists():
            parts += section(json.loads(path.read_text(encoding="utf-8")))
    parts += [
        "## Cancellation and Ctrl-C",
        (
            "A step is cancelled at each of its awaits, and stopped at its lines one after the other: a"
            " compression, a job"
            " in the background, a node in a graph, a history that saves or is cleared. Afterwards list and"
            " archive are as"
            " they were, or done, no lock is held, and the next step works."
        ),
        "```sh\npytest tests/laws/test_cancelled.py tests/laws/test_interrupted_by_hand.py -m 'slow or not slow'\n```",
    ]
    return "\n\n".join(parts) + "\n"


def with_expressions(text: str, record: dict[str, Any]) -> str:
    """The page with what was measured of the expressions anew; all else in it stays.

    Args:
        text: The page.
        record: What `benchmarks.expressions` wrote.
    """
    front, _, behind = text.partition("## Regular expressions\n")
    rest = behind.partition("\n## ")[2]
    return "\n\n".join([front.rstrip(), *_expressions(record), f"## {rest}"])


def _table(rows: Sequence[Any]) -> str:
    lines = [
        "| fault | injected | what the user saw | lost | again with `python -m benchmarks.faults --only` |",
        "| --- | ---: | --- | ---: | --- |",
    ]
    for row in rows:
        said = ", ".join(f"{count} × {_words(name)}" for name, count in row.events.most_common(4))
        done, asked = row.answered
        seen = f"{done} of {asked} messages read back" if row.where == "process" else f"{done} of {asked} answers"
        name = {"model": row.name, "store": f"store: {row.name}", "process": "process: killed"}[row.where]
        lost = "nothing" if not row.lost else str(row.lost)
        lines.append(f"| {row.name} | {row.injected} | {seen}; {said} | {lost} | `'{name}'` |")
    return "\n".join(lines)


def _words(event: str) -> str:
    return event.replace("_", " ")


def _soak(record: dict[str, Any]) -> list[str]:
    faults = sum(record["model_faults"].values()) + sum(record["store_faults"].values())
    rows = [
        "| after steps | resident memory (MB) | objects | threads |",
        "| ---: | ---: | ---: | ---: |",
        *(f"| {q['steps']:,} | {q['rss_mb']:,} | {q['objects']:,} | {q['threads']} |" for q in record["quarters"]),
    ]
    return [
        "## Soak",
        (
            f"{record['steps']:,} steps of {record['conversations']:,} conversations, {record['threads']} at"
            " once, in one"
            f" process over one SQLite file, half of them on event loops; {record['share']:.0%} of model calls"
            " and store"
            f" batches failed: {faults:,} faults in {record['model_calls']:,} calls and {record['store_batches']:,}"
            f" batches. Of {record['messages']:,} messages, read back from the rows of the file without the package,"
            f" {_none(record['lost'])} were lost; {_none(record['broken'])} of the lists broke a provider's rule;"
            f" {_none(record['threads_left'])} of the threads and {_none(record['locks_held'])} of the locks were left"
            f" behind. It took {record['seconds']:,} s. A compressor remembers up to 1,024 sessions, so memory grows in"
            " the first part of the run and is flat from there on."
        ),
        "\n".join(rows),
        f"```sh\n{record['command']}\n```",
    ]


def _machine(record: dict[str, Any]) -> list[str]:
    first, last = record["seeds"]
    steps = ", ".join(f"{count:,} × {name}" for name, count in record["by_kind"].items())
    return [
        "## The state machine",
        (
            "Hypothesis drives a node in replace mode, one in view mode, an agent with the middleware and a"
            " history over"
            " one SQLite store: questions, parallel tool calls, edits, deletions, pins, whole lists sent again, forks,"
            " restarts, all doors at once in threads, and every fault of model and store. After each step all"
            " ten laws are"
            f" judged by code that is not the package's. Seeds {first} to {last}:"
            f" {sum(record['by_kind'].values()):,} steps"
            f" and faults in {record['seconds']:,} s; no law was broken. By kind: {steps}."
        ),
        f"```sh\n{record['command']}\n```",
        (
            "What it found, and what has a test of its own now: in view mode, one failed write or read sent the model"
            " the whole conversation again, although all that had been replaced before was archived; a summary message"
            " that was put back could stand at a place, or under an id, that belonged to a message which had been"
            " pinned, deleted or sent again; a message that a client sent again behind all others could come back."
        ),
    ]


def _expressions(record: dict[str, Any]) -> list[str]:
    rows, limit = record["expressions"], 100
    over = [row for row in rows if row["ms"] >= limit]
    many = [row for row in over if row["matches"] > 100_000]
    few = [row for row in over if row not in many]
    growth = sorted(row["ms"] / row["ms_64_kB"] for row in over) or [0.0]
    table = [
        "| expression | ms for 1 MB | ms for 64 kB | what repeats | found |",
        "| --- | ---: | ---: | --- | ---: |",
        *(
            f"| `{row['name']}` | {row['ms']:,.0f} | {row['ms_64_kB']:,.1f} | {_shown(row['text'])}"
            f" | {format(row['matches'], ',') if row in many else '–'} |"
            for row in over
        ),
    ]
    return [
        "## Regular expressions",
        (
            f"Each of the {len(rows)} regular expressions of the package was run as the package runs it on texts of"
            f" 64 kB and 1 MB that are made to be hard for it. {len(rows) - len(over)} took under {limit} ms for 1 MB."
            f" The others, below, took {growth[0]:.0f} to {growth[-1]:.0f} times as long for 16 times the text:"
            f" {len(many)} find something at every second character or more often, {len(few)} try many forms at each."
        ),
        "\n".join(table),
        f"```sh\n{record['command']}\n```",
    ]


def _shown(text: str) -> str:
    """A text in a cell of a table."""
    return f"`{text.encode('unicode_escape').decode('ascii').replace('|', '&#124;')}`"


def _none(found: Sequence[str]) -> str:
    return "none" if not found else str(len(found))
