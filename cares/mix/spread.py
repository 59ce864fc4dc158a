"""How numbers are spread, as the few quantiles that a plot draws: as small for 10,000 scenes as for twelve."""

from __future__ import annotations

from collections.abc import Sequence

QUANTILES = {"lowest": 0, "p5": 5, "p25": 25, "median": 50, "p75": 75, "p95": 95, "highest": 100}
COLUMNS = ("measure", "kind", "count", *QUANTILES)


def spread_row(measure: str, kind: str, values: Sequence[float]) -> dict[str, object]:
    """A row of a plot with the template `spread`: count and quantiles, linear between ranks, rounded to four decimals.

    Args:
        measure: what the values are, with their unit; each has a panel of its own.
        kind: whose values they are: a line of the panel.
        values: at least one.
    """
    ordered = sorted(values)
    row: dict[str, object] = {"measure": measure, "kind": kind, "count": len(ordered)}
    for name, percent in QUANTILES.items():
        below, part = divmod(percent * (len(ordered) - 1), 100)
        above = min(below + 1, len(ordered) - 1)
        row[name] = round(ordered[below] + (ordered[above] - ordered[below]) * part / 100, 4)
    return row
