"""Runs the evaluation: `python -m benchmarks.eval`, or `make eval`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from benchmarks.eval.contestants import Contestant, available
from benchmarks.eval.page import LOSSY, REAL, page
from benchmarks.eval.playing import Played, Usage, losses, play
from benchmarks.eval.recorded import folder
from benchmarks.eval.sessions import Session, build_session
from benchmarks.eval.summariser import LossySummariser
from langchain_ctxcompress.tokens import MessageCounter

Making = Callable[[Session, int], tuple[BaseChatModel, Usage]]
"""Makes the summariser of one contestant, for a session and a seed."""


def main() -> int:
    """Plays, prints, and writes the page where it is told to."""
    options = _options()
    counter = MessageCounter()
    chosen = available(options.only)
    recordings = folder()
    if "recorded" in options.filler and recordings is None:
        print("There are no recordings: the sessions with recorded filler are left out.", file=sys.stderr)
    played: dict[str, list[Played]] = {}
    with ExitStack() as stack:
        making = stack.enter_context(_real_model()) if options.real_model else _lossy
        for filler in options.filler:
            if filler == "recorded" and recordings is None:
                continue
            for phrasings in options.sets:
                runs = played.setdefault(f"{phrasings.capitalize()} phrasings, {filler} filler", [])
                for seed in range(options.seeds):
                    session = build_session(
                        seed,
                        phrasings,
                        tokens=options.tokens,
                        count=lambda message: counter([message])[0],
                        recordings=recordings if filler == "recorded" else None,
                    )
                    for kind in chosen:
                        runs.append(_played(session, kind, making, seed, options.window))
                        print(f"{filler} {phrasings} {seed} {_line(runs[-1])}", flush=True)
    if options.losses:
        print("\n".join(line for runs in played.values() for line in losses(runs)))
    text = page(
        played,
        command=f"`{options.called or ' '.join(['python -m benchmarks.eval', *sys.argv[1:]])}`",
        tokens=options.tokens,
        window=options.window,
        seeds=options.seeds,
        summariser=REAL if options.real_model else LOSSY,
    )
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eval", description=__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="sessions of each kind")
    parser.add_argument("--sets", nargs="+", default=["open", "held-out"], choices=["open", "held-out"])
    parser.add_argument("--filler", nargs="+", choices=["written", "recorded"], default=["written", "recorded"])
    parser.add_argument("--tokens", type=int, default=30_000, help="length of a session")
    parser.add_argument("--window", type=int, default=4_000, help="the most that is sent")
    parser.add_argument("--only", nargs="+", default=[], help="names of contestants, or parts of them")
    parser.add_argument("--real-model", action="store_true", help="a small real model summarises (extra realmodel)")
    parser.add_argument("--losses", action="store_true", help="list what is not in context")
    parser.add_argument("--write", type=Path, help="write the page into this file")
    parser.add_argument("--called", default="", help="the command to name on the page")
    return parser.parse_args()


def _played(session: Session, kind: type[Contestant], making: Making, seed: int, window: int) -> Played:
    model, usage = making(session, seed)
    return play(session, kind, model, usage, window)


def _lossy(session: Session, seed: int) -> tuple[BaseChatModel, Usage]:
    model = LossySummariser(seed=seed)
    model.learn(session.messages)
    return model, lambda: model.usage


@contextmanager
def _real_model() -> Iterator[Making]:
    from langchain_openai import ChatOpenAI

    from benchmarks.eval.usage import UsageCounter
    from tests.support.real_model import missing, serve

    if reason := missing():
        sys.exit(f"There is no real model: {reason}.")
    with serve() as server:

        def make(_session: Session, _seed: int) -> tuple[BaseChatModel, Usage]:
            counted = UsageCounter()
            return ChatOpenAI(**server.settings(), callbacks=[counted]), lambda: counted.usage

        yield make


def _line(run: Played) -> str:
    inside = sum(verdict.place == "context" for verdict in run.verdicts)
    return (
        f"{run.contestant}: {inside}/{len(run.verdicts)} in context, {sum(v.stale for v in run.verdicts)} stale,"
        f" {run.rounds} rounds, {run.errors} errors, {run.calls} calls, {run.final} tokens (mean {run.mean:.0f},"
        f" most {run.largest}), {run.seconds:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
