"""B1: which turn lies in which band."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress import (
    CompressionBand,
    CompressionLevel,
    ConfigError,
    ConversationTurn,
    CtxCompressError,
    TurnBandMapping,
    map_turns_to_bands,
)

HEAVY, LIGHT = "heavy-compress", "compress"


def turns(number: int) -> list[ConversationTurn]:
    return [
        ConversationTurn((HumanMessage(f"q{i}"), AIMessage(f"a{i}")), i, indices=(2 * i, 2 * i + 1))
        for i in range(number)
    ]


def levels(number: int, *bands: tuple[float, float, str]) -> list[str | None]:
    mapping = map_turns_to_bands(turns(number), [CompressionBand(*band) for band in bands])
    assert [entry.turn_index for entry in mapping] == list(range(number))
    return [entry.band.level if entry.band else None for entry in mapping]


@st.composite
def bands_without_overlap(draw: st.DrawFn) -> list[CompressionBand]:
    number = st.integers(0, 100) | st.floats(0, 100, allow_nan=False)
    edges = sorted(draw(st.lists(number, max_size=10, unique=True)))
    pairs = [pair for pair in pairwise(edges) if draw(st.booleans())]
    bands = [CompressionBand(start, end, draw(st.sampled_from((HEAVY, LIGHT)))) for start, end in pairs]
    return draw(st.permutations(bands))


class TestMapping:
    def test_no_turns(self) -> None:
        assert map_turns_to_bands([], [CompressionBand(0, 100, LIGHT)]) == []

    def test_no_bands(self) -> None:
        assert map_turns_to_bands(turns(3), []) == [TurnBandMapping(i, None) for i in range(3)]

    def test_one_turn_is_at_0_percent(self) -> None:
        assert levels(1, (0, 1, LIGHT)) == [LIGHT]
        assert levels(1, (1, 100, LIGHT)) == [None]

    def test_ten_turns_in_two_bands(self) -> None:
        mapped = levels(10, (0, 30, HEAVY), (50, 80, LIGHT))
        assert mapped == [HEAVY] * 3 + [None] * 2 + [LIGHT] * 3 + [None] * 2

    def test_a_band_that_ends_between_two_turns(self) -> None:
        assert levels(10, (0, 45, LIGHT)) == [LIGHT] * 5 + [None] * 5

    def test_a_turn_at_the_end_of_a_band_is_in_the_next(self) -> None:
        assert levels(4, (0, 50, HEAVY), (50, 100, LIGHT)) == [HEAVY, HEAVY, LIGHT, LIGHT]

    @pytest.mark.parametrize("total", [3, 7, 29, 57, 100, 300])
    def test_positions_are_exact(self, total: int) -> None:
        """29 / 100 * 100 is 28.999999999999996 in floating point; the turn is at 29 %."""
        for percent in range(1, 100):
            inside = [level is not None for level in levels(total, (0, percent, LIGHT))]
            assert inside == [100 * index < percent * total for index in range(total)]

    @given(st.integers(0, 60), bands_without_overlap())
    def test_each_turn_is_in_the_band_around_its_position(self, total: int, bands: list[CompressionBand]) -> None:
        mapping = map_turns_to_bands(turns(total), bands)
        assert [entry.turn_index for entry in mapping] == list(range(total))
        for entry in mapping:
            position = Fraction(100 * entry.turn_index, total)
            around = [band for band in bands if Fraction(band.start) <= position < Fraction(band.end)]
            assert [entry.band] == (around or [None])

    @given(st.integers(0, 30), bands_without_overlap(), st.randoms(use_true_random=False))
    def test_the_order_of_the_bands_does_not_matter(self, total: int, bands: list[CompressionBand], rng: Any) -> None:
        shuffled = rng.sample(bands, k=len(bands))
        assert map_turns_to_bands(turns(total), shuffled) == map_turns_to_bands(turns(total), bands)


class TestBand:
    def test_what_it_holds(self) -> None:
        band = CompressionBand(0, 30, HEAVY)
        assert (band.start, band.end, band.level) == (0, 30, "heavy-compress")
        assert band.level is CompressionLevel.HEAVY
        assert band == CompressionBand(start=0, end=30, level=CompressionLevel.HEAVY)

    def test_it_cannot_be_changed(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            CompressionBand(0, 30, HEAVY).start = 5  # type: ignore[misc]

    @pytest.mark.parametrize(
        ("band", "says"),
        [
            ((-1, 30, HEAVY), ["start", "-1", "0 to 100"]),
            ((0, 100.5, HEAVY), ["end", "100.5", "0 to 100"]),
            ((float("nan"), 30, HEAVY), ["start", "nan", "0 to 100"]),
            ((0, float("inf"), HEAVY), ["end", "inf", "0 to 100"]),
            (("0", 30, HEAVY), ["start", "'0'", "number"]),
            ((True, 30, HEAVY), ["start", "True", "number"]),
            ((30, 30, HEAVY), ["30-30", "start must be below end"]),
            ((50, 20, HEAVY), ["50-20", "start must be below end"]),
            ((0, 30, "light"), ["level", "'light'", "'compress'", "'heavy-compress'"]),
            ((0, 30, None), ["level", "None", "'compress'"]),
        ],
    )
    def test_what_it_cannot_be_is_named_with_what_is_allowed(self, band: tuple[Any, ...], says: list[str]) -> None:
        with pytest.raises(ConfigError) as caught:
            CompressionBand(*band)
        assert isinstance(caught.value, CtxCompressError)
        assert [part for part in says if part not in str(caught.value)] == []

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
    def test_bands_that_overlap_are_both_named(self, order: tuple[int, ...]) -> None:
        bands = [CompressionBand(0, 30, HEAVY), CompressionBand(29.5, 60, LIGHT), CompressionBand(60, 80, LIGHT)]
        with pytest.raises(ConfigError, match=r"0-30 heavy-compress and 29\.5-60 compress overlap"):
            map_turns_to_bands(turns(3), [bands[place] for place in order])

    def test_the_same_band_twice_overlaps(self) -> None:
        with pytest.raises(ConfigError, match="overlap"):
            map_turns_to_bands([], [CompressionBand(0, 30, HEAVY)] * 2)

    def test_what_is_no_band_is_named(self) -> None:
        with pytest.raises(ConfigError, match=r"CompressionBand\(start, end, level\)"):
            map_turns_to_bands(turns(3), [(0, 30, HEAVY)])  # type: ignore[list-item]
