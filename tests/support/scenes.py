"""Scenes of a conversation: a question and its answer, a step with its tools, and what goes wrong in one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

VOCABULARY = (
    "the order was refunded to card before shipping please check again what about seat and never change it "
    "bitte ändere die Bestellung nicht vor Freitag außerdem größer "
    "por favor cancela mañana el pedido número también "
    "пожалуйста проверь заказ завтра нельзя "
    "请 不要 取消 我的 订单 返回 错误 注文 を 確認 して ください 주문을 확인해 "
    "الطلب رقم غدا كृपया रद्द 👩‍👩‍👧 🚀 é Z̸̢ "
    "#W2378156 $1,249.99 2024-05-15T10:22:00Z src/app/main.py:42 https://example.org/a?b=1 9f86d081884c7d65 v1.2.3 "
    "ValueError: KeyError('x') {'a': [1, 2]} <tag> ``` def f(x): return x % 7 \t | 42 -17 0.5"
)
WORDS = VOCABULARY.split(" ")
ODD_TEXT = {"surrogates": ("\ud800", "a\udfffb", "\udc80\ud83d"), "nul": ("\x00", "a\x00b")}
NAMES = ("alice", "weather-bot", "Ünal", "user_2")
TOOLS = ("search", "get_order_details", "run_shell", "calculate")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass
class Scenes:
    """Builds one conversation, scene by scene. Same numbers, same conversation.

    Attributes:
        rng: Decides all that a scene leaves open; seeded anew for each.
        features: Which features this conversation has, by name.
        max_words: Length of an ordinary text, in words. One tool result in ten is ten times as long.
        odd: Pieces of text that few systems survive, or none.
        messages: What was built so far.
    """

    rng: random.Random
    features: frozenset[str]
    max_words: int
    odd: tuple[str, ...] = ()
    messages: list[BaseMessage] = field(default_factory=list)
    calls: int = 0

    def chance(self, feature: str, probability: float) -> bool:
        return feature in self.features and self.rng.random() < probability

    def text(self, longest: int | None = None) -> str:
        words = self.rng.choices(WORDS, k=self.rng.randint(1, longest or self.max_words))
        if self.odd and self.rng.random() < 0.3:
            words.append(self.rng.choice(self.odd))
        ends = self.rng.choice((" ", " ", ". ", "\n", "\n\n"))
        return " ".join(word + ends.strip(" ") if place % 9 == 8 else word for place, word in enumerate(words))

    def name(self) -> str | None:
        return self.rng.choice(NAMES) if self.chance("names", 0.5) else None

    def content(self, *, pictures: bool, longest: int | None = None) -> str | list[Any]:
        """Gives the content of a message: text, nothing, or blocks."""
        if self.chance("empty", 0.3):
            return self.rng.choice(("", [], [{"type": "text", "text": ""}]))
        if not self.chance("blocks", 0.5):
            return self.text(longest)
        makers: list[Callable[[], Any]] = [lambda: {"type": "text", "text": self.text(longest)}, self.text]
        if pictures:
            makers += [
                lambda: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
                lambda: {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
            ]
        return [self.rng.choice(makers)() for _ in range(self.rng.randint(1, 4))]

    def reasoning_blocks(self) -> list[Any]:
        made = [
            {"type": "reasoning", "reasoning": self.text()},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": self.text()}]},
            {"type": "thinking", "thinking": self.text(), "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
        ]
        return self.rng.sample(made, k=self.rng.randint(1, 2))

    def human(self) -> None:
        self.messages.append(HumanMessage(self.content(pictures=True), name=self.name()))

    def ai(self, calls: list[str] | None = None) -> None:
        """Adds an AI message, with a call for each id."""
        content = "" if calls and self.rng.random() < 0.4 else self.content(pictures=False)
        if self.chance("reasoning", 0.3):
            text = [{"type": "text", "text": content}] if isinstance(content, str) else content
            content = [*self.reasoning_blocks(), *(text or [{"type": "text", "text": "so"}])]
        made: dict[str, list[dict[str, Any]]] = {"tool_calls": [], "invalid_tool_calls": []}
        for call_id in calls or []:
            name = self.rng.choice(TOOLS)
            if self.chance("invalid-calls", 0.2):
                broken = {"name": name, "args": '{"query": ', "id": call_id, "error": "cut off"}
                made["invalid_tool_calls"].append(broken)
            else:
                args = {"query": self.text(), "limit": self.rng.randint(0, 10**12), "deep": {"flags": [True, None]}}
                made["tool_calls"].append({"name": name, "args": args, "id": call_id})
                if isinstance(content, list) and self.rng.random() < 0.3:
                    content = [*content, {"type": "tool_use", "id": call_id, "name": name, "input": args}]
        self.messages.append(AIMessage(content, name=self.name(), **made))

    def result(self, call_id: str) -> None:
        longest = self.max_words * (10 if self.rng.random() < 0.1 else 1)
        status = "error" if self.rng.random() < 0.1 else "success"
        name = self.rng.choice(TOOLS) if self.chance("names", 0.7) else None
        content = self.content(pictures=True, longest=longest)
        self.messages.append(ToolMessage(content, tool_call_id=call_id, name=name, status=status))

    def new_calls(self, least: int = 1, most: int = 1) -> list[str]:
        """Gives ids for the calls of one message: new ones, or those that each turn starts over with."""
        count = self.rng.randint(least, most)
        if "reused-calls" in self.features and self.rng.random() < 0.7:
            return [f"call_{place}" for place in range(count)]
        self.calls += count
        return [f"call_u{place}" for place in range(self.calls - count, self.calls)]

    # Scenes that keep the list legal. The first is what a failing example shrinks to.

    def exchange(self) -> None:
        self.human()
        self.ai()

    def step(self) -> None:
        calls = self.new_calls()
        self.ai(calls)
        self.result(calls[0])

    def lone_human(self) -> None:
        self.human()

    def lone_ai(self) -> None:
        self.ai()

    def parallel_step(self) -> None:
        calls = self.new_calls(2, 6)
        self.ai(calls)
        self.rng.shuffle(calls)
        for call_id in calls:
            self.result(call_id)

    def reasoning_step(self) -> None:
        for _ in range(self.rng.choice((1, 1, 2))):
            self.messages.append(AIMessage(self.reasoning_blocks()))
        self.rng.choice((self.ai, self.step, self.parallel_step))()

    def system(self) -> None:
        self.messages.append(SystemMessage(self.text()))

    # Scenes that break it.

    def orphan_result(self) -> None:
        self.result(self.rng.choice(("call_gone", "call_0")))

    def unanswered(self) -> None:
        calls = self.new_calls(1, 4)
        self.ai(calls)
        for call_id in self.rng.sample(calls, k=self.rng.randint(0, len(calls) - 1)):
            self.result(call_id)
        self.rng.choice((self.human, self.ai))()

    def answered_twice(self) -> None:
        self.step()
        self.messages.append(self.messages[-1].model_copy(deep=True))

    def interrupted(self) -> None:
        calls = self.new_calls(1, 3)
        self.ai(calls)
        self.rng.choice((self.human, self.system))()
        for call_id in calls:
            self.result(call_id)

    # Ends of a conversation.

    def close(self, end: int) -> None:
        """Ends the conversation in one of the ways that conversations end; 0 leaves it as it is."""
        if end == 1:
            self.human()
        elif end == 2:
            self.human()
            self.human()
        elif end == 3:
            self.ai(self.new_calls(1, 3))
        elif end == 4:
            calls = self.new_calls(2, 5)
            self.ai(calls)
            for call_id in self.rng.sample(calls, k=self.rng.randint(1, len(calls) - 1)):
                self.result(call_id)
        elif end == 5:
            self.parallel_step()
        elif end == 6:
            self.messages.append(AIMessage(self.reasoning_blocks()))


ENDS = 7
SIZES = ((1, 4), (5, 16), (5, 16), (17, 60), (17, 60), (61, 400))  # messages; each is drawn as often as the others
LEGAL_SCENES = {
    "exchange": Scenes.exchange,
    "step": Scenes.step,
    "parallel": Scenes.parallel_step,
    "lone-human": Scenes.lone_human,
    "lone-ai": Scenes.lone_ai,
    "reasoning": Scenes.reasoning_step,
    "systems": Scenes.system,
}
BROKEN_SCENES = {
    "orphans": Scenes.orphan_result,
    "unanswered": Scenes.unanswered,
    "answered-twice": Scenes.answered_twice,
    "interrupted": Scenes.interrupted,
}
DETAILS = ("empty", "blocks", "names", "invalid-calls", "reused-calls")
