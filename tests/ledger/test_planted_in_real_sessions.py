"""What users plant between real exchanges is there after many compressions to 4,000 tokens (G5, P7)."""

from __future__ import annotations

import html
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from benchmarks.eval.recorded import RecordedFiller
from benchmarks.eval.summariser import sentences
from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.ledger.planted import PLANTED
from tests.ledger.planted_by_kind import BY_KIND, CHANGED_LATER
from tests.support import realdata

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_200), realdata.needs_recordings]

LIMIT = 4_000
KEPT = 0.1
BETWEEN = 2
ROUNDS = 8
NEVER_LOST = ("constraint", "fact", "preference")


class Forgetful(BaseChatModel):
    """Answers with a tenth of the sentences it is shown, drawn by chance."""

    @property
    def _llm_type(self) -> str:
        return "forgetful"

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_options: Any) -> ChatResult:
        shown = html.unescape(messages[-1].text)
        rng = random.Random(len(shown))
        drawn = [sentence for sentence in sentences(shown) if rng.random() < KEPT][:25]
        reply = AIMessage("\n".join(drawn) or "It went on.", response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=reply)])


@dataclass(frozen=True)
class Played:
    """What is left of a session: the text that is sent, and the compressor that is asked for the rest."""

    text: str
    compressor: ContextCompressor
    rounds: int

    def missing(self, wanted: Sequence[str]) -> list[str]:
        """What is not there."""
        return [words for words in wanted if words not in self.text]

    def unfindable(self, wanted: Sequence[str]) -> list[str]:
        """What no search finds either."""
        history = self.compressor.history()
        return [words for words in wanted if not any(words in m.text for m in history.search(words, limit=5))]


def planted_in(rng: random.Random, exchange: list[BaseMessage], text: str) -> list[BaseMessage]:
    """The exchange with a text in what the user says in it, or in front of it."""
    question, *rest = exchange
    way = rng.randrange(3)
    if way == 0:
        return [HumanMessage(f"{question.text} {text}"), *rest]
    if way == 1:
        return [HumanMessage(f"{text}\n\n{question.text}"), *rest]
    return [HumanMessage(text), AIMessage("All right."), *exchange]


def play(texts: Sequence[str], seed: int, *, forgetful: bool) -> Played:
    """A session of real exchanges with the texts planted in some of them, compressed behind each answer."""
    folder = realdata.folder()
    assert folder is not None
    rng = random.Random(seed)
    filler = RecordedFiller(rng, folder)
    compressor = ContextCompressor(Forgetful() if forgetful else None, config=PrunerConfig.for_limit(LIMIT))
    session = [
        *chain.from_iterable(
            [*(m for _ in range(BETWEEN) for m in filler.exchange()), *planted_in(rng, filler.exchange(), text)]
            for text in texts
        ),
        *(m for _ in range(8) for m in filler.exchange()),
    ]
    messages: list[BaseMessage] = []
    rounds = 0
    for at, message in enumerate(session):
        messages.append(message.model_copy(update={"id": f"m{at}"}))
        if isinstance(message, AIMessage) and not message.tool_calls:
            result = compressor.compress(messages)
            rounds += result.tokens_after < result.tokens_before
            messages = list(result.messages)
    return Played(html.unescape("\n".join(message.text for message in messages)), compressor, rounds)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("forgetful", [True, False])
def test_g5_what_is_planted_in_real_exchanges_is_there_at_the_end(forgetful: bool, half: int) -> None:
    items = PLANTED[half * len(PLANTED) // 2 : (half + 1) * len(PLANTED) // 2]
    played = play([text for text, _ in items], half, forgetful=forgetful)
    wanted = [words for _, words in items if words]
    missing = played.missing(wanted)
    assert played.rounds >= ROUNDS
    assert len(missing) <= 0.05 * len(wanted), missing
    assert played.unfindable(missing) == []


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("forgetful", [True, False])
def test_g5_constraints_facts_and_preferences_are_all_there_and_no_old_value_is(forgetful: bool, half: int) -> None:
    items = BY_KIND[half::2]
    changes = CHANGED_LATER[half::2]
    random.Random(half).shuffle(texts := [text for _, text, _ in items])
    middle = len(texts) // 2
    texts = [*(first for first, *_ in changes), *texts[:middle], *(later for _, later, *_ in changes), *texts[middle:]]
    played = play(texts, half, forgetful=forgetful)
    assert played.rounds >= ROUNDS
    assert played.missing([words for kind, _, words in items if kind in NEVER_LOST]) == []
    wanted = [*(words for _, _, words in items), *(new for _, _, new, _ in changes)]
    missing = played.missing(wanted)
    assert len(missing) <= 0.05 * len(wanted), missing
    assert played.unfindable(missing) == []
    assert [old for _, _, _, old in changes if old in played.text] == []
