"""Laws 1, 2, 3, 5, 6, 8 and 9 after each of many steps: compressions in a row, with all that happens between them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import (
    ChatModelSummariser,
    CompressionResult,
    ContextCompressor,
    PrunerConfig,
    is_pinned,
    pin,
    unpin,
)
from tests.laws.judge import STRATEGIES, as_bytes, illegal, over, refused, voice_lost
from tests.support.conversations import WORDS
from tests.support.legality import is_summary, mark_kind
from tests.support.models import ScriptedChatModel

REPLIES = (
    "order #W1 was refunded",
    "",
    RuntimeError("down"),
    "far too long " * 2_000,
    ValueError("prompt is too long"),
)


PLACES = st.integers(0, 2**16)
"""Which of the messages that may be touched is touched; counted round and round."""

FITTING = ("ladder", "pack", "emergency")
"""Strategies that end under the hard limit, or at what must stay. The others stop at what they may not drop."""


class Conversation(RuleBasedStateMachine):
    """One conversation, one store; compressors come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.store = InMemoryStore()
        self.number = 0
        self.view: list[BaseMessage] = []
        self.whole: dict[str, BaseMessage] = {}
        """The newest revision of every message, in order: what a client that keeps everything holds."""
        self.removed: set[str] = set()
        self.compressed = 0
        """How many compressions changed the list."""

    @initialize(
        limit=st.sampled_from((150, 400, 1_000, 2_500)),
        strategy=st.sampled_from(("ladder", *STRATEGIES)),
        reply=st.sampled_from((None, *REPLIES)),
        seed=st.integers(0, 2**16),
        odd=st.booleans(),
    )
    def start(self, limit: int, strategy: str, reply: Any, seed: int, odd: bool) -> None:
        self.odd = odd
        self.limit, self.strategy, self.reply = limit, strategy, reply
        self.rng = random.Random(seed)
        self.compressor = self.fresh()
        self.add([SystemMessage(self.text(8))])

    def fresh(self) -> ContextCompressor:
        model = None
        if self.reply is not None:
            model = ChatModelSummariser(ScriptedChatModel(self.reply), attempts=1, retry_wait=0)
        return ContextCompressor(
            model,
            config=PrunerConfig.for_limit(self.limit),
            strategy=self.strategy,
            store=self.store,
            session_id="s",
        )

    def text(self, words: int) -> str:
        odd = (*WORDS, "\ud800", "a\x00b") if self.odd else WORDS
        return " ".join(self.rng.choices(odd, k=words))

    def add(self, messages: list[BaseMessage]) -> None:
        for message in messages:
            self.number += 1
            message.id = f"m{self.number}"
            self.whole[message.id] = message
        self.view = [*self.view, *messages]

    @rule(count=st.integers(1, 4), words=st.sampled_from((4, 30, 30, 200)))
    def exchanges(self, count: int, words: int) -> None:
        for _ in range(count):
            self.add([HumanMessage(self.text(words)), AIMessage(self.text(words))])

    @rule(steps=st.integers(1, 4), parallel=st.integers(1, 3), words=st.sampled_from((5, 60, 400)))
    def agent_steps(self, steps: int, parallel: int, words: int) -> None:
        self.add([HumanMessage(self.text(10))])
        for _ in range(steps):
            calls = [{"name": "look", "args": {"q": self.text(6)}, "id": f"c{place}"} for place in range(parallel)]
            results = [ToolMessage(self.text(words), tool_call_id=f"c{place}") for place in range(parallel)]
            self.rng.shuffle(results)
            self.add([AIMessage(self.text(4), tool_calls=calls), *results])

    @rule()
    def question(self) -> None:
        self.add([HumanMessage(self.text(12))])

    @precondition(lambda self: self.plain())
    @rule(which=PLACES)
    def edit(self, which: int) -> None:
        place = self.pick(self.plain(), which)
        edited = self.view[place].model_copy(update={"content": "edited: " + self.text(10)})
        self.put(place, edited)

    @precondition(lambda self: self.plain())
    @rule(which=PLACES)
    def toggle_pin(self, which: int) -> None:
        place = self.pick(self.plain(), which)
        message = self.view[place]
        self.put(place, unpin(message) if is_pinned(message) else pin(message))

    @precondition(lambda self: self.plain(HumanMessage))
    @rule(which=PLACES)
    def delete(self, which: int) -> None:
        """Somebody removes a human message: it is gone from the conversation, and not from the archive."""
        place = self.pick(self.plain(HumanMessage), which)
        gone = self.view[place]
        self.view = [*self.view[:place], *self.view[place + 1 :]]
        self.removed.add(gone.id or "")
        del self.whole[gone.id or ""]

    @rule()
    def restart(self) -> None:
        self.compressor = self.fresh()

    @rule(force=st.booleans())
    def compress(self, force: bool) -> None:
        given = self.view
        result = self.compressor.compress(given, force=force)
        self.judge(result, given)
        assert result.tokens_after <= result.tokens_before
        self.compressed += result.changed
        self.view = result.messages

    @precondition(lambda self: self.view)
    @rule()
    def send_everything_again(self) -> None:
        """A client that keeps the whole list: what it gets is as good as what the other one has."""
        given = list(self.whole.values())
        result = self.compressor.compress(given)
        self.judge(result, given)
        self.view = result.messages

    def plain(self, kind: type[BaseMessage] = BaseMessage) -> list[int]:
        """The places of messages that are no summaries, and not what was left of cut ones."""
        return [p for p, m in enumerate(self.view) if isinstance(m, kind) and mark_kind(m) in (None, "pin")]

    def pick(self, places: list[int], which: int) -> int:
        return places[which % len(places)]

    def put(self, place: int, message: BaseMessage) -> None:
        self.view = [*self.view[:place], message, *self.view[place + 1 :]]
        self.whole[message.id or ""] = message

    def judge(self, result: CompressionResult, given: list[BaseMessage]) -> None:
        output = result.messages
        assert refused(result) == []
        assert illegal(self.compressor, output, given) == []
        assert voice_lost(output, given) == []
        if self.strategy in FITTING:  # what was left of the list is what the next step judges by
            assert over(output, self.compressor.view(given), self.limit) == []

    @invariant()
    def every_original_is_accounted_for(self) -> None:
        """In the list as it is, or back from the archive byte for byte."""
        there = {m.id: as_bytes(m) for m in self.view if not is_summary(m)}
        for message_id, message in self.whole.items():
            wanted = as_bytes(message)
            if there.get(message_id) == wanted:
                continue
            back = self.compressor.expand_message(message_id)
            assert back is not None, f"{message_id} is nowhere"
            assert as_bytes(unpin(back)) == as_bytes(unpin(message)), f"{message_id} comes back changed"

    @invariant()
    def every_id_that_left_is_covered(self) -> None:
        there = {message.id for message in self.view if not is_summary(message)}
        covered = {i for record in self.compressor.history().checkpoints() for i in record.covered}
        assert set(self.whole) - there - covered == set()

    @invariant()
    def there_is_one_summary(self) -> None:
        assert sum(map(is_summary, self.view)) <= 1


class TestConversation(Conversation.TestCase):
    settings = settings(max_examples=40, stateful_step_count=25, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
class TestLongConversation(Conversation.TestCase):
    settings = settings(max_examples=300, stateful_step_count=60, suppress_health_check=list(HealthCheck))


def chained(strategy: str, rng: random.Random, *, reply: Any = None, rounds: int = 60) -> Conversation:
    """A chain by rule, so that no draw decides how long it is; it ends when twenty compressions changed the list."""
    chain = Conversation()
    limit = rng.choice((400, 1_000, 2_500))
    chain.start(limit=limit, strategy=strategy, reply=reply, seed=rng.randrange(2**16), odd=rng.random() < 0.5)
    for _ in range(rounds):
        words = rng.choice((limit // 16, limit // 8))
        if rng.random() < 0.5:
            chain.exchanges(2, words)
        else:
            chain.agent_steps(3, 2, words)
        for _ in range(rng.randint(0, 3)):
            touch = rng.choice((chain.edit, chain.toggle_pin, chain.delete))
            if chain.plain(HumanMessage):
                touch(rng.randrange(2**16))
        if rng.random() < 0.2:
            rng.choice((chain.restart, chain.question, chain.send_everything_again))()
        chain.compress(force=False)
        chain.every_original_is_accounted_for()
        chain.every_id_that_left_is_covered()
        chain.there_is_one_summary()
        if chain.compressed >= 20:
            break
    return chain


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_twenty_compressions_in_a_row_with_all_that_happens_between_them(strategy: str) -> None:
    assert chained(strategy, random.Random(strategy)).compressed >= 20


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(25))
def test_many_chains(strategy: str, seed: int) -> None:
    rng = random.Random(seed)
    chained(strategy, rng, reply=rng.choice((None, *REPLIES)))


def test_what_a_drop_restates_fits_with_its_headings() -> None:
    chain = Conversation()
    chain.start(limit=400, reply=None, seed=3912, odd=True, strategy="emergency")
    chain.question()
    for rounds, words in ((1, 30), (1, 4)):
        chain.exchanges(rounds, words)
    for _ in range(6):
        chain.question()
    for rounds, words in ((3, 200), (1, 30)):
        chain.exchanges(rounds, words)
    given = list(chain.whole.values())
    result = chain.compressor.compress(given)
    assert over(result.messages, chain.compressor.view(given), 400) == []
