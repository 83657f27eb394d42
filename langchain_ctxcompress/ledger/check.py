"""A summary checked against what is known: what it left out, what it made up, what it states that no longer holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from langchain_ctxcompress.ledger.lexicon import content_stems
from langchain_ctxcompress.ledger.masking import CHANGED, mask_superseded
from langchain_ctxcompress.ledger.records import Ledger, LedgerRecord, Superseded
from langchain_ctxcompress.ledger.render import escape
from langchain_ctxcompress.ledger.values import FoundValue, find_values
from langchain_ctxcompress.ledger.voice import split_sentences
from langchain_ctxcompress.ledger.words.any_of import any_of
from langchain_ctxcompress.ledger.words.measures import MONTHS

UNVERIFIED = "[unverified]"
"""Stands where a summary had a value that is in no source."""

_NUMBER = re.compile(r"\d[\d.,'\u2019\u00a0]*\d|\d")
_TRAILING_ZEROS = re.compile(r"(?<=\d)[.,]0{1,2}$")
_SEPARATED = re.compile(r"[.,'\u2019\u00a0](?=\d{3}(?:\D|$))")
_CLOCK = re.compile(r"(?<!\d)(\d{1,2})(?:[:h.](\d{2})(?!\d))?\s?([ap]\.?m\b|uhr\b|o'clock|h\b)?", re.IGNORECASE)
_MONTH = any_of(MONTHS)
_DATE = re.compile(
    rf"(?=[\d{''.join(sorted({name[0] for name in MONTHS}))}])(?:"
    rf"(?=\d)(?:(?<!\d)(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}"
    rf"|\d{{1,2}}[^\s\d]{{0,2}}\s(?:of |de )?{_MONTH}\b)|\d{{1,2}}月\d{{1,2}})"
    rf"|\b{_MONTH}\.?\s\d{{1,2}}(?!\d))"
)
_LETTERS = re.compile(r"[^\W\d_]+|\n")
_BETWEEN_DIGITS = re.compile(r"[^\d ]+|(?<=\d) (?=\d)")
_NUMERIC_KINDS = frozenset({"amount", "percent", "quantity", "number"})
_SCALE = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
_SMALL = 12
"""A count up to this may be the summary's own ("three of the files")."""


def missing_from(summary_text: str, ledger: Ledger) -> Ledger:
    """What of a ledger a text does not say verbatim.

    Args:
        summary_text: A summary.
        ledger: What must not be lost.

    Returns:
        A ledger with the missing records only; white space and case are no difference.
    """
    said = _folded(summary_text)

    def missing(record: LedgerRecord) -> bool:
        return (
            _folded(record.text) not in said and _folded(escape(mask_superseded(record, ledger.superseded))) not in said
        )

    kept = {kind: tuple(record for record in getattr(ledger, kind) if missing(record)) for kind in Ledger.KINDS}
    return ledger.model_copy(update=kept)


def _folded(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").split()).casefold()


@lru_cache(maxsize=2048)
def _once_folded(text: str) -> str:
    """As `_folded`, for a sentence that is looked for in text after text."""
    return _folded(text)


class _Known:
    """The values of the sources in forms that can be compared, each read off them when first asked for."""

    def __init__(self, source_texts: Iterable[str]) -> None:
        self._text = "\n".join(source_texts).casefold()

    def says(self, value: str) -> bool:
        """Whether the sources have a value literally, not as a part of a longer one."""
        folded, text = value.casefold(), self._text
        before, after = re.compile(_edge(folded[0])), re.compile(_edge(folded[-1]))
        place = text.find(folded)
        while place >= 0:  # one expression for all of it takes ten times as long
            end = place + len(folded)
            if not before.match(text[place - 1 : place] if place else "") and not after.match(text[end : end + 1]):
                return True
            place = text.find(folded, place + 1)
        return False

    @cached_property
    def numbers(self) -> set[str]:
        """All numbers, without separators."""
        found = _NUMBER.finditer(self._text)
        return {form for match in found for form in _number_forms(match[0], self._text[match.end() : match.end() + 2])}

    @cached_property
    def dates(self) -> set[tuple[int, int]]:
        """All dates, as month and day."""
        return {date for match in _DATE.finditer(self._text) for date in _month_and_day(match[0])}

    @cached_property
    def times(self) -> set[int]:
        """All times of day, in minutes."""
        return {minutes for match in _CLOCK.finditer(self._text) for minutes in _minutes(match)}

    @cached_property
    def digits(self) -> str:
        """The digits of the sources, those of different words apart."""
        return _BETWEEN_DIGITS.sub("", _LETTERS.sub(" ", self._text))


def _edge(char: str) -> str:
    if char.isascii():  # a run of letters and digits ends where a script without spaces goes on
        return r"[0-9]" if char.isdigit() else r"[A-Za-z0-9_]" if char.isalnum() else r"(?!)"
    return r"\d" if char.isdigit() else r"\w" if char.isalnum() else r"(?!)"


def invented_values(summary_text: str, source_texts: Iterable[str]) -> list[str]:
    """The ids, numbers, dates, paths and other exact values of a summary that are in none of its sources.

    The same number written otherwise (`$4,200`, `4200 dollars`, `4.2k`), the same date (`14 May`, `2025-05-14`) and
    the same time (`5 pm`, `17:00`) are no invention, nor are counts up to twelve.

    Args:
        summary_text: A summary.
        source_texts: All that the summary was made of: messages, tool arguments, earlier summaries, the ledger.

    Returns:
        The invented values as written, in order, each once.
    """
    candidates = list(find_values(summary_text))
    if not candidates:
        return []
    known = _Known(source_texts)
    return list(dict.fromkeys(value.value for value in candidates if not _is_known(value, known)))


def _is_known(value: FoundValue, known: _Known) -> bool:
    if known.says(value.value):
        return True
    if value.kind in _NUMERIC_KINDS:
        return _is_known_number(value, known)
    if value.kind == "date":
        return bool(_month_and_day(value.value) & known.dates) or not any(char.isdigit() for char in value.value)
    if value.kind == "time":
        clock = _CLOCK.match(value.value)
        return clock is not None and bool(_minutes(clock) & known.times)
    return value.kind == "phone" and "".join(char for char in value.value if char.isdigit()) in known.digits


def _is_known_number(value: FoundValue, known: _Known) -> bool:
    number = _NUMBER.search(value.value)
    if number is None:
        return True
    forms = _number_forms(number[0], value.value[number.end() : number.end() + 2])
    small = value.kind == "quantity" and number[0].isdigit() and int(number[0]) <= _SMALL
    return small or bool(forms & known.numbers)


def _number_forms(written: str, after: str) -> set[str]:
    """A number without separators and without empty decimals; with its scale if a `k` or `m` follows."""
    plain = _TRAILING_ZEROS.sub("", _SEPARATED.sub("", written))
    forms = {plain, plain.replace(",", ".")}
    scale = _SCALE.get(after[:2].lower()) or _SCALE.get(after[:1].lower()) if not after[1:2].isalpha() else None
    if scale and len(plain) <= 12 and re.fullmatch(r"\d+(?:[.,]\d+)?", plain):
        forms.add(f"{float(plain.replace(',', '.')) * scale:.10g}")
    return forms


def _month_and_day(written: str) -> set[tuple[int, int]]:
    numbers = [int(part) for part in re.findall(r"\d{1,4}", written)]
    month = next((MONTHS[word] for word in re.findall(r"[^\W\d_]+", written.lower()) if word in MONTHS), None)
    if month is not None:
        return {(month, number) for number in numbers if number <= 31} or {(month, 0)}
    if len(numbers) >= 3 and numbers[0] > 31:
        return {(numbers[1], numbers[2])}
    if len(numbers) >= 2:
        return {(numbers[0], numbers[1]), (numbers[1], numbers[0])}
    return set()


def _minutes(clock: re.Match[str]) -> set[int]:
    hour, minute = int(clock[1]), int(clock[2] or 0)
    half = (clock[3] or "").lower()[:1]
    if half in ("a", "p"):
        return {(hour % 12 + (12 if half == "p" else 0)) * 60 + minute}
    return {hour * 60 + minute} if clock[2] or clock[3] else set()


def remove_invented(summary_text: str, invented: Sequence[str]) -> str:
    """A summary without what was invented.

    A sentence whose only values were invented goes; in one that says true values too, the invented ones are
    replaced by `[unverified]`.

    Args:
        summary_text: A summary.
        invented: What `invented_values` found in it.

    Returns:
        The rest. If nothing would be left, the values are replaced instead.
    """
    bad = set(invented)
    if not bad:
        return summary_text
    lines: list[str] = []
    for line in summary_text.split("\n"):
        if not any(value in line for value in bad):
            lines.append(line)
            continue
        kept = [masked for sentence in split_sentences(line) if (masked := _without(sentence, bad))]
        if kept:
            lines.append(line[: len(line) - len(line.lstrip())] + " ".join(kept))
    cleaned = "\n".join(lines)
    if any(char.isalnum() for char in cleaned):
        return cleaned
    for value in sorted(bad, key=len, reverse=True):
        summary_text = summary_text.replace(value, UNVERIFIED)
    return summary_text


def _without(sentence: str, bad: set[str]) -> str:
    found = list(find_values(sentence))
    if not any(value.value in bad for value in found):
        return sentence
    if all(value.value in bad for value in found):
        return ""
    for value in reversed(found):
        if value.value in bad:
            sentence = sentence[: value.start] + UNVERIFIED + sentence[value.end :]
    return sentence


def stale_in(text: str, ledger: Ledger) -> list[Superseded]:
    """What a text states although it no longer holds.

    Args:
        text: A summary or an excerpt.
        ledger: What holds, and what was superseded.

    Returns:
        The superseded sentences it repeats, and the superseded values that stand in a sentence with a word of their
        subject.
    """
    folded = _folded(text)
    current = {value.text for value in ledger.values}
    stale = [
        gone for gone in ledger.superseded if gone.whole and len(gone.text) > 8 and _once_folded(gone.text) in folded
    ]
    values = [gone for gone in ledger.superseded if not gone.whole and gone.text in text and gone.text not in current]
    if values:
        said: set[int] = set()
        for line in text.split("\n"):
            for part in split_sentences(line):
                said.update(map(id, _stated(part, values)))
        stale += [gone for gone in values if id(gone) in said]
    return stale


def _stated(part: str, superseded: Sequence[Superseded]) -> list[Superseded]:
    """The superseded values that stand in a sentence with a word of their subject."""
    there = [gone for gone in superseded if gone.text in part]
    if not there:
        return []  # most sentences: their words need not be told apart
    stems = content_stems(part)
    return [gone for gone in there if not stems.isdisjoint(gone.key)]


def mask_stale(text: str, ledger: Ledger) -> str:
    """A text with `[changed]` where it states a value that no longer holds, and without sentences that were withdrawn.

    Args:
        text: A summary or an excerpt.
        ledger: What holds, and what was superseded.

    Returns:
        The text; the same one if nothing in it is stale.
    """
    stale = stale_in(text, ledger)
    if not stale:
        return text
    lines: list[str] = []
    withdrawn = [_once_folded(gone.text) for gone in stale if gone.whole]
    values = [gone for gone in stale if not gone.whole]
    for line in text.split("\n"):
        parts = list(split_sentences(line))
        kept: list[str] = []
        for part in parts:
            folded = _folded(part) if withdrawn else ""
            if any(gone in folded for gone in withdrawn):
                continue
            masked = part
            for gone in _stated(part, values):
                masked = masked.replace(gone.text, CHANGED)
            kept.append(masked)
        if kept != parts:
            line = line[: len(line) - len(line.lstrip())] + " ".join(kept)  # noqa: PLW2901
        if kept or not parts:
            lines.append(line)
    return "\n".join(lines)
