"""The checker catches each rule broken by hand, and accepts what providers accept."""

from __future__ import annotations

import pytest
from hypothesis import given
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.legality import (
    MARK,
    invented,
    is_reasoning_only,
    newest_human,
    order_violations,
    protected,
    protected_indices,
    protected_missing,
    violations,
)


def human(text: str = "q", **fields: object) -> HumanMessage:
    return HumanMessage(text, **fields)


def ai(text: object = "a", *calls: str, **fields: object) -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": "f", "args": {}, "id": call} for call in calls], **fields)


def result(call: str, text: str = "r", **fields: object) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call, **fields)


def thought(**fields: object) -> AIMessage:
    return AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}], **fields)


def summary(**fields: object) -> HumanMessage:
    return HumanMessage("what was said", additional_kwargs={MARK: {"kind": "summary"}}, **fields)


def rules(found: list[str]) -> list[str]:
    return [finding.split(":")[0] for finding in found]


LEGAL: dict[str, list[BaseMessage]] = {
    "nothing": [],
    "plain": [SystemMessage("s"), human(), ai()],
    "one step": [human(), ai("", "a"), result("a"), ai()],
    "results out of order": [human(), ai("", "a", "b", "c"), result("c"), result("a"), result("b"), ai()],
    "ids used again in a later turn": [
        human(),
        ai("", "a"),
        result("a"),
        ai("", "a"),
        result("a"),
        human(),
        ai("", "a"),
    ],
    "open call at the end": [human(), ai("", "a")],
    "half-answered at the end": [human(), ai("", "a", "b"), result("b")],
    "two humans": [human(), human(), ai()],
    "system in the middle": [human(), ai(), SystemMessage("s"), human()],
    "AI first": [ai(), human()],
    "a broken call, answered": [
        AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{", "id": "x", "error": None}]),
        result("x"),
        ai(),
    ],
    "one summary": [human(), summary(), human()],
}

ILLEGAL: dict[str, tuple[list[BaseMessage], list[str]]] = {
    "result first": ([SystemMessage("s"), result("a"), human()], ["tool-first", "orphan-result"]),
    "result after human": ([human(), result("a")], ["orphan-result"]),
    "result after plain AI": ([human(), ai(), result("a"), ai()], ["orphan-result"]),
    "result of another call": ([human(), ai("", "a"), result("a"), result("b"), ai()], ["orphan-result"]),
    "result of an earlier turn's call": (
        [human(), ai("", "a"), result("a"), ai("", "b"), result("a"), result("b"), ai()],
        ["orphan-result"],
    ),
    "answered twice": ([human(), ai("", "a"), result("a"), result("a"), ai()], ["answered-twice"]),
    "call without result": ([human(), ai("", "a"), human()], ["unanswered-call"]),
    "half a batch": ([human(), ai("", "a", "b"), result("b"), ai()], ["unanswered-call"]),
    "a broken call without result": (
        [AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{", "id": "x", "error": None}]), human()],
        ["unanswered-call"],
    ),
    "summary between call and result": (
        [human(), ai("", "a"), summary(), result("a"), ai()],
        ["unanswered-call", "orphan-result"],
    ),
    "system between call and result": (
        [human(), ai("", "a"), SystemMessage("s"), result("a")],
        ["unanswered-call", "orphan-result"],
    ),
    "two summaries": ([human(), summary(), ai(), summary()], ["two-summaries"]),
}


@pytest.mark.parametrize("name", LEGAL)
def test_accepts(name: str) -> None:
    assert violations(LEGAL[name], original=LEGAL[name]) == []
    assert order_violations(LEGAL[name], LEGAL[name]) == []
    assert protected_missing(LEGAL[name], LEGAL[name]) == []
    assert invented(LEGAL[name], LEGAL[name]) == []


@pytest.mark.parametrize("name", ILLEGAL)
def test_catches(name: str) -> None:
    messages, expected = ILLEGAL[name]
    assert rules(violations(messages)) == expected


def test_a_finding_names_rule_index_and_id() -> None:
    assert violations([human(), result("a", id="t7")]) == [
        "orphan-result: message 1 (tool, id='t7') answers 'a', which was not asked"
    ]


@pytest.mark.parametrize("name", ["open call at the end", "half-answered at the end"])
def test_an_open_call_is_not_for_sending(name: str) -> None:
    assert rules(violations(LEGAL[name], open_end=False)) == ["open-call"]


class TestReasoning:
    messages = (human(id="h"), thought(id="t"), ai("so", "c", id="a"), result("c", id="r"), ai("done", id="z"))

    def test_what_holds_only_reasoning(self) -> None:
        assert is_reasoning_only(thought())
        assert not is_reasoning_only(ai([{"type": "thinking", "thinking": "hm"}], "call"))
        assert not is_reasoning_only(ai([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"}]))
        assert not is_reasoning_only(ai([]))
        assert not is_reasoning_only(human())

    @pytest.mark.parametrize(("kept", "wrong"), [("htarz", 0), ("hz", 0), ("h", 0), ("htz", 1), ("ht", 1), ("harz", 1)])
    def test_stays_with_what_it_led_to(self, kept: str, wrong: int) -> None:
        output = [message for message in self.messages if message.id in kept]
        assert rules(violations(output, original=self.messages)) == ["reasoning-cut"] * wrong

    def test_a_summary_is_not_the_message_whose_id_it_bears(self) -> None:
        assert violations([human(id="h"), summary(id="t"), self.messages[-1]], original=self.messages) == []
        cut = [human(id="h"), self.messages[1], summary(id="a")]
        assert rules(violations(cut, original=self.messages)) == ["reasoning-cut"]

    def test_is_known_by_what_it_says_where_there_are_no_ids(self) -> None:
        bare = [human(), thought(), ai("so"), human("again"), ai("done")]
        assert rules(violations([*bare[:2], *bare[3:]], original=bare)) == ["reasoning-cut"]
        assert rules(violations([bare[0], *bare[2:]], original=bare)) == ["reasoning-cut"]
        assert violations(bare[3:], original=bare) == []

    def test_that_stood_alone_may_stand_alone(self) -> None:
        alone = [human(), thought(), human("again"), ai()]
        assert violations(alone, original=alone) == []

    def test_reasoning_and_its_step_with_another_step_between(self) -> None:
        wrong = [*self.messages[:2], self.messages[4]]
        assert rules(violations(wrong, original=self.messages)) == ["reasoning-cut"]


def test_the_human_who_opened_the_conversation_opens_it_still() -> None:
    messages = [SystemMessage("s"), *exchanges(3)]
    assert rules(violations([messages[0], *messages[2:]], original=messages)) == ["human-first"]
    assert violations([messages[0], *messages[3:]], original=messages) == []
    assert violations(messages[2:3], original=messages[2:]) == []  # it opened with an AI message


class TestOrder:
    @pytest.mark.parametrize("ids", [True, False])
    def test_kept_messages_keep_their_order(self, ids: bool) -> None:
        messages = exchanges(4, ids=ids)
        assert order_violations(messages[1:3] + messages[5:], messages) == []
        assert rules(order_violations(messages[5:] + messages[1:3], messages)) == ["order", "order"]
        assert rules(order_violations([messages[0], *messages], messages)) == ["order"]

    def test_a_changed_message_is_known_by_its_id(self) -> None:
        messages = exchanges(3)
        shorter = messages[2].model_copy(update={"content": "short"})
        assert order_violations([*messages[:2], shorter, *messages[3:]], messages) == []
        assert rules(order_violations([*messages[:2], messages[3], shorter], messages)) == ["order"]

    def test_an_id_that_was_added_does_not_matter(self) -> None:
        messages = exchanges(3, ids=False)
        output = [message.model_copy(update={"id": f"new-{place}"}) for place, message in enumerate(messages)]
        assert order_violations(output, messages) == []
        assert rules(order_violations([output[2], output[1]], messages)) == ["order"]

    def test_the_summary_stands_where_its_id_stood(self) -> None:
        messages = exchanges(4)
        assert order_violations([*messages[:2], summary(id="human-1"), *messages[6:]], messages) == []
        wrong = [*messages[:2], *messages[6:], summary(id="human-1")]
        assert rules(order_violations(wrong, messages)) == ["order"]

    def test_ids_that_repeat_may_stand_for_either_message(self) -> None:
        messages = [human("1", id="x"), ai("2", id="y"), human("3", id="x")]
        assert order_violations(messages[1:], messages) == []
        assert rules(order_violations([*messages, messages[0]], messages)) == ["order"]

    def test_what_the_input_does_not_hold_is_invented(self) -> None:
        messages = [human(id="h"), ai("", "c", id="a"), human("again", id="i")]
        repaired = [*messages[:2], result("c", "no result", status="error"), messages[2]]
        assert invented(repaired, messages) == []
        assert invented([summary(id="other"), *messages], messages) == []
        assert rules(invented([*messages, ai("made up")], messages)) == ["invented"]
        assert rules(invented([*messages, result("c", "made up")], messages)) == ["invented"]


class TestProtected:
    def test_newest_human_is_every_human_after_the_last_ai(self) -> None:
        assert newest_human([human(), ai(), human(), SystemMessage("s"), human()]) == [2, 4]
        assert newest_human([human(), human(), ai("", "a"), result("a")]) == [1]
        assert newest_human([human(), ai(), summary()]) == [0]
        assert newest_human([summary(), ai()]) == []

    def test_system_pinned_and_newest_human_are_protected(self) -> None:
        messages = [SystemMessage("s"), human(), pinned(ai()), human("now")]
        assert protected_indices(messages) == [0, 2, 3]

    def test_a_pinned_result_without_a_call_is_not(self) -> None:
        messages = [human(), pinned(result("gone")), ai(), human("now")]
        assert protected_indices(messages) == [3]
        twice = [human(), ai("", "a"), pinned(result("a")), pinned(result("a"))]
        assert protected_indices(twice) == [0, 2]

    def test_partners_are_what_must_stay_with_a_pin(self) -> None:
        steps = [human(), thought(), ai("", "a", "b"), result("b"), pinned(result("a")), ai(), human("now")]
        assert protected(steps, partners=True) == [*steps[1:5], steps[6]]
        assert violations(protected(steps, partners=True)) == []

    @pytest.mark.parametrize("place", [0, 2, 5])
    def test_one_that_is_gone_or_changed_is_named(self, place: int) -> None:
        messages = [SystemMessage("s"), human(), pinned(ai("kept", id="p")), human(), ai(), human("now")]
        assert protected_missing(messages, messages) == []
        gone = [message for at, message in enumerate(messages) if at != place]
        changed = [m.model_copy(update={"content": "other"}) if at == place else m for at, m in enumerate(messages)]
        assert rules(protected_missing(gone, messages)) == ["protected-missing"]
        assert rules(protected_missing(changed, messages)) == ["protected-missing"]

    def test_an_id_may_be_added(self) -> None:
        assert protected_missing([human(id="new")], [human()]) == []

    def test_a_pin_stays_a_pin(self) -> None:
        assert rules(protected_missing([ai(), human()], [pinned(ai()), human()])) == ["pin-lost"]

    def test_a_summary_does_not_stand_in_for_a_message(self) -> None:
        said = human("what was said")
        assert rules(protected_missing([summary()], [said])) == ["protected-missing"]

    def test_what_stood_there_twice_stands_there_twice(self) -> None:
        twice = [SystemMessage("s"), human(), ai(), SystemMessage("s"), human()]
        assert rules(protected_missing(twice[1:], twice)) == ["protected-missing"]

    def test_calls_and_names_count(self) -> None:
        assert rules(protected_missing([ai("x", "b")], [pinned(ai("x", "a"))])) == ["protected-missing"]
        assert rules(protected_missing([human(name="bob")], [human(name="al")])) == ["protected-missing"]


@given(conversations(broken=False))
def test_what_the_generator_means_to_be_legal_is(messages: list[BaseMessage]) -> None:
    assert violations(messages, original=messages) == []


@given(conversations())
def test_any_list_is_in_its_own_order_with_all_that_is_protected(messages: list[BaseMessage]) -> None:
    assert order_violations(messages, messages) == []
    assert protected_missing(messages, messages) == []
    assert invented(messages, messages) == []


@given(conversations())
def test_the_protected_with_their_partners_are_the_smallest_list_that_holds_them(messages: list[BaseMessage]) -> None:
    smallest = protected(messages, partners=True)
    assert protected_missing(smallest, messages) == []
    assert not [found for found in violations(smallest) if found.startswith(("tool-first", "orphan", "answered-twice"))]


@given(conversations(broken=False, min_messages=2))
def test_one_message_taken_out_of_a_batch_is_seen(messages: list[BaseMessage]) -> None:
    last = len(messages) - 1
    for index, message in enumerate(messages):
        opens = isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)
        answers = isinstance(message, ToolMessage)
        closed = any(not isinstance(later, ToolMessage) for later in messages[index + 1 :])
        if (opens and index < last and isinstance(messages[index + 1], ToolMessage)) or (answers and closed):
            assert violations(messages[:index] + messages[index + 1 :])


def test_built_conversations_are_legal() -> None:
    for messages in (exchanges(5), agent_run(20), agent_run(4, parallel=3), agent_run(4, parallel=3, reuse_calls=True)):
        assert violations(messages, open_end=False) == []
