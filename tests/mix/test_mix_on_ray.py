"""Stages timeline and mix on Ray: the same bytes as in one process, with 1, 2 and 4 workers and with one killed."""

from __future__ import annotations

import runpy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from mix_world import MIX, SEED, TIMELINE, make_world

from cares.core.record import write_records
from tests.ray_world import one_is_killed, one_ray

REPO = Path(__file__).parents[2]
OUTS = ("data/timelines.jsonl", "data/scenes", "metrics")


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    with one_ray():
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = make_world(tmp_path_factory.mktemp("on ray"))
    root = world.root
    write_records(root / "data/allocation/scenes.jsonl", [item.scene for item in world.inputs])
    write_records(root / "data/dialogues/accepted.jsonl", [item.dialogue for item in world.inputs])
    write_records(root / "data/speech/speech.jsonl", [item.speech for item in world.inputs])
    write_records(root / "data/alignment.jsonl", [item.alignment for item in world.inputs if not item.speech.failure])
    write_records(root / "data/sounds/bank.jsonl", world.bank.takes)
    write_records(root / "data/rooms/rooms.jsonl", world.bank.rooms)
    sections = {"seed": SEED, "timeline": TIMELINE.to_json(), "mix": MIX.to_json()}
    (root / "params.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    (root / "dvc.yaml").touch()
    return root


def built(project: Path, monkeypatch: pytest.MonkeyPatch, executor: str, workers: int) -> dict[str, bytes]:
    """Every file that both stages write, built from nothing."""
    for name, value in {
        "CARES_EXECUTOR": executor,
        "CARES_WORKERS": str(workers),
        "CARES_DEVICE": "cpu",
        "CARES_STORE": str(project / ".store"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    shutil.rmtree(".store", ignore_errors=True)
    for out in OUTS:
        if Path(out).is_dir():
            shutil.rmtree(out)
        Path(out).unlink(missing_ok=True)
    for stage in ("timeline", "mix"):
        monkeypatch.setattr(sys, "argv", [f"stages/{stage}.py"])
        runpy.run_path(str(REPO / "stages" / f"{stage}.py"), run_name="__main__")
    files = [file for out in OUTS for file in ([Path(out)] if Path(out).is_file() else sorted(Path(out).rglob("*")))]
    return {str(file): file.read_bytes() for file in files if file.is_file()}


@pytest.fixture(scope="module")
def expected(project: Path) -> dict[str, bytes]:
    with pytest.MonkeyPatch.context() as settings:
        return built(project, settings, "processes", 1)


@pytest.mark.parametrize("workers", [4, 2, 1])
def test_workers_of_ray_write_the_same_bytes(
    ray: None, project: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    assert len([name for name in expected if name.endswith(".wav")]) == 3
    assert built(project, monkeypatch, "ray", workers) == expected


def test_a_killed_worker_changes_no_byte(
    ray: None,
    project: Path,
    expected: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with one_is_killed() as killed:
        assert built(project, monkeypatch, "ray", 2) == expected
    assert killed
    assert "a worker died at item" in capsys.readouterr().err
