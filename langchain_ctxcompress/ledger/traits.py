"""What holds for the user or theirs: "I'm vegan", "my daughter has asthma", "soy celíaco", "저는 채식주의자예요".

Such a sentence has no word of duty in it, yet what is done for the user must heed it. It shows by its structure: a
first person, or something of theirs, as the subject; a verb of being, having or doing in the present; and a predicate
that is neither a progressive nor one of the few words for how one is just now.
"""

from __future__ import annotations

import re

from langchain_ctxcompress.ledger.lexicon import read, word_set

_LONGEST = 14
_SUBJECT_WORDS = 4
_PASSING_GROUPS = ("past", "now", "ask", "ack", "want", "feel", "trouble", "done", "please", "you", "update")
_BEING = word_set(
    """
    am is are i'm we're he's she's have has i've see hear speak only can't cannot don't doesn't bin ist sind habe hat
    sehe höre spreche ben heb heeft zie hoor är har ser hör suis est sont sommes j'ai ai a avons vois soy es son somos
    tengo tiene tenemos veo oigo sono è siamo ho ha abbiamo vedo sento sou é são tenho tem temos vejo ouço jestem jest
    mam ma mamy ja у есть вижу слышу हूँ हूं है हैं wears uses takes
    """
)
_ANY_NUMBER_OF = word_set(
    """
    a an the another some this that these those two three several few many more any it one un una une ein eine einen
    um uma een en ett
    """
)
_HAVING = word_set("have has i've i see hear habe hat tengo tiene ho ha tenho tem j'ai ai heb heeft har mam ma")
_SPEAKING = word_set("i we ich wir je nous yo nosotros io noi eu nós ik jag vi ja я мы")
_BETWEEN = word_set("only also really always can both all nur auch ne solo sólo anche também")
_NEGATING = word_set("not nicht niet inte pas no non não nie не")
_DOING_NOT = word_set("don't doesn't can't cannot")
_AT_HAND = word_set("have want need know see think remember find recall get mean believe really")
_JUST_NOW = word_set(
    """
    sure unsure ready able unable done here there back available willing afraid aware certain curious out away in on
    good well fine right wrong busy late early happy sorry okay bereit sicher fertig da hier weg müde spät prêt prête
    sûr sûre ici là fatigué fatiguée en listo lista seguro segura aquí cansado cansada de pronto pronta sicuro sicura
    qui stanco stanca pronto aqui cansado klaar zeker hier moe redo säker här trött gotowy gotowa pewien tutaj готов
    готова уверен уверена здесь
    """
)
_KOREAN = re.compile(r"(?:예요|이에요|입니다|있어요|있습니다|없어요|없습니다|못해요|못합니다)$")
_FIRST_PERSON_ZH = ("我是", "我有", "我对", "我對", "我不吃", "我吃")


def is_trait(text: str) -> bool:
    """Whether a sentence says who the user is, or what holds for them or theirs.

    Args:
        text: The sentence, without openers.
    """
    reading = read(text)
    if reading.has(*_PASSING_GROUPS):
        return False
    if reading.unspaced:
        return text.startswith(_FIRST_PERSON_ZH) and len(reading.words) <= 2 * _LONGEST
    words = reading.words
    if not reading.content or len(words) > _LONGEST or reading.cues.get("self", _SUBJECT_WORDS) > 1:
        return False
    if _KOREAN.search(words[-1]):
        return True
    at = next((place for place, word in enumerate(words[:_SUBJECT_WORDS]) if word in _BEING), None)
    if at is None or at + 1 >= len(words):
        return words[0] in _BEING and len(words) > 1
    if at > 1 and words[0] in _SPEAKING and words[1] not in _BETWEEN:
        return False  # "I believe there is …": the verb of the speaker is another one
    after = [word for word in words[at + 1 : at + 4] if word not in _NEGATING]
    if not after or (words[at] in _DOING_NOT and after[0] in _AT_HAND):
        return False
    said = after[0]
    if (
        said in _JUST_NOW
        or (said in _ANY_NUMBER_OF and words[at] in _HAVING)
        or (len(said) > 4 and said.endswith("ing"))
    ):
        return False
    return not (words[at] in _HAVING and said.endswith("ed"))
