"""Indirect requests: what a user wants to hold from now on, said as a wish or as a question.

Politeness hides an instruction in a conditional ("I'd appreciate it if quotes came with the delivery time"), in a
demand ("might I ask that …") or in a question to the listener ("could you always …?"). The frame is a conditional or
asking verb near the start and a conjunction behind it; what stands behind that is the instruction. Whether it is meant
to last shows in its subject: "if you could check my order" and "if this arrived today" are for this moment, "if quotes
came with …" is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from langchain_ctxcompress.ledger.lexicon import MARKS, plain, read, word_set

_CONDITIONAL = word_set(
    """
    would should i'd we'd it'd that'd wäre würde fände hätte agradecería gustaría encantaría sería preferiría
    serais serait aimerais apprécierais préférerais sarei sarebbe vorrei gradirei apprezzerei agradeceria
    agradecia seria gostaria preferia zou zouden skulle byłbym byłabym byłoby хотелось хотел хотела
    """
)
_ASKING = word_set(
    """
    ask request insist demand bitte verlange pido ruego exijo demande exige chiedo pretendo peço exijo vraag eis
    ber kräver proszę прошу требую
    """
)
_IF = word_set("if when wenn si se als om gdyby если")
_THAT = word_set("that dass daß que qu che dat att żeby aby чтобы")
ALWAYS = word_set(
    """
    always never immer stets nie niemals siempre nunca jamás toujours jamais sempre mai altijd nooit alltid
    aldrig zawsze nigdy всегда никогда हमेशा دائما دائماً أبدا
    """
)
_ABLE = word_set(
    """
    can could would will kannst könntest würdest können könnten würden puedes podrías puede podría pueden
    podrían peux pourrais pouvez pourriez puoi potresti può potrebbe podes poderias pode poderia kun kunt zou
    kan kunde możesz mógłbyś możecie можешь можете мог могли
    """
)
_POINTING = word_set(
    "it this that these those there das dies es ce cela ça c'est eso esto questo quello isso isto dit to это"
)
_DEFINITE = word_set(
    """
    the my our your der die mein meine unser le la les mon ma mes notre el los las mi mis nuestro nuestra il lo
    i gli mio mia o a os as meu minha het de mijn ons mój moja мой моя
    """
)
_LISTENER = word_set("you du ihr sie tu usted ustedes te vous lei você vocês je jij u ty pan pani ты вы")
_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+(?:'[^\W_]+)*")
_NEAR_START, _NEAR, _CLOSE = 10, 4, 2
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """What stands in a polite frame.

    Attributes:
        text: The instruction without its frame.
        lasts: Whether it is meant to hold from now on, rather than for one definite thing.
    """

    text: str
    lasts: bool


def find_wish(sentence: str) -> Wish | None:
    """What a sentence asks for in a polite frame.

    Args:
        sentence: A sentence in the user's own voice.

    Returns:
        The wish; nothing where there is no frame, or where it is plainly about this moment.
    """
    words = list(_WORD.finditer(plain(sentence)))[:_NEAR_START]
    if not words or words[0][0] == "would":
        return None
    asked = wished = -_NEAR_START  # where the last such verb stands
    for at, match in enumerate(words):
        word = match[0]
        demanded = word in _THAT and at - asked <= _CLOSE
        if demanded or (word in _THAT and at - wished <= _CLOSE) or (word in _IF and at - wished <= _NEAR):
            return _wish(sentence[match.end() :].strip(), demanded=demanded)
        wished = at if word in _CONDITIONAL else wished
        asked = at if word in _ASKING else asked
    return None


def _wish(rest: str, *, demanded: bool) -> Wish | None:
    words = _WORD.findall(plain(rest))
    if len(words) < _LEAST_WORDS or words[0] in _POINTING:
        return None
    if words[0] in _LISTENER:
        lasts = read(rest).has("scope") or not ALWAYS.isdisjoint(words)
        return Wish(rest, lasts=True) if lasts else None
    return Wish(rest, demanded or not (words[0] in _DEFINITE or read(words[0]).has("self")))


def asks_for_good(sentence: str) -> bool:
    """Whether a question asks the listener to do something always, or from now on: "könntest du künftig …?".

    Args:
        sentence: A question.
    """
    words = _WORD.findall(plain(sentence))[:4]
    able = any(word in _ABLE for word in words)
    said = read(sentence)
    return able and len(said.words) > _LEAST_WORDS + 1 and (said.has("scope") or not ALWAYS.isdisjoint(said.words))
