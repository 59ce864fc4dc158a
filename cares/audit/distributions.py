"""Every measurement's distribution by label, as counts in common bins: small enough to keep and to draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cares.audit.features import FEATURES, Example
from cares.core.canonical import Json
from cares.records.scene import REACTIONS

BINS = 20
_ENDS = (0.01, 0.99)


def distributions(examples: Sequence[Example]) -> Json:
    """For each measurement that varies: bin edges and, for each label, the count of each bin.

    The bins are equal and span the middle 98 % of all events; what lies beyond is counted in the first or last bin.
    """
    found = {}
    for column, name in enumerate(FEATURES):
        values = np.array([example.measured[column] for example in examples], np.float64)
        known = ~np.isnan(values)
        if not known.any():
            continue
        low, high = (float(end) for end in np.quantile(values[known], _ENDS))
        if low == high:
            low, high = float(values[known].min()), float(values[known].max())
        if low == high:
            continue
        edges = np.linspace(low, high, BINS + 1)
        counts = {}
        for label in REACTIONS:
            here = values[known & np.array([example.reaction == label for example in examples])]
            if len(here):
                counts[label] = [int(n) for n in np.histogram(np.clip(here, low, high), edges)[0]]
        found[name] = {"edges": [round(float(edge), 4) for edge in edges], "counts": counts}
    return found
