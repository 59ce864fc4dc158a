"""What the audit left for the report: its two tables, and the results of made-up corpora."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cares.core.canonical import Json, read_json
from cares.core.errors import InputError

FEATURES_TABLE = "metrics/plots/audit_features.csv"
BINS_TABLE = "metrics/plots/audit_distributions.csv"
CORPORA = "metrics/audit_corpus"


@dataclass
class AuditFigures:
    """What the audit left: rows of its two tables, and the results of made-up corpora by name."""

    features: list[dict[str, str]] = field(default_factory=list)
    bins: list[dict[str, str]] = field(default_factory=list)
    corpora: dict[str, Json] = field(default_factory=dict)


def read_audit(root: Path, missing: list[str]) -> AuditFigures:
    """What there is below `root`; a table that is not there is added to `missing`, a corpus need not be."""
    corpora = {path.stem: read_json(path) for path in sorted((root / CORPORA).glob("*.json"))}
    for name, result in corpora.items():
        if not isinstance(result, Mapping) or not {"balanced_accuracy", "ci95", "features", "corpus"} <= set(result):
            raise InputError(f"{CORPORA}/{name}.json", "", "no result of a corpus", "what cares audit --corpus writes")
    return AuditFigures(
        _rows(root, FEATURES_TABLE, ("feature", "importance", "p"), missing),
        _rows(root, BINS_TABLE, ("feature", "label", "low", "high", "events"), missing),
        corpora,
    )


def _rows(root: Path, name: str, columns: Sequence[str], missing: list[str]) -> list[dict[str, str]]:
    path = root / name
    if not path.is_file():
        missing.append(name)
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if not set(columns) <= set(reader.fieldnames or ()):
            raise InputError(name, "line 1", reader.fieldnames, f"the columns {', '.join(columns)}")
        return list(reader)
