"""Quantiles of a plot's row, against numpy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cares.mix.spread import COLUMNS, QUANTILES, spread_row


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=60))
def test_quantiles_are_linear_between_ranks(values: list[float]) -> None:
    row = spread_row("gap, s", "turn", values)
    assert tuple(row) == COLUMNS and row["count"] == len(values)
    expected = np.quantile(values, [percent / 100 for percent in QUANTILES.values()])
    assert np.allclose([row[name] for name in QUANTILES], expected, atol=1e-4)


def test_order_of_the_values_does_not_matter() -> None:
    assert spread_row("m", "k", [3.0, 1.0, 2.0]) == spread_row("m", "k", [1.0, 2.0, 3.0])
