"""Exact values in text: ids, amounts, dates, times, paths, URLs, hashes, versions, names of branches and the like.

A text is cut at white space first and every piece is judged on its own, at a bounded length, so that no input can make
the recognition slow. A date or an amount may span up to three pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from langchain_ctxcompress.ledger.words.any_of import any_of
from langchain_ctxcompress.ledger.words.measures import (
    ABBREVIATIONS,
    BRANCH_HEADS,
    BRANCH_WORDS,
    CURRENCY_BEFORE,
    DAYS,
    ERROR_WORDS,
    HOUR_WORDS,
    MONTHS,
    NAMED,
    UNIT_KINDS,
    VERSION_WORDS,
)

_PIECE = re.compile(r"\S+")
_TRIM = "\"'`()[]{}<>,;:!?*“”‘’«»…|"
_MAX_PIECE = 240

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://\S+", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_CURRENCY = r"[$€£¥₹₽₩₺₴฿]|[A-Z]{0,3}\$|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|BRL|CAD|AUD|RUB"
_NUMBER = r"\d{1,3}(?:[,.'\u2019\u00a0]\d{3})+(?:[.,]\d{1,4})?|\d+(?:[.,]\d+)?"
_AMOUNT = re.compile(
    rf"[~+-]?(?:(?:{_CURRENCY})(?:{_NUMBER})(?:k|m|bn|M|K)?|(?:{_NUMBER})(?:k|m|bn|M|K)?(?:{_CURRENCY}))"
)
_PERCENT = re.compile(rf"[~+-]?(?:{_NUMBER})\s?[%％‰]")
_ISO_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:T\d{2}:\d{2}\S{0,12})?")
_SHORT_DATE = re.compile(r"\d{1,2}[/.]\d{1,2}(?:[/.](?:\d{4}|\d{2})|[.])|\d{1,2}/\d{1,2}|\d{1,2}-\d{1,2}-\d{4}")
_TIME = re.compile(r"\d{1,2}[:h]\d{2}(?::\d{2})?(?:[ap]m)?|\d{1,2}(?:[ap]\.?m\.?|h)", re.IGNORECASE)
_VERSION = re.compile(r"v\d+(?:\.\d+)*(?:[-+][\w.]+)?|\d++\.\d++(?:\.\d++)++(?:[-+]?[\w.]+)?", re.IGNORECASE)
_SHORT_VERSION = re.compile(r"\d+\.\d+")
_HASH = re.compile(r"[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?")
_PATH = re.compile(r"(?:~|\.{1,2})?/[^\s:]+|[A-Za-z]:\\\S+|(?:[\w.@+-]+/)+[\w.@+-]*")
_FILE = re.compile(r"[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,5}")
_HOST = re.compile(r"(?:[a-z0-9][a-z0-9-]*\.){1,6}[a-z]{2,12}(?::\d{1,5})?")
_PHONE = re.compile(r"\+?\(?\d{1,4}\)?(?:[-.\u2011]\d{2,5}){2,5}|\+\d{7,15}|\d{3}-\d{4}")
_ID = re.compile(r"#?(?=[\w#/-]*\d)(?=[\w-]*[A-Za-z_#])#?[A-Za-z0-9][\w-]*")
_HASH_NUMBER = re.compile(r"#\d{1,12}")
_FILE_NUMBER = re.compile(r"\d{3,8}/\d{2,4}")  # of a court or an office: number and year
_PLAIN_NUMBER = re.compile(rf"[+-]?(?:{_NUMBER})")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º|ª|°|\.|e|de|:e)?", re.IGNORECASE)
_SHOUT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SIGN = "[〇零一二三四五六七八九十两]"
_UNSPACED_VALUE = re.compile(
    r"[¥￥$€]\d[\d,.]{0,15}|(?=[0-9\d][0-9\d,.]{0,15}+[\s\u2e80-\uffef%])"
    r"(?:\d{2,4}+年\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}+(?:月\d{1,2}[日号]?|[点時时](?:\d{1,2}分|半)?)"
    r"|\d[\d,.]{0,15}+(?:\s?[万千百]?(?:[元円块]|美元|欧元|ドル|ユーロ)|[人个個台枚件名位本席年日天%％]))"
    # In words only where it can be nothing else: 一点 alone is "a little".
    rf"|{_SIGN}{{1,3}}月{_SIGN}{{1,3}}[日号]|{_SIGN}{{1,3}}[点時时](?:半|整|钟|{_SIGN}刻|{_SIGN}{{1,3}}分)"
)
_LAST_NUMBER = re.compile(r"(?:^|\D)\d{1,2}\.\Z")  # at the end of a text no month follows that it could be the day of
_FILE_END = re.compile(r"\.[A-Za-z]{1,5}$")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ASCII_RUN = re.compile(r"[A-Za-z0-9#$€£_./:@+~-]+")

ERROR_MENTION = re.compile(rf"\b{any_of(ERROR_WORDS)}\b", re.IGNORECASE)
"""Whether a text speaks of an error or a status code at all."""


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value in a text.

    Attributes:
        kind: `amount`, `date`, `time`, `email`, `url`, `path`, `branch`, `address`, `version`, `hash`, `id`,
            `error`, `phone`, `percent`, `host`, `number` (four digits or more) or `quantity` (a smaller number with
            what is counted).
        value: The value as written.
        start: Where it starts in the text, in characters.
        end: Where it ends.
    """

    kind: str
    value: str
    start: int
    end: int


def find_values(text: str) -> Iterator[FoundValue]:
    """The exact values in a text, in order.

    Args:
        text: Any text.

    Yields:
        Each value with its kind and place. Time is linear in the length of the text.
    """
    pieces = _pieces(text)
    words = [piece for piece, _ in pieces]
    skip = 0
    for index, (piece, start) in enumerate(pieces):
        if skip:
            skip -= 1
            continue
        if piece.isascii() and piece.isalpha() and piece.lower() not in NAMED:
            continue
        following = words[index + 1 : index + 5]
        before = words[index - 1].lower() if index else ""
        kind, taken = _judge(piece, before, following)
        if kind:
            last, last_start = pieces[index + taken]
            end = last_start + len(last)
            yield FoundValue(kind, text[start:end].rstrip("."), start, end)
            skip = taken


def _pieces(text: str) -> list[tuple[str, int]]:
    pieces: list[tuple[str, int]] = []
    for match in _PIECE.finditer(text):
        raw = match[0]
        if not (raw.isascii() and raw.isalpha()):
            last = match.end() == len(text)
            pieces += _parts(raw[:-1] if last and _LAST_NUMBER.search(raw) else raw, match.start())
        elif len(raw) <= _MAX_PIECE:
            pieces.append((raw, match.start()))
    return pieces


def _parts(raw: str, start: int) -> Iterator[tuple[str, int]]:
    """The pieces in one that is no plain word."""
    if not raw.isascii() and _UNSPACED.search(raw[:_MAX_PIECE]):
        yield from _unspaced_pieces(raw, start)
    else:
        for offset, part in _split_long(raw):
            core = part.lstrip(_TRIM)
            lead = len(part) - len(core)
            core = core.rstrip(_TRIM)
            if core.endswith(".") and not _ORDINAL.fullmatch(core):
                core = core.rstrip("." + _TRIM)
            if core.endswith(("'s", "’s")):
                core = core[:-2]
            if core and len(core) <= _MAX_PIECE:
                yield core, start + offset + lead


def _split_long(raw: str) -> Iterator[tuple[int, str]]:
    """A piece such as `key=value` or `{"id":"x","n":2}` holds several: cut at the marks between them."""
    if "://" in raw or not _INNER_MARK.search(raw):
        yield 0, raw
        return
    offset = 0
    for part in _INNER_MARK.split(raw):
        if part:
            yield offset, part
        offset += len(part) + 1


_INNER_MARK = re.compile(r"[=\"'`|(){}\[\]<>;]|,(?=\D)|:(?=[^\d/\\])")


def _unspaced_pieces(raw: str, start: int) -> Iterator[tuple[str, int]]:
    covered = 0
    for match in _UNSPACED_VALUE.finditer(raw):
        for inner in _ASCII_RUN.finditer(raw, covered, match.start()):
            if piece := inner[0].strip("."):
                yield piece, start + inner.start()
        yield match[0], start + match.start()
        covered = match.end()
    for inner in _ASCII_RUN.finditer(raw, covered):
        if piece := inner[0].strip("."):
            yield piece, start + inner.start()


def _judge(piece: str, before: str, following: list[str]) -> tuple[str, int]:
    """The kind of a piece and how many of the following ones belong to it."""
    if not (piece[0].isdigit() or piece.isascii() or _UNSPACED.search(piece) or piece[0] in "€£¥₹₽"):
        return _month_first(piece, following)
    if piece.isdigit() or any(char.isdigit() for char in piece) or piece[0] in _SIGN[1:-1]:
        spanning = _judge_spanning(piece, before, following)
        if spanning[0]:
            return spanning
        return (_judge_digits if piece.isascii() and piece.isdigit() else _judge_single)(piece, before), 0
    if piece.isalpha():
        return _month_first(piece, following)
    return _judge_without_digits(piece, before), 0


def _month_first(piece: str, following: list[str]) -> tuple[str, int]:
    word = piece.lower().rstrip(".")
    if word in DAYS:
        return "date", 0
    if word in MONTHS and piece[0].isupper() and following:
        day = _ORDINAL.fullmatch(following[0])
        if day and 1 <= int(day[1]) <= 31:
            year = len(following) > 1 and following[1].isdigit() and len(following[1]) == 4
            return "date", 2 if year else 1
        if following[0].isdigit() and len(following[0]) == 4:
            return "date", 1
    return "", 0


def _judge_spanning(piece: str, before: str, following: list[str]) -> tuple[str, int]:
    after = following[0].lower() if following else ""
    number = piece.isdigit() or _PLAIN_NUMBER.fullmatch(piece)
    kind, taken = "", 0
    if length := _day_and_month(piece, following):
        kind, taken = "date", length
    elif piece.isdigit() and _is_address(following):
        kind, taken = "address", 2
    elif after in HOUR_WORDS and (number or _TIME.fullmatch(piece)):
        kind, taken = "time", 1
    elif number and after in UNIT_KINDS:
        kind, taken = UNIT_KINDS[after], 1
    elif number and before in CURRENCY_BEFORE:
        kind = "amount"
    elif (length := _spaced_phone(piece, following)) > 0:
        kind, taken = "phone", length
    elif piece.startswith("+") and piece[1:].isdigit() and following and following[0].replace("-", "").isdigit():
        more = takewhile(lambda part: part.replace("-", "").isdigit(), following)
        kind, taken = "phone", len(list(more))
    return kind, taken


def _day_and_month(piece: str, following: list[str]) -> int:
    """How many pieces behind a day belong to its date: `14 May`, `14th of May 2025`; 0 if it is none."""
    if len(piece) > 4 or not following:  # two digits, and two signs behind them
        return 0
    month_at = 1 if following[0].lower() in {"of", "de", "di", "von"} and len(following) > 1 else 0
    if following[month_at].lower().rstrip(".") not in MONTHS:
        return 0
    ordinal = _ORDINAL.fullmatch(piece)
    if not ordinal or not 1 <= int(ordinal[1]) <= 31:
        return 0
    year = following[month_at + 1] if len(following) > month_at + 1 else ""
    return month_at + (2 if year.isdigit() and len(year) == 4 else 1)


def _spaced_phone(piece: str, following: list[str]) -> int:
    """How many groups of digits behind a first one make a phone number with it: `0954 22351`; 0 if it is none.

    A number of thousands ("12 000 000") has three digits in each group.
    """
    if not following or not following[0].replace("-", "").isdigit() or len(following[0]) < 2:
        return 0
    first = piece.strip("()")
    groups = list(takewhile(lambda part: part.replace("-", "").isdigit() and len(part) >= 2, following))
    digits = sum(map(len, (first, *groups)))
    if not groups or not first.isdigit() or not 7 <= digits <= 15:
        return 0
    thousands = first[0] != "0" and len(first) <= 3 and all(len(part) == 3 for part in groups)
    return 0 if thousands else len(groups)


def _is_address(following: list[str]) -> bool:
    """A number with two capitalised words behind it: `12 Oak Street`."""
    names = following[:2]
    if len(names) < 2 or not names[0].isalpha():
        return False
    return all(name[0].isupper() and name[1:].islower() and name.isalpha() for name in names)


_DIGIT_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("url", _URL),
    ("email", _EMAIL),
    ("amount", _AMOUNT),
    ("percent", _PERCENT),
    ("date", _ISO_DATE),
    ("time", _TIME),
    ("phone", _PHONE),
    ("host", _IP),
    ("version", _VERSION),
    ("date", _SHORT_DATE),
)


def _judge_digits(piece: str, before: str) -> str:
    """As `_judge_single`, whose expressions are none of them for digits alone: tables hold many of those."""
    return "error" if before in ERROR_WORDS else "number" if len(piece) >= 4 else "quantity"


def _judge_single(piece: str, before: str) -> str:
    if not piece.isascii() and _UNSPACED_VALUE.fullmatch(piece):
        if piece[-1] in "日号月" and "月" in piece:
            return "date"
        return (
            "time" if any(mark in piece for mark in "点時时") else "amount" if piece[-1] in "元円块ルロ" else "quantity"
        )
    for kind, pattern in _DIGIT_KINDS:
        if pattern.fullmatch(piece):
            return kind
    if before in ERROR_WORDS and piece.isalnum():
        return "error"
    if _SHORT_VERSION.fullmatch(piece) and before in VERSION_WORDS:
        return "version"
    if _HASH.fullmatch(piece) and not piece.isdigit() and any(char.isalpha() for char in piece):
        return "hash"
    if _HASH_NUMBER.fullmatch(piece) or _FILE_NUMBER.fullmatch(piece):
        return "id"
    if _PLAIN_NUMBER.fullmatch(piece):
        return "number" if sum(char.isdigit() for char in piece) >= 4 else "quantity"
    if "/" in piece or "\\" in piece:
        return _path_or_branch(piece, before)
    if _ID.fullmatch(piece) and len(piece) >= 3 and not _is_measure(piece):
        return "id"
    if _FILE.fullmatch(piece):
        return "path"
    return ""


def _is_measure(piece: str) -> bool:
    """`8GB`, `15-inch`, `90min`: a size, which its sentence carries better than a list of values."""
    digits = len(piece) - len(piece.lstrip("0123456789"))
    return bool(digits) and piece[digits:].lstrip("-").isalpha() and len(piece) - digits <= 9


def _judge_without_digits(piece: str, before: str) -> str:
    for kind, pattern in (("url", _URL), ("email", _EMAIL)):
        if pattern.fullmatch(piece):
            return kind
    if "/" in piece or "\\" in piece:
        return _path_or_branch(piece, before)
    if before in BRANCH_WORDS and ("-" in piece or "_" in piece):
        return "branch"
    initials = max(map(len, piece.split("."))) == 1  # "P.S", "J.R.R"
    if "." in piece and not initials and piece.lower() not in ABBREVIATIONS and _FILE.fullmatch(piece):
        return "host" if _HOST.fullmatch(piece) and piece.count(".") > 1 else "path"
    return "id" if _SHOUT.fullmatch(piece) else ""


def _path_or_branch(piece: str, before: str) -> str:
    if not _PATH.fullmatch(piece):
        return ""
    head, _, tail = piece.partition("/")
    if before in BRANCH_WORDS or (head in BRANCH_HEADS and tail and not _FILE_END.search(tail)):
        return "branch"
    rooted = piece[0] in "/~." or (len(piece) > 2 and piece[1] == ":")
    if rooted and len(piece) > 2:
        return "path"
    last = piece.rstrip("/").rsplit("/", 1)[-1]
    return "path" if piece.count("/") >= 2 or "." in last or piece.endswith("/") else ""
