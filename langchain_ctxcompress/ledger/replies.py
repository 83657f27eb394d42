"""Short answers: "the one ending 4471" says something only together with the question that it answers."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.ledger.lexicon import read
from langchain_ctxcompress.ledger.records import Fact
from langchain_ctxcompress.ledger.sentence_form import FINITE
from langchain_ctxcompress.ledger.statements import Judgement
from langchain_ctxcompress.ledger.voice import split_sentences
from langchain_ctxcompress.messages import extract_text_content, kind_of

_LONGEST_ANSWER, _LONGEST_UNSPACED = 7, 14
_LONGEST_QUESTION = 140
_READ = 600
"""Characters at the end of an AI message in which its question is looked for."""

_TOLD, _GIVEN = 0.3, 0.85
"""What an answer weighs at the least, and what an exact value does that somebody asked for."""

_NO_ANSWER = ("please", "ask", "want", "now", "feel", "trouble", "done", "past", "self", "forget", "update", "you")


def question_of(message: BaseMessage) -> str:
    """The question with which an AI message ends; an empty string for none.

    Args:
        message: Any message.
    """
    if kind_of(message) != "ai" or (isinstance(message, AIMessage) and message.tool_calls):
        return ""
    last = extract_text_content(message)[-_READ:].strip().rpartition("\n")[2]
    question = list(split_sentences(last.strip("*_ ")))[-1:]
    if not question or not question[0].rstrip("*_\"')”»").endswith(("?", "？", "؟")):
        return ""
    asked = question[0].lstrip("-*•# ")
    return asked if len(asked) <= _LONGEST_QUESTION else f"… {asked[-_LONGEST_QUESTION:].partition(' ')[2]}"


def is_short_answer(judged: Judgement) -> bool:
    """Whether a sentence is a few words that name something: no request, no courtesy, nothing that stands alone.

    Args:
        judged: The only sentence of a message.
    """
    reading = read(judged.text)
    longest = _LONGEST_UNSPACED if reading.unspaced else _LONGEST_ANSWER
    if judged.kind == "rule" or judged.question or not 0 < len(reading.words) <= longest:
        return False
    named = [word for word in reading.topic if word != "one"] or judged.values
    stands_alone = judged.definite or judged.trait or not FINITE.isdisjoint(reading.words)
    return bool(named) and not stands_alone and not reading.has(*_NO_ANSWER)


def answered(answer: Fact, question: str) -> Fact:
    """An answer with the question in front of it.

    Args:
        answer: What the user said.
        question: What they were asked.
    """
    stems = sorted({*answer.key, *read(question).content})
    return answer.model_copy(
        update={
            "text": f"{answer.text} (asked: {question})",
            "key": tuple(stems),
            "weight": max(answer.weight, _GIVEN if answer.slots else _TOLD),
            "definite": True,
        }
    )
