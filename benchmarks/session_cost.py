"""A session of n steps costs O(n) in all: the time of whole sessions, compressions and archive included.

Each step adds a message and looks at the list. A step of sixteen times as long a session that takes longer shows in the
ratio, which is 1 where the cost is linear and 16 where it is quadratic. Compared are whole rounds, from behind the
first compression to the last one: until the first the window fills, which a short session spends a larger part of its
steps on. The sessions go on in turn. The table has all steps.

Run: python -m benchmarks.session_cost [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import logging
import statistics
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage

from benchmarks.conversations import chat
from benchmarks.measuring import Ratios, arguments, clock, finish, settle, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig

LIMIT = 20_000
QUICK_LIMIT = 6_000


@dataclass
class Session:
    """A session and what its steps took, in seconds of the processor.

    Attributes:
        came: The messages that it will have.
        limit: The hard limit, in tokens.
        idle: Of the steps that needed nothing.
        compressing: Of those that made the list smaller.
        took: Of all steps, in order.
        changed: The places of those that made the list smaller.
    """

    came: list[BaseMessage]
    limit: int = LIMIT
    idle: list[float] = field(default_factory=list)
    compressing: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._compressor = ContextCompressor(config=PrunerConfig.for_limit(self.limit))
        self._messages: list[BaseMessage] = []

    @property
    def seconds(self) -> float:
        """All of it."""
        return sum(self.idle) + sum(self.compressing)

    @property
    def rounds(self) -> list[float]:
        """Of the steps in whole rounds."""
        return self.took[self.changed[0] + 1 : self.changed[-1] + 1]

    def go_on(self, steps: int) -> None:
        """So many further steps."""
        start = len(self.idle) + len(self.compressing)
        for message in self.came[start : start + steps]:
            messages = [*self._messages, message]
            began = clock()
            result = self._compressor.compress(messages)
            took = clock() - began
            (self.compressing if result.changed else self.idle).append(took)
            self.changed += [len(self.took)] if result.changed else []
            self.took.append(took)
            self._messages = result.messages


def main() -> None:
    options = arguments(__doc__)
    logging.disable(logging.INFO)
    sizes, limit = ((1_000, 2_000), QUICK_LIMIT) if options.quick else ((1_000, 4_000, 16_000), LIMIT)
    Session(chat(200, words=40), QUICK_LIMIT).go_on(200)
    # The short ones are taken again and again while the long one goes on, so that a busy machine slows all of them.
    longest = Session(chat(sizes[-1], words=40), limit)
    found: dict[int, list[Session]] = {size: [] for size in sizes[:-1]}
    settle()
    for _ in range(rounds := sizes[-1] // sizes[-2]):
        for size, own in found.items():
            own.append(Session(chat(size, words=40), limit))
            own[-1].go_on(size)
        longest.go_on(sizes[-1] // rounds)
    every = {**found, sizes[-1]: [longest]}
    seconds = {size: statistics.mean(s.seconds for s in own) for size, own in every.items()}
    each = {size: took * 1_000 / size for size, took in seconds.items()}
    idle = {size: statistics.median(t for s in own for t in s.idle) * 1_000 for size, own in every.items()}
    whole = {size: statistics.mean(t for s in own for t in s.compressing) * 1_000 for size, own in every.items()}
    ratios = Ratios()
    first, last = sizes[0], sizes[-1]
    rounds_of = {size: statistics.mean(t for s in own for t in s.rounds) * 1_000 for size, own in every.items()}
    ratios.at_most(f"a step of {last:,} / a step of {first:,}, whole rounds", rounds_of[last] / rounds_of[first], 1.5)
    ratios.at_most(f"a compression in {last:,} steps / in {first:,}", whole[last] / whole[first], 1.5)
    ratios.show()
    table(
        f"Sessions under a hard limit of {limit:,} tokens, without a model",
        (
            "steps",
            "seconds",
            "ms a step",
            "in whole rounds",
            "ms a step without compression",
            "ms a compression",
            "compressions",
        ),
        [
            [f"{n:,}", seconds[n], each[n], rounds_of[n], idle[n], whole[n], len(every[n][-1].compressing)]
            for n in sizes
        ],
    )
    figures = {"seconds": seconds, "milliseconds_a_step": each, "idle": idle, "compression": whole}
    finish(options, ratios, figures)


if __name__ == "__main__":
    main()
