"""A step that needs no compression: what looking at the list costs, beside what others take to estimate its size.

Ours counts exactly, theirs roughly. "same" is the same message objects as at the step before, as within a run of a
graph; "new" is new objects that hold the same, as at the start of each run. One message came since the step before.

Run: python -m benchmarks.idle_step [--quick] [--check] [--json FILE]   (the peers: sh scripts/bootstrap.sh peers)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately

from benchmarks.conversations import chat, loaded, with_usage
from benchmarks.measuring import Ratios, Rounds, arguments, finish, table
from langchain_ctxcompress import ContextCompressor, PrunerConfig, count_tokens
from langchain_ctxcompress.tokens import TokenMeter

AT = 4_000
SIZES = (100, 1_000, AT, 16_000, 50_000)
LIMIT = 100_000_000


class Steps:
    """One step after the other on a list that grows by a message at each."""

    def __init__(self, size: int, *, usage: bool = False, anew: bool = False, runs: int = 5) -> None:
        self._compressor = ContextCompressor(config=PrunerConfig(soft_limit_tokens=LIMIT, hard_limit_tokens=2 * LIMIT))
        front = chat(size)
        front = with_usage(front, TokenMeter()(front)) if usage else front
        self._came = [HumanMessage(f"And then? {number}", id=f"new{number}") for number in range(runs + 2)]
        self._fronts = [loaded(size) if anew else front for _ in range(runs + 1)]
        self._lists: list[list[BaseMessage]] = [
            [*own, *self._came[:number]] for number, own in enumerate(self._fronts, start=1)
        ]
        self._compressor.compress(front)
        self._lists.reverse()

    def __call__(self) -> None:
        self._compressor.compress(self._lists.pop())


def peers(messages: list[BaseMessage]) -> dict[str, Callable[[], Any]]:
    """What others do at each step, as far as they are installed."""
    works: dict[str, Callable[[], Any]] = {
        "trim_messages": lambda: trim_messages(
            messages, max_tokens=LIMIT, token_counter=count_tokens_approximately, strategy="last"
        ),
        "exact recount": lambda: [count_tokens(str(message.content)) for message in messages],
    }
    try:
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.language_models import GenericFakeChatModel

        theirs = SummarizationMiddleware(GenericFakeChatModel(messages=iter(())), trigger=("tokens", LIMIT))
        works["LangChain's middleware"] = lambda: theirs.before_model({"messages": messages}, None)
    except ImportError:
        print("langchain is not installed: its middleware is left out")
    try:
        from langmem.short_term import summarize_messages

        works["langmem"] = lambda: summarize_messages(
            messages, running_summary=None, model=GenericFakeChatModel(messages=iter(())), max_tokens=LIMIT
        )
    except ImportError:
        print("langmem is not installed: it is left out")
    return works


def main() -> None:
    options = arguments(__doc__)
    runs, sizes = (5, (100, 1_000, AT)) if options.quick else (11, SIZES)
    runs = options.runs or runs
    figures: dict[int, dict[str, float]] = {}
    rounds: dict[int, Rounds] = {}
    for size in sizes:
        ours = {
            "ours, same": Steps(size, runs=runs),
            "ours, same, usage": Steps(size, usage=True, runs=runs),
        }
        others = {"ours, new": Steps(size, anew=True, runs=runs), **peers(chat(size))} if size <= AT else {}
        rounds[size] = Rounds({**ours, **others}, runs)
        figures[size] = rounds[size].medians
    at = figures[AT]
    rough = {name: at[name] for name in ("trim_messages", "LangChain's middleware", "langmem") if name in at}
    fastest = min(rough, key=lambda name: rough[name])
    beside = rounds[AT]
    ratios = Ratios()
    ratios.at_least(
        f"fastest peer / ours, same objects, usage reported ({AT:,})", beside.ratio(fastest, "ours, same, usage"), 20
    )
    ratios.at_least(f"fastest peer / ours, same objects ({AT:,})", beside.ratio(fastest, "ours, same"), 10)
    least, most = min(sizes), max(sizes)
    growth = (figures[most]["ours, same"] - figures[least]["ours, same"]) * 1_000 / (most - least)
    ratios.show()
    names = list(at)
    table(
        "Median milliseconds a step",
        ("messages", *names),
        [[f"{size:,}", *(own.get(name, "") for name in names)] for size, own in figures.items()],
    )
    print(f"\nfastest peer / ours, new objects ({AT:,}): {beside.ratio(fastest, 'ours, new'):.1f}")
    print(f"growth per message in the list, same objects: {growth:.4f} µs (stated: at most 0.1)")
    print(f"fastest peer: {fastest}")
    finish(options, ratios, {"milliseconds": figures, "growth_microseconds": growth})


if __name__ == "__main__":
    main()
