"""What holds for the user or theirs: "I'm vegan", "my daughter has asthma", "soy celíaco", "저는 채식주의자예요".

Such a sentence has no word of duty in it, yet what is done for the user must heed it. It shows by its structure: a
first person, or something of theirs, as the subject; a verb of being, having or doing in the present; and a predicate
that is neither a progressive nor one of the few words for how one is just now.
"""

from __future__ import annotations

import re

from langchain_ctxcompress.ledger.lexicon import Reading, read, word_set
from langchain_ctxcompress.ledger.words.people import PEOPLE, PEOPLE_UNSPACED

_LONGEST = 14
_SUBJECT_WORDS = 4
_PASSING_GROUPS = ("past", "now", "ask", "want", "feel", "trouble", "done", "please", "you", "update")
_NO_TASTE = tuple(group for group in _PASSING_GROUPS if group not in {"feel", "ask"})
_OPENING_GROUPS = ("ack",)
_CLAUSE = re.compile(r"[,;:—–]\s+|\s[-—–]\s")
_LEAST_CLAUSE = 3
_OF_ONES_OWN = word_set(
    """
    my our mein meine meiner meinem meinen unser unsere mon ma mes notre nos mi mis nuestro nuestra nuestros nuestras
    mio mia miei mie nostro nostra meu minha meus minhas nosso nossa mijn ons onze mój moja moje nasz nasza min mitt
    mina vår vårt våra мой моя моё мои моей моего моему моих наш наша у मेरा मेरी मेरे हमारा हमारी हमारे 제 내 우리 저희
    """
)
_MIND_AND_SPEECH = word_set(
    """
    need want know think guess believe understand see hope wish appreciate promise mean remember suppose assume agree
    feel get give accept confirm realise realize wonder worry apologise apologize ask say suggest try hear notice look
    expect plan intend recall do am was were had did will would could should can might must may shall have just also
    still already really even then now provided checked followed chose forgot found got went
    """
)
_LEAST_HABIT = 2
_LEAST_TASTE = 2
_VERB_FINAL = 2
_TELLING = word_set(
    """
    is are makes make gives give means beat beats helps help keeps keep suits drives drive sind ist macht machen sont
    est rend rendent son es hace hacen è sono rende rendono é são faz fazem zijn är maakt gör
    """
)
_NO_KIND = word_set(
    """
    there here what which who how why when where if and but or so then also please yes no not as since because while
    everything nothing something anything all none one both each he she we you they their his let let's is are do does
    can could will would das dies es wenn ce c'est il elle si que eso esto ello questo quello se isso isto het dat det
    """
)
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
_ARTICLES = word_set("the a la el il lo o a os as le les der die das de het")
_OFTEN = word_set("usually often always never mostly normally generally rarely seldom")
_POINTED_AT = word_set("it that this them those these you him her so to")
_AT_HAND_ON = word_set("the a an it my that this hold your our")
_SPEAKING = word_set("i we ich wir je nous yo nosotros io noi eu nós ik jag vi ja я мы")
_BETWEEN = word_set("only also really always can both all nur auch ne solo sólo anche também")
_NEGATING = word_set("not nicht niet inte pas no non não nie не")
_DOING_NOT = word_set("don't doesn't can't cannot")
_AT_HAND = word_set("have want need know see think remember find recall get mean believe really")
_JUST_NOW = word_set(
    """
    sure unsure ready able unable done here there back available willing afraid aware certain curious out away in
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
    if _holds(text):
        return True
    # What comes behind may say why it is said: "I'm on blood thinners, just so you have it."
    head = _CLAUSE.split(text[:400], maxsplit=1)[0]
    return head != text and head.count(" ") + 1 >= _LEAST_CLAUSE and _holds(head)


def _holds(text: str) -> bool:
    reading = read(text)
    if not reading.unspaced and _is_taste(reading):
        return True
    if reading.has(*_PASSING_GROUPS) or any(reading.cues.get(group, 9) < 2 for group in _OPENING_GROUPS):
        return False
    if reading.unspaced:
        own = text.startswith(("我", "うちの", "私の")) and any(word in text[:6] for word in PEOPLE_UNSPACED)
        return (own or text.startswith(_FIRST_PERSON_ZH)) and len(reading.words) <= 2 * _LONGEST
    if not reading.content or len(reading.words) > _LONGEST:
        return False
    return _is_of_someone_close(reading.words) or _is_habit(reading) or _is_so(reading)


def _is_of_someone_close(words: tuple[str, ...]) -> bool:
    """Whether it opens with one of the user's people, and something of them: "mi padre lleva audífonos"."""
    opening = words[:_SUBJECT_WORDS]
    at = next((place for place, word in enumerate(opening) if word.removesuffix("'s") in PEOPLE), None)
    if at is None or at + 1 >= len(words):
        return False
    owned = not _OF_ONES_OWN.isdisjoint(opening[: at + 1]) or not words[at].isascii() or at == 0
    return owned and (at == 0 or words[0] in _OF_ONES_OWN or words[0] in _ARTICLES)


def _is_habit(reading: Reading) -> bool:
    """Whether it says what the speaker does as a habit: "I read better in dark mode", "I carry an EpiPen"."""
    words = [word for word in reading.words[:4] if word not in _BETWEEN and word not in _OFTEN]
    if len(words) < _LEAST_CLAUSE or words[0] != "i" or len(reading.content) < _LEAST_HABIT:
        return False
    verb = words[1]
    inflected = verb.endswith(("ed", "ing", "ly")) or "'" in verb
    return not inflected and verb not in _MIND_AND_SPEECH and words[2] not in _POINTED_AT


def _is_taste(reading: Reading) -> bool:
    """Whether it says what a kind of thing is to the speaker: "spicy food is my happy place"."""
    words = reading.words
    at = reading.cues.get("self", 0)
    if (
        reading.has(*_NO_TASTE)
        or len(words) > _LONGEST
        or at < _LEAST_CLAUSE - 1
        or len(words) <= _LEAST_CLAUSE
        or len(reading.content) < _LEAST_TASTE
    ):
        return False
    if reading.cues.get("ask", _LEAST_CLAUSE) < _LEAST_CLAUSE:
        return False
    definite = words[0] in _ARTICLES and words[0] != "a"
    if definite or words[0] in _OF_ONES_OWN or words[0] in _POINTED_AT or words[0] in _NO_KIND:
        return False
    return not _TELLING.isdisjoint(words[1:at])


def _is_so(reading: Reading) -> bool:
    words = reading.words
    if reading.cues.get("self", _SUBJECT_WORDS) > 1:
        return False
    if _KOREAN.search(words[-1]):
        return True
    at = next((place for place, word in enumerate(words[:_SUBJECT_WORDS]) if word in _BEING), None)
    if at is None or at + 1 >= len(words):
        verb_final = at is not None and not words[at].isascii() and at >= _VERB_FINAL and "self" in reading.cues
        return verb_final or (words[0] in _BEING and len(words) > 1)
    if at > 1 and words[0] in _SPEAKING and words[1] not in _BETWEEN:
        return False  # "I believe there is …": the verb of the speaker is another one
    after = [word for word in words[at + 1 : at + 4] if word not in _NEGATING]
    if not after or (words[at] in _DOING_NOT and after[0] in _AT_HAND):
        return False
    said = after[0]
    if said == "on" and (len(after) < 2 or after[1] in _AT_HAND_ON):  # "I'm on it", "I'm on the page"
        return False
    if (
        said in _JUST_NOW
        or (said in _ANY_NUMBER_OF and words[at] in _HAVING)
        or (len(said) > 4 and said.endswith("ing"))
    ):
        return False
    return not (words[at] in _HAVING and said.endswith("ed"))
