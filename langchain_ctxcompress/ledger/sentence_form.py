"""How a sentence is built: its opening, what it is about, whether it tells somebody to do something."""

from __future__ import annotations

import re

from langchain_ctxcompress.ledger.lexicon import Reading, read, split_words, stem, word_set
from langchain_ctxcompress.ledger.standing import STANDING

LEAD_WORDS = 4
_LEAST_HESITATION, _MOST_HESITATION = 2, 8
_SHORTEST = 8
_OPENER = re.compile(r"([^,:;.!?—–]{1,40})[,:;.!?—–]+\s+")
_INTERJECTION = re.compile(r"\w+,\s+")
_MINDED = re.compile(r"(?:\S+\s+){1,5}?(?:that|dass|daß|que|che|dat|att|że|что)\s+", re.IGNORECASE)
DEFINITE = word_set(
    """
    the my our this der die das mein meine unser unsere le la les mon ma mes notre nos el los las mi mis nuestro
    nuestra il lo gli mio mia nostro nostra o a os as meu minha nosso nossa de het mijn ons onze mój moja nasz nasza
    min mitt vår vårt
    """
)
BEING = word_set(
    """
    is are was will ist sind lautet liegt beträgt bleibt est sont reste es son está queda è sono sta é são fica zijn
    jest są är remains stays means equals
    """
)
"""Words that say what a thing is."""

_COPULAS = BEING | word_set("holds expires ends starts")
_NOT_IMPERATIVE = word_set(
    """
    oh ah um hmm well i we you he she they it there here yes no maybe perhaps what which who whom when where why how
    if because since although though after before while once as until unless thank thanks sorry hi hello hey ok okay
    sure great good perfect well actually just only also and but or so then that this these those my our your his
    her their its the a an in on at for from with by to of about some any all each every another both either neither
    not nor is are was were am be been do does did can could will would should shall may might must have has had i'm
    i've i'll i'd it's that's there's we're we've you're what's currently now today unfortunately hopefully
    apparently still already again even right one two three first second last next most more many much however
    please everything nothing anything something everyone nobody anyone during under over between none sometimes
    usually often
    """
)
FINITE = _COPULAS | word_set(
    "has have had does can could would should must may needs isn't aren't wasn't doesn't can't won't"
)
_CLAUSE_WORDS = word_set("it that this what which who everything nothing anything there he she they you i we if and")
_HESITATION = word_set(
    """
    um uh uhm er erm hmm hm so yeah well okay ok right like anyway oh and but äh ähm öh also ja na euh bah ben eh este
    pues bueno allora cioè então pronto
    """
)
_ADVERB_OR_NOUN = re.compile(r"(?:ly|ing|ed|tion|ness|ment|ity)$")


def trim_opening(text: str) -> str:
    """A sentence without its greetings and openers, else as it is.

    Args:
        text: A sentence.

    Returns:
        It, from its first part that says something, without parentheses around it.
    """
    trimmed = text
    if text[:1] in "([（" and text[-2:].rstrip(".!")[-1:] in {")", "]", "）"}:
        trimmed = text[1:].rstrip(".!")[:-1]
    for _ in range(3):
        opener = _OPENER.match(trimmed)
        if not opener or len(trimmed) - opener.end() < _SHORTEST:
            break
        reading = read(opener[1])
        if reading.topic or not reading.has("aside", "ack", "feel", "shift"):
            break
        trimmed = trimmed[opener.end() :]
    return trimmed


def behind_hesitation(text: str) -> str:
    """A sentence without the small words that somebody who speaks opens with: "um so yeah I think the …".

    Args:
        text: A sentence.
    """
    words = text.split(" ", _MOST_HESITATION)
    at = 0
    while at < len(words) - 1 and words[at].lower().strip(",.…") in _HESITATION:
        at += 1
    rest = " ".join(words[at:])
    return rest if at >= _LEAST_HESITATION and len(rest) >= _SHORTEST else text


def core_of(spoken: str) -> str:
    """A sentence without a label or a short lead that says nothing itself: the rest decides what it is about."""
    opener = _OPENER.match(spoken)
    if not opener or opener[0].rstrip()[-1] not in ",:" or len(spoken) - opener.end() < _SHORTEST:
        return spoken
    head = read(opener[1])
    rest = spoken[opener.end() :]
    labels = ":" in opener[0] and len(read(rest).content) >= 2
    leads = not head.topic or (len(head.words) <= LEAD_WORDS and len(head.topic) == 1 and not head.has(*STANDING))
    return rest if labels or leads else spoken


def is_imperative(spoken: str, reading: Reading) -> bool:
    """Whether it reads as an instruction: a bare verb first in English, a polite word or a negated verb elsewhere."""
    if reading.unspaced:
        return reading.has("please")
    interjection = _INTERJECTION.match(spoken)
    spoken = spoken[interjection.end() :] if interjection else spoken
    words = split_words(spoken)
    while words and (
        words[0] in {"please", "then", "always", "never", "do", "don't", "not", "just", "only", "kindly", "also"}
    ):
        if words[0] in {"don't", "never", "always"}:
            return True
        words = words[1:]
    if not words or (not spoken.isascii() and not words[0].isascii()):
        return reading.has("please")
    first = words[0]
    # "Mobile data is on": a verb of being right behind its first words makes a sentence a statement.
    for place, word in enumerate(words[1:4], start=1):
        if word in FINITE and words[place - 1] not in _CLAUSE_WORDS:
            return False
    if first in DEFINITE:  # "die Miete …" is no English instruction
        return False
    return first not in _NOT_IMPERATIVE and not _ADVERB_OR_NOUN.search(first) and spoken[:1].isalpha()


def verb_of(core: str) -> str:
    """The stem of its first word that says something; `""` where words are not told apart by spaces."""
    reading = read(core)
    return "" if reading.unspaced else next((stem(word) for word in reading.words if stem(word) in reading.content), "")


def behind_lead(core: str) -> str:
    """A sentence without "keep in mind that" and its like in front of it."""
    lead = _MINDED.match(core)
    return core[lead.end() :] if lead and read(lead[0]).has("mind", "aside") else core


def subject_of(spoken: str) -> tuple[str, ...]:
    """The topic before the first copula."""
    words = split_words(spoken[:160])
    at = next((place for place, word in enumerate(words) if place and word in _COPULAS), 0)
    return tuple(sorted(read(" ".join(words[:at])).content)) if at else ()


def is_definite(spoken: str) -> bool:
    """Whether it says what a certain thing is: "the code is …"."""
    words = split_words(spoken[:160])[:12]
    for at, word in enumerate(words):
        if at and word in _COPULAS:
            return any(before in DEFINITE or before.endswith("'s") for before in words[:at])
    return False
