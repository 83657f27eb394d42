"""Work that a user asks for once, with the terms it comes under: how long, in which tone, without what, until when.

A request is the same request as an order, a wish or a question, and its terms stand in the same clauses. So it is
weighed as if it had been told, and kept with all its clauses: what it asks for may be over, the terms are what a
second version of it will be measured by. Whether it was carried out shows in what was done, not in how it was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from langchain_ctxcompress.ledger.clauses import clauses
from langchain_ctxcompress.ledger.lexicon import Reading, is_unspaced, read, split_words, word_set
from langchain_ctxcompress.ledger.statements import FACT_WEIGHT, PASSING, Judgement, judge
from langchain_ctxcompress.ledger.values import find_values
from langchain_ctxcompress.ledger.voice import Sentence
from langchain_ctxcompress.ledger.wishes import ALWAYS

MOST_TEXT = 400
"""Characters of a request that is kept with its terms."""

_QUESTION_MARKS = "?？؟"
_LEAST_WORDS, _LEAST_UNSPACED, _LEAST_TOPIC = 6, 12, 3
_MOST_JOINED, _MOST_JOINED_WORDS = 3, 20
_SHORT_ANSWER, _SHORT_UNSPACED = 24, 60
_SHARED = 0.5
_OPENING = 2
_ASKING = ("ask", "want", "please")
_INQUIRING = word_set(
    """
    what what's which who who's whom whose when where where's why how how's is are was were does did has have
    was welche welcher welches wer wem wen wann wo wohin woher warum wieso wie ist sind gibt hat
    que qu'est-ce quel quelle quels quelles qui quand où pourquoi comment combien est
    qué cuál cuáles quién quiénes cuándo dónde adónde cómo cuánto cuánta es está hay
    cosa quale quali chi dove perché come quanto è sono qual onde quando quem quanto há
    wat welke wie waar waarom hoe wanneer vad vilken vem var varför hur när
    co jaki jaka kto gdzie dlaczego jak kiedy что какой какая кто где почему как когда сколько
    ne nasıl neden nerede kim kaç ماذا كيف متى أين لماذا क्या कैसे कब कहाँ क्यों कौन 무엇 어떻게 언제 어디 왜
    """
)
"""Words with which a question asks for knowledge, in its first two."""

_INQUIRING_UNSPACED = word_set("什么 怎么 如何 为什么 哪 谁 几 多少 何 どう なぜ どこ いつ 誰")
_TELLING = word_set(
    """
    i i'm i've i'd i'll my we our he she they it it's that there ich mein meine wir unser er sie es je j'ai mon ma nous
    il elle yo mi nosotros él ella io mio noi eu meu nós ik mijn jag min ja mój я мой мы
    """
)
_AHEAD = word_set(
    """
    will i'll we'll shall later soon tomorrow shortly afterwards going
    werde werden gleich später morgen bald demnächst nachher
    vais allons bientôt demain tantôt plus-tard voy vamos luego mañana después pronto enseguida
    farò domani presto dopo vado vou amanhã depois logo zal straks morgen later ska imorgon snart senare
    zaraz jutro później wkrótce сделаю завтра позже скоро потом займусь birazdan yarın sonra سوف غدا لاحقا
    कल बाद जल्द करूँगा करूंगा करूँगी 나중에 내일 곧 할게요 하겠습니다
    """
)
_AHEAD_UNSPACED = ("明天", "稍后", "稍後", "马上", "等一下", "回头", "後で", "明日", "これから", "のちほど", "後ほど")


def told_weight(judged: Judgement, novelty: float) -> float:
    """How much a request is worth keeping, as if it had been told: no courtesy and no question mark counts against it.

    Args:
        judged: The request.
        novelty: The share of its topic words heard nowhere else.

    Returns:
        A weight from 0 to 1; 0 for one that is too short to come under any terms, or that asks for knowledge.
    """
    reading = judged.reading
    size = len(reading.words)
    least = _LEAST_UNSPACED if reading.unspaced else _LEAST_WORDS
    if size < least or len(reading.content) < _LEAST_TOPIC:
        return 0.0
    if _inquires(judged.text, reading) if judged.question else judged.definite or judged.trait:
        return 0.0
    told = judged
    if judged.question:
        text = judged.text.rstrip(_QUESTION_MARKS + " ").removesuffix("吗")
        told = judge(Sentence(text, text, "", bullet=False), novelty)
    weight = min(max(told.weight, 0.001), 0.999)
    odds = log(weight / (1 - weight)) + sum(PASSING[group] for group in _ASKING if told.reading.has(group))
    weight = round(1 / (1 + exp(-odds)), 3)
    return weight if weight >= FACT_WEIGHT else 0.0


def _inquires(text: str, reading: Reading) -> bool:
    if reading.unspaced:
        return any(word in text for word in _INQUIRING_UNSPACED)
    return not _INQUIRING.isdisjoint(split_words(text[:80])[:_OPENING])


def with_terms(said: Sequence[Sentence], judgements: Sequence[Judgement], at: int) -> tuple[int, int]:
    """The sentences that a request goes on in.

    Args:
        said: The sentences of a message.
        judgements: What each of them is.
        at: The place of the request among them.

    Returns:
        The first of them, and the one behind the last: parts between semicolons, and short sentences behind it that
        state nothing of their own.
    """
    first, end = at, at + 1
    while first and said[first - 1].text.endswith(";") and not said[first].bullet:
        first -= 1
    while end < len(said) and said[end - 1].text.endswith(";"):
        end += 1
    for place in range(end, min(len(said), end + _MOST_JOINED)):
        judged = judgements[place]
        own = judged.kind == "rule" or judged.definite or judged.question or judged.trait or judged.update
        short = len(judged.reading.words) <= _MOST_JOINED_WORDS * (3 if judged.reading.unspaced else 1)
        if own or not short or said[place].bullet or judged.reading.has("ack", "want", "past", "aside"):
            break
        if not judged.reading.unspaced and not _TELLING.isdisjoint(judged.reading.words[:1]):
            break
        end = place + 1
    return first, end


def may_be_carried_out(sentence: Sentence, judged: Judgement) -> bool:
    """Whether a sentence may be something to do once, however it is put: whether it was, its answer must show."""
    reading = judged.reading
    words = reading.words
    if not words or judged.definite or judged.trait or judged.update or judged.takes_back:
        return False
    if reading.has("scope", "universal") or not ALWAYS.isdisjoint(words):
        return False
    if not reading.unspaced and not _TELLING.isdisjoint(words[:1]) and not reading.has("want", "ask"):
        return False
    if len(reading.content) < _OPENING:
        return False
    return judged.kind != "rule" or _asks_once(sentence)


def _asks_once(sentence: Sentence) -> bool:
    """Whether the first clause of an instruction asks for something, and lays down nothing itself."""
    found = clauses(sentence)
    return bool(found) and judge(found[0].told, 1.0).kind != "rule"


def main_stems(sentence: Sentence) -> tuple[str, ...]:
    """The stems of what is to be done: those of the first clause."""
    found = clauses(sentence)
    return read(found[0].told.spoken).content if found else read(sentence.spoken).content


def is_about(stems: Sequence[str], report: frozenset[str] | set[str], *, least: int = 2) -> bool:
    """Whether what was done is what was asked for: half of its stems are in it.

    Args:
        stems: What was asked for.
        report: What was done.
        least: Stems that are in it at the least, where there are as many: one is enough right behind the request.
    """
    shared = len(report.intersection(stems))
    return bool(stems) and shared >= min(len(stems), least) and shared >= _SHARED * len(stems)


def puts_off(text: str) -> bool:
    """Whether an answer does nothing yet: a few words with no value in them that say nothing, or say when or that not.

    Args:
        text: An answer in front of which no tool was called.
    """
    said = " ".join(text[:600].split())
    unspaced = is_unspaced(said)
    words = split_words(said)
    if (len(said) > _SHORT_UNSPACED if unspaced else len(words) > _SHORT_ANSWER) or "```" in text:
        return False
    if next(find_values(said), None) is not None:
        return False
    reading = read(said)
    if not reading.content:
        return not _TELLING.isdisjoint(words)
    if _denies(reading) and not _TELLING.isdisjoint(words):
        return True
    if reading.has("done", "past"):
        return False
    return any(word in said for word in _AHEAD_UNSPACED) if unspaced else not _AHEAD.isdisjoint(words)


def _denies(reading: Reading) -> bool:
    return reading.has("not") or any(word.endswith("n't") for word in reading.words)
