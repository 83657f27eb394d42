"""Long sessions: filler with items planted in what the user says."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from benchmarks.eval.filler import Filler
from benchmarks.eval.items import Item, ItemMaker
from benchmarks.eval.recorded import RecordedFiller

LAST_SHARE = 0.9
"""Items are planted in the first part only: what is said at the very end is still there for everybody."""

SYSTEM = "You are a helpful assistant with tools for orders, trains and files. Be brief and say what you did."


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation and what was planted in it.

    Attributes:
        messages: In order, with ids.
        items: What has to be found again.
    """

    messages: tuple[BaseMessage, ...]
    items: tuple[Item, ...]


def build_session(
    seed: int,
    phrasings: str,
    *,
    tokens: int,
    count: Callable[[BaseMessage], int],
    recordings: Path | None = None,
    each: int = 5,
    updates: int = 5,
) -> Session:
    """Builds the session of a seed.

    Args:
        seed: The same seed builds the same session.
        phrasings: Which sentences are planted: `open` or `held-out`.
        tokens: How long it becomes, about.
        count: The size of a message, in tokens.
        recordings: Takes the filler from the conversations in this folder; `None` writes it.
        each: Items of each kind of sentence.
        updates: Values that change on the way.
    """
    rng = random.Random(f"{phrasings} {seed}")
    filler = Filler(rng) if recordings is None else RecordedFiller(rng, recordings)
    exchanges: list[list[BaseMessage]] = []
    size = 0
    while size < tokens:
        exchanges.append(filler.exchange())
        size += sum(map(count, exchanges[-1]))
    maker = ItemMaker(phrasings, rng)
    items = maker.make(each, updates, pairs=2)
    planted: dict[int, list[str]] = {}
    last = int(LAST_SHARE * len(exchanges))
    for item in items:
        places = sorted(rng.sample(range(1, last), len(item.texts)))
        for place, text in zip(places, item.texts, strict=True):
            planted.setdefault(place, []).append(text)
    messages: list[BaseMessage] = [SystemMessage(SYSTEM)]
    for place, exchange in enumerate(exchanges):
        for text in planted.get(place, ()):
            exchange = _planted(exchange, text, maker, rng)  # noqa: PLW2901
        messages += exchange
    named = [message.model_copy(update={"id": f"s{seed}-{place}"}) for place, message in enumerate(messages)]
    return Session(tuple(named), tuple(items))


def _planted(exchange: list[BaseMessage], text: str, maker: ItemMaker, rng: random.Random) -> list[BaseMessage]:
    """The exchange with a sentence in it, or in front of it: people say things in passing, or on their own."""
    question, *rest = exchange
    said = text[0].upper() + text[1:] if text[0].isascii() else text
    lead = rng.choice(maker.source.LEADS) if text[0].isascii() else ""
    lead, said = (lead, text if lead.endswith(", ") and not text[:2].isupper() else said) if lead else ("", said)
    said = lead + said + ("" if said[-1] in ".!?。" else ".")
    way = rng.random()
    if way < 0.45:
        return [HumanMessage(f"{question.text} {said}"), *rest]
    if way < 0.6:
        return [HumanMessage(f"{question.text}\n\n{said}"), *rest]
    if way < 0.8:
        return [HumanMessage(f"{said} {question.text}"), *rest]
    ack = rng.choice(maker.source.ACKS).format(text=text)
    return [HumanMessage(said), AIMessage(ack), *exchange]
