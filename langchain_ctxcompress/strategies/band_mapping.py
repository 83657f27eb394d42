"""Bands of a conversation: which part of it is shortened, how much, and which turns lie in it (requirement B1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from numbers import Real

from langchain_ctxcompress.arguments import check_kind
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.messages import ConversationTurn
from langchain_ctxcompress.summarize import CompressionLevel


@dataclass(frozen=True, slots=True, init=False)
class CompressionBand:
    """A part of the conversation, in percent of its turns from the oldest on.

    Args:
        start: Where it begins, in percent; a turn at this position is in it.
        end: Where it ends, in percent; a turn at this position is not in it.
        level: How much messages in it are shortened: `compress` or `heavy-compress`.

    Raises:
        ConfigError: It leaves 0 to 100, is empty or turned round, or the level is unknown.
    """

    start: float
    end: float
    level: CompressionLevel

    def __init__(self, start: float, end: float, level: CompressionLevel | str) -> None:
        for name, value in (("start", start), ("end", end)):
            if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 100:
                msg = f"{name} of a band is {value!r}: it must be a number from 0 to 100, in percent"
                raise ConfigError(msg)
        if start >= end:
            msg = f"band {start:g}-{end:g}: start must be below end"
            raise ConfigError(msg)
        try:
            known = CompressionLevel(level)
        except ValueError:
            allowed = ", ".join(repr(str(one)) for one in CompressionLevel)
            msg = f"level of band {start:g}-{end:g} is {level!r}: it must be one of {allowed}"
            raise ConfigError(msg) from None
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)
        object.__setattr__(self, "level", known)

    def __str__(self) -> str:
        return f"{self.start:g}-{self.end:g} {self.level}"


DEFAULT_BANDS = (CompressionBand(0, 30, CompressionLevel.HEAVY), CompressionBand(30, 70, CompressionLevel.COMPRESS))
"""The oldest third is seldom needed word for word, the middle now and then, the newest 30 % all the time: follow-up
questions nearly always refer to it. What stands in the middle grows older, and is shortened once more then."""


@dataclass(frozen=True, slots=True)
class TurnBandMapping:
    """In which band a turn lies.

    Attributes:
        turn_index: The place of the turn among those that were mapped.
        band: The band, or `None` where it lies in none.
    """

    turn_index: int
    band: CompressionBand | None


def check_bands(bands: Sequence[CompressionBand]) -> tuple[CompressionBand, ...]:
    """The bands in order.

    Raises:
        ConfigError: One of them is no band, or two overlap.
    """
    check_kind("bands", bands, Sequence, "a list of CompressionBand(start, end, level)")
    for band in bands:
        if not isinstance(band, CompressionBand):
            msg = f"bands holds {band!r}: it must hold CompressionBand(start, end, level)"
            raise ConfigError(msg)
    ordered = tuple(sorted(bands, key=lambda band: band.start))
    for one, other in pairwise(ordered):
        if other.start < one.end:
            msg = f"bands {one} and {other} overlap: a band may begin where another ends, not before"
            raise ConfigError(msg)
    return ordered


def map_turns_to_bands(turns: Sequence[ConversationTurn], bands: Sequence[CompressionBand]) -> list[TurnBandMapping]:
    """Say for each turn in which band it lies (B1).

    Turn `i` stands at `i / total * 100` percent, and is in a band if `start <= position < end`. A turn is never split.

    Args:
        turns: The turns, oldest first.
        bands: The bands, in any order.

    Returns:
        One mapping for each turn, in order.

    Raises:
        ConfigError: Two bands overlap, or an argument is of the wrong kind.
    """
    check_kind("turns", turns, Sequence, "a list of turns, as split_turns gives")
    total = len(turns)
    found: list[CompressionBand | None] = [None] * total
    for band in check_bands(bands):
        # In fractions: as floating-point numbers, turn 29 of 100 would stand at 28.999999999999996 %.
        first, end = (ceil(Fraction(percent) * total / 100) for percent in (band.start, band.end))
        found[first:end] = [band] * (end - first)
    return [TurnBandMapping(turn_index, band) for turn_index, band in enumerate(found)]
