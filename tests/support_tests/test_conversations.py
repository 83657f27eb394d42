"""The generator draws each thing it says it draws, often enough to matter, and nothing that was switched off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from hypothesis import Phase, find, given, settings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, messages_to_dict

from tests.support.conversations import agent_run, conversations, copied, exchanges, pinned
from tests.support.legality import call_ids, is_pin, is_reasoning_only, violations

Messages = list[BaseMessage]


def texts(messages: Messages) -> Iterable[str]:
    for message in messages:
        blocks = [message.content] if isinstance(message.content, str) else message.content
        yield from (block if isinstance(block, str) else str(block.get("text", "")) for block in blocks)


def blocks(messages: Messages, kind: str) -> bool:
    return any(
        isinstance(block, dict) and block.get("type") == kind
        for message in messages
        if isinstance(message.content, list)
        for block in message.content
    )


def broke(rule: str) -> Callable[[Messages], bool]:
    return lambda messages: any(found.startswith(rule) for found in violations(messages, open_end=False))


def out_of_order(messages: Messages) -> bool:
    for index, message in enumerate(messages):
        asked = call_ids(message)
        given_back = [
            m.tool_call_id for m in messages[index + 1 : index + 1 + len(asked)] if isinstance(m, ToolMessage)
        ]
        if sorted(given_back) == sorted(asked) and given_back != asked:
            return True
    return False


def reused_calls(messages: Messages) -> bool:
    return max(Counter(call for message in messages for call in call_ids(message)).values(), default=0) > 1


def open_end(messages: Messages, *, half: bool) -> bool:
    if not broke("open-call")(messages):
        return False
    return isinstance(messages[-1], ToolMessage) == half


def repeated_ids(messages: Messages, *, same: bool) -> bool:
    seen: dict[str, BaseMessage] = {}
    for message in messages:
        if message.id is not None and message.id in seen and (seen[message.id].content == message.content) == same:
            return True
        if message.id is not None:
            seen.setdefault(message.id, message)
    return False


def system_in_the_middle(messages: Messages) -> bool:
    first = next((i for i, m in enumerate(messages) if not isinstance(m, SystemMessage)), len(messages))
    return any(isinstance(message, SystemMessage) for message in messages[first:])


def between_call_and_result(kind: type[BaseMessage]) -> Callable[[Messages], bool]:
    return lambda messages: any(
        call_ids(a) and isinstance(b, kind) and isinstance(c, ToolMessage) and c.tool_call_id in call_ids(a)
        for a, b, c in zip(messages, messages[1:], messages[2:], strict=False)
    )


def reasoned(messages: Messages) -> bool:
    return any(is_reasoning_only(a) and isinstance(b, AIMessage) for a, b in pairwise(messages))


FEATURES: dict[str, Callable[[Messages], bool]] = {
    "parallel calls": lambda ms: any(len(call_ids(m)) > 1 for m in ms),
    "results out of order": out_of_order,
    "call ids reused in later turns": reused_calls,
    "open call at the end": lambda ms: open_end(ms, half=False),
    "half-answered calls at the end": lambda ms: open_end(ms, half=True),
    "broken calls": lambda ms: any(isinstance(m, AIMessage) and m.invalid_tool_calls for m in ms),
    "empty text": lambda ms: any(m.content == "" and not call_ids(m) for m in ms),
    "empty list": lambda ms: any(m.content == [] for m in ms),
    "list content": lambda ms: any(isinstance(m.content, list) and len(m.content) > 1 for m in ms),
    "text in a list": lambda ms: any(
        isinstance(m.content, list) and any(isinstance(b, str) for b in m.content) for m in ms
    ),
    "text blocks": lambda ms: blocks(ms, "text"),
    "image_url blocks": lambda ms: blocks(ms, "image_url"),
    "image blocks": lambda ms: blocks(ms, "image"),
    "reasoning blocks": lambda ms: blocks(ms, "reasoning"),
    "thinking blocks": lambda ms: blocks(ms, "thinking"),
    "redacted thinking": lambda ms: blocks(ms, "redacted_thinking"),
    "tool_use blocks": lambda ms: blocks(ms, "tool_use"),
    "reasoning-only message and its step": reasoned,
    "reasoning before a step with calls": lambda ms: any(is_reasoning_only(a) and call_ids(b) for a, b in pairwise(ms)),
    "reasoning-only at the end": lambda ms: is_reasoning_only(ms[-1]),
    "system message first": lambda ms: isinstance(ms[0], SystemMessage),
    "no system message": lambda ms: not any(isinstance(m, SystemMessage) for m in ms),
    "system message in the middle": system_in_the_middle,
    "AI message first": lambda ms: isinstance(ms[0], AIMessage),
    "no AI message": lambda ms: not any(isinstance(m, AIMessage) for m in ms),
    "no human message": lambda ms: not any(isinstance(m, HumanMessage) for m in ms),
    "two humans in a row": lambda ms: any(
        isinstance(a, HumanMessage) and isinstance(b, HumanMessage) for a, b in pairwise(ms)
    ),
    "human last": lambda ms: isinstance(ms[-1], HumanMessage),
    "all results last": lambda ms: isinstance(ms[-1], ToolMessage) and not violations(ms, open_end=False),
    "legal": lambda ms: not violations(ms, open_end=False),
    "error results": lambda ms: any(isinstance(m, ToolMessage) and m.status == "error" for m in ms),
    "long results": lambda ms: any(len(m.text) > 1_000 for m in ms if isinstance(m, ToolMessage)),
    "names": lambda ms: any(isinstance(m, HumanMessage) and m.name for m in ms),
    "tool names": lambda ms: any(isinstance(m, ToolMessage) and m.name for m in ms),
    "unicode": lambda ms: any(ord(c) > 0xFFFF for text in texts(ms) for c in text),
    "all ids": lambda ms: all(m.id for m in ms),
    "no ids": lambda ms: not any(m.id for m in ms),
    "some ids": lambda ms: len({m.id is None for m in ms}) == 2,
    "pinned human": lambda ms: any(is_pin(m) for m in ms if isinstance(m, HumanMessage)),
    "pinned AI": lambda ms: any(is_pin(m) for m in ms if isinstance(m, AIMessage)),
    "pinned call": lambda ms: any(is_pin(m) for m in ms if call_ids(m)),
    "pinned result": lambda ms: any(is_pin(m) for m in ms if isinstance(m, ToolMessage)),
    "no pins": lambda ms: not any(map(is_pin, ms)),
    "one message": lambda ms: len(ms) == 1,
    "over 60 messages": lambda ms: len(ms) > 60,
    "over 300 messages": lambda ms: len(ms) > 300,
}
BROKEN: dict[str, Callable[[Messages], bool]] = {
    "orphan results": broke("orphan-result"),
    "result first": broke("tool-first"),
    "answered twice": broke("answered-twice"),
    "unanswered calls in the middle": broke("unanswered-call"),
    "human between call and result": between_call_and_result(HumanMessage),
    "system message between call and result": between_call_and_result(SystemMessage),
}
REPEATED: dict[str, Callable[[Messages], bool]] = {
    "one id, two contents": lambda ms: repeated_ids(ms, same=False),
    "the same message twice": lambda ms: repeated_ids(ms, same=True),
}
ODD: dict[str, Callable[[Messages], bool]] = {
    "surrogates": lambda ms: any(0xD800 <= ord(c) < 0xE000 for text in texts(ms) for c in text),
    "nul": lambda ms: any("\x00" in text for text in texts(ms)),
}
EXAMPLES = 1_000


@pytest.fixture(scope="module")
def drawn() -> list[Messages]:
    """A thousand conversations, the same ones each time."""
    lists: list[Messages] = []

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, phases=[Phase.generate])
    @given(conversations())
    def collect(messages: Messages) -> None:
        lists.append(messages)

    collect()
    return lists


@pytest.mark.parametrize("feature", [*FEATURES, *BROKEN, *REPEATED])
def test_occurs_in_at_least_one_of_a_hundred(drawn: list[Messages], feature: str) -> None:
    found = sum(map({**FEATURES, **BROKEN, **REPEATED}[feature], drawn))
    assert found >= EXAMPLES / 100, f"{feature}: {found} of {EXAMPLES}"


@pytest.mark.parametrize("feature", ODD)
def test_odd_text_occurs_only_where_asked_for(drawn: list[Messages], feature: str) -> None:
    assert not any(map(ODD[feature], drawn))
    assert ODD[feature](find(conversations(**{feature: True}), ODD[feature]))


@given(conversations(broken=False))
def test_broken_lists_can_be_switched_off(messages: Messages) -> None:
    assert violations(messages) == []


@given(conversations(duplicate_ids=False, pins=False, ids="all"))
def test_duplicates_pins_and_missing_ids_can_be_switched_off(messages: Messages) -> None:
    assert len({message.id for message in messages}) == len(messages)
    assert None not in {message.id for message in messages}
    assert not any(map(is_pin, messages))


@given(conversations(ids="none"))
def test_ids_can_be_switched_off(messages: Messages) -> None:
    assert {message.id for message in messages} == {None}


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 5), (5, 5), (30, 400), (1, 400)])
def test_sizes_are_as_asked_for(least: int, most: int) -> None:
    @settings(max_examples=100)
    @given(conversations(min_messages=least, max_messages=most))
    def check(messages: Messages) -> None:
        assert least <= len(messages) <= most

    check()


def test_the_largest_conversation_is_drawn() -> None:
    assert len(find(conversations(max_messages=400), lambda messages: len(messages) >= 390)) >= 390


def test_a_failing_example_shrinks_to_little() -> None:
    smallest = find(conversations(), lambda messages: any(len(call_ids(message)) > 1 for message in messages))
    assert len(smallest) <= 8


@given(conversations())
def test_a_copy_is_equal_and_shares_nothing(messages: Messages) -> None:
    copies = copied(messages)
    assert messages_to_dict(copies) == messages_to_dict(messages)
    assert not {id(message) for message in copies} & {id(message) for message in messages}


def test_exchanges_are_numbered_and_the_same_each_time() -> None:
    assert exchanges(8)[6:] == exchanges(5, start=3)
    assert len({message.text for message in exchanges(200)}) == 400
    assert {message.id for message in exchanges(3, ids=False)} == {None}
    short, long = exchanges(1, words=5), exchanges(1, words=500)
    assert len(long[0].text) > 20 * len(short[0].text)


def test_agent_runs_have_one_human_and_as_many_steps_as_asked_for() -> None:
    run = agent_run(20, parallel=3)
    assert [type(message) for message in run[:5]] == [HumanMessage, AIMessage, ToolMessage, ToolMessage, ToolMessage]
    assert len(run) == 2 + 20 * 4
    assert reused_calls(agent_run(3, reuse_calls=True))
    assert not reused_calls(run)
    assert len({message.id for message in run}) == len(run)


def test_a_pin_is_a_copy() -> None:
    message = HumanMessage("x", id="1", additional_kwargs={"own": 1})
    assert is_pin(pinned(message))
    assert not is_pin(message)
    assert pinned(message).additional_kwargs["own"] == 1
