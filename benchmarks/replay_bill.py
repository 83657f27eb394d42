"""What a session costs, replayed step by step: without compression, with the peers, and with this package.

    python -m benchmarks.replay_bill [--exchanges 150] [--trigger 16000] [--json bill.json]

Each model call of a recorded session pays for what it is sent and for its answer. The unit is one input token that no
cache holds: cached input (the longest prefix shared with the request before) costs 0.1, output 5. The summariser's
calls are paid for in the same way, without a cache. Recorded are the project's own sample session and, where there
are recordings beside the project, real exchanges joined to one conversation. Everybody has the same trigger; the
summariser is scripted, so that only what it is shown and asked for differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from benchmarks.eval.contestants import Contestant, Ladder, LadderAlone, LangMem, Middleware, Trimming
from benchmarks.eval.recorded import conversations, folder
from benchmarks.eval.summariser import LossySummariser
from langchain_ctxcompress import PrunerConfig
from langchain_ctxcompress.demo.recording import record_session
from langchain_ctxcompress.limits.config import SOFT_OF_HARD
from langchain_ctxcompress.tokens import MessageCounter

CACHED, OUTPUT = 0.1, 5.0
"""Prices in units of one uncached input token: the usual ratios of hosted models."""

SYSTEM = "You are a helpful assistant. Use the tools, and say what you did."


class Nothing(Contestant):
    """No compression."""

    name = "no compression"

    def setup(self) -> None:
        self.messages: list[BaseMessage] = []

    def step(self, new: Sequence[BaseMessage]) -> list[BaseMessage]:
        self.messages += new
        return self.messages


def at_trigger(trigger: int) -> PrunerConfig:
    """Limits whose soft one is the trigger, and whose ratio is the default's.

    Args:
        trigger: From how many tokens on a list is compressed.
    """
    return PrunerConfig(soft_limit_tokens=trigger, hard_limit_tokens=int(trigger / SOFT_OF_HARD))


class AtTrigger(Ladder):
    """This package with its soft limit at the trigger, and all else by default."""

    name = "langchain-ctxcompress"

    def limits(self) -> PrunerConfig:
        return at_trigger(self.window)


class AloneAtTrigger(LadderAlone):
    name = "langchain-ctxcompress, no model"

    def limits(self) -> PrunerConfig:
        return at_trigger(self.window)


CONTESTANTS: tuple[type[Contestant], ...] = (Nothing, Trimming, LangMem, Middleware, AtTrigger, AloneAtTrigger)


@dataclass(slots=True)
class Bill:
    """What one replay cost.

    Attributes:
        contestant: Its name.
        uncached: Input tokens that no cache held, of the agent's calls.
        cached: Input tokens that the cache held.
        output: Tokens the agent wrote.
        summariser_input: Tokens the summariser read.
        summariser_output: Tokens it wrote.
        calls: Calls of the summariser.
        rounds: How often the list was made smaller.
        steps: Calls of the agent.
        largest: The most that was sent, in tokens.
    """

    contestant: str
    uncached: int = 0
    cached: int = 0
    output: int = 0
    summariser_input: int = 0
    summariser_output: int = 0
    calls: int = 0
    rounds: int = 0
    steps: int = 0
    largest: int = 0

    @property
    def units(self) -> float:
        """The bill, in uncached input tokens."""
        read = self.uncached + CACHED * self.cached + self.summariser_input
        return read + OUTPUT * (self.output + self.summariser_output)

    @property
    def mean_sent(self) -> float:
        """What was sent in a step, in tokens."""
        return (self.uncached + self.cached) / max(1, self.steps)


def steps(session: Sequence[BaseMessage]) -> Iterator[tuple[list[BaseMessage], AIMessage]]:
    """The session cut at the model's replies: what came in since the last one, that one included, and the reply.

    Args:
        session: The messages.
    """
    incoming: list[BaseMessage] = []
    for message in session:
        if isinstance(message, AIMessage):
            yield incoming, message
            incoming = []
        incoming.append(message)


def replay(session: Sequence[BaseMessage], kind: type[Contestant], trigger: int) -> Bill:
    """Replays a session.

    Args:
        session: The messages, with ids.
        kind: Who keeps it small.
        trigger: From how many tokens on it is compressed.
    """
    model = LossySummariser(seed=0)
    model.learn(session)
    contestant = kind(model, trigger)
    counter = MessageCounter()
    bill = Bill(kind.name)
    before: list[BaseMessage] = []
    for incoming, reply in steps(session):
        sent = contestant.step(incoming)
        sizes = counter(sent)
        same = next(
            (place for place, (old, new) in enumerate(zip(before, sent, strict=False)) if not _same(old, new)),
            min(len(before), len(sent)),
        )
        bill.cached += sum(sizes[:same])
        bill.uncached += sum(sizes[same:])
        bill.output += counter([reply])[0]
        bill.largest = max(bill.largest, sum(sizes))
        bill.steps += 1
        before = [*sent, reply]  # what the model wrote is in the cache too
    bill.calls, bill.summariser_input, bill.summariser_output = model.usage
    bill.rounds = contestant.rounds
    return bill


def _same(old: BaseMessage, new: BaseMessage) -> bool:
    return old is new or (old.type == new.type and old.content == new.content)


def sessions(numbers: Sequence[int]) -> dict[str, list[BaseMessage]]:
    """The sample session, and recorded exchanges joined where there are any.

    Args:
        numbers: How many exchanges of recorded conversations are joined.
    """
    found: dict[str, list[BaseMessage]] = {"sample session": record_session()}
    path = folder()
    if path is None:
        print("There are no recordings: only the sample session is replayed.", file=sys.stderr)
        return found
    for number in numbers:
        found[f"{number} recorded exchanges"] = joined(path, number)
    return found


def joined(path: Path, number: int) -> list[BaseMessage]:
    """So many exchanges of recorded conversations as one, with ids of their own.

    Args:
        path: The folder of the recordings.
        number: Exchanges: what a user says, and what follows.
    """
    chosen = conversations(path)
    random.Random(0).shuffle(chosen)
    messages: list[BaseMessage] = [SystemMessage(SYSTEM)]
    for message in (each for conversation in chosen for each in conversation):
        if message.type == "human":
            number -= 1
            if number < 0:
                break
        messages.append(message)
    while not isinstance(messages[-1], AIMessage):
        messages.pop()
    return [message.model_copy(update={"id": f"r{place}"}) for place, message in enumerate(messages)]


_COLUMNS = (
    "bill, thousand units",
    "of the best peer's",
    "uncached",
    "cached",
    "summariser read",
    "wrote",
    "calls",
    "rounds",
    "sent on average",
    "most sent",
)


def table(bills: Sequence[Bill]) -> str:
    """The bills of one session, as Markdown.

    Args:
        bills: One for each contestant.
    """
    ours = {AtTrigger.name, AloneAtTrigger.name}
    best = min(bill.units for bill in bills if bill.contestant not in ours)
    head = ("", *_COLUMNS)
    rows = [
        (
            bill.contestant,
            f"{bill.units / 1000:,.0f}",
            f"{bill.units / best:.2f}",
            *(f"{number:,}" for number in (bill.uncached, bill.cached, bill.summariser_input, bill.summariser_output)),
            f"{bill.calls}",
            f"{bill.rounds}",
            f"{bill.mean_sent:,.0f}",
            f"{bill.largest:,}",
        )
        for bill in bills
    ]
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    lines.insert(1, "|" + " --- |" * len(head))
    return "\n".join(lines)


def main() -> int:
    """Replays, prints a table for each session, and writes JSON where it is told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exchanges", type=int, nargs="+", default=[150, 400], help="recorded exchanges to join")
    parser.add_argument("--triggers", type=int, nargs="+", default=[16_000, 32_000], help="one for each of them")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    if len(options.exchanges) != len(options.triggers):
        parser.error("there must be one trigger for each number of exchanges")
    triggers = [options.triggers[0], *options.triggers]
    written: dict[str, list[dict[str, object]]] = {}
    for (title, session), trigger in zip(sessions(options.exchanges).items(), triggers, strict=False):
        bills = [replay(session, kind, trigger) for kind in CONTESTANTS]
        print(f"\n{title}, trigger {trigger:,} tokens\n\n{table(bills)}", flush=True)
        written[f"{title}, trigger {trigger}"] = [{**asdict(bill), "units": bill.units} for bill in bills]
    if options.json:
        options.json.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
