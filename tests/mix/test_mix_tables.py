"""Integer tables: right, and rounded the same way everywhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.mix.tables import FADE_BITS, GAIN_BITS, duck_table, fade_table, gain_multiplier, round_shift


@given(st.integers(-12_000, 6_000))
def test_gain_is_the_nearest_integer(gain_cdb: int) -> None:
    # compared in whole numbers: (m -+ 1/2) ** 2000 encloses 10 ** cdb * 2 ** (24 * 2000), without any root or float
    multiplier = gain_multiplier(gain_cdb)
    target = Fraction(10) ** gain_cdb * Fraction(2) ** (GAIN_BITS * 2000)
    assert Fraction(2 * multiplier - 1, 2) ** 2000 < target < Fraction(2 * multiplier + 1, 2) ** 2000


def test_gain_out_of_range_is_an_error() -> None:
    with pytest.raises(ValueError, match="outside"):
        gain_multiplier(6_001)


@given(st.lists(st.integers(-(2**60), 2**60), min_size=1), st.integers(0, 40))
def test_rounding_is_half_to_even(values: list[int], bits: int) -> None:
    found = round_shift(np.array(values, np.int64), bits)
    assert found.tolist() == [round(Fraction(value, 2**bits)) for value in values]


@pytest.mark.parametrize("length", [1, 2, 7, 220, 44_100])
def test_crossfade_has_equal_power(length: int) -> None:
    rise = fade_table(length).astype(float) / 2**FADE_BITS
    assert np.allclose(rise**2 + rise[::-1] ** 2, 1, atol=2e-4)
    assert (np.diff(rise) >= 0).all()
    assert np.allclose(rise, np.sin(np.pi / 2 * (np.arange(length) + 0.5) / length), atol=2**-FADE_BITS)


def test_duck_goes_down_and_returns() -> None:
    table = duck_table(1000, 400, 100)
    assert (table[100:900] == gain_multiplier(-400)).all()
    assert (table == table[::-1]).all()
    assert (np.diff(table[:101]) < 0).all()
    assert table.max() < 1 << GAIN_BITS


def test_duck_shorter_than_its_ramps() -> None:
    assert len(duck_table(3, 400, 100)) == 3
    assert len(duck_table(0, 400, 100)) == 0
