"""A folder of recordings: what a manifest may say, what is wrong with it, and which split each recording goes to."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE, read_samples
from cares.core.store import ItemStore
from cares.records.bank import Take
from cares.records.scene import SPLITS
from cares.sounds.bank import build_bank, plan_takes
from cares.sounds.folder import open_folder
from cares.sounds.params import SoundsParams
from cares.sounds.splits import Member, assign_splits
from recordings import CC0, manifest, ring, wav, write

PARAMS = SoundsParams.parse(
    {
        "source": "folder",
        "takes": {"train": 2, "validation": 1, "test": 1},
        "ambience_takes": {"train": 1, "validation": 1, "test": 1},
    },
    "params.yaml",
)


def barks(folder: Path, count: int = 4) -> list[dict[str, str]]:
    """That many recordings of a dog, and their rows."""
    rows = []
    for number in range(count):
        write(folder, f"dog {number}.wav", wav(ring(300 + 50 * number, 0.9)))
        rows.append({"sound": "dog_bark", "path": f"dog {number}.wav", **CC0})
    return rows


def build(folder: Path, params: SoundsParams = PARAMS, seed: int = 1) -> list[Take]:
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    store = ItemStore("sounds", folder.parent / "store")
    return build_bank(open_folder(folder, load_catalog(), seed), load_catalog(), params, out, store, 1)


def test_a_folder_becomes_a_bank(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    rows = barks(folder)
    rows[0] |= {
        "author": "Ünal Åström",
        "url": "https://example.org/1",
        "licence": "CC-BY-4.0",
        "edits": "denoised; cut",
    }
    for number in range(3):
        noise = np.random.default_rng(number).normal(size=6 * SAMPLE_RATE) * 0.05
        write(folder, f"sea/{number}.flac", wav(noise, container="FLAC"))
        rows.append({"location": "beach", "path": f"sea/{number}.flac", **CC0})
    manifest(folder, rows)
    takes = build(folder)
    assert [(take.take_id, take.split) for take in takes] == [
        ("amb-beach-00", "train"), ("amb-beach-01", "validation"), ("amb-beach-02", "test"),
        ("dog_bark-00", "train"), ("dog_bark-01", "train"), ("dog_bark-02", "validation"), ("dog_bark-03", "test"),
    ]  # fmt: skip
    assert all(np.abs(read_samples(tmp_path / "out/takes" / Path(take.path).name)).max() == 23197 for take in takes)
    (attributed,) = (take for take in takes if take.licence == "CC-BY-4.0")
    assert (attributed.author, attributed.source) == ("Ünal Åström", "folder")
    assert attributed.edits[:2] == ("denoised", "cut")
    with (tmp_path / "out/ATTRIBUTION.csv").open(encoding="utf-8", newline="") as stream:
        listed = {row["take_id"]: row for row in csv.DictReader(stream)}
    assert listed[attributed.take_id]["url"] == "https://example.org/1"
    assert str(tmp_path) not in (tmp_path / "out/bank.jsonl").read_text(encoding="utf-8")


def test_parts_of_a_file_are_takes_of_one_split(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    rows = barks(folder, 4)
    long = np.concatenate([ring(700, 1.0), np.zeros(1000), ring(900, 1.0)])
    write(folder, "long.wav", wav(long))
    rows += [
        {"sound": "dog_bark", "path": "long.wav", "start_s": "0", "end_s": "0.8", **CC0},
        {"sound": "dog_bark", "path": "long.wav", "start_s": "1.05", "end_s": "1.9", **CC0},
    ]
    manifest(folder, rows)
    many = PARAMS.model_copy(update={"takes": PARAMS.takes.model_copy(update={"train": 9, "validation": 9, "test": 9})})
    takes = build(folder, many)
    parts = [take for take in takes if any(edit.startswith("cut: ") for edit in take.edits)]
    assert len(takes) == 6
    assert [take.n_samples for take in parts] in ([35280, 37485], [37485, 35280])
    assert len({take.split for take in parts}) == 1
    assert {edit for take in parts for edit in take.edits} >= {"cut: 0 s to 0.8 s", "cut: 1.05 s to 1.9 s"}


def test_files_of_one_recording_stay_together_across_sounds(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    rows = barks(folder, 6)
    for number, row in enumerate(rows):
        row["recording"] = f"walk {number // 2}"
    for number in range(3):
        write(folder, f"horn{number}.wav", wav(ring(500 + number, 0.5)))
        shared = {"recording": f"walk {number}"}
        rows.append({"sound": "car_horn", "path": f"horn{number}.wav", **CC0, **shared})
    manifest(folder, rows)
    jobs = plan_takes(open_folder(folder, load_catalog(), 5), load_catalog(), PARAMS)
    split_of: dict[str, set[str]] = {}
    for job in jobs:
        line = int(job.origin.split("line ")[1].split(":")[0])
        split_of.setdefault(rows[line - 2]["recording"], set()).add(job.wanted.split)
    assert sorted(map(len, split_of.values())) == [1, 1, 1]
    assert set().union(*split_of.values()) == set(SPLITS)


def test_a_named_split_is_kept_and_must_not_part_a_recording(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    rows = barks(folder)
    for row, split in zip(rows, ("test", "validation", "train", "train"), strict=True):
        row["split"] = split
    manifest(folder, rows)
    takes = build(folder)
    order = {take.edits: take.split for take in takes}
    assert [take.split for take in takes] == ["train", "train", "validation", "test"]
    assert len(order) >= 1
    rows.append({**rows[0], "sound": "car_horn", "split": "train"})
    manifest(folder, rows)
    with pytest.raises(InputError, match=r"manifest\.csv: line 6: split: got 'train', expected test, as line 2 has"):
        open_folder(folder, load_catalog(), 1)


def test_fewer_recordings_than_asked_for_are_enough_but_every_split_needs_one(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    manifest(folder, barks(folder, 3))
    assert [take.split for take in build(folder)] == ["train", "validation", "test"]
    manifest(folder, barks(folder, 2))
    assert build(folder) == []


@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-8-sig", "\n")])
def test_line_ends_marks_spaces_and_letters_of_any_kind(tmp_path: Path, encoding: str, end: str) -> None:
    folder = tmp_path / "in"
    write(folder, "Ordner mit Leerzeichen/Hündchen (犬), 1.wav", wav(ring(440)))
    row = {"sound": "dog_bark", "path": "Ordner mit Leerzeichen/Hündchen (犬), 1.wav", **CC0}
    manifest(folder, [row], encoding, end)
    (recording,) = open_folder(folder, load_catalog(), 1).recordings
    assert recording.name == "dog_bark"
    manifest(folder, [{f" {key} ": f" {value} " for key, value in row.items()}], encoding, end)
    assert open_folder(folder, load_catalog(), 1).recordings == (recording,)
    decomposed = {**row, "path": "Ordner mit Leerzeichen/Hu\u0308ndchen (犬), 1.wav"}
    manifest(folder, [decomposed], encoding, end)
    assert open_folder(folder, load_catalog(), 1).recordings[0].sha256 == recording.sha256


def test_json_lines_say_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "a.wav", wav(ring(440)))
    row = {"sound": "dog_bark", "path": "a.wav", **CC0, "start_s": 0.1, "edits": ["one", "two"], "url": None}
    (folder / "manifest.jsonl").write_text("\ufeff" + json.dumps(row) + "\r\n\r\n", encoding="utf-8")
    (recording,) = open_folder(folder, load_catalog(), 1).recordings
    assert (recording.part.start_s, recording.provenance.edits) == (0.1, ("one", "two"))


GOOD = {"sound": "dog_bark", "path": "a.wav", **CC0}
WRONG: dict[str, tuple[dict[str, str], str]] = {
    "traversal": ({"path": "../secret.wav"}, r"line 2: path: got '\.\./secret\.wav', expected a path that does not"),
    "traversal inside": ({"path": "x/../../secret.wav"}, r"line 2: path: got 'x/\.\./\.\./secret"),
    "absolute": ({"path": "/etc/passwd"}, r"line 2: path: got '/etc/passwd', expected a path relative"),
    "drive": ({"path": "C:\\a.wav"}, r"line 2: path: got 'C:\\\\a\.wav', expected a path relative"),
    "backslashes": ({"path": "x\\a.wav"}, r"expected a file that exists\. Paths are written with forward slashes"),
    "link": ({"path": "link.wav"}, r"line 2: path: got 'link\.wav', expected a file inside the manifest's folder"),
    "link to a folder": ({"path": "out/secret.wav"}, r"line 2: path: got 'out/secret\.wav', expected a file inside"),
    "missing": ({"path": "none.wav"}, r"line 2: path: got 'none\.wav', expected a file that exists"),
    "a folder": ({"path": "x"}, r"line 2: path: got 'x', expected a file"),
    "no path": ({"path": ""}, r"line 2: path: got '', expected a value"),
    "unknown sound": ({"sound": "dog"}, r"line 2: sound: got 'dog', expected the id of a sound"),
    "unknown location": ({"sound": "", "location": "moon"}, r"line 2: location: got 'moon', expected one of home"),
    "both": ({"location": "beach"}, r"line 2: location: got 'beach', expected either a sound"),
    "neither": ({"sound": ""}, r"line 2: sound: got '', expected either a sound"),
    "unknown licence": ({"licence": "CC-BY-NC-4.0"}, r"line 2: licence: got 'CC-BY-NC-4\.0', expected one of CC0"),
    "no licence": ({"licence": ""}, r"line 2: licence: got '', expected a value"),
    "no author": ({"author": " "}, r"line 2: author: got '', expected a value"),
    "no address": ({"licence": "CC-BY-4.0"}, r"line 2: url: got '', expected where it is from"),
    "no number": ({"start_s": "1,5"}, r"line 2: start_s: got '1,5', expected seconds"),
    "NaN": ({"start_s": "nan"}, r"line 2: start_s: got 'nan', expected seconds"),
    "negative": ({"end_s": "-1"}, r"line 2: end_s: got '-1', expected seconds"),
    "end before start": ({"start_s": "2", "end_s": "1"}, r"line 2: end_s: got '1', expected a time after start_s"),
    "unknown split": ({"split": "dev"}, r"line 2: split: got 'dev', expected one of train, validation, test"),
    "unknown column": ({"comment": "x"}, r"manifest\.csv: line 1: got 'comment', expected one of the fields sound"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_file_line_field_and_value(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    write(folder, "a.wav", wav(ring(440)))
    write(folder, "x/b.wav", wav(ring(441)))
    write(tmp_path, "secret.wav", wav(ring(440)))
    (folder / "link.wav").symlink_to(tmp_path / "secret.wav")
    (folder / "out").symlink_to(tmp_path)
    change, message = WRONG[name]
    manifest(folder, [GOOD | change])
    with pytest.raises(InputError, match=message):
        open_folder(folder, load_catalog(), 1)


LINES = "sound,path,licence,author\n"
TEXTS: dict[str, tuple[bytes, str]] = {
    "too few values": (f"{LINES}dog_bark,a.wav,CC0-1.0\n".encode(), r"line 2: got '3 values', expected 4 values"),
    "too many values": (f"{LINES}dog_bark,a.wav,CC0-1.0,x,y\n".encode(), r"line 2: got '5 values'"),
    "open quotes": (f'{LINES}dog_bark,"a.wav,CC0-1.0,x\n'.encode(), r"manifest\.csv: line \d: .*comma-separated"),
    "Latin-1": (f"{LINES}dog_bark,H\xfcndchen.wav,CC0-1.0,x\n".encode("latin-1"), r"byte 36: .*expected UTF-8 text"),
    "semicolons": (b"sound;path;licence;author\n", r"line 1: got 'sound;path;licence;author', expected one of"),
    "a column twice": (b"sound,path,path\n", r"line 1: got 'sound, path, path', expected every field only once"),
    "nothing": (b"", r"manifest\.csv: line 1: got '', expected some of the fields"),
    "a row twice": (f"{LINES}{'dog_bark,a.wav,CC0-1.0,x' + chr(10)}".encode() + b"dog_bark,a.wav,CC0-1.0,x\n",
                    r"line 3: got 'dog_bark, a\.wav, CC0-1\.0, x', expected a row that differs from that of line 2"),
    "a recording twice": (f"{LINES}dog_bark,a.wav,CC0-1.0,x\ndog_bark,b.wav,CC0-1.0,x\n".encode(),
                          r"line 3: path: got 'b\.wav', expected another recording, or part of it, than line 2 has"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_damaged_manifest_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path, "a.wav", wav(ring(440)))
    write(tmp_path, "b.wav", wav(ring(440)))
    text, message = TEXTS[name]
    write(tmp_path, "manifest.csv", text)
    with pytest.raises(InputError, match=message):
        open_folder(tmp_path, load_catalog(), 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"sound": "dog_bark"', r"manifest\.jsonl: line 1: .*valid JSON"),
        ("[1]", r"line 1: got '\[1\]', expected a JSON object"),
        ('{"sound": "dog_bark", "sound": "cow_moo"}', r"line 1: .*expected every field only once"),
        ('{"sound": 3, "path": "a.wav"}', r"line 1: sound: got 3, expected text"),
        (
            '{"sound": "dog_bark", "path": "a.wav", "licence": "CC0-1.0", "author": "x", "start_s": true}',
            "start_s: got True",
        ),
    ],
)
def test_a_damaged_line_of_json_is_named(tmp_path: Path, line: str, message: str) -> None:
    write(tmp_path, "a.wav", wav(ring(440)))
    write(tmp_path, "manifest.jsonl", line.encode())
    with pytest.raises(InputError, match=message):
        open_folder(tmp_path, load_catalog(), 1)


def test_there_is_one_manifest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"manifest\.csv: got 'no such file', expected one manifest"):
        open_folder(tmp_path, load_catalog(), 1)
    write(tmp_path, "manifest.csv", b"sound\n")
    write(tmp_path, "manifest.jsonl", b"")
    with pytest.raises(InputError, match=r"got 'both', expected one manifest"):
        open_folder(tmp_path, load_catalog(), 1)


@given(
    rows=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 12)), min_size=1, max_size=40),
    fixed=st.dictionaries(st.integers(0, 12), st.sampled_from(SPLITS), max_size=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_splits_keep_groups_together_and_serve_every_name(
    rows: list[tuple[str, int]], fixed: dict[int, str], seed: int
) -> None:
    members = [Member(name, str(group), fixed.get(group)) for name, group in rows]  # type: ignore[arg-type]
    split_of = assign_splits(members, seed)
    assert split_of == assign_splits(members[::-1], seed)
    assert set(split_of) == {member.group for member in members}
    assert all(split_of[str(group)] == split for group, split in fixed.items() if str(group) in split_of)
    own = [name for name in "abcd" if not {g for n, g in rows if n == name} & {g for n, g in rows if n != name}]
    for name in own:
        groups = {group for n, group in rows if n == name}
        if len(groups - set(fixed)) >= 3:
            assert {split_of[str(group)] for group in groups} == set(SPLITS)
