"""The page of an evaluation: what was done, the tables, and how to read them."""

from __future__ import annotations

import datetime
import importlib.metadata
from collections.abc import Mapping, Sequence

from benchmarks.eval.playing import Played
from benchmarks.eval.tables import kinds_table, totals_table

_ABOUT = """\
# Evaluation: what is left of what users said

{date}, {command}: langchain-ctxcompress {version} beside {peers}, all of a section in one run.

A session is some {tokens:,} tokens of chat and tool calls. In it a user says things in passing or on their own: \
rules, side constraints, facts, exact values, states of goals, preferences, decisions; some values change later, \
and some items are near-duplicates that both hold. Everybody is given the same session step by step, may send at \
most {window:,} tokens, and has the same summariser, {summariser} Then each item is looked for in what would be \
sent at the last step: its subject and its key phrase or value in one line, by text alone. What is not there is \
searched for in what was replaced, where there is a search, by its subject without its value.

The cells of the first table are: in context / found by a search / lost, in percent of the items, means of \
{seeds} seeds. A *stale value restated* is an old value that is stated, outside the session's own messages, \
without the new one. Numbers in brackets are the smallest and the largest of the seeds.

The sentences come from two sets: the *open* one was at hand while the package was worked on; the *held-out* one, \
in other words and languages, was set aside for the first runs. Since then its changes of values that an earlier run \
had missed were read, and the package was mended by what they showed: for those the set is held out no more. With \
*written* filler the rest of a session \
is made up by the benchmark; with *recorded* filler it is real conversations (not part of this repository; a \
folder of them can be named by `CTXCOMPRESS_TEST_DATA`).
"""

_NOTES = """\
## How to read it

- `trim_messages` and `top-down-truncation` keep the end of the list and nothing else: they are here as the floor. \
`pack` keeps what fits by priority. `bands` shortens messages where they stand and `clear-tools` empties old tool \
results: neither removes a message, so neither can hold a window that is a tenth of the session. What each of them \
sent stands in the second table; each step over the window counts as degraded.
- `SummarizationMiddleware`, deepagents and langmem call the summariser less often than this package in so small a \
window, and have it read less: in that they are ahead. The ledger stands in the window too, so there is less room \
between two compressions.
- The aims of this package are: over 95 % of the items and all side constraints in context with a lossy model, over \
90 % without a model, the rest found by search, and no stale value restated. Where a cell falls short, it does.
- The peers restate fewer stale values: they keep few values at all.
- langmem's state keeps the whole list, so nothing is gone for good; it has no search for it. deepagents writes what \
it summarised into a file, in which its agent can look for lines; here they are ranked by the words of the question.
"""

_ELSEWHERE = """\
- The lossy summariser is a simulation. One short session with a small real model: \
[evaluation-realmodel.md](evaluation-realmodel.md).
"""

LOSSY = (
    "which keeps sentences by chance until its 300 tokens are full, and those of the user three times as readily as"
    " others."
)
REAL = "a real one on this machine, SmolLM2-135M-Instruct with a window of 8,192 tokens and answers of at most 300."


def page(
    played: Mapping[str, Sequence[Played]],
    *,
    command: str,
    tokens: int,
    window: int,
    seeds: int,
    summariser: str = LOSSY,
) -> str:
    """The page, as Markdown.

    Args:
        played: What was played, by the title of its section.
        command: What ran, as Markdown.
        tokens: Length of a session.
        window: The most that may be sent.
        seeds: Sessions of each section.
        summariser: What the summariser is, as the end of a sentence.
    """
    peers = ", ".join(
        f"{name} {found}"
        for name in ("langmem", "langchain", "deepagents", "langchain-core")
        if (found := _version(name))
    )
    parts = [
        _ABOUT.format(
            date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
            command=command,
            version=_version("langchain-ctxcompress"),
            peers=peers,
            tokens=tokens,
            window=window,
            seeds=seeds,
            summariser=summariser,
        )
    ]
    for title, runs in played.items():
        parts += [f"## {title}\n", kinds_table(runs) + "\n", totals_table(runs) + "\n"]
    return "\n".join([*parts, _NOTES]) + (_ELSEWHERE if summariser == LOSSY else "")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
