"""The closed-class words by which a sentence shows what it does: modality, negation, scope, person, change.

Function words are few and slow to change, unlike the topics people talk about: that is why they, and not phrases, carry
the decisions of this room. A table names, for each language, what each group of words says. In a table a space
separates cues and an underscore joins the words of one cue. Languages written without spaces are matched by
substring.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from langchain_ctxcompress.ledger.words import SPACED, UNSPACED

_SMALL_TALK = frozenset({"ack", "feel", "past", "now", "ask", "want", "trouble"})
# Vowel signs and accents that stand for themselves are marks, no letters, but belong to their words.
MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Ranges of such marks, for a character class; among Indic letters, without the bars that end a sentence."""

_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+(?:['-](?:[^\W_]|[{MARKS}])+)*")
_UNSPACED_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_SCRIPTS = (
    (re.compile(r"[\u0400-\u04ff]"), ("ru", "uk")),
    (re.compile(r"[\uac00-\ud7af]"), ("ko",)),
    (re.compile(r"[\u0600-\u06ff]"), ("ar",)),
    (re.compile(r"[\u0900-\u097f]"), ("hi",)),
)
_OTHER_SCRIPTS = frozenset(language for _, languages in _SCRIPTS for language in languages)
# Signs of the Chinese table as they are written where signs were not simplified.
_SIMPLIFIED = str.maketrans(
    "無論總從絕對應當許準務須過歡願討厭愛習慣們見標階進狀態優決選嗎麼誰幾謝沒題問請現馬為換實際後別開單規則責記錄順說聲預項個會這給還錯誤敗試剛經處設備檔變讓與嚴遲盡漸傾",
    "无论总从绝对应当许准务须过欢愿讨厌爱习惯们见标阶进状态优决选吗么谁几谢没题问请现马为换实际后别开单规则责记录顺说声预项个会这给还错误败试刚经处设备档变让与严迟尽渐倾",
)
# Single words of these groups are nouns and verbs that also say what a sentence is about ("budget", "deadline").
_TOPICAL = frozenset({"limit", "goal", "rulehead", "state", "decide", "prefer", "done", "trouble", "hold", "norm"})
_STEM_LENGTH = 6
_LEAST_GERUND = 5
"""Letters of a word that ends in "-ing" and is none of "bring", "king" and "thing"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence is made of.

    Attributes:
        words: Its words, lower case, in order (for unspaced scripts: pairs of characters).
        cues: The groups of cues found in it, each with the word position where it first stands.
        content: Stems of the words that carry its topic, in order, without repeats.
        topic: The same words as written, lower case.
        unspaced: Whether the sentence is in a script without spaces.
    """

    words: tuple[str, ...]
    cues: dict[str, int]
    content: tuple[str, ...]
    topic: tuple[str, ...]
    unspaced: bool

    def has(self, *groups: str) -> bool:
        """Whether a cue of any of these groups is in the sentence."""
        return any(group in self.cues for group in groups)


class _Language:
    """One language's cues, looked up by the first word of each."""

    def __init__(self, table: dict[str, str]) -> None:
        self.stop = frozenset(table.get("stop", "").split())
        self.cues: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for group, cues in table.items():
            if group == "stop":
                continue
            for cue in cues.split():
                gram = tuple(cue.split("_"))
                self.cues.setdefault(gram[0], []).append((gram, group))
        for found in self.cues.values():
            found.sort(key=lambda cue: -len(cue[0]))
        self.known = self.stop | frozenset(self.cues)


_LANGUAGES = {name: _Language(table) for name, table in SPACED.items()}
_KNOWN = frozenset().union(*(language.known for language in _LANGUAGES.values()))
_LATIN = [language for name, language in _LANGUAGES.items() if name not in _OTHER_SCRIPTS]
_LATIN_WORDS: dict[str, list[int]] = {}  # the languages that know a word, by their place
for _place, _language in enumerate(_LATIN):
    for _known in _language.known:
        _LATIN_WORDS.setdefault(_known, []).append(_place)
_UNSPACED = {
    name: sorted(
        ((cue, group) for group, cues in table.items() if group != "stop" for cue in cues.split()),
        key=lambda entry: -len(entry[0]),
    )
    for name, table in UNSPACED.items()
}
_UNSPACED_STOP = {name: sorted(table["stop"].split(), key=len, reverse=True) for name, table in UNSPACED.items()}


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set: how the tables of this room are written."""
    return frozenset(text.split())


def plain(text: str) -> str:
    """Lower case with straight apostrophes, so that one table fits what people type."""
    return text.replace("\u2019", "'").replace("\u02bc", "'").lower()


def split_words(text: str) -> list[str]:
    """The words of a text in lower case, with inner apostrophes and hyphens."""
    return _WORD.findall(plain(text))


def stem(word: str) -> str:
    """A crude stem that holds across inflections of many languages: possessive and plural cut, then a prefix."""
    base = word.split("'", 1)[0] if word.endswith("'s") else word
    if len(base) > _LEAST_GERUND and base.endswith("ing") and base.isascii():
        doubled = len(base) > _LEAST_GERUND + 1 and base[-4] == base[-5] and base[-4] not in "ls"  # "running"
        base = base[: -4 if doubled else -3]
    if len(base) > 3 and base[-1] == "s" and base[-2] not in "su":
        base = base[:-1]
    if len(base) <= _STEM_LENGTH:
        return base[:-1] if len(base) > 4 and base[-1] == "e" else base
    return base[:_STEM_LENGTH]


_stem_once = lru_cache(maxsize=65_536)(stem)


def is_function_word(word: str) -> bool:
    """Whether a word is a closed-class word of one of the languages: an article, a pronoun, a cue."""
    return plain(word) in _KNOWN


def is_unspaced(text: str) -> bool:
    """Whether a text is mostly in a script that writes no spaces between words."""
    if text.isascii():
        return False
    found = len(_UNSPACED_SCRIPT.findall(text))
    return found > 1 and found * 3 >= len(text.replace(" ", ""))


def _languages_of(text: str, words: list[str]) -> list[_Language]:
    if not text.isascii():
        for script, names in _SCRIPTS:
            if script.search(text):
                return [_LANGUAGES[name] for name in names if name in _LANGUAGES]
    scores = [0] * len(_LATIN)
    for places in [_LATIN_WORDS[word] for word in words if word in _LATIN_WORDS]:
        for place in places:
            scores[place] += 1
    best = max(scores)
    if not best:
        return []  # none of them has a cue in it
    return [language for language, score in zip(_LATIN, scores, strict=True) if score == best]


def _cues_in(words: list[str], language: _Language) -> tuple[dict[str, int], set[int]]:
    """The groups of cues of one language with their first places, and the places that are no topic."""
    cues: dict[str, int] = {}
    used: set[int] = set()
    inside = -1  # the last position of a longer cue: a part of it is no cue of its own
    known = language.cues
    for position, word in [(at, word) for at, word in enumerate(words) if word in known]:
        if position <= inside:
            continue
        for gram, group in known[word]:
            if len(gram) <= inside - position:
                break
            if len(gram) > 1 and tuple(words[position : position + len(gram)]) != gram:
                continue
            cues.setdefault(group, position)
            inside = max(inside, position + len(gram) - 1) if len(gram) > 1 else inside
            if len(gram) > 1 or group not in _TOPICAL:
                used.update(range(position, position + len(gram)))
    return cues, used


def _stop_words(languages: list[_Language], words: list[str]) -> set[str]:
    return {word for language in languages for word in language.stop.intersection(words)}


def _read_spaced(text: str) -> Reading:
    words = split_words(text)
    languages = _languages_of(text, words)
    cues: dict[str, int] = {}
    used: set[int] = set()
    agreed = Counter[str]()
    for language in languages:
        found, covered = _cues_in(words, language)
        agreed.update(found.keys())
        used |= covered
        for group, position in found.items():
            cues[group] = min(position, cues.get(group, position))
    # Where the language is open ("no" is a ban in one and a reply in another), nothing is dropped as small talk.
    cues = {group: at for group, at in cues.items() if group not in _SMALL_TALK or agreed[group] == len(languages)}
    stop = languages[0].stop if len(languages) == 1 else _stop_words(languages, words)
    topic = [word for position, word in enumerate(words) if position not in used and word not in stop and len(word) > 1]
    content = dict.fromkeys(map(_stem_once, topic))
    return Reading(tuple(words), cues, tuple(content), tuple(dict.fromkeys(topic)), unspaced=False)


def _read_unspaced(text: str) -> Reading:
    name = "ja" if _KANA.search(text) else "zh"
    folded = plain(text)
    same = folded.translate(_SIMPLIFIED) if name == "zh" else folded
    cues: dict[str, int] = {}
    shown = list(folded)
    inside = same  # what is left of it by the longer cues: a sign in one of them is no small talk of its own
    for cue, group in _UNSPACED[name]:
        at = (inside if len(cue) == 1 and group in _SMALL_TALK else same).find(cue)
        if at < 0:
            continue
        cues[group] = min(at, cues.get(group, at))
        if len(cue) > 1:
            inside = inside.replace(cue, " " * len(cue))
        while at >= 0 and group not in _TOPICAL:
            shown[at : at + len(cue)] = " " * len(cue)
            at = same.find(cue, at + len(cue))
    rest = "".join(shown)
    for word in _UNSPACED_STOP[name]:
        rest = rest.replace(word, " ")
    content: list[str] = []
    topic = _WORD.findall(rest)
    for run in topic:
        if _UNSPACED_SCRIPT.search(run):
            content += [first + second for first, second in pairwise(run)] if len(run) > 1 else [run]
        elif len(run) > 1:
            content.append(stem(run))
    return Reading(tuple(folded), cues, tuple(dict.fromkeys(content)), tuple(dict.fromkeys(topic)), unspaced=True)


@lru_cache(maxsize=4096)
def read(sentence: str) -> Reading:
    """Read one sentence.

    Args:
        sentence: A sentence of any language, of bounded length.

    Returns:
        Its words, cues and topic stems.
    """
    return _read_unspaced(sentence) if is_unspaced(sentence) else _read_spaced(sentence)


def content_stems(text: str) -> frozenset[str]:
    """The stems of a longer text, for comparison with those of a sentence (no cues are looked for)."""
    stems = {_stem_once(word) for word in set(split_words(text))}
    for run in _UNSPACED_RUN.findall(text):
        stems.update(first + second for first, second in pairwise(run))
    return frozenset(stems)


_UNSPACED_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{2,}")
