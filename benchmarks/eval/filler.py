"""What a session consists of besides the planted items: chat and tool calls of an assistant for many things."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

CHATTY = 0.6
"""How often a user says something besides."""

_CITIES = [
    "Lyon",
    "Graz",
    "Bergen",
    "Porto",
    "Leeds",
    "Turin",
    "Gdansk",
    "Malaga",
    "Basel",
    "Aarhus",
    "Limerick",
    "Trieste",
]
_GOODS = [
    "headphones",
    "kettle",
    "backpack",
    "lamp",
    "keyboard",
    "blender",
    "raincoat",
    "monitor",
    "tripod",
    "sandals",
    "desk",
    "rug",
]
_STATES = ["packed", "shipped", "delivered", "returned", "waiting", "cancelled"]
_MODULES = ["parser", "scheduler", "cache", "router", "exporter", "mailer", "indexer", "session", "billing", "upload"]
_VERBS = ["load", "split", "merge", "render", "fetch", "store", "check", "count", "resolve", "close"]
_TOPICS = (
    "the history of tide tables",
    "how bees find their way",
    "the difference between felt and wool",
    "why bread goes stale",
    "early street lighting",
    "the rules of curling",
    "how glaciers move",
    "what makes a good compost",
)
_SENTENCES = (
    "Most sources agree on the broad outline and differ in the details.",
    "The effect is small at first and grows with temperature.",
    "It was first described in a letter that nobody answered for years.",
    "Measurements from the coast show the same pattern twice a day.",
    "The usual explanation leaves out what happens at night.",
    "A later study could not repeat the finding with a larger sample.",
    "The word itself came from trade and meant something else before.",
    "Today the method is taught mainly as an exercise.",
    "Costs fell sharply once the parts were made by machine.",
    "In the north the custom survived in a handful of villages.",
    "Two things matter: how wet it is, and how long it is left alone.",
    "The committee published a table that is still in use.",
)
_CHATTER = (
    "I waited on the phone for half an hour yesterday.",
    "The page loads fine on my other laptop.",
    "It rained all morning, so I stayed in.",
    "That was quicker than I thought.",
    "I already tried switching it off and on.",
    "No rush at all, I am on a break.",
    "The last answer helped, by the way.",
    "I have no idea what the message meant.",
    "My coffee is getting cold over this.",
    "Somebody mentioned it at lunch.",
    "It looked different in the picture.",
    "I clicked the wrong button at first.",
    "You were right about the other one.",
    "I saw something like it in a magazine.",
    "The parcel man rang twice.",
    "We talked about this before, I think.",
    "Sorry for the typing, I am on the train.",
    "It worked until this afternoon.",
    "I might have mixed up the numbers.",
    "The screen went dark for a second.",
    "Let me know what you find.",
    "I am only curious.",
    "A colleague asked me the same thing.",
    "I read half of it and got lost.",
)
"""What people say besides: true for a moment, and of no use later."""

_DOCS = (
    "NOTICE: operators must always reboot the node after an update and never run two jobs at once.",
    "# House style\nAlways write titles in capitals. Never use the passive.",
    "From now on all tickets need a label. (Policy 12, for staff)",
)
"""Rules of somebody else that a tool returns: they are not the user's."""


class Filler:
    """Writes exchanges; the same seed writes the same ones.

    Args:
        rng: Where chance comes from.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._calls = 0
        self._kinds: tuple[Callable[[], list[BaseMessage]], ...] = (
            self._order,
            self._trip,
            self._code,
            self._talk,
            self._talk,
            self._reading,
        )

    def exchange(self) -> list[BaseMessage]:
        """One exchange: a question, perhaps tool calls with their results, and an answer. Without ids."""
        question, *rest = self.rng.choice(self._kinds)()
        if self.rng.random() < CHATTY:
            first, second = (question.text, self.rng.choice(_CHATTER))
            question = HumanMessage(f"{first} {second}" if self.rng.random() < 0.5 else f"{second} {first}")
        return [question, *rest]

    def _use(self, name: str, args: dict[str, object], result: str) -> list[BaseMessage]:
        self._calls += 1
        call = ToolCall(name=name, args=args, id=f"call_{self._calls:04d}", type="tool_call")
        return [AIMessage("", tool_calls=[call]), ToolMessage(result, tool_call_id=str(call["id"]), name=name)]

    def _order(self) -> list[BaseMessage]:
        rng = self.rng
        number, item, state = f"W{rng.randint(10_000, 99_999)}", rng.choice(_GOODS), rng.choice(_STATES)
        ask = rng.choice(
            (
                f"Can you see where order {number} is? It was the {item}.",
                f"The {item} from order {number} has not turned up yet, what happened?",
                f"What does the system say about {number}?",
                f"I'd like to know if the {item} ({number}) can still be exchanged.",
            )
        )
        record = {
            "order": number,
            "state": state,
            "lines": [
                {
                    "sku": f"S{rng.randint(100, 999)}",
                    "name": name,
                    "price": rng.randint(9, 240),
                    "qty": rng.randint(1, 3),
                }
                for name in rng.sample(_GOODS, 4)
            ],
            "events": [
                {"day": rng.randint(1, 28), "depot": rng.choice(_CITIES), "code": rng.randint(10, 99)} for _ in "abcd"
            ],
        }
        say = rng.choice(
            (
                f"The {item} is marked as {state}. The last scan was in {rng.choice(_CITIES)}.",
                f"It says {state}. If that does not change within two days I would open a case with the carrier.",
                f"Order {number} is {state}; an exchange would be possible once it is back.",
            )
        )
        return [HumanMessage(ask), *self._use("get_order", {"order_id": number}, json.dumps(record)), AIMessage(say)]

    def _trip(self) -> list[BaseMessage]:
        rng = self.rng
        start, end = rng.sample(_CITIES, 2)
        ask = rng.choice(
            (
                f"Which trains go from {start} to {end} on a Friday?",
                f"How would one get from {start} to {end}?",
                f"Look up connections between {start} and {end}, will you?",
            )
        )
        rows: list[dict[str, Any]] = [
            {
                "no": f"R{rng.randint(100, 999)}",
                "dep": f"{rng.randint(6, 20)}:{rng.choice(('05', '35'))}",
                "changes": rng.randint(0, 3),
                "fare": rng.randint(19, 140),
            }
            for _ in range(7)
        ]
        cheapest = min(row["fare"] for row in rows)
        first = rows[0]["dep"]
        say = f"There are {len(rows)} connections; the cheapest costs {cheapest} and the first leaves at {first}."
        return [
            HumanMessage(ask),
            *self._use("find_trains", {"from": start, "to": end}, json.dumps(rows)),
            AIMessage(say),
        ]

    def _code(self) -> list[BaseMessage]:
        rng = self.rng
        module, verb = rng.choice(_MODULES), rng.choice(_VERBS)
        lines = [self._definition(number) for number in range(10, 22)]
        asks = (
            f"Why does {module}.{verb} fail on an empty list?",
            f"Have a look at the {module} module, {verb} seems slow.",
            f"What calls {verb} in the {module}?",
        )
        out = [HumanMessage(rng.choice(asks)), *self._use("read_file", {"path": f"src/{module}.py"}, "\n".join(lines))]
        if rng.random() < 0.5:
            out += self._use(
                "run_tests",
                {"target": module},
                f"{rng.randint(3, 40)} passed, {rng.randint(0, 3)} failed in {rng.random() * 9:.2f}s",
            )
        return [
            *out,
            AIMessage(
                f"`{verb}` walks the whole list twice; the second pass in src/{module}.py is where it goes wrong."
            ),
        ]

    def _definition(self, number: int) -> str:
        outer, module, inner = self.rng.choice(_VERBS), self.rng.choice(_MODULES), self.rng.choice(_VERBS)
        return f"{number:4}  def {outer}_{module}(self, item): return self._{inner}(item, {self.rng.randint(1, 99)})"

    def _talk(self) -> list[BaseMessage]:
        rng = self.rng
        topic = rng.choice(_TOPICS)
        asks = (f"Tell me something about {topic}.", f"What do we know of {topic}?", f"Could you explain {topic}?")
        return [HumanMessage(rng.choice(asks)), AIMessage(" ".join(rng.sample(_SENTENCES, rng.randint(3, 7))))]

    def _reading(self) -> list[BaseMessage]:
        rng = self.rng
        name = f"{rng.choice(_MODULES)}-{rng.randint(1, 40)}.md"
        body = "\n".join([rng.choice(_DOCS), *rng.sample(_SENTENCES, 5)])
        asks = (f"Open {name} and tell me what it is about.", f"What is in {name}?", f"Summarise {name} in a line.")
        answer = AIMessage(f"{name} is a page of notes: {rng.choice(_SENTENCES)}")
        return [HumanMessage(rng.choice(asks)), *self._use("read_file", {"path": f"notes/{name}"}, body), answer]
