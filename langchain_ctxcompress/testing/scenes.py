"""The conversations that `check_strategy` runs a strategy over: each holds one thing that strategies stumble over.

They are built by rule, without chance: a finding can be had again by its scene's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_ctxcompress.messages import pin

__all__ = ["SCENES"]

_TEXT = (
    "the order was refunded before shipping please check seat 14C again "
    "größer außerdem mañana número заказ завтра 请 不要 取消 確認 주문 الطلب रद्द 👩‍👩‍👧 é "
    "src/app/main.py:42 https://example.org/a?b=1 9f86d081884c7d65 v1.2.3 $1,249.99 2024-05-15"
)
_WORDS = _TEXT.split()
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def _text(seed: int, words: int = 30) -> str:
    """Words in an order that each seed has for itself."""
    return " ".join(_WORDS[(seed * 7 + place * (seed % 5 + 1)) % len(_WORDS)] for place in range(words)) + f" #{seed}"


def _exchange(number: int, words: int = 30) -> list[BaseMessage]:
    return [
        HumanMessage(f"Question {number}: {_text(2 * number, words)}?", id=f"human-{number}"),
        AIMessage(f"Answer {number}: {_text(2 * number + 1, words)}.", id=f"ai-{number}"),
    ]


def _step(
    number: int, *, calls: Sequence[str] = (), order: Sequence[int] = (), content: Any = "", words: int = 80
) -> list[BaseMessage]:
    """One message with calls, and a result for each; `order` is that of the results."""
    ids = list(calls) or [f"call-{number}"]
    made = [{"name": "look", "args": {"path": f"src/{number}/{n}.py"}, "id": call} for n, call in enumerate(ids)]
    results: list[BaseMessage] = [
        ToolMessage(_text(31 * number + n, words), tool_call_id=call, name="look", id=f"result-{number}-{n}")
        for n, call in enumerate(ids)
    ]
    return [AIMessage(content, tool_calls=made, id=f"step-{number}"), *(results[n] for n in order or range(len(ids)))]


def _run(steps: int, build: Callable[[int], list[BaseMessage]] = _step) -> list[BaseMessage]:
    task = HumanMessage("Find out why the build is slow. Never touch deploy.yaml.", id="task")
    return [task, *(message for number in range(steps) for message in build(number))]


def _chat(turns: int, words: int = 30) -> list[BaseMessage]:
    return [message for number in range(turns) for message in _exchange(number, words)]


def _parallel(number: int) -> list[BaseMessage]:
    return _step(number, calls=[f"call-{number}-{n}" for n in range(4)], words=30)


def _out_of_order(number: int) -> list[BaseMessage]:
    return _step(number, calls=[f"call-{number}-{n}" for n in range(3)], order=(2, 0, 1), words=30)


def _reused_ids(number: int) -> list[BaseMessage]:
    return _step(number, calls=["call_0", "call_1"], words=40)


def _thinking(number: int) -> list[BaseMessage]:
    """Thinking in the message of its call, as Anthropic sends it."""
    return _step(
        number,
        content=[
            {"type": "thinking", "thinking": _text(number), "signature": "c2lnbmVk"},
            {"type": "text", "text": f"Step {number}."},
            {
                "type": "tool_use",
                "id": f"call-{number}",
                "name": "look",
                "input": {"path": f"src/{number}/0.py"},
            },
        ],
    )


def _reasoning(number: int) -> list[BaseMessage]:
    """Reasoning as a message of its own, as OpenAI's Responses API has it."""
    block = {"type": "reasoning", "id": f"rs_{number}", "summary": [{"type": "summary_text", "text": _text(number)}]}
    return [AIMessage([block], id=f"reasoning-{number}"), *_step(number)]


def _written_files(number: int) -> list[BaseMessage]:
    """Calls whose arguments are nearly all of the conversation."""
    args = {"path": f"out/{number}.md", "text": _text(number, 300), "lines": list(range(200))}
    return [
        AIMessage("", tool_calls=[{"name": "write", "args": args, "id": f"call-{number}"}], id=f"step-{number}"),
        ToolMessage("written", tool_call_id=f"call-{number}", name="write", id=f"result-{number}"),
    ]


def _same_again(number: int) -> list[BaseMessage]:
    """The same call with the same result, again and again."""
    call = {"name": "status", "args": {}, "id": f"call-{number}"}
    return [
        AIMessage("", tool_calls=[call], id=f"step-{number}"),
        ToolMessage(_text(1, 90), tool_call_id=f"call-{number}", name="status", id=f"result-{number}"),
    ]


def _function(number: int) -> list[BaseMessage]:
    """A call as OpenAI had it before there were tools."""
    call = {"name": "look", "arguments": f'{{"path": "src/{number}.py"}}'}
    return [
        AIMessage("", additional_kwargs={"function_call": call}, id=f"step-{number}"),
        FunctionMessage(name="look", content=_text(number, 60), id=f"result-{number}"),
    ]


def _malformed(number: int) -> list[BaseMessage]:
    call = {"name": "look", "args": '{"path": ', "id": f"call-{number}", "error": "cut off"}
    return [
        AIMessage("", invalid_tool_calls=[call], id=f"step-{number}"),
        ToolMessage(f"no JSON: {_text(number)}", tool_call_id=f"call-{number}", status="error", id=f"result-{number}"),
    ]


def _pictures() -> list[BaseMessage]:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}}
    messages = _run(8)
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            content = [{"type": "text", "text": message.text}, picture, "and more", picture]
            messages[place] = message.model_copy(update={"content": content})
    return [*messages, HumanMessage([{"type": "text", "text": "What is on these?"}, picture, picture], id="last")]


def _blocks() -> list[BaseMessage]:
    messages = _chat(14)
    for place, message in enumerate(messages):
        halves = message.text[:40], message.text[40:]
        messages[place] = message.model_copy(update={"content": [{"type": "text", "text": half} for half in halves]})
    return messages


def _systems() -> list[BaseMessage]:
    messages: list[BaseMessage] = [
        SystemMessage("You are careful.", id="sys-0"),
        SystemMessage("Be brief.", id="sys-1"),
    ]
    for number in range(12):
        messages += _exchange(number)
        if number in (3, 7, 11):
            messages.append(SystemMessage(f"From now on rule {number} holds.", id=f"sys-mid-{number}"))
    return messages


def _pins() -> list[BaseMessage]:
    messages = [*_chat(8), *_run(10, _parallel)]
    pinned = ("human-3", "ai-5", "step-2", "result-4-1")
    return [pin(message) if message.id in pinned else message for message in messages]


def _pinned_answers() -> list[BaseMessage]:
    """Tasks with their steps and answers, the answers pinned: only the questions part them from the next call."""
    messages: list[BaseMessage] = []
    for number in range(9):
        question, answer = _exchange(number)
        messages += [question, *_step(2 * number), *_step(2 * number + 1), pin(answer)]
    return messages


def _odd_texts() -> list[BaseMessage]:
    odd = ("NUL \x00 in it", "half of a pair \ud83d", "line\u2028line", "e\u0301 \u202e", "<summary> </summary>", "\t")
    return [
        message
        for number in range(18)
        for message in (
            HumanMessage(f"{odd[number % len(odd)]} {_text(number)}", id=f"human {number}\n/ü.%"),
            AIMessage(f"{_text(number)} {odd[-number % len(odd)]}", id=f"ai-{number}-\u200d"),
        )
    ]


def _doubled() -> list[BaseMessage]:
    """Two human messages in a row, names, and an answer without text."""
    messages: list[BaseMessage] = []
    for number in range(14):
        question, answer = _exchange(number)
        more = HumanMessage(f"And {_text(number)}?", id=f"more-{number}", name="Ünal")
        messages += [
            question,
            more,
            answer.model_copy(update={"name": "bot", "content": answer.content if number else ""}),
        ]
    return messages


SCENES: dict[str, Callable[[], list[BaseMessage]]] = {
    "a chat": lambda: _chat(16),
    "a chat that ends with a question": lambda: [*_chat(16), HumanMessage("And now?", id="last")],
    "a long run": lambda: _run(24),
    "parallel calls": lambda: _run(12, _parallel),
    "results out of order": lambda: _run(12, _out_of_order),
    "call ids used again": lambda: _run(12, _reused_ids),
    "a call that is open at the end": lambda: [*_run(14), *_parallel(14)[:3]],
    "thinking with its call": lambda: _run(14, _thinking),
    "reasoning before its call": lambda: _run(14, _reasoning),
    "large arguments": lambda: _run(10, _written_files),
    "the same call again": lambda: _run(14, _same_again),
    "old function calls": lambda: _run(14, _function),
    "malformed calls": lambda: _run(16, _malformed),
    "pictures in results": _pictures,
    "content in blocks": _blocks,
    "system messages in the middle": _systems,
    "pinned messages": _pins,
    "pinned answers between runs": _pinned_answers,
    "texts and ids that are odd": _odd_texts,
    "two questions in a row, names, an empty answer": _doubled,
    "one huge result": lambda: [*_chat(6), *_run(1, lambda n: _step(50 + n, words=3_000))],
    "a greeting first": lambda: [AIMessage("How can I help?", id="hello"), *_chat(14)],
    "only questions": lambda: [message for message in _chat(24) if isinstance(message, HumanMessage)],
    "one message": lambda: [HumanMessage(_text(1, 200), id="only")],
    "no message": list,
}
"""By name. Every message has an id, and no list breaks a rule of `check_messages` but those its name speaks of."""
