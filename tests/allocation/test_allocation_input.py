"""Bad params and banks, the stage script, and what the result may not depend on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cares.allocation.allocate import allocate, write_allocation
from cares.allocation.bank import available_sounds
from cares.allocation.params import AllocationParams
from cares.allocation.standalone import allocate_with
from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.records.bank import Take
from cares.records.scene import SPLITS

ROOT = Path(__file__).resolve().parents[2]
GOOD: dict[str, Any] = {
    "scenes": 12,
    "scenes_per_template": 1,
    "splits": {"train": 0.8, "validation": 0.1, "test": 0.1},
    "min_turns": 6,
    "max_turns": 10,
    "rare_share": 0.05,
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scenes": 0}, "allocation.scenes"),
        ({"scenes": -5}, "allocation.scenes"),
        ({"scenes": 100_001}, "allocation.scenes"),
        ({"scenes": 1.5}, "allocation.scenes"),
        ({"scenes": "12"}, "allocation.scenes"),
        ({"scenes_per_template": 0}, "allocation.scenes_per_template"),
        ({"rare_share": -0.1}, "allocation.rare_share"),
        ({"rare_share": 1.5}, "allocation.rare_share"),
        ({"rare_share": float("nan")}, "allocation.rare_share"),
        ({"splits": {"train": 0.8, "validation": 0.1, "test": 0.2}}, "allocation.splits"),
        ({"splits": {"train": 1.2, "validation": -0.1, "test": -0.1}}, "allocation.splits.train"),
        ({"splits": {"train": 0.9, "test": 0.1}}, "allocation.splits.validation"),
        ({"splits": {"train": 0.8, "dev": 0.1, "validation": 0, "test": 0.1}}, "allocation.splits.dev"),
        ({"min_turns": 5}, "allocation.min_turns"),
        ({"max_turns": 9}, "allocation.max_turns"),
        ({"max_turns": 41}, "allocation.max_turns"),
        ({"min_turns": 12, "max_turns": 11}, "allocation.max_turns"),
        ({"scnes": 12}, "allocation.scnes"),
    ],
)
def test_params_out_of_range_are_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        AllocationParams.parse({**GOOD, **change}, "params.yaml", "allocation")
    assert caught.value.field == field


def parsed(**change: Any) -> AllocationParams:
    return AllocationParams.parse({**GOOD, **change}, "params.yaml")


def test_a_bank_without_enough_sounds_for_a_location_is_an_error() -> None:
    names = set(load_catalog().sounds)
    beach = {s.id for s in load_catalog().sounds_at("beach") if s.group != "rare"}
    few = names - set(sorted(beach)[3:])
    with pytest.raises(InputError, match=r"sound bank: train\.\w+: .*at least 4") as caught:
        allocate(parsed(), 1, load_catalog(), dict.fromkeys(SPLITS, few))
    assert caught.value.field.startswith("train.")
    with pytest.raises(InputError, match="sound bank: test"):
        allocate(parsed(), 1, load_catalog(), {"train": names, "validation": names})


def test_sounds_that_cannot_be_told_apart_do_not_fill_a_scene() -> None:
    catalog = load_catalog()
    alike = {"laugh", "chuckle", "giggle"}
    assert alike - {"laugh"} <= catalog.confusable("laugh")
    at_beach = {s.id for s in catalog.sounds_at("beach")}
    bank = set(catalog.sounds) - at_beach | alike | {"beach_ball_hit"}
    with pytest.raises(InputError, match=r"beach.*told apart"):
        allocate(parsed(), 1, catalog, dict.fromkeys(SPLITS, bank))


def test_a_sound_that_the_catalog_lacks_is_an_error() -> None:
    names = [*load_catalog().sounds, "dog_brak"]
    with pytest.raises(InputError, match="dog_brak"):
        allocate(parsed(), 1, load_catalog(), dict.fromkeys(SPLITS, names))


def test_result_depends_on_seed_and_not_on_order() -> None:
    catalog = load_catalog()
    names = list(catalog.sounds)
    one = allocate(parsed(), 1, catalog, dict.fromkeys(SPLITS, names))
    backwards = {split: frozenset(names) for split in reversed(SPLITS)}
    assert allocate(parsed(), 1, catalog, backwards) == one
    assert allocate(parsed(), 1, catalog) == one
    assert allocate(parsed(), 2, catalog).scenes != one.scenes


def take(name: str, split: str, kind: str = "event") -> dict[str, Any]:
    return {
        "take_id": f"{name}-{split}", "kind": kind, "name": name, "split": split, "path": f"takes/{name}-{split}.flac",
        "n_samples": 44_100, "pcm_sha256": "0" * 64, "source": "procedural", "licence": "CC0-1.0", "author": "CARES",
        "url": "", "edits": [],
    }  # fmt: skip


def test_available_sounds_are_those_with_a_take_in_the_split() -> None:
    rows = [take("cough", "train"), take("cough", "test"), take("beach", "test", "ambience")]
    takes = [Take.parse(row, "bank.jsonl") for row in rows]
    assert available_sounds(takes) == {"train": {"cough"}, "validation": set(), "test": {"cough"}}


def run_stage(folder: Path, section: dict[str, Any], hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    text = yaml.safe_dump({"seed": 1, "allocation": section})
    (folder / "params.yaml").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "stages" / "allocate.py")]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_stage_draws_from_the_bank_alike_in_every_process(tmp_path: Path) -> None:
    names = [name for i, name in enumerate(load_catalog().sounds) if i % 3]
    outs = []
    for hash_seed in ("1", "2"):
        folder = tmp_path / f"clone {hash_seed} é"
        bank = folder / "data" / "sounds" / "bank.jsonl"
        bank.parent.mkdir(parents=True)
        bank.write_text("".join(json.dumps(take(n, split)) + "\n" for n in names for split in SPLITS), encoding="utf-8")
        done = run_stage(folder, GOOD, hash_seed)
        assert done.returncode == 0, done.stderr
        assert f"drawn from {len(names)} of 219 sounds, the sounds that the bank can deliver" in done.stdout
        files = sorted(p for p in folder.rglob("*") if p.is_file() and p.parent.name in ("allocation", "metrics"))
        outs.append({p.relative_to(folder): p.read_bytes() for p in files})
    assert outs[0] == outs[1]
    assert [p.as_posix() for p in outs[0]] == [
        "data/allocation/scenes.jsonl",
        "data/allocation/splits.json",
        "data/allocation/templates.jsonl",
        "metrics/allocation.json",
    ]


def test_stage_names_a_typo_and_writes_nothing(tmp_path: Path) -> None:
    done = run_stage(tmp_path, {**GOOD, "rare_shar": 0.1})
    assert done.returncode == 1
    assert "params.yaml: allocation.rare_shar" in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["params.yaml"]


@pytest.mark.parametrize(
    ("scenes", "per_template", "seed", "field"),
    [(0, 10, 1, "scenes"), (-3, 10, 1, "scenes"), (12, 0, 1, "scenes_per_template"), (12, 10, -1, "seed")],
)
def test_command_names_the_number_that_is_wrong(scenes: int, per_template: int, seed: int, field: str) -> None:
    with pytest.raises(InputError, match="command line") as caught:
        allocate_with(scenes, per_template, seed, None)
    assert caught.value.field == field


def test_command_draws_from_a_bank(tmp_path: Path) -> None:
    bank = tmp_path / "bank.jsonl"
    names = [name for i, name in enumerate(load_catalog().sounds) if i % 2]
    bank.write_text("".join(json.dumps(take(n, split)) + "\n" for n in names for split in SPLITS), encoding="utf-8")
    allocation = allocate_with(20, 10, 1, bank)
    assert {e.sound for s in allocation.scenes for e in s.events} <= set(names)
    with pytest.raises(InputError, match="no such file"):
        allocate_with(20, 10, 1, tmp_path / "missing.jsonl")


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_allocation(tmp_path, allocate(parsed(), 1, load_catalog()))
    before = (tmp_path / "scenes.jsonl").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_allocation(tmp_path, allocate(parsed(), 2, load_catalog()))
    assert (tmp_path / "scenes.jsonl").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3
