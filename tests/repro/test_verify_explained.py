"""How a difference between two files is told, and DVC's hashes computed without DVC."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile

from cares.repro.verify.bytes_explained import explain, first_field
from cares.repro.verify.draw import belongs, restricted
from cares.repro.verify.hashes import combined, listing


def pair(tmp_path, name, left, right):
    for folder, data in (("left", left), ("right", right)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_bytes(data)
    return explain(name, tmp_path / "left" / name, tmp_path / "right" / name)


def test_a_flipped_byte_is_found_wherever_it_is(tmp_path):
    data = np.random.default_rng(1).integers(0, 255, 3_000_000, np.uint8)
    other = data.copy()
    other[2_100_000] ^= 4
    other[2_100_007] ^= 4
    told = pair(tmp_path, "x.bin", data.tobytes(), other.tobytes())
    assert (told["byte"], told["bytes_differing"], told["sizes"]) == (2_100_000, 2, [3_000_000, 3_000_000])
    told = pair(tmp_path, "x.bin", data.tobytes(), data[:-5].tobytes())
    assert (told["byte"], told["bytes_differing"]) == (2_999_995, 5)


@pytest.mark.parametrize("suffix", ["wav", "flac"])
def test_of_sound_the_first_sample_and_their_number_are_told(tmp_path, suffix):
    samples = np.arange(5000, dtype=np.int16)
    other = samples.copy()
    other[[4411, 4500]] += 3
    files = [tmp_path / f"{side}.{suffix}" for side in ("wanted", "found")]
    soundfile.write(files[0], samples, 44100)
    soundfile.write(files[1], other, 44100)
    told = explain(f"a.{suffix}", *files)
    assert (told["first_sample"], told["last_sample"], told["samples_differing"], told["largest"]) == (4411, 4500, 2, 3)
    assert told["values"] == [4411, 4414]
    soundfile.write(files[1], samples[:4000], 44100)
    assert explain(f"a.{suffix}", *files)["n_samples"] == [5000, 4000]
    files[1].write_bytes(b"not a sound")
    assert "byte 0" in explain(f"a.{suffix}", *files)["text"]


def test_of_records_the_first_by_its_id_with_the_field_and_the_ones_that_are_missing(tmp_path):
    left = [{"scene_id": f"t{n}", "words": [{"word": "so", "start": n}]} for n in range(4)]
    right = json.loads(json.dumps(left[:3]))
    right[2]["words"][0]["start"] = 7
    lines = ["".join(json.dumps(record) + "\n" for record in records).encode() for records in (left, right)]
    told = pair(tmp_path, "a.jsonl", *lines)
    assert (told["record"], told["field"], told["wanted"], told["found"]) == ("t2", "words[0].start", 2, 7)
    assert told["records_missing"] == ["t3"] and told["records_extra"] == []


def test_of_a_text_the_character_is_told_and_of_an_array_the_element(tmp_path):
    long = "x" * 579
    told = pair(
        tmp_path,
        "a.json",
        json.dumps({"a": {"text": long + "same"}}).encode(),
        json.dumps({"a": {"text": long + "other"}}).encode(),
    )
    assert (told["field"], told["character"]) == ("a.text", 579) and told["found"].endswith("other")
    files = [tmp_path / f"{n}.npy" for n in range(2)]
    for n, file in enumerate(files):
        np.save(file, np.arange(10, dtype=np.int32) + n * (np.arange(10) == 6))
    told = explain("responses.npy", *files)
    assert (told["element"], told["elements_differing"], told["values"]) == (6, 1, [6, 7])
    assert "line 2: 'c,e' for 'c,d'" in pair(tmp_path, "a.csv", b"a,b\nc,d\n", b"a,b\nc,e\n")["text"]


def test_json_values_of_another_kind_are_different(tmp_path):
    assert first_field({"a": 1}, {"a": 1.0}) == ("a", 1, 1.0)
    assert first_field({"a": [1, 2]}, {"a": [1]}) == ("a.length", 2, 1)
    assert first_field({"a": None}, {}) == ("a", None, "(absent)")
    assert first_field({"a": [{"b": 2}]}, {"a": [{"b": 2}]}) is None


def test_a_folder_has_the_hash_that_dvc_gives_it(tmp_path):
    from dvc_data.hashfile.build import build
    from dvc_data.hashfile.db import HashFileDB
    from dvc_objects.fs import LocalFileSystem

    folder = tmp_path / "data"
    for name in ("b/c.txt", "b.txt", "ä/ü.bin", "a-b.txt", "b/C.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    files = LocalFileSystem()
    _, _, found = build(HashFileDB(files, str(tmp_path / "odb")), str(folder), files, "md5")
    assert combined(listing(folder)) == found.hash_info.value
    (folder / "b/__pycache__").mkdir()
    (folder / "b/__pycache__/x.pyc").write_bytes(b"x")
    assert combined(listing(folder, ("__pycache__",))) == found.hash_info.value


def test_a_scene_s_share_of_a_file(tmp_path):
    assert belongs("t00001-0.wav", {"t00001-0"}) and belongs("t00001-0-2.wav", {"t00001-0"})
    assert not belongs("t00001-01.wav", {"t00001-0"}) and not belongs("scenes.jsonl", {"t00001-0"})
    sums = tmp_path / "SHA256SUMS"
    sums.write_text("00  scenes.jsonl\n11  t00001-0.wav\n22  t00002-0.wav\n")
    assert restricted("SHA256SUMS", sums, {"t00002-0"}) == b"22  t00002-0.wav\n"
    assert restricted("mix.json", sums, {"t00002-0"}) is None
