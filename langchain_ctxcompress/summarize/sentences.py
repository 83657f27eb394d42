"""Splitting a text into segments: sentences, and clauses of sentences that are too long to keep whole.

A segment is one line of at most `SEGMENT_CHARS` characters and knows where it stood, so that neighbours can be put
together again without a mark of omission between them. It also knows whether it is quoted: what stands in a fence, in
a quotation or in a pasted document is not the speaker's own voice, whatever it says.

All scanning is linear in the length of the text: every pattern here is a character class with at most one bounded
look around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SEGMENT_CHARS = 200
"""The most characters in a segment; a longer sentence is cut at a clause or a space. About 50 English tokens."""

_MIN_CLAUSE_CHARS = 60
"""A clause is cut off only after this many characters, so that a list of short names stays in one piece."""

_UNSPOKEN = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")
"""Control characters and lone surrogates: nothing they could say is lost, and tokenisers and stores choke on them."""

_SENTENCE_END = re.compile(r"[.!?][\"'”’»)\]*_]*(?=\s)|[。！？｡।؟۔]+[”」』）]*|(?<=[^\s.])…(?=\s)")
_CLAUSE_END = re.compile(r"[,;:)](?=\s)|(?=\s[—–-]\s)|[，、；：،؛]")
_OPENING_QUOTE = re.compile(r"[\"“„«「『]")
_CLOSING_QUOTE = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"}
_QUOTING_TAG = re.compile(
    r"<(?=/?[abcdefloqpst])(/?)(files?|doc(?:uments?)?|a(?:ttachment|rticle)|logs?|co(?:de|ntext)|output|quote|blockquote"
    r"|e(?:mail|xcerpt)|pa(?:ge|sted?)|transcript|source)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text that is kept or left out whole.

    Attributes:
        text: The piece, on one line, each run of white space in it shown as one space.
        start: Where it begins in the text, in characters.
        end: Where it ends.
        quoted: Whether it is shown rather than said: fenced, quoted, or in a pasted document.
        opens: Whether it begins a sentence.
        closes: Whether it ends one.
    """

    text: str
    start: int
    end: int
    quoted: bool = False
    opens: bool = True
    closes: bool = True


def clean_text(text: str) -> str:
    """The text with a space in place of every control character and lone surrogate; its length stays the same."""
    return _UNSPOKEN.sub(" ", text)


def one_line(text: str) -> str:
    """The text on one line: each run of white space is one space, none at the ends."""
    return " ".join(text.split())


def split_segments(text: str) -> list[Segment]:
    """Split a text into segments, in order. Every character that is not white space is in exactly one of them.

    Args:
        text: Any text that went through `clean_text`.
    """
    segments: list[Segment] = []
    for start, end, quoted in _lines(text):
        spans = iter(()) if quoted else _quotations(text, start, end)
        span = next(spans, None)
        for first, last in _sentences(text, start, end):
            while span is not None and span[1] < last - 1:
                span = next(spans, None)
            inside = quoted or (span is not None and span[0] <= first < span[1] and last <= span[1] + 1)
            segments.extend(_pieces(text, first, last, quoted=inside))
    return segments


def _quotations(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where one line quotes something. A quotation mark that is never closed on its line is no quotation."""
    never_closed: set[str] = set()
    place = start
    while match := _OPENING_QUOTE.search(text, place, end):
        mark = match[0]
        close = -1 if mark in never_closed else text.find(_CLOSING_QUOTE[mark], match.end(), end)
        if close < 0:
            never_closed.add(mark)
            place = match.end()
        else:
            yield match.start(), close + 1
            place = close + 1


def _tagged(text: str) -> list[tuple[int, int]]:
    """What stands between a quoting tag and the same tag closed; a tag that is never closed quotes nothing."""
    spans: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for tag in _QUOTING_TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.start())
        elif name in opened:
            spans.append((opened.pop(name), tag.end()))
    return sorted(spans)


def _lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """The lines that are not blank: start, end, quoted."""
    tagged = _tagged(text)
    fence = ""
    place = 0
    for line in text.splitlines(keepends=True):
        start, place = place, place + len(line)
        bare = line.strip()
        if not bare:
            continue
        while tagged and tagged[0][1] <= start:
            tagged.pop(0)
        within = bool(tagged) and tagged[0][0] < place
        marker = bare[:3]
        if marker in _FENCES and (not fence or (marker == fence and not bare.strip(fence[0]))):
            fence = "" if fence else marker
            if fence and bare.endswith(marker) and len(bare) > 2 * len(marker):
                fence = ""  # opened and closed on one line
            yield start, place, True
        else:
            yield start, place, bool(fence) or within or bare.startswith(">")


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of one line, without white space at their ends."""
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if _ends_sentence(text, begin, match.start(), match.end(), end):
            yield from _stripped(text, begin, match.end())
            begin = match.end()
    yield from _stripped(text, begin, end)


def _ends_sentence(text: str, begin: int, mark: int, after: int, end: int) -> bool:
    """Whether a mark ends a sentence: a full stop after one or two letters, or before a small one, only abbreviates."""
    if text[mark] != ".":
        return True
    follow = text[after : min(end, after + 3)].lstrip()
    if follow[:1].islower():
        return False
    word = text[max(begin, mark - 3) : mark]
    letters = len(word) - len(word.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    # "z. B.", "Mr.", "e.g.", and the number of a list item
    return letters >= 3 or (letters == 0 and not text[begin:mark].strip().isdigit())


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _pieces(text: str, start: int, end: int, *, quoted: bool) -> Iterator[Segment]:
    """The sentence itself, or its parts where it is longer than a segment may be."""
    first = start
    while end - first > SEGMENT_CHARS:
        cut = _cut(text, first, first + SEGMENT_CHARS)
        for begin, stop in _stripped(text, first, cut):
            yield Segment(one_line(text[begin:stop]), begin, stop, quoted, opens=begin == start, closes=False)
        first = cut
    for begin, stop in _stripped(text, first, end):
        yield Segment(one_line(text[begin:stop]), begin, stop, quoted, opens=begin == start)


def _cut(text: str, first: int, limit: int) -> int:
    """Where to cut a sentence that is too long: after its last clause in reach, else at a space, else at the limit."""
    cut = 0
    for match in _CLAUSE_END.finditer(text, first + _MIN_CLAUSE_CHARS, limit):
        cut = match.end()
    if cut:
        return cut
    space = max(text.rfind(" ", first + _MIN_CLAUSE_CHARS, limit), text.rfind("\t", first + _MIN_CLAUSE_CHARS, limit))
    return space + 1 if space > 0 else limit
