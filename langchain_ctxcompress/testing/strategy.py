"""`check_strategy`: whether a strategy keeps the laws, on conversations that strategies stumble over.

    from langchain_ctxcompress.testing import check_strategy

    def test_my_strategy():
        check_strategy(MyStrategy())

It drives the strategy itself, so that what the engine would refuse, repair or catch is seen here, and then once more
through a `ContextCompressor`, to see that everything comes back from the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, messages_from_dict, messages_to_dict

from langchain_ctxcompress.compressor import ContextCompressor
from langchain_ctxcompress.limits import PrunerConfig, PruneUrgency, classify_prune_urgency
from langchain_ctxcompress.messages import is_derived, is_pinned, is_summary, newest_human
from langchain_ctxcompress.strategies import (
    CompressionDraft,
    CompressionRequest,
    CompressionStrategy,
    Reason,
    Tools,
    resolve_strategy,
)
from langchain_ctxcompress.summarize import CompressionTask, TaskFailure, TaskResult
from langchain_ctxcompress.testing.legality import Violation, violations
from langchain_ctxcompress.testing.scenes import SCENES
from langchain_ctxcompress.tokens import MessageCounter

SHARES = (0.2, 0.6, 1.4)
"""Hard limits that are tried, as shares of the size: the list is far over it, over it, over the soft limit only."""

MOST_ROUNDS = 8
"""Runs on the own output after which a strategy must have come to rest."""

MOST_ASKED = 50
"""Rounds of model calls in one run after which it is taken to be without end."""

Answer = Callable[[CompressionTask], TaskResult]
Finding = tuple[str, str]
"""The rule that is broken, and how."""


def _answered(_: CompressionTask) -> TaskResult:
    return TaskResult("They talked about an order, and went on.")


def _failed(_: CompressionTask) -> TaskResult:
    return TaskResult(failure=TaskFailure.ERROR, detail="down")


_ANSWERS: dict[str, Answer | None] = {"no model": None, "a model": _answered, "a failing model": _failed}

_OF_THE_LIST = ("human-first",)
"""Rules that a list breaks as a whole: one that broke it before may break it at another message."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """One run: a conversation, a limit, and what the model answers."""

    scene: str
    messages: tuple[BaseMessage, ...]
    limit: int
    model: str

    def __str__(self) -> str:
        return f"{self.scene!r} with a hard limit of {self.limit} tokens and {self.model}"


def check_strategy(
    strategy: str | CompressionStrategy | type[CompressionStrategy],
    *,
    conversations: Mapping[str, Sequence[BaseMessage]] | None = None,
) -> None:
    """Run a strategy over conversations, and raise where it breaks a law.

    Checked are: the list breaks no rule of `check_messages` that it did not break before; order is kept and nothing
    invented; system, pinned and newest human messages are what they were; it does not grow, and sizes are right; what
    leaves is covered by a checkpoint, what is shortened is marked and named by one, all comes back from the archive;
    the input is not changed; the same input gives the same result; runs on the own output come to rest; a failing model
    breaks nothing.

    Args:
        strategy: A strategy, its class, or its registered name.
        conversations: Conversations by name, each message with an id of its own; by default the package's own set.

    Raises:
        AssertionError: A law is broken; the text says which, how often, and where it was seen first.
        UnknownStrategyError: No strategy has that name.
    """
    own = strategy() if isinstance(strategy, type) else resolve_strategy(strategy)
    given = conversations if conversations is not None else {name: build() for name, build in SCENES.items()}
    seen: dict[str, list[tuple[_Trial, str]]] = {}
    runs = 0
    for trial in _trials(given, own):
        runs += 1
        for rule, text in _findings(own, trial):
            seen.setdefault(rule, []).append((trial, text))
    if seen:
        raise AssertionError(_report(own, seen, runs))


def _trials(conversations: Mapping[str, Sequence[BaseMessage]], strategy: CompressionStrategy) -> Iterator[_Trial]:
    count = MessageCounter()
    for scene, messages in conversations.items():
        size = sum(count(messages))
        for limit in sorted({max(4, int(share * size)) for share in SHARES}):
            for model, answer in _ANSWERS.items():
                if answer is not None or not strategy.requires_llm:
                    yield _Trial(scene, tuple(messages), limit, model)


def _findings(strategy: CompressionStrategy, trial: _Trial) -> Iterator[Finding]:
    request = _request(trial)
    if request.urgency is PruneUrgency.NONE:
        return
    before = messages_to_dict(trial.messages)
    try:
        draft = _run(strategy, request, trial)
        again = _run(strategy, request, trial)
    except _Broken as broken:
        yield broken.finding
        return
    if messages_to_dict(trial.messages) != before:
        yield "input-changed", "the messages that were given are not what they were"
        return
    if _said(again.messages) != _said(draft.messages):
        yield "not-the-same-twice", "the same request gave two different lists"
    yield from _of_draft(request, draft)
    yield from _rest(strategy, request, draft, trial)
    if _ANSWERS[trial.model] is None:
        yield from _archive(strategy, trial)


def _request(trial: _Trial) -> CompressionRequest:
    counter = MessageCounter()
    tools = Tools.of(counter)
    request = CompressionRequest(
        trial.messages,
        tuple(counter(trial.messages)),
        PrunerConfig.for_limit(trial.limit),
        PruneUrgency.NONE,
        tools,
        session_id="check",
        summariser=_ANSWERS[trial.model] is not None,
        summariser_window=32_000,
    )
    return replace(request, urgency=classify_prune_urgency(request.window, request.config))


class _Broken(Exception):  # noqa: N818 - it carries a finding and never leaves this file
    """The strategy did something that leaves no draft to judge."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text)
        self.finding: Finding = (rule, text)


def _run(strategy: CompressionStrategy, request: CompressionRequest, trial: _Trial) -> CompressionDraft:
    """Carry out the strategy; its tasks are answered as the trial says."""
    answer = _ANSWERS[trial.model] or _failed
    try:
        steps = strategy.run(request)
        tasks = next(steps)
        for _ in range(MOST_ASKED):
            tasks = steps.send([answer(task) for task in _checked(tasks)])
    except StopIteration as stop:
        if isinstance(stop.value, CompressionDraft):
            return stop.value
        msg = f"it returns {stop.value!r:.80}: return a CompressionDraft"
        raise _Broken("no-draft", msg) from None
    except _Broken:
        raise
    except Exception as error:
        raise _Broken("raised", f"{type(error).__name__}: {error}") from error
    steps.close()
    raise _Broken("no-end", f"it still asks the model after {MOST_ASKED} rounds")


def _checked(tasks: Sequence[object]) -> list[CompressionTask]:
    own = [task for task in tasks if isinstance(task, CompressionTask)]
    if not own or len(own) < len(tasks):
        raise _Broken("no-tasks", f"it yields {tasks!r:.80}: yield a list of CompressionTask")
    return own


def _of_draft(request: CompressionRequest, draft: CompressionDraft) -> Iterator[Finding]:
    """What is wrong with one draft."""
    if list(draft.sizes) != request.tools.count(draft.messages):
        yield "sizes-wrong", f"sizes are {list(draft.sizes)!r:.80}, counted are other ones"
    size = sum(request.tools.count(draft.messages))
    if size > sum(request.sizes):
        yield "grown", f"{sum(request.sizes)} tokens became {size}"
    broken_before = set(map(_broken, violations(request.messages)))
    for found in violations(draft.messages):
        if _broken(found) not in broken_before and not _were_together(request.messages, draft.messages, found):
            yield found.rule, str(found)
    yield from _order(request.messages, draft.messages)
    yield from _protected(request, draft.messages)
    yield from _accounted_for(request, draft)


def _broken(found: Violation) -> tuple[str, str | None]:
    return found.rule, None if found.rule in _OF_THE_LIST else found.message_id


def _were_together(before: Sequence[BaseMessage], after: Sequence[BaseMessage], found: Violation) -> bool:
    """Whether no human message parted the model's words from the call behind them in the list either."""
    if found.rule != "call-after-words":
        return False
    behind = (m for m in after[found.index + 1 :] if not isinstance(m, SystemMessage))
    call = next(behind)
    ids = [message.id for message in before]
    if found.message_id not in ids or call.id not in ids:
        return False
    parted = before[ids.index(found.message_id) : ids.index(call.id)]
    return not any(isinstance(message, HumanMessage) for message in parted)


def _order(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> Iterator[Finding]:
    places = {message.id: place for place, message in enumerate(before)}
    last, summaries = -1, 0
    for index, message in enumerate(after):
        summaries += is_summary(message)
        if message.id not in places:
            yield "invented", f"message {index} ({message.type}, id={message.id!r}) was not in the list"
        elif places[message.id] <= last:
            yield "order", f"message {index} ({message.type}, id={message.id!r}) stood at {places[message.id]}"
        else:
            last = places[message.id]
    if summaries > 1:
        yield "two-summaries", f"the list holds {summaries} summary messages"


def _protected(request: CompressionRequest, after: Sequence[BaseMessage]) -> Iterator[Finding]:
    there = {message.id: message for message in after if not is_summary(message)}
    newest = set(newest_human(request.messages))
    for place, message in enumerate(request.messages):
        why = "pinned" if is_pinned(message) else "system" if isinstance(message, SystemMessage) else ""
        why = why or ("newest human" if place in newest else "")
        if why and there.get(message.id) != message:
            how = "changed" if message.id in there else "missing"
            yield "protected", f"the {why} message {place} (id={message.id!r}) is {how}"


def _accounted_for(request: CompressionRequest, draft: CompressionDraft) -> Iterator[Finding]:
    """What left is covered by a checkpoint; what is shorter is marked, and named by one."""
    there = {message.id: message for message in draft.messages if not is_summary(message)}
    covered = {message_id for record in draft.checkpoints for message_id in record.covered}
    altered = {message_id for record in draft.checkpoints for message_id in record.altered}
    for place, message in enumerate(request.messages):
        if is_summary(message):
            continue
        left = there.get(message.id)
        if left is None and message.id not in covered:
            yield "uncovered", f"message {place} (id={message.id!r}) left, and no checkpoint covers it"
        elif left is not None and left != message and not is_derived(left):
            yield "unmarked", f"message {place} (id={message.id!r}) is changed, and bears no mark that says so"
        elif left is not None and left != message and message.id not in altered:
            yield "unnamed", f"message {place} (id={message.id!r}) is changed, and no checkpoint names it as altered"


def _rest(
    strategy: CompressionStrategy, request: CompressionRequest, draft: CompressionDraft, trial: _Trial
) -> Iterator[Finding]:
    """Whether runs on the own output come to rest, and each that changes something frees something."""
    for number in range(2, MOST_ROUNDS + 2):
        request = request.after(draft)
        request = replace(request, urgency=classify_prune_urgency(request.window, request.config))
        if request.urgency is PruneUrgency.NONE:
            return
        try:
            draft = _run(strategy, request, trial)
        except _Broken as broken:
            yield broken.finding[0], f"{broken.finding[1]} (run {number} on its own output)"
            return
        if draft.messages == request.messages:
            return
        if draft.tokens >= sum(request.sizes):
            yield "no-progress", f"run {number} on its own output changed the list and freed nothing"
            return
        yield from _of_draft(request, draft)
    yield "no-rest", f"{MOST_ROUNDS} runs on its own output did not come to rest"


def _archive(strategy: CompressionStrategy, trial: _Trial) -> Iterator[Finding]:
    """Through the engine: it takes the draft, everything comes back, and the whole list again is the same view."""
    originals = messages_from_dict(messages_to_dict(trial.messages))
    compressor = ContextCompressor(config=PrunerConfig.for_limit(trial.limit), strategy=strategy)
    result = compressor.compress(originals)
    if result.reason in (Reason.INVALID_RESULT, Reason.STRATEGY_FAILED):
        yield "refused", f"the engine refuses the result: {result.detail}"
        return
    if not result.changed:
        return
    for message in originals:
        if compressor.expand_message(message.id or "") != message:
            yield "lost", f"message id={message.id!r} does not come back from the archive as it was"
    again = compressor.view(originals)
    if _said(again) != _said(result.messages):
        yield "not-the-same-view", "a client that sends the whole list again is shown another list than before"


def _said(messages: Sequence[BaseMessage]) -> list[tuple[str | None, str, object, object]]:
    return [(message.id, message.type, message.content, getattr(message, "tool_calls", None)) for message in messages]


def _report(strategy: CompressionStrategy, seen: Mapping[str, Sequence[tuple[_Trial, str]]], runs: int) -> str:
    lines = [f"strategy {strategy.name!r} breaks {len(seen)} rule{'s' if len(seen) > 1 else ''} in {runs} runs:"]
    for rule, found in seen.items():
        trials = len({id(trial) for trial, _ in found})
        trial, text = found[0]
        lines.append(f"  {rule}, in {trials} run{'s' if trials > 1 else ''}; first: {text}")
        lines.append(f"    in {trial}")
    return "\n".join(lines)
