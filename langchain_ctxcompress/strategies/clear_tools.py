"""`clear-tools`: old tool results, and oversized arguments of calls, give way to a line that says what was there.

No model is asked and no message leaves: a cleared message keeps its id, its call, its name and its status, so that the
list stays legal whatever is cleared. The line names the tool, its arguments in short, the size and the id by which the
original is recalled from the archive. Most of a long agent run is old tool output that was read once: masking it halves
the cost at an equal solve rate (https://arxiv.org/abs/2508.21433).

What a later summary replaces is what stands in the list then, so a cleared message would be summarised from its line.
Therefore the ladder takes this rung only where it reaches the target by itself, and else summarises the originals.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, ToolMessage

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits import PruneUrgency
from langchain_ctxcompress.messages import CallKey, answer_of, calls_of, is_derived, naming_original
from langchain_ctxcompress.strategies.base import CompressionDraft, CompressionRequest, CompressionStrategy, Steps
from langchain_ctxcompress.strategies.clearing import cleared_call, cleared_result, long_arguments, result_marker
from langchain_ctxcompress.strategies.reason import Reason
from langchain_ctxcompress.strategies.replacing import altered

KEEP = 5
"""Newest results that stay: as many as there are recent turns by default, since in an agent run a turn is a step with
its result. Where calls are rare they lie further back than the recent turns, and are what the answers still rest on."""

LEAST_SHARE = 0.1
"""Share of the soft limit that clearing must free. It changes the list from its first marker on, and what stands behind
that is read at the full price once instead of from the provider's cache, at about a tenth of it."""

WORTH = 0.5
"""A result is cleared only where its marker takes at most this share of it: a short result says more than a marker."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call and its result.

    Attributes:
        call: The place of the AI message.
        number: Which of its calls, from 0, malformed ones behind the others.
        result: The place of the result.
        name: The tool.
        args: Its arguments; text where they are malformed.
    """

    call: int
    number: int
    result: int
    name: str
    args: Mapping[str, object] | str


@dataclass(frozen=True, slots=True)
class Clearing:
    """One message that may be cleared.

    Attributes:
        place: Where it stands.
        marker: What a result would say instead; `""` for a call.
        call: A call as it would stand there; `None` for a result.
        repeated: Whether a later call gave the same result, so that clearing it loses nothing.
    """

    place: int
    marker: str = ""
    call: BaseMessage | None = None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Weighed:
    """What clearing would free, before anything is made of it.

    Attributes:
        chosen: What would be cleared, each with its size after it, in tokens.
        freed: Tokens that are freed.
        reason: Why nothing is to be cleared; `None` where something is.
    """

    chosen: tuple[tuple[Clearing, int], ...] = ()
    freed: int = 0
    reason: Reason | None = None


class ClearTools(CompressionStrategy):
    """Clears old tool results and oversized arguments until the list is under its target, or `all_at_once`.

    Cleared are results that were given again by a later equal call, then all others, oldest first. Only candidates are:
    prefix, recent turns, pins, system messages and the newest human message's turn stay as they are, and so does what
    is cleared or shortened already. Where a compression was asked for below the soft limit, all is cleared that may be.

    Args:
        keep: How many of the newest results stay, wherever they stand, with their calls.
        exempt: Names of tools whose results and arguments are never cleared.
        at_least: Tokens that must be freed for a soft limit; by default a tenth of that limit. Over the hard limit, and
            where somebody asks for it, anything is worth it.
        all_at_once: Whether, once something is cleared, all is that may be: what stands behind the first marker is read
            at the full price again however much is cleared, and the next time is the further away.

    Raises:
        ConfigError: A value is out of range, or `exempt` is one text and not a collection of names.
    """

    name = "clear-tools"

    def __init__(
        self, *, keep: int = KEEP, exempt: Collection[str] = (), at_least: int | None = None, all_at_once: bool = False
    ) -> None:
        check_least("keep", keep)
        if isinstance(exempt, str):
            msg = f"exempt is the text {exempt!r}: it must be a collection of tool names, such as [{exempt!r}]"
            raise ConfigError(msg)
        if at_least is not None:
            check_least("at_least", at_least, unit="tokens")
        self.keep = keep
        self.exempt = frozenset(exempt)
        self.at_least = at_least
        self.all_at_once = all_at_once

    def run(self, request: CompressionRequest) -> Steps:
        """Clear what is needed; unchanged where that is nothing, or frees too little."""
        yield from ()
        return self.draft(request, self.weigh(request))

    def draft(self, request: CompressionRequest, weighed: Weighed) -> CompressionDraft:
        """The list with what was weighed cleared.

        Args:
            request: The list.
            weighed: What `weigh` says of it.
        """
        if weighed.reason is not None:
            return request.unchanged(weighed.reason, self.name)
        changes: dict[int, BaseMessage] = {}
        for clearing, _ in weighed.chosen:
            message = request.messages[clearing.place]
            changes[clearing.place] = clearing.call or cleared_result(message, clearing.marker)
        counted = {clearing.place: size for clearing, size in weighed.chosen if clearing.call is not None}
        return altered(request, changes, strategy=self.name, reason=Reason.COMPRESSED, sizes=counted)

    def weigh(self, request: CompressionRequest) -> Weighed:
        """What would be cleared, and what that frees.

        Args:
            request: The list.
        """
        if request.urgency is PruneUrgency.NONE:
            return Weighed(reason=Reason.BELOW_SOFT_LIMIT)
        least, needed = self._least(request), request.tokens - request.config.target_tokens
        if self.all_at_once or request.tokens < request.config.soft_limit_tokens:
            needed = request.tokens  # it was asked for, or is done once
        possible = list(self._possible(request))
        sizes = _sizes(request, possible)
        chosen: list[tuple[Clearing, int]] = []
        freed = 0
        for clearing, size in sorted(zip(possible, sizes, strict=True), key=_order):
            if freed >= max(needed, least):
                break
            if _worth_it(clearing, request.sizes[clearing.place], size):
                chosen.append((clearing, size))
                freed += request.sizes[clearing.place] - size
        if not chosen:
            return Weighed(reason=Reason.TOO_FEW_CANDIDATES if request.candidates else request.why_none)
        return Weighed(tuple(chosen), freed, Reason.NOT_ENOUGH if freed < least else None)

    def _least(self, request: CompressionRequest) -> int:
        """What must be freed for it to be worth it, in tokens."""
        soft = request.config.soft_limit_tokens
        if request.urgency is PruneUrgency.HARD or request.tokens < soft:
            return 0
        return int(LEAST_SHARE * soft) if self.at_least is None else self.at_least

    def _possible(self, request: CompressionRequest) -> Iterator[Clearing]:
        """Every message that may be cleared, in order, and as what. Two messages of one id are left alone."""
        messages = request.messages
        uses = list(tool_uses(messages))
        if not uses:
            return
        kept = {use.result for use in uses[len(uses) - min(self.keep, len(uses)) :]}
        again = _given_again(messages, uses)
        often = Counter(message.id for message in messages)
        free = {p for p in request.candidates if often[messages[p].id] == 1 and not is_derived(messages[p])}
        arguments: dict[int, set[int]] = {}
        for use in uses:
            if use.name in self.exempt:
                continue
            if use.result in free and (use.result not in kept or use.result in again):
                later = again.get(use.result)
                marker = result_marker(
                    messages[use.result],
                    use.name,
                    use.args,
                    request.sizes[use.result],
                    again=messages[later].id if later is not None else None,
                )
                yield Clearing(use.result, marker, repeated=later is not None)
            if use.call in free and use.result not in kept and long_arguments(use.args):
                arguments.setdefault(use.call, set()).add(use.number)
        for place, numbers in arguments.items():
            message = messages[place]
            if isinstance(message, AIMessage):
                # named before it is counted: it is the one that stands there
                named = naming_original(cleared_call(message, numbers, request.tools), message)
                yield Clearing(place, call=named)


def tool_uses(messages: Sequence[BaseMessage]) -> Iterator[ToolUse]:
    """Every call with its result, in the order of the results; paired by adjacency, as ids are used again."""
    place, waiting = 0, dict[CallKey, list[int]]()
    for index, message in enumerate(messages):
        answer = answer_of(message)
        if answer is None:
            place, waiting = index, {}
            for number, key in enumerate(calls_of(message)):
                waiting.setdefault(key, []).append(number)
        elif waiting.get(answer) and isinstance(message, ToolMessage | FunctionMessage):
            number = waiting[answer].pop(0)
            name, args = _call(messages[place], number)
            yield ToolUse(place, number, index, message.name or name, args)


def _call(message: BaseMessage, number: int) -> tuple[str, Mapping[str, object] | str]:
    """Name and arguments of the call of that number, as `calls_of` counts them."""
    if not isinstance(message, AIMessage):
        return "", ""
    calls = [call for call in (*message.tool_calls, *message.invalid_tool_calls) if call["id"]]
    if number < len(calls):
        return calls[number]["name"] or "", calls[number]["args"] or ""
    legacy = message.additional_kwargs.get("function_call") or {}
    return str(legacy.get("name") or ""), str(legacy.get("arguments") or "")


def _given_again(messages: Sequence[BaseMessage], uses: Sequence[ToolUse]) -> dict[int, int]:
    """The places of results that the same call gave again, each with the place of the newest of them."""
    alike: dict[tuple[str, str], list[ToolUse]] = {}
    for use in reversed(uses):
        result = messages[use.result]
        if not is_derived(result):
            content = result.content if isinstance(result.content, str) else json.dumps(result.content, default=repr)
            alike.setdefault((use.name, content), []).append(use)
    again: dict[int, int] = {}
    for same in alike.values():
        newest: dict[str, int] = {}
        for use in same if len(same) > 1 else ():  # arguments are written out only where results are the same
            called = json.dumps(use.args, sort_keys=True, default=repr)
            if called in newest:
                again[use.result] = newest[called]
            else:
                newest[called] = use.result
    return again


def _order(pair: tuple[Clearing, int]) -> tuple[bool, int]:
    """What was given again first, since that loses nothing; then the oldest."""
    return (not pair[0].repeated, pair[0].place)


def _sizes(request: CompressionRequest, possible: Sequence[Clearing]) -> list[int]:
    """What each would take once it is cleared, in tokens: no message is made for a result that may well stay."""
    results = [clearing for clearing in possible if clearing.call is None]
    calls = [clearing for clearing in possible if clearing.call is not None]
    sizes = dict(zip(map(id, calls), request.tools.count([c.call for c in calls if c.call is not None]), strict=True))
    said = [request.messages[clearing.place] for clearing in results]
    saying = request.tools.sizes_saying(said, [clearing.marker for clearing in results])
    sizes.update(zip(map(id, results), saying, strict=True))
    return [sizes[id(clearing)] for clearing in possible]


def _worth_it(clearing: Clearing, before: int, after: int) -> bool:
    if clearing.call is not None:
        return after < before
    return after <= WORTH * before
