"""Where one sentence ends and the next begins: at a mark behind which a new one plausibly starts.

Two sentences taken for one are still said; one cut in two is half lost, and its halves say what nobody said. So a
mark ends a sentence only where nothing speaks against it: not within quotes, backticks or brackets, nor inside a path
with spaces, nor behind an initial or a shortened word, nor in front of what can only go on. The shape of the words
around a mark decides; the short list holds words that cannot be told by their shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from langchain_ctxcompress.ledger.lexicon import is_function_word, plain, word_set
from langchain_ctxcompress.ledger.words.measures import MONTHS

_PAIRS = {"“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›", "(": ")", "[": "]", "（": "）"}
_ENDS = {end: "".join(start for start, ends in _PAIRS.items() if end in ends) for end in "“”»«」』›)]）"}
_SAME = "\"'`‘’"
_SHIELD = re.compile(f"[{re.escape(''.join(_PAIRS))}{re.escape(''.join(_ENDS))}{_SAME}]")
_LONGEST_SHIELD = 160
"""Characters between two quotes or brackets that belong together: beyond that one of them is a slip."""

_WIDE_MARKS = "。！？｡।॥؟۔"
_CLOSERS = "\"'”’»)]」』*_"
_MARK = re.compile(
    rf"[{_WIDE_MARKS}]|[.!?…](?=[{re.escape(_CLOSERS)}]?\s)[{re.escape(_CLOSERS)}]?|[.!?…](?=##|==|~~)|;(?=\s)",
)
_OPENERS = "\"'`“„«‘(['¿¡*_「『"
_MOST_LETTERS = 4
_TITLE_LETTERS = 3
_LONG = 300
"""Characters of a sentence that is long enough: what a semicolon or a small letter joins is joined up to here."""

_LEAST_PART = 12
"""Words in front of a semicolon that ends a sentence: shorter parts are the items of one."""

_VOWELS = frozenset("aeiouyáàâäéèêëíìîïóòôöúùûüůœæøåаеёиоуыэюя")
_LEADING = word_set(
    """
    mr mrs ms dr dra prof проф st vs e.g i.e approx nr fig z.b d.h bzw ca evtl ggf inkl sra srta sta av núm mme mlle
    dott sig hr fr frl fa bd bl abb kap vgl zzgl rev gen col capt lt sgt hon sen gov pres mons ing arq lic att attn cf
    ref resp г ул пр д кв стр см p.ej ex op
    """
)
"""Shortened words that lead up to what they shorten: a sentence does not end with them."""

_TRAILING = word_set("etc inc ltd co corp llc plc jr sr usw str dept est gmbh bros bzgl u.a т.д т.п")
"""Shortened words that stand behind what they belong to, and may end a sentence."""

_NUMBERED = word_set("no art")
"""Shortened words that are also words of their own: what stands in front of a number is none."""

_STREET = "str"


def sentence_ends(text: str) -> Iterator[int]:
    """Where the sentences of a text end.

    Args:
        text: One line or paragraph, white space folded.

    Yields:
        The place behind each mark that ends a sentence, in characters. Time is linear in the text.
    """
    if not _MARK.search(text):
        return
    shields = _shields(text)
    cased = text.lstrip(_OPENERS)[:1].isupper()
    place = start = 0
    for match in _MARK.finditer(text):
        at, end = match.span()
        while place < len(shields) and shields[place][1] < at:
            place += 1
        if place < len(shields) and shields[place][0] < at < shields[place][1]:
            last = shields[place][1]
            if at + 1 != last or not _begins_anew(text, last + 1):
                continue
            end = last + 1
        sure = text[at] in _WIDE_MARKS or text[end : end + 1] in {"#", "=", "~"}  # markup: "that's all.###END###"
        if sure or _ends_sentence(text, start, at, end, cased=cased and at - start < _LONG):
            start = end
            yield end


def _shields(text: str) -> list[tuple[int, int]]:
    """The spans between two quotes or brackets that belong together, in order and none within another."""
    opened: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for match in _SHIELD.finditer(text):
        at, sign = match.start(), match[0]
        if sign in _SAME:
            sign = "'" if sign in "‘’" else sign
            inner_before = at > 0 and (text[at - 1].isalnum() or text[at - 1] in ".,!?…")
            inner_after = text[at + 1 : at + 2].isalnum() or text[at + 1 : at + 2] in {"/", "\\", "~", "$", "-"}
            if sign in opened and not text[at - 1].isspace() and (sign == "`" or not text[at + 1 : at + 2].isalnum()):
                spans.append((opened.pop(sign), at))
            elif (inner_after or sign == "`") and not inner_before:
                opened[sign] = at
            continue
        starts = [opened.pop(other) for other in _ENDS.get(sign, "") if other in opened]
        if starts:
            spans.append((max(starts), at))
        elif sign in _PAIRS:
            opened[sign] = at
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[1] - span[0] <= _LONGEST_SHIELD):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _begins_anew(text: str, at: int) -> bool:
    """Whether a sentence may start behind a quotation that ends with a mark of its own."""
    following = text[at : at + 3].lstrip().lstrip(_OPENERS)
    spaced = text[at : at + 1].isspace()
    return not text[at:].strip() if not following else (spaced and following[0].isupper()) or text[at] in _OPENERS


def _ends_sentence(text: str, start: int, mark: int, end: int, *, cased: bool) -> bool:
    following = _word_at(text, end)
    if text[mark] == ";":
        front, behind = text.count(" ", max(start, mark - 200), mark), text.count(" ", mark, mark + 200)
        return mark - start > _LONG or min(front, behind) >= _LEAST_PART
    if plain(following).rstrip(".,") in _TRAILING and following[:1].isupper() and following.endswith("."):
        return False
    if text[mark] == "…" or (text[mark] == "." and text[mark - 1 : mark] == "."):
        return not (cased and following[:1].islower())
    if text[mark] != ".":
        return True
    before = _word_before(text, max(start, mark - 24), mark)
    return not before or not _goes_on(before, text, mark, end, following, cased=cased)


def _word_before(text: str, start: int, mark: int) -> str:
    """The word that ends at a full stop, with the full stops inside it: "e.g", "U.S"."""
    place = mark
    while place > start:
        inner = text[place - 1] == "." and start < place - 1 and place < mark and text[place - 2].isalnum()
        if not inner and not text[place - 1].isalnum():
            break
        place -= 1
    return text[place:mark]


def _goes_on(word: str, text: str, mark: int, end: int, following: str, *, cased: bool) -> bool:
    """Whether a full stop behind a word belongs to the word, or stands inside a path."""
    folded = plain(word)
    closed = end > mark + 1  # a quote or a bracket stands behind it
    if not following or closed:
        return False
    if word.isdigit():
        # "14. Mai", "3. of": an ordinal, unless the sentence ends with a number and a new one starts.
        return len(word) <= 2 and (following[:1].islower() or plain(following).strip(".,") in MONTHS)
    if folded in _LEADING or (len(word) == 1 and word.isalpha()) or _in_path(text, mark, following):
        return True
    parts = folded.split(".")
    letters = folded.replace(".", "")
    if not letters.isalpha() or (len(parts) > 1 and max(map(len, parts)) > 2) or len(letters) > _MOST_LETTERS:
        return folded.endswith(_STREET) and following[0].isdigit()
    plain_word = len(parts) == 1 and is_function_word(folded)
    if following[0].isdigit() or (following[0] in "#№§" and len(following) > 1):
        return not plain_word or folded in _NUMBERED
    if following[0].islower():
        return (cased and not plain_word) or len(parts) > 1 or folded in _TRAILING
    if not following[0].isupper() or is_function_word(following.strip(".,:;!?")):
        return False
    titled = word[0].isupper() and word[1:].islower() and len(word) <= _TITLE_LETTERS
    return len(parts) > 1 or (titled and _VOWELS.isdisjoint(letters))


def _in_path(text: str, mark: int, following: str) -> bool:
    r"""Whether both sides of a full stop are parts of a path with spaces: `C:\Users\B. Kay\plan.docx`."""
    if "\\" not in following:
        return False
    return "\\" in text[text.rfind(" ", max(0, mark - 80), mark) + 1 : mark]


def _word_at(text: str, at: int) -> str:
    """The word that stands behind a place, without the quotes in front of it."""
    start = at
    while start < len(text) and start - at < 4 and (text[start].isspace() or text[start] in _OPENERS):
        start += 1
    end = text.find(" ", start, start + 60)
    return text[start : end if end > 0 else start + 60]
