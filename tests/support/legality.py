"""Is a list of messages legal? Written from the providers' rules, with no line of the package under test.

Each finding is one line: the rule's name, the index of the message, its id, what is wrong. An empty list is a pass.

| rule | whose rule it is |
| --- | --- |
| `tool-first`, `orphan-result` | OpenAI, Anthropic, Gemini: a result directly follows the message that asked for it |
| `answered-twice`, `unanswered-call` | OpenAI, Anthropic, Gemini: one result for each call, before all else |
| `open-call` | the same, for a list that is really sent: no provider answers while a call is open |
| `reasoning-cut` | OpenAI's reasoning items, Anthropic's thinking: a reasoning block stays with what it led to |
| `call-after-words` | Gemini: a call directly follows a human message or results, never the model's own words |
| `human-first` | Anthropic, Gemini: the first message that is not a system message is a human one |
| `two-summaries` | this package's own promise |
"""

from __future__ import annotations

import bisect
import json
from collections import Counter, defaultdict
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

MARK = "ctxcompress"
REASONING_TYPES = frozenset({"reasoning", "reasoning_content", "thinking", "redacted_thinking"})


def mark_kind(message: BaseMessage) -> str | None:
    """Gives "summary", "pin", or `None` for a message without a mark."""
    mark = message.additional_kwargs.get(MARK)
    return mark.get("kind") if isinstance(mark, dict) else None


def is_summary(message: BaseMessage) -> bool:
    return mark_kind(message) == "summary"


def is_pin(message: BaseMessage) -> bool:
    return mark_kind(message) == "pin"


def call_ids(message: BaseMessage) -> list[str]:
    """Gives the ids of all calls of a message, broken ones too. A call without an id cannot be answered: left out."""
    if not isinstance(message, AIMessage):
        return []
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    return [call["id"] for call in calls if call.get("id") is not None]


def is_reasoning_only(message: BaseMessage) -> bool:
    """Is it an AI message that holds nothing but reasoning, and so belongs to the AI message after it?"""
    if not isinstance(message, AIMessage) or message.tool_calls or message.invalid_tool_calls:
        return False
    content = message.content
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(block, dict) and block.get("type") in REASONING_TYPES for block in content)


def fingerprint(message: BaseMessage) -> str:
    """Gives what a reader of the message sees, as one string: type, content, calls, name; never the id."""
    seen: list[object] = [message.type, message.content, message.name]
    if isinstance(message, AIMessage):
        seen += [message.tool_calls, message.invalid_tool_calls]
    if isinstance(message, ToolMessage):
        seen.append(message.tool_call_id)
    return json.dumps(seen, default=repr)


def where(messages: Sequence[BaseMessage], index: int) -> str:
    message = messages[index]
    return f"message {index} ({message.type}, id={message.id!r})"


def violations(
    messages: Sequence[BaseMessage], *, original: Sequence[BaseMessage] | None = None, open_end: bool = True
) -> list[str]:
    """Names every rule the list breaks.

    Args:
        messages: The list to judge.
        original: The list it was made from, for the rules that compare: `reasoning-cut`, `human-first` and
            `call-after-words`.
        open_end: Whether unanswered calls at the very end are allowed. They are in a stored list (an interrupt may be
            waiting), and are not in one that is sent to a model.

    Returns:
        One line for each finding; empty if the list is legal.
    """
    found = _call_rules(messages, open_end=open_end)
    summaries = [index for index, message in enumerate(messages) if is_summary(message)]
    found += [f"two-summaries: {where(messages, index)} is one more summary" for index in summaries[1:]]
    if original is not None:
        found += _human_first(messages, original)
        found += _reasoning_cut(messages, original)
        found += _call_after_words(messages, original)
    return found


def _call_rules(messages: Sequence[BaseMessage], *, open_end: bool) -> list[str]:
    found: list[str] = []
    first = next((index for index, message in enumerate(messages) if not isinstance(message, SystemMessage)), None)
    if first is not None and isinstance(messages[first], ToolMessage):
        found.append(f"tool-first: {where(messages, first)} opens the conversation")
    index = 0
    while index < len(messages):
        asked = Counter(call_ids(messages[index]))
        end = index if isinstance(messages[index], ToolMessage) else index + 1
        answered: Counter[str] = Counter()
        while end < len(messages) and isinstance(result := messages[end], ToolMessage):
            call_id = result.tool_call_id
            answered[call_id] += 1
            if call_id not in asked:
                found.append(f"orphan-result: {where(messages, end)} answers {call_id!r}, which was not asked")
            elif answered[call_id] > asked[call_id]:
                found.append(f"answered-twice: {where(messages, end)} answers {call_id!r} again")
            end += 1
        missing = list((asked - answered).keys())
        if missing and end < len(messages):
            found.append(f"unanswered-call: {where(messages, index)} calls {missing}, next is {where(messages, end)}")
        elif missing and not open_end:
            found.append(f"open-call: {where(messages, index)} calls {missing} and the list ends")
        index = end
    return found


def _human_first(messages: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    before = next((message for message in original if not isinstance(message, SystemMessage)), None)
    after = next((index for index, message in enumerate(messages) if not isinstance(message, SystemMessage)), None)
    if not isinstance(before, HumanMessage) or after is None or isinstance(messages[after], HumanMessage):
        return []
    return [f"human-first: {where(messages, after)} opens the conversation, the input opened with a human message"]


def _reasoning_cut(messages: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Checks both sides: reasoning without what it led to, and the step without its reasoning.

    Ids and contents may repeat. A key that stands in several places of the input is judged by all of them: a neighbour
    is demanded only if each of those places has one, and any of their neighbours will do.
    """
    ids = {message.id for message in original if message.id is not None}

    def key(message: BaseMessage) -> str | None:
        if is_summary(message):  # it bears the id of a message that is gone
            return None
        return f"id:{message.id}" if message.id in ids else f"as:{fingerprint(message)}"

    keys = [key(message) for message in original]
    followers: dict[str | None, set[str | None]] = defaultdict(set)
    leaders: dict[str | None, set[str | None]] = defaultdict(set)
    free_to_end: set[str | None] = set()
    free_to_start: set[str | None] = set()
    for index, message in enumerate(original):
        follower = index + 1 if index + 1 < len(original) else None
        if is_reasoning_only(message) and follower is not None and isinstance(original[follower], AIMessage):
            followers[keys[index]].add(keys[follower])
        else:
            free_to_end.add(keys[index])
        if isinstance(message, AIMessage) and index and is_reasoning_only(original[index - 1]):
            leaders[keys[index]].add(keys[index - 1])
        else:
            free_to_start.add(keys[index])

    found: list[str] = []
    kept = [key(message) for message in messages]
    for index, own in enumerate(kept):
        if own is None:
            continue
        after = kept[index + 1] if index + 1 < len(kept) else None
        before = kept[index - 1] if index else None
        if own in followers and own not in free_to_end and after not in followers[own]:
            found.append(f"reasoning-cut: {where(messages, index)} is reasoning without the message it led to")
        if own in leaders and own not in free_to_start and before not in leaders[own]:
            found.append(f"reasoning-cut: {where(messages, index)} stands without the reasoning that led to it")
    return found


def divided(messages: Sequence[BaseMessage]) -> list[tuple[int, list[int], int]]:
    """Gives each call that follows words of the model, with what stands between them: words, human messages, call.

    Between them stand human messages at most; system messages are sent apart from the conversation.
    """
    found: list[tuple[int, list[int], int]] = []
    words, humans = None, []
    for index, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            humans.append(index)
        elif not isinstance(message, SystemMessage):
            if words is not None and call_ids(message):
                found.append((words, humans, index))
            words, humans = index if isinstance(message, AIMessage) and not call_ids(message) else None, []
    return found


def _call_after_words(messages: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Checks that a call follows words directly only where no human message parted the two in the input either.

    A message that cannot be told from another one of the input is passed over.
    """
    ids = Counter(message.id for message in original)
    said = Counter(fingerprint(message) for message in original)
    by_id = {message.id: index for index, message in enumerate(original)}
    by_text = {fingerprint(message): index for index, message in enumerate(original)}

    def place(message: BaseMessage) -> int | None:
        if message.id in ids and message.id is not None:
            return by_id[message.id] if ids[message.id] == 1 else None
        text = fingerprint(message)
        return by_text[text] if said[text] == 1 else None

    found: list[str] = []
    for words, humans, call in divided(messages):
        start, end = place(messages[words]), place(messages[call])
        if humans or start is None or end is None:
            continue
        if any(isinstance(message, HumanMessage) for message in original[start:end]):
            found.append(f"call-after-words: {where(messages, call)} follows {where(messages, words)} directly")
    return found


def order_violations(output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Names every message of the output that stands before one it came after, or that stands there twice.

    A message is known by its id, or by what it says where the input had no id. The summary stands where the message
    stood whose id it bears. Messages that the input does not hold (a result made for an
    unanswered call) are left out.
    """
    by_id: dict[str, list[int]] = defaultdict(list)
    by_text: dict[str, list[int]] = defaultdict(list)
    for index, message in enumerate(original):
        if message.id is not None:
            by_id[message.id].append(index)
        by_text[fingerprint(message)].append(index)

    found: list[str] = []
    last = -1
    for index, message in enumerate(output):
        places = by_id.get(message.id or "", [])
        if not places and not is_summary(message):
            places = by_text.get(fingerprint(message), [])
        if not places:
            continue
        # The earliest place still free leaves most room for the rest, so this finds an order if there is one.
        free = bisect.bisect_right(places, last)
        if free == len(places):
            found.append(f"order: {where(output, index)} stood at {places} in the input, and comes after {last}")
        else:
            last = places[free]
    return found


def invented(output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Names every message of the output that the input does not hold, by id or by what it says.

    Two kinds may be new: the summary, and an error result for a call that the input left unanswered.
    """
    ids = {message.id for message in original if message.id is not None}
    said = {fingerprint(message) for message in original}
    return [
        f"invented: {where(output, index)}"
        for index, message in enumerate(output)
        if message.id not in ids
        and fingerprint(message) not in said
        and not is_summary(message)
        and not (isinstance(message, ToolMessage) and message.status == "error")
    ]


def newest_human(messages: Sequence[BaseMessage]) -> list[int]:
    """Gives the indices of every human message after the last AI message, else of the last one; never of a summary."""
    humans = [i for i, message in enumerate(messages) if isinstance(message, HumanMessage) and not is_summary(message)]
    last_ai = max((i for i, message in enumerate(messages) if isinstance(message, AIMessage)), default=-1)
    return [i for i in humans if i > last_ai] or humans[-1:]


def protected_indices(messages: Sequence[BaseMessage]) -> list[int]:
    """Gives the indices of what no compression may touch: system, pinned and newest human messages.

    A pinned result that answers nothing is not among them: no provider takes it, pinned or not.
    """
    orphans = _unanswering(messages)
    newest = set(newest_human(messages))
    return [
        index
        for index, message in enumerate(messages)
        if isinstance(message, SystemMessage) or index in newest or (is_pin(message) and index not in orphans)
    ]


def protected(messages: Sequence[BaseMessage], *, partners: bool = False) -> list[BaseMessage]:
    """Gives the protected messages themselves, in order.

    Args:
        messages: The list.
        partners: Adds what the rules above keep with a pinned message: the call of a pinned result, all results of its
            batch, the reasoning before it. This is the smallest legal list that holds all that is protected.
    """
    chosen = set(protected_indices(messages))
    if partners:
        spans = _spans(messages)
        chosen = {index for span in spans if not chosen.isdisjoint(span) for index in span} | chosen
        chosen -= _unanswering(messages)
    return [messages[index] for index in sorted(chosen)]


def protected_missing(output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Names every protected message of the input that the output does not hold as it was (a pinned one: and pinned).

    What stood there twice must stand there twice. An id may have been added, nothing else.
    """
    there = Counter(fingerprint(message) for message in output if not is_summary(message))
    pinned_there = Counter(fingerprint(message) for message in output if is_pin(message))
    wanted: Counter[str] = Counter()
    wanted_pinned: Counter[str] = Counter()
    found: list[str] = []
    for index in protected_indices(original):
        said = fingerprint(original[index])
        wanted[said] += 1
        if wanted[said] > there[said]:
            found.append(f"protected-missing: {where(original, index)} of the input is not in the output as it was")
        elif is_pin(original[index]):
            wanted_pinned[said] += 1
            if wanted_pinned[said] > pinned_there[said]:
                found.append(f"pin-lost: {where(original, index)} of the input is in the output, but not pinned")
    return found


def _unanswering(messages: Sequence[BaseMessage]) -> set[int]:
    """Gives the indices of results that answer nothing, or answer a second time."""
    left: Counter[str] = Counter()
    lost: set[int] = set()
    for index, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            left = Counter(call_ids(message))
        elif left[message.tool_call_id] > 0:
            left[message.tool_call_id] -= 1
        else:
            lost.add(index)
    return lost


def _spans(messages: Sequence[BaseMessage]) -> list[list[int]]:
    """Gives the runs of indices that no legal cut parts."""
    spans: list[list[int]] = []
    for index, message in enumerate(messages):
        before = messages[index - 1] if index else None
        belongs = isinstance(message, ToolMessage) or (
            isinstance(message, AIMessage) and before is not None and is_reasoning_only(before)
        )
        if belongs and spans:
            spans[-1].append(index)
        else:
            spans.append([index])
    return spans
