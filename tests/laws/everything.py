"""One machine over everything: a node in both modes, an agent and a history over one store, and all that befalls them.

What the doors hand to the model is recorded with the list it was made of, and judged by code that is not the package's.
"""

from __future__ import annotations

import random
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage

from langchain_ctxcompress import (
    ChatModelSummariser,
    ContextCompressor,
    PrunerConfig,
    is_pinned,
    pin,
    unpin,
)
from langchain_ctxcompress.engine import CoolDown
from langchain_ctxcompress.storage import open_store
from tests.laws.doors import AgentDoor, Door, GraphDoor, HistoryDoor, ViewDoor
from tests.laws.judge import as_bytes, illegal, over, progress, voice_lost
from tests.support.archive import plain
from tests.support.conversations import WORDS
from tests.support.faults import MODEL_FAULTS, STORE_FAULTS, FaultyStore, FaultySummariser
from tests.support.legality import is_summary, mark_kind, violations
from tests.support.sizes import independent_tokens

PLACES = st.integers(0, 2**16)
MOST_CALLS = 40
"""Summariser calls of one step, attempts and parts and several tool rounds included: more is thrashing (law 5)."""


class Everything(RuleBasedStateMachine):
    """All doors, one store, one compressor at a time.

    Attributes:
        steps: How many steps all machines of this process have made, by rule.
    """

    steps: ClassVar[dict[str, int]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="everything")
        self.path = Path(self.folder.name) / "archive.db"
        self.working = open_store(self.path)
        self.store = FaultyStore(self.working)
        self.summariser = FaultySummariser()
        self.doors: list[Door] = []
        self.faults = ("", "")

    def teardown(self) -> None:
        if self.doors:
            self.compressor.close()
        self.working.conn.close()  # type: ignore[attr-defined]
        self.folder.cleanup()

    @initialize(limit=st.sampled_from((900, 2_000)), background=st.booleans(), seed=st.integers(0, 2**16))
    def start(self, limit: int, background: bool, seed: int) -> None:
        self.limit, self.background = limit, background
        self.rng = random.Random(seed)
        kinds = {"replace": GraphDoor, "view": ViewDoor, "agent": AgentDoor, "history": HistoryDoor}
        self.doors = [kind(name, self.path) for name, kind in kinds.items()]
        self.opened()

    def opened(self) -> None:
        """A process that is started anew on the same store."""
        summariser = ChatModelSummariser(self.summariser, attempts=2, retry_wait=0, timeout=0.5, window_tokens=6_000)
        self.summariser.hanging = 0.02
        self.compressor = ContextCompressor(
            summariser, config=PrunerConfig.for_limit(self.limit), store=self.store, cooldown=CoolDown(1_000, 0.0)
        )
        for door in self.doors:
            door.open(self.compressor, background=self.background)

    # What users do.

    @rule(which=PLACES, words=st.sampled_from((4, 30, 120)), on_loop=st.booleans())
    def say(self, which: int, words: int, on_loop: bool) -> None:
        door = self.door(which)
        self.step("say", [(door, [self.question(door, words)])], on_loop=on_loop)

    @rule(which=PLACES, rounds=st.integers(1, 4), parallel=st.integers(1, 3), on_loop=st.booleans())
    def work(self, which: int, rounds: int, parallel: int, on_loop: bool) -> None:
        door = self.door(which)
        self.plan(door, rounds, parallel)
        self.step("work", [(door, [self.question(door, 8)])], on_loop=on_loop)

    @rule(words=st.sampled_from((10, 60)), rounds=st.integers(0, 2))
    def all_at_once(self, words: int, rounds: int) -> None:
        """Every conversation at the same time, in threads, over one compressor."""
        for door in self.doors:
            self.plan(door, rounds, 2)
        self.step("at once", [(door, [self.question(door, words)]) for door in self.doors])

    @precondition(lambda self: any(door.whole for door in self.doors))
    @rule(which=PLACES)
    def send_everything_again(self, which: int) -> None:
        found = [door for door in self.doors if door.whole]
        door = found[which % len(found)]
        self.step("again", [(door, [*door.whole.values(), self.question(door, 10)])])

    @precondition(lambda self: any(self.plain(door) for door in self.doors))
    @rule(which=PLACES, place=PLACES)
    def edit(self, which: int, place: int) -> None:
        door, message = self.pick(which, place)
        self.write("edit", door, message.model_copy(update={"content": "edited: " + self.text(12)}))

    @precondition(lambda self: any(self.plain(door) for door in self.doors))
    @rule(which=PLACES, place=PLACES)
    def toggle_pin(self, which: int, place: int) -> None:
        door, message = self.pick(which, place)
        self.write("pin", door, unpin(message) if is_pinned(message) else pin(message))

    @precondition(lambda self: any(self.plain(door) for door in self.doors))
    @rule(which=PLACES, place=PLACES)
    def delete(self, which: int, place: int) -> None:
        door, message = self.pick(which, place)
        self.write("delete", door, RemoveMessage(id=message.id or ""))
        del door.whole[message.id or ""]

    @precondition(lambda self: any(len(door.past) > 2 for door in self.doors))
    @rule(which=PLACES, place=PLACES)
    def fork(self, which: int, place: int) -> None:
        """A thread is run again from an older point."""
        found = [door for door in self.doors if len(door.past) > 2]
        door = found[which % len(found)]
        config, whole = door.past[place % len(door.past)]
        door.whole = dict(whole)
        door.past = door.past[: place % len(door.past) + 1]
        self.step("fork", [(door, [self.question(door, 20)])], config=config)

    @precondition(lambda self: any(door.whole for door in self.doors))
    @rule()
    def restart(self) -> None:
        """What is in the messages and in the store is all (law 9)."""
        before = [[as_bytes(m) for m in door.shown()] for door in self.doors]
        self.compressor.close()
        self.opened()
        assert [[as_bytes(m) for m in door.shown()] for door in self.doors] == before
        self.counted("restart")

    @rule(kind=st.sampled_from(sorted(MODEL_FAULTS)))
    def break_the_model(self, kind: str) -> None:
        self.faults = (kind, self.faults[1])

    @rule(kind=st.sampled_from(STORE_FAULTS), after=st.integers(0, 12))
    def break_the_store(self, kind: str, after: int) -> None:
        self.faults = (self.faults[0], kind)
        self.store.after = after

    @precondition(lambda self: any(door.whole for door in self.doors))
    @rule(which=PLACES)
    def come_to_rest(self, which: int) -> None:
        """A list that was compressed is compressed again: it gets smaller, or stays as it is (laws 3 and 5)."""
        door = self.door(which)
        given = door.shown()
        if not given:
            return
        result = self.compressor.compress(given, session_id=door.name)
        assert progress(given, result) == []
        calls = self.summariser.calls
        again = self.compressor.compress(result.messages, session_id=door.name)
        if again.outcome == "noop":
            third = self.compressor.compress(again.messages, session_id=door.name)
            assert [as_bytes(m) for m in third.messages] == [as_bytes(m) for m in again.messages]
            assert self.summariser.calls - calls <= MOST_CALLS
        self.counted("rest")

    # How it is done.

    def door(self, which: int) -> Door:
        return self.doors[which % len(self.doors)]

    def text(self, words: int) -> str:
        return " ".join(self.rng.choices(WORDS, k=words))

    def question(self, door: Door, words: int) -> HumanMessage:
        return HumanMessage(self.text(words), id=door.new_id())

    def plan(self, door: Door, rounds: int, parallel: int) -> None:
        door.script = [
            AIMessage(
                self.rng.choice(("", "I look.")),
                tool_calls=[
                    {"name": "look", "args": {"q": self.text(4)}, "id": f"c{number}-{place}"}
                    for place in range(parallel)
                ],
            )
            for number in range(rounds)
        ]
        if rounds:
            door.script.append(AIMessage("it is so " * 6))

    def plain(self, door: Door) -> list[BaseMessage]:
        """The human messages that somebody may change: in the state, and not the newest."""
        humans = [m for m in door.state() if isinstance(m, HumanMessage) and mark_kind(m) in (None, "pin")]
        return [m for m in humans[:-1] if m.id in door.whole]

    def pick(self, which: int, place: int) -> tuple[Door, BaseMessage]:
        found = [door for door in self.doors if self.plain(door)]
        door = found[which % len(found)]
        plain = self.plain(door)
        return door, plain[place % len(plain)]

    def write(self, name: str, door: Door, message: BaseMessage) -> None:
        door.write(message)
        if not isinstance(message, RemoveMessage):
            door.whole[message.id or ""] = message
        door.steady = ()
        self.counted(name)

    def counted(self, name: str) -> None:
        Everything.steps[name] = Everything.steps.get(name, 0) + 1

    def step(
        self, name: str, runs: list[tuple[Door, list[BaseMessage]]], *, on_loop: bool = False, config: Any = None
    ) -> None:
        """Runs through doors with the faults that are due, then judges what the models were shown."""
        calls = self.summariser.calls
        model, store = self.faults
        self.summariser.fault, self.store.fault = model, store
        for door, messages in runs:
            if name not in ("say", "work", "at once"):
                door.steady = ()
            door.given.clear()
            door.leaked.clear()
            door.replaced = door.archive.covered()
            door.whole.update({m.id or "": m for m in messages})
        try:
            if len(runs) == 1:
                runs[0][0].run(runs[0][1], on_loop=on_loop, config=config)
            else:
                with ThreadPoolExecutor(len(runs)) as pool:
                    list(pool.map(lambda run: run[0].run(run[1]), runs))
        finally:
            self.summariser.fault = self.store.fault = ""
            self.faults = ("", "")
        for door, _ in runs:
            self.judge(door, failed=store not in ("", "slow"))
        assert self.summariser.calls - calls <= MOST_CALLS * len(runs)
        self.counted(name)
        for kind in (model, store):
            if kind:
                self.counted(kind)

    def judge(self, door: Door, *, failed: bool) -> None:
        assert door.leaked == []
        assert door.given, "the model was asked"
        for given, prompt, checkpoints in door.given:
            assert violations(prompt, open_end=False) == []
            assert illegal(self.compressor, prompt, given) == []
            # What was replaced before and is sent again behind all else is no newest word of the user.
            rest = [m for m in given if m.id not in door.replaced or is_pinned(m)]
            assert voice_lost(prompt, given) == [] or voice_lost(prompt, rest) == []
            assert independent_tokens(prompt) <= independent_tokens(given) + 200  # a result for each open call
            if not failed:
                view = self.compressor.view(given, session_id=door.name)
                assert over(prompt, view, self.limit) == []
            self.same_front(door, checkpoints, prompt)

    def same_front(self, door: Door, checkpoints: int, prompt: list[BaseMessage]) -> None:
        """Law 7: while no checkpoint is added, what was sent last time stands in front of what is sent now."""
        before, door.steady = door.steady, (str(checkpoints), *(as_bytes(m) for m in prompt))
        if before and before[0] == door.steady[0]:
            assert door.steady[: len(before)] == before, f"{door.name}: the front changed, and no checkpoint says why"

    @invariant()
    def nothing_is_lost(self) -> None:
        """Law 2 and 8, by the rows of the file: what a conversation holds is in its state, or in the archive."""
        for door in self.doors:
            there = {m.id: as_bytes(m) for m in door.state() if not is_summary(m)}
            gone = [m for i, m in door.whole.items() if there.get(i) != as_bytes(m)]
            if not gone:
                continue
            revisions, covered = door.archive.revisions(), door.archive.covered()
            for message in gone:
                assert message.id in covered or message.id in there, f"{message.id} left and nothing covers it"
                said = [_unmarked(revision) for revision in revisions.get(message.id or "", [])]
                assert _unmarked(plain(message)) in said, f"{message.id} is not in the archive as it was"
                assert self.compressor.expand_message(message.id or "", session_id=door.name) is not None

    @invariant()
    def there_is_one_summary(self) -> None:
        for door in self.doors:
            assert sum(map(is_summary, door.state())) <= 1

    @invariant()
    def no_thread_is_left(self) -> None:
        jobs = [t for t in threading.enumerate() if t.name == "ctxcompress-job"]
        assert len(jobs) <= 16


def _unmarked(said: dict[str, Any]) -> dict[str, Any]:
    """A message without its pin: what was pinned later was said all the same."""
    return {**said, "data": {**said["data"], "additional_kwargs": {}}}
