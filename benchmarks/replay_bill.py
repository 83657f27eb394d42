"""What a session costs, replayed step by step: without compression, with the peers, and with this package.

    python -m benchmarks.replay_bill [--exchanges 150] [--triggers 16000] [--json FILE] [--write docs/performance.md]

Each model call of a recorded session pays for what it is sent and for its answer. The unit is one input token that no
cache holds: cached input (the longest prefix shared with the request before) costs 0.1, output 5. The summariser's
calls are paid for in the same way: it has a cache only where it is shown the conversation as it is. Recorded are the
project's own sample session and, where there are recordings beside the project, real exchanges joined to one
conversation. Everybody has the same trigger; the summariser is scripted, so that only what it is shown and asked for
differs. The peers are there twice: as they ship, counting approximately, and with the exact count of this package.
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

from benchmarks.bill_contestants import CONTESTANTS, EXACT, SHIPPED, WatchedSummariser
from benchmarks.eval.contestants import Contestant
from benchmarks.eval.recorded import conversations, folder
from langchain_ctxcompress.demo.recording import record_session
from langchain_ctxcompress.tokens import MessageCounter

CACHED, OUTPUT = 0.1, 5.0
"""Prices in units of one uncached input token: the usual ratios of hosted models."""

SYSTEM = "You are a helpful assistant. Use the tools, and say what you did."


@dataclass(slots=True)
class Bill:
    """What one replay cost.

    Attributes:
        contestant: Its name.
        new: Input tokens that came since the call before: each is read at the full price once in any case.
        uncached: Input tokens that no cache held, of the agent's calls, the new ones among them.
        cached: Input tokens that the cache held.
        output: Tokens the agent wrote.
        summariser_input: Tokens the summariser read that no cache held.
        summariser_cached: Tokens it read from the cache of the agent's calls.
        summariser_output: Tokens it wrote.
        calls: Calls of the summariser.
        rounds: How often the list was made smaller.
        steps: Calls of the agent.
        largest: The most that was sent, in tokens.
    """

    contestant: str
    new: int = 0
    uncached: int = 0
    cached: int = 0
    output: int = 0
    summariser_input: int = 0
    summariser_cached: int = 0
    summariser_output: int = 0
    calls: int = 0
    rounds: int = 0
    steps: int = 0
    largest: int = 0

    @property
    def parts(self) -> dict[str, float]:
        """The bill by what it is for, in uncached input tokens."""
        return {
            "answers": OUTPUT * self.output,
            "new input": self.new,
            "rewritten input": self.uncached - self.new,
            "cached input": CACHED * self.cached,
            "summariser reads": self.summariser_input + CACHED * self.summariser_cached,
            "summariser writes": OUTPUT * self.summariser_output,
        }

    @property
    def units(self) -> float:
        """The bill, in uncached input tokens."""
        return sum(self.parts.values())

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
    model = WatchedSummariser(seed=0)
    model.learn(session)
    contestant = kind(model, trigger)
    counter = MessageCounter()
    bill = Bill(kind.name)
    before: list[BaseMessage] = []
    for incoming, reply in steps(session):
        shown = len(model.prompts)
        sent = contestant.step(incoming)
        for prompt in model.prompts[shown:]:
            held = counter(prompt[: _same_front(before, prompt)])
            bill.summariser_cached += sum(held)
            bill.summariser_input += sum(counter(prompt)) - sum(held)
        sizes, same = counter(sent), _same_front(before, sent)
        bill.new += sum(counter([message for message in incoming if not isinstance(message, AIMessage)]))
        bill.cached += sum(sizes[:same])
        bill.uncached += sum(sizes[same:])
        bill.output += counter([reply])[0]
        bill.largest = max(bill.largest, sum(sizes))
        bill.steps += 1
        before = [*sent, reply]  # what the model wrote is in the cache too
    bill.calls, _, bill.summariser_output = model.usage
    bill.rounds = contestant.rounds
    return bill


def _same_front(before: Sequence[BaseMessage], sent: Sequence[BaseMessage]) -> int:
    """How many messages at the front are what they were."""
    pairs = enumerate(zip(before, sent, strict=False))
    return next((place for place, (old, new) in pairs if not _same(old, new)), min(len(before), len(sent)))


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


_COLUMNS = ("bill", "of the best peer's as shipped", "of the best peer's, exact count")
_NUMBERS = ("calls", "rounds", "sent on average", "most sent")


def table(bills: Sequence[Bill]) -> str:
    """The bills of one session in thousand units, whole and by what they are for, as Markdown.

    Args:
        bills: One for each contestant.
    """
    shipped, exact = (
        min((bill.units for bill in bills if bill.contestant in {kind.name for kind in kinds}), default=float("nan"))
        for kinds in (SHIPPED, EXACT)
    )
    head = ("", *_COLUMNS, *bills[0].parts, *_NUMBERS)
    rows = [
        (
            bill.contestant,
            f"{bill.units / 1000:,.0f}",
            f"{bill.units / shipped:.2f}",
            f"{bill.units / exact:.2f}",
            *(f"{part / 1000:,.1f}" for part in bill.parts.values()),
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


BEGINS, ENDS = "<!-- replay_bill begins -->", "<!-- replay_bill ends -->"


def write_into(page: Path, text: str) -> None:
    """Puts the tables between the two marks of a page.

    Args:
        page: The page; it has the marks.
        text: The tables.

    Raises:
        ValueError: It has not.
    """
    front, begins, rest = page.read_text(encoding="utf-8").partition(BEGINS)
    _, ends, behind = rest.partition(ENDS)
    if not begins or not ends:
        msg = f"{page} has no place for the tables: {BEGINS} and {ENDS}"
        raise ValueError(msg)
    page.write_text(f"{front}{BEGINS}\n{text}\n{ENDS}{behind}", encoding="utf-8")


def main() -> int:
    """Replays, prints a table for each session, and writes JSON where it is told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exchanges", type=int, nargs="+", default=[150, 400], help="recorded exchanges to join")
    parser.add_argument("--triggers", type=int, nargs="+", default=[16_000, 32_000], help="one for each of them")
    parser.add_argument("--write", type=Path, help="put the tables between the marks of this page")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    if len(options.exchanges) != len(options.triggers):
        parser.error("there must be one trigger for each number of exchanges")
    triggers = [options.triggers[0], *options.triggers]
    tables: list[str] = []
    written: dict[str, list[dict[str, object]]] = {}
    for (title, session), trigger in zip(sessions(options.exchanges).items(), triggers, strict=False):
        bills = [replay(session, kind, trigger) for kind in CONTESTANTS]
        tables.append(f"\n### {title[:1].upper()}{title[1:]}, trigger {trigger:,} tokens\n\n{table(bills)}\n")
        print(tables[-1], flush=True)
        written[f"{title}, trigger {trigger}"] = [{**asdict(bill), **bill.parts, "units": bill.units} for bill in bills]
    if options.write:
        write_into(options.write, "".join(tables))
    if options.json:
        options.json.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
