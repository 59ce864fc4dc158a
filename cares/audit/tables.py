"""The audit's tables: what each measurement tells, and how it is distributed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from cares.audit.run import feature_rows
from cares.core.atomic import write_bytes
from cares.core.canonical import Json
from cares.records.scene import REACTIONS

FEATURE_COLUMNS = (
    "group",
    "feature",
    "importance",
    "p",
    "gives_away",
    *(f"auc_{label}" for label in REACTIONS),
    *(f"median_{label}" for label in REACTIONS),
)
BIN_COLUMNS = ("feature", "label", "low", "high", "events")


def write_features(path: Path, result: Json) -> None:
    """A row a measurement, as `feature_rows` gives them; atomically."""
    rows = [
        [
            row["group"],
            row["name"],
            row["importance"],
            row["p"],
            row["gives_away"],
            *(row["auc"].get(label) for label in REACTIONS),
            *(row["median"].get(label) for label in REACTIONS),
        ]
        for row in feature_rows(result)
    ]
    _write(path, FEATURE_COLUMNS, rows)


def write_distributions(path: Path, found: Json) -> None:
    """A row a bin of every measurement and label, as `distributions` gives them; atomically."""
    rows = [
        [name, label, low, high, count]
        for name, table in found.items()
        for label, counts in table["counts"].items()
        for low, high, count in zip(table["edges"], table["edges"][1:], counts, strict=False)
    ]
    _write(path, BIN_COLUMNS, rows)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_bytes(path, stream.getvalue().encode("utf-8"))
