"""Whether a compression pays: what it would make of a list is worked out beforehand, priced, and taken or refused.

Without a model, what would come about is known exactly. With one, its answers are stood in for by texts as long as it
may write, so that size and costs are what they are at most.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace

from langchain_ctxcompress.engine.job import Job
from langchain_ctxcompress.errors import CtxCompressError, log_failure
from langchain_ctxcompress.limits import (
    CompressionCosts,
    PruneUrgency,
    estimate_costs,
    growth_of,
    rewritten_from,
)
from langchain_ctxcompress.limits.config import KEEP_HUMAN_SHARE, TARGET_SHARE
from langchain_ctxcompress.messages import kind_of
from langchain_ctxcompress.strategies import CompressionDraft, CompressionRequest, CompressionStrategy, Reason
from langchain_ctxcompress.strategies.clear_tools import ClearTools
from langchain_ctxcompress.summarize import CompressionTask, TaskResult

logger = logging.getLogger("langchain_ctxcompress.compressor")

STAND_IN = "word"
"""What stands for each token of a text that no model has written yet. It says nothing, so nothing is made of it."""

LOOK_AGAIN_SHARE = 0.02
"""A list that was weighed in vain is weighed again when it has grown by this part of itself, at the soonest."""

SUMMARY_TARGET_SHARE = 0.3
"""Target of a summary under the soft limit, as a share of the list: what stands in the window is paid for at each step,
so the words, the ledger and the earlier summaries in it are given half the room that they have at the soft limit."""

MISSING_SHARE = 0.25
"""Part of what would have to be freed besides, for it to pay, by which the list grows before it is weighed again."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a strategy would do.

    Attributes:
        draft: The list as it would be; `None` where the strategy failed.
        tasks: The model calls of the first round.
        read_tokens: What the model would read in all rounds, in tokens, without what its cache holds.
        cached_tokens: What it would read from the provider's cache, in tokens.
        written_tokens: What it would write at most, in tokens.
    """

    draft: CompressionDraft | None
    tasks: tuple[CompressionTask, ...] = ()
    read_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Weighed:
    """A compression under the soft limit.

    Attributes:
        request: The request for it.
        seen: What it would do.
        costs: What it would cost and save.
    """

    request: CompressionRequest
    seen: Foreseen
    costs: CompressionCosts


def foresee(strategy: CompressionStrategy, request: CompressionRequest) -> Foreseen:
    """Run a strategy with stand-ins for the answers of a model. Nothing is asked and nothing is written.

    Raises:
        CtxCompressError: What the strategy raises of this package's own errors.
    """
    steps = strategy.run(request)
    first: tuple[CompressionTask, ...] = ()
    read = cached = written = 0
    try:
        tasks = next(steps)
        first = tuple(tasks)
        while True:
            for task in tasks:
                held = min(task.cached_tokens, size := sum(request.tools.count(task.prompt)))
                read += size - held
                cached += held
                written += task.max_tokens
            tasks = steps.send([TaskResult(" ".join([STAND_IN] * task.max_tokens)) for task in tasks])
    except StopIteration as stop:
        draft = stop.value if isinstance(stop.value, CompressionDraft) else None
        return Foreseen(draft, first, read, cached, written)
    except CtxCompressError:
        raise
    except Exception as error:  # noqa: BLE001 - a strategy may be anybody's (law 4)
        log_failure(logger, f"strategy {strategy.name} failed", error)
        return Foreseen(None, first, read, cached, written)
    finally:
        steps.close()


def costs_of(
    request: CompressionRequest,
    draft: CompressionDraft,
    *,
    read_tokens: int = 0,
    cached_tokens: int = 0,
    written_tokens: int = 0,
) -> CompressionCosts:
    """What a draft costs and saves.

    What came since the last answer of the model is in no cache yet, and is read at the full price in any case.

    Args:
        request: The list.
        draft: What became of it, or would.
        read_tokens: What the summariser read, without what its cache held.
        cached_tokens: What it read from the cache.
        written_tokens: What it wrote.
    """
    place = rewritten_from(request.messages, draft.messages)
    answered = [number for number, message in enumerate(draft.messages) if kind_of(message) == "ai"]
    until = max(answered[-1] + 1 if answered else 0, place)
    return estimate_costs(
        request.config,
        freed_tokens=sum(request.sizes) - draft.tokens,
        rewritten_tokens=sum(draft.sizes[place:until]),
        growth_tokens=growth_of(request.messages, request.sizes),
        read_tokens=read_tokens,
        cached_tokens=cached_tokens,
        written_tokens=written_tokens,
    )


def priced(request: CompressionRequest, seen: Foreseen) -> CompressionCosts | None:
    """What comes of what was foreseen; `None` where nothing would change."""
    if seen.draft is None or seen.draft.messages == request.messages:
        return None
    return costs_of(
        request,
        seen.draft,
        read_tokens=seen.read_tokens,
        cached_tokens=seen.cached_tokens,
        written_tokens=seen.written_tokens,
    )


def refused(job: Job, request: CompressionRequest, *, remember: bool = True) -> CompressionDraft | None:
    """The list as it is, where a compression that only the soft limit asks for pays less than `min_gain`.

    Args:
        job: The step.
        request: The list.
        remember: Whether it need not be weighed again before the list has grown.
    """
    least = request.config.min_gain
    pressing = request.urgency is not PruneUrgency.SOFT or request.tokens >= request.config.hard_limit_tokens
    if least is None or job.force or pressing or not request.candidates:
        return None
    if not remember or request.tokens >= job.session.weigh_from:
        costs = priced(request, foresee(job.strategy, request))
        if costs is None or costs.gain >= least:
            return None
        if remember:
            _weigh_later(job, request, costs)
        said = f"it would cost {costs.cost:,.0f} and save {costs.saving:,.0f} units in {costs.steps:.0f} steps"
    else:
        said = "weighed before, when the list was about as large"
    return request.unchanged(Reason.NOT_WORTH_IT, "weighing", said)


def early(job: Job, request: CompressionRequest) -> CompressionRequest | CompressionDraft | None:
    """What is done with a list under its soft limit where `economic` is set: nothing (`None`) unless that pays.

    A draft is what code alone makes of it. Where a model is to be asked, the request for that is given.

    Args:
        job: The step.
        request: The list.
    """
    if request.tokens < job.session.weigh_from:
        return None
    best = weighed(job, request)
    if best is None or best.costs.gain <= 0:
        _weigh_later(job, request, best.costs if best else None)
        return None
    job.session.weigh_from = 0
    return best.request if best.seen.tasks else best.seen.draft


def weighed(job: Job, request: CompressionRequest) -> Weighed | None:
    """The compression under the soft limit that gains most; `None` where none can gain anything."""
    rungs = request.config.rungs
    summary = _sooner(request, SUMMARY_TARGET_SHARE, tuple(rung for rung in rungs if rung != ClearTools.name))
    if not summary.candidates or _bound(summary).gain <= 0:
        return None
    clearing = [_sooner(request, TARGET_SHARE, rungs)] if ClearTools.name in rungs else []
    found = []
    for each in (*clearing, summary):
        seen = foresee(job.strategy, each)
        costs = priced(each, seen)
        if costs is not None:
            found.append(Weighed(each, seen, costs))
    return max(found, key=lambda one: one.costs.gain, default=None)


def _sooner(request: CompressionRequest, share: float, rungs: tuple[str, ...]) -> CompressionRequest:
    """The request as if the soft limit were where the list is now: what stands in the window in any case is sized so.

    Code alone writes: below the soft limit, what a model reads and writes costs more than is saved by it. Where it
    reads from the cache (`summariser_input="prefix"`) it is asked.
    """
    config, tokens = request.config, request.tokens
    target = max(1, min(config.target_tokens, int(share * tokens)))
    words = min(config.keep_human_tokens, int(KEEP_HUMAN_SHARE * target))
    limits = {
        "soft_limit_tokens": tokens,
        "target_tokens": target,
        "keep_human_tokens": words,
        "rungs": rungs,
    }
    return replace(
        request,
        config=config.model_copy(update=limits),
        urgency=PruneUrgency.SOFT,
        summariser=request.summariser and config.summariser_input == "prefix",
    )


def _bound(request: CompressionRequest) -> CompressionCosts:
    """What it would be at the best: all candidates leave, and nothing is written for them."""
    first = min(request.candidates)
    stays = [place for place in range(first, len(request.messages)) if place not in request.candidates]
    messages = tuple(request.messages[place] for place in stays)
    sizes = tuple(request.sizes[place] for place in stays)
    front = request.messages[:first], request.sizes[:first]
    return costs_of(request, CompressionDraft((*front[0], *messages), (*front[1], *sizes)))


def _weigh_later(job: Job, request: CompressionRequest, costs: CompressionCosts | None) -> None:
    """Look again when the list has grown by a part of what is missing: costs change with what stands at its end."""
    config, more = request.config, LOOK_AGAIN_SHARE * request.tokens
    if costs is not None:
        growth = max(1.0, growth_of(request.messages, request.sizes))
        price = max(config.cached_price, 1e-9)
        needed = max(math.sqrt(2 * growth * costs.cost / price), costs.cost / (price * config.steps_ahead))
        more = max(more, MISSING_SHARE * (needed - costs.freed_tokens))
    job.session.weigh_from = request.tokens + int(min(more, config.hard_limit_tokens)) + 1
