"""Recounts of whole allocations from the files that were written."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from allocation_recount import LABELS, SPLITS, check_files, check_quotas, check_scenes, check_sounds

from cares.allocation.allocate import allocate, write_allocation
from cares.allocation.params import AllocationParams
from cares.catalog.load import load_catalog


def params(scenes: int, per_template: int = 1, **changes: Any) -> AllocationParams:
    shares = {"train": 0.8, "validation": 0.1, "test": 0.1}
    values = {"min_turns": 8, "max_turns": 13, "rare_share": 0.05, "splits": shares, **changes}
    return AllocationParams.parse({"scenes": scenes, "scenes_per_template": per_template, **values}, "params.yaml")


SIZES = [(1, 1, 10), (4, 1, 10), (12, 1, 10), (100, 1, 4), (333, 10, 2), (1000, 10, 1)]


@pytest.mark.parametrize(("scenes", "per_template", "seeds"), SIZES)
def test_quotas_hold(tmp_path: Path, scenes: int, per_template: int, seeds: int) -> None:
    for seed in range(seeds):
        allocation = allocate(params(scenes, per_template), seed, load_catalog())
        write_allocation(tmp_path, allocation)
        written = check_files(tmp_path, scenes, per_template)
        check_quotas(written)
        check_scenes(written, 8, 13)
        check_sounds(written)
        assert allocation.metrics["quota_difference_max"] <= 1
        assert allocation.metrics["sound_label_imbalance"] == 0


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """10,000 scenes of the paper's size, read back."""
    folder = tmp_path_factory.mktemp("allocation")
    write_allocation(folder, allocate(params(10_000, 10), 1, load_catalog()))
    return check_files(folder, 10_000, 10)


def test_quotas_hold_at_paper_size(big: list[dict[str, Any]]) -> None:
    check_quotas(big)
    check_scenes(big, 8, 13)
    check_sounds(big)
    assert Counter(s["split"] for s in big) == {"train": 8000, "validation": 1000, "test": 1000}
    events = Counter(e["reaction"] for s in big for e in s["events"])
    assert abs(events["pivot"] - 10_000 / 3) <= 10
    assert all(abs(events[label] - 20_000 / 3) <= 10 for label in LABELS[1:])


def test_rare_sounds_are_pivots_in_their_share_of_scenes_everywhere(big: list[dict[str, Any]]) -> None:
    catalog = load_catalog()
    rare = [s for s in big if any(catalog.sounds[e["sound"]].group == "rare" for e in s["events"])]
    assert len(rare) == 500
    assert Counter(s["split"] for s in rare) == {"train": 400, "validation": 50, "test": 50}
    at = Counter(s["location"] for s in rare)
    assert max(at.values()) - min(at[location] for location in catalog.locations) <= 1


def test_labels_of_a_sound_are_even_within_splits_too(big: list[dict[str, Any]]) -> None:
    for split in SPLITS:
        by_sound: dict[str, Counter[str]] = {}
        for event in (e for s in big if s["split"] == split for e in s["events"]):
            by_sound.setdefault(event["sound"], Counter())[event["reaction"]] += 1
        for counts in by_sound.values():
            plain = [counts[label] for label in LABELS[1:]]
            assert max(plain) - min(plain) <= 2


def test_labels_are_even_at_every_location(big: list[dict[str, Any]]) -> None:
    for label in LABELS:
        counts = Counter(s["location"] for s in big for e in s["events"] if e["reaction"] == label)
        assert max(counts.values()) - min(counts.values()) <= 2


def test_place_in_the_scene_does_not_tell_the_label(big: list[dict[str, Any]]) -> None:
    for n_events in (1, 2, 3):
        scenes = [s for s in big if len(s["events"]) == n_events]
        for rank in range(n_events):
            events = [s["events"][rank] for s in scenes]
            everyone = np.array([e["slot"] for e in events])
            for label in LABELS:
                slots = [e["slot"] for e in events if e["reaction"] == label]
                error = everyone.std() / np.sqrt(len(slots))
                assert abs(np.mean(slots) - everyone.mean()) < 4 * error, (n_events, rank, label)


def test_order_in_the_scene_does_not_tell_the_label(big: list[dict[str, Any]]) -> None:
    scenes = [s for s in big if len(s["events"]) == 3]
    for label in LABELS:
        ranks = Counter(rank for s in scenes for rank, e in enumerate(s["events"]) if e["reaction"] == label)
        n = ranks.total()
        assert all(abs(ranks[rank] - n / 3) < 4 * np.sqrt(n * 2 / 9) for rank in range(3)), (label, ranks)


PAIRS = [("relation", "location"), ("relation", "genders"), ("location", "genders"), ("location", "composition")]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_factors_are_not_aliased(big: list[dict[str, Any]], one: str, other: str) -> None:
    cells = Counter((json.dumps(s[one]), json.dumps(s[other], sort_keys=True)) for s in big)
    rows = Counter(json.dumps(s[one]) for s in big)
    columns = Counter(json.dumps(s[other], sort_keys=True) for s in big)
    expected = {(r, c): rows[r] * columns[c] / len(big) for r in rows for c in columns}
    chi_square = sum((cells[cell] - e) ** 2 / e for cell, e in expected.items())
    freedom = (len(rows) - 1) * (len(columns) - 1)
    assert chi_square < freedom + 5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize(("scenes", "same"), [(12, True), (1000, True), (1000, False)])
def test_draws_only_what_the_bank_delivers_and_stays_even(tmp_path: Path, scenes: int, same: bool) -> None:
    draw = random.Random(5)
    names = list(load_catalog().sounds)
    first = [name for name in names if draw.random() < 0.6]
    pools = {split: first if same else [name for name in names if draw.random() < 0.6] for split in SPLITS}
    allocation = allocate(params(scenes), 3, load_catalog(), pools)  # type: ignore[arg-type]
    write_allocation(tmp_path, allocation)
    written = check_files(tmp_path, scenes, 1)
    check_quotas(written)
    check_scenes(written, 8, 13)
    check_sounds(written, pools)
    assert all(e["sound"] in pools[s["split"]] for s in written for e in s["events"])
    assert allocation.metrics["sounds_drawn_from"] == len(set().union(*pools.values()))


def test_one_split_only(tmp_path: Path) -> None:
    shares = {"train": 0, "validation": 0, "test": 1.0}
    write_allocation(
        tmp_path, allocate(params(50, splits=shares), 0, load_catalog(), {"test": list(load_catalog().sounds)})
    )
    written = check_files(tmp_path, 50, 1)
    check_quotas(written)
    check_sounds(written)
    assert {s["split"] for s in written} == {"test"}


@pytest.mark.parametrize(
    ("scenes", "seed", "train", "validation", "rare_share"), [(34, 45, 0.38, 0.35, 0.3), (1473, 1085, 0.88, 0.01, 0.3)]
)
def test_uneven_shares_and_many_rare_pivots(
    tmp_path: Path, scenes: int, seed: int, train: float, validation: float, rare_share: float
) -> None:
    shares = {"train": train, "validation": validation, "test": round(1 - train - validation, 2)}
    write_allocation(tmp_path, allocate(params(scenes, splits=shares, rare_share=rare_share), seed, load_catalog()))
    written = check_files(tmp_path, scenes, 1)
    check_quotas(written)
    check_scenes(written, 8, 13)
    check_sounds(written)
