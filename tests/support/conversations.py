"""Conversations to try: drawn by Hypothesis, or built by hand.

A conversation is drawn as a handful of numbers and one string of bytes, four for each scene (a question and its answer,
a step with its tools, …), and built from those. So 400 messages cost a few draws, a failing example shrinks to few
scenes and to the first kinds of the list, and which features meet in one conversation is drawn anew each time.
"""

from __future__ import annotations

import random
from typing import Literal

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from tests.support.legality import MARK, call_ids, is_reasoning_only
from tests.support.scenes import BROKEN_SCENES, DETAILS, ENDS, LEGAL_SCENES, ODD_TEXT, SIZES, WORDS, Scenes

Ids = Literal["all", "none", "mixed", "any"]


@st.composite
def conversations(
    draw: st.DrawFn,
    *,
    max_messages: int = 400,
    min_messages: int = 1,
    broken: bool = True,
    duplicate_ids: bool = True,
    surrogates: bool = False,
    nul: bool = False,
    pins: bool = True,
    ids: Ids = "any",
    max_words: int = 30,
) -> list[BaseMessage]:
    """Draws a conversation.

    Args:
        draw: Given by Hypothesis.
        max_messages: Most messages, up to 400. Half of all conversations have 16 or fewer, one in six more than 60.
        min_messages: Fewest messages.
        broken: Whether results without a call, calls without a result, results given twice and batches with another
            message in between occur. Without it the list passes `violations`.
        duplicate_ids: Whether two messages may bear one id, with other content or with the same.
        surrogates: Whether lone surrogates occur in text.
        nul: Whether NUL characters occur in text.
        pins: Whether messages may be pinned.
        ids: Whether all, none or some messages have an id; "any" draws which.
        max_words: Length of an ordinary text, in words.

    Returns:
        The messages.
    """
    assert 1 <= min_messages <= max_messages <= SIZES[-1][1]
    kinds = {**LEGAL_SCENES, **(BROKEN_SCENES if broken else {})}
    optional = [name for name in (*kinds, *DETAILS) if name != "exchange"]
    switches = draw(st.lists(st.booleans(), min_size=len(optional), max_size=len(optional)))
    features = frozenset(name for name, on in zip(optional, switches, strict=True) if on) | {"exchange"}
    ranges = [(max(least, min_messages), min(most, max_messages)) for least, most in SIZES]
    size = draw(
        st.sampled_from([bounds for bounds in ranges if bounds[0] <= bounds[1]]).flatmap(lambda it: st.integers(*it))
    )
    end = draw(st.integers(0, ENDS - 1))
    shape = draw(st.integers(0, 2**31 - 1))
    script = draw(st.binary(min_size=4 * ((size + 1) // 2), max_size=4 * ((size + 1) // 2)))

    odd = (*(ODD_TEXT["surrogates"] if surrogates else ()), *(ODD_TEXT["nul"] if nul else ()))
    scenes = Scenes(random.Random(shape), features, max_words, odd)
    rng = random.Random(shape)
    for _ in range(rng.choice((0, 1, 1, 2)) if "systems" in features else 0):
        scenes.system()
    possible = [build for name, build in kinds.items() if name in features]
    at = 0
    while len(scenes.messages) < size:
        scene = script[at % len(script) :][:4]
        scenes.rng = random.Random(scene[1:] + bytes([at // len(script)]))
        possible[scene[0] % len(possible)](scenes)
        at += 4
    _fit(scenes, size, end=end, least=min_messages)
    messages = scenes.messages
    _identify(messages, rng, draw(st.sampled_from(("all", "none", "mixed"))) if ids == "any" else ids)
    if duplicate_ids and rng.random() < 0.3:
        _duplicate(messages, rng, room=max_messages - len(messages))
    if pins and (share := rng.choice((0, 0.05, 0.2))):
        for place, message in enumerate(messages):
            if rng.random() < share:
                messages[place] = pinned(message)
    return messages


def _fit(scenes: Scenes, size: int, *, end: int, least: int) -> None:
    """Cuts the conversation to its size, leaves no batch that the cut has opened, and ends it."""
    closing = Scenes(scenes.rng, scenes.features, scenes.max_words, scenes.odd, calls=scenes.calls)
    closing.close(end)
    room = max(size - len(closing.messages), 0)
    opening = scenes.messages[:room]
    start = len(opening)
    while start and isinstance(opening[start - 1], ToolMessage):
        start -= 1
    asked = set(call_ids(opening[start - 1])) if start else set()
    if asked - {message.tool_call_id for message in opening[start:] if isinstance(message, ToolMessage)}:
        del opening[start - 1 :]
    while opening and is_reasoning_only(opening[-1]):  # what it led to was cut off
        opening.pop()
    scenes.messages = [*opening, *closing.messages][:size]
    while len(scenes.messages) < least:
        # In front, where it opens no batch; what stands there is at most a system message.
        scenes.messages.insert(0, HumanMessage(scenes.text()))


def _identify(messages: list[BaseMessage], rng: random.Random, ids: str) -> None:
    for place, message in enumerate(messages):
        if ids == "all" or (ids == "mixed" and rng.random() < 0.5):
            message.id = f"m{place}"


def _duplicate(messages: list[BaseMessage], rng: random.Random, *, room: int) -> None:
    """Gives some messages the id of an earlier one, or says an earlier message again, id and all, at the end."""
    named = [message for message in messages if message.id is not None]
    for message in messages:
        if named and message.id is not None and rng.random() < 0.1:
            message.id = rng.choice(named).id
    plain = [message for message in named if isinstance(message, HumanMessage)]
    if plain and room > 0 and not (messages and call_ids(messages[-1])) and not isinstance(messages[-1], ToolMessage):
        messages.append(rng.choice(plain).model_copy(deep=True))


def pinned(message: BaseMessage) -> BaseMessage:
    """Gives a pinned copy, same id."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK: {"kind": "pin"}}})


def copied(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Gives a copy that shares nothing with the list, to see later whether the list was changed."""
    return messages_from_dict(messages_to_dict(messages))


def exchanges(n: int, *, start: int = 0, words: int = 12, ids: bool = True) -> list[BaseMessage]:
    """Builds `n` questions and answers, each different, the same ones each time.

    Args:
        n: How many.
        start: Number of the first; 5 exchanges from 3 are the same as the last 5 of 8 from 0.
        words: Length of each message, in words, beside its first four.
        ids: Whether the messages have ids, `human-0`, `ai-0`, ….
    """
    messages: list[BaseMessage] = []
    for number in range(start, start + n):
        question = f"Question {number} about order #W{10_000 + number}: {_prose(2 * number, words)}?"
        answer = f"Answer {number} is code K-{7 * number:05d}. {_prose(2 * number + 1, words)}."
        messages.append(HumanMessage(question, id=f"human-{number}" if ids else None))
        messages.append(AIMessage(answer, id=f"ai-{number}" if ids else None))
    return messages


def agent_run(
    steps: int, *, start: int = 0, words: int = 40, parallel: int = 1, ids: bool = True, reuse_calls: bool = False
) -> list[BaseMessage]:
    """Builds a long run: one task, `steps` calls with their results, the final answer.

    Args:
        steps: How many steps.
        start: Number of the first step.
        words: Length of a tool's result, in words.
        parallel: Calls in each step; the results come back in turned order.
        ids: Whether the messages have ids, `task-0`, `step-0`, `result-0-0`, …, `done-0`.
        reuse_calls: Whether each step's call ids start over, as some providers' do.
    """
    task = "Find out why the build is slow. Never touch the file deploy.yaml."
    messages: list[BaseMessage] = [HumanMessage(task, id=f"task-{start}" if ids else None)]
    for step in range(start, start + steps):
        calls = [f"call_{place}" if reuse_calls else f"call_{step}_{place}" for place in range(parallel)]
        made = [
            {"name": "run_shell", "args": {"command": f"grep -n pattern{step} src/file_{place}.py"}, "id": call}
            for place, call in enumerate(calls)
        ]
        messages.append(AIMessage(f"Step {step}: I look further.", tool_calls=made, id=f"step-{step}" if ids else None))
        for place, call in reversed(list(enumerate(calls))):
            output = f"src/file_{place}.py:{step}: {_prose(31 * step + place, words)}"
            own = f"result-{step}-{place}" if ids else None
            messages.append(ToolMessage(output, tool_call_id=call, name="run_shell", id=own))
    messages.append(AIMessage("The cache key changes each run.", id=f"done-{start}" if ids else None))
    return messages


def _prose(seed: int, words: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))
