"""The bank: what is refused, what is written, and that neither order nor workers nor a restart change a byte."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from cares.catalog.load import load_catalog
from cares.core.canonical import Json, file_digest
from cares.core.errors import CaresError, InputError
from cares.core.pcm import SAMPLE_RATE, read_samples, samples_digest
from cares.core.record import read_records
from cares.core.store import ItemStore
from cares.records.bank import Take
from cares.sounds.attribution import check_provenance
from cares.sounds.bank import build_bank, plan_takes
from cares.sounds.coverage import coverage, coverage_text, describe_bank, held
from cares.sounds.params import SoundsParams
from cares.sounds.procedural.recipes import RecipeBook, load_recipes
from cares.sounds.procedural.source import ProceduralSource
from cares.sounds.report import TakeReport
from cares.sounds.signal import Signal
from cares.sounds.source import Ask, Job, Kind, Provenance, Wanted

COUNTS = {"train": 2, "validation": 1, "test": 1}
PARAMS = SoundsParams.parse(
    {"source": "procedural", "takes": COUNTS, "ambience_takes": {"train": 1, "validation": 1, "test": 1}}, "params.yaml"
)
CC0 = Provenance("recorded", "CC0-1.0", "A. Person", "")


def sound(wanted: Wanted) -> Signal:
    n = (wanted.shortest + wanted.longest) // 2
    return np.asarray(0.5 * np.sin(2 * np.pi * (300 + 10 * wanted.number) / SAMPLE_RATE * np.arange(n)))


@dataclass(frozen=True)
class RecordedJob:
    """A take with a given fault; it notes each time that it is made."""

    wanted: Wanted
    log: Path
    fault: str = ""
    provenance: Provenance = CC0
    origin: str = "recordings.csv"
    source: str = "recorded"
    recording: str = "0" * 64
    code: tuple[str, ...] = ("cares.sounds.quality",)

    def inputs(self) -> Json:
        return [*self.wanted, self.fault, self.provenance.licence, self.provenance.author, self.provenance.url]

    def make(self) -> tuple[Signal, Provenance]:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(self.wanted.take_id + "\n")
        signal = sound(self.wanted)
        if self.fault == "nan":
            signal[7] = np.nan
        if self.fault == "same":
            signal = sound(self.wanted._replace(number=0))
        return (signal * {"silent": 1e-5, "loud": 3.0}.get(self.fault, 1.0)), self.provenance


@dataclass(frozen=True)
class RecordedSource:
    """Four recordings of each of two sounds; `faults` maps take ids to faults."""

    log: Path
    faults: tuple[tuple[str, str], ...] = ()
    provenance: Provenance = CC0
    name: str = "recorded"

    def offered(self, kind: Kind) -> tuple[str, ...]:
        return ("car_horn", "dog_bark") if kind == "event" else ()

    def jobs(self, kind: Kind, name: str, seconds: tuple[float, float], ask: Ask) -> list[Job]:
        shortest, longest = (round(second * SAMPLE_RATE) for second in seconds)
        jobs: list[Job] = []
        for number, split in enumerate(ask.counts[kind].splits()):
            wanted = Wanted(kind, name, number, split, shortest, longest)
            origin = f"recordings.csv: {wanted.take_id}"
            fault = dict(self.faults).get(wanted.take_id, "")
            if origin not in ask.without:
                jobs.append(RecordedJob(wanted, self.log, fault, self.provenance, origin))
        return jobs


def build(source: RecordedSource | ProceduralSource, folder: Path, workers: int = 1) -> list[Take]:
    folder.mkdir(exist_ok=True)
    return build_bank(source, load_catalog(), PARAMS, folder / "out", ItemStore("sounds", folder), workers)


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}


def test_takes_are_planned_by_split_and_never_shared() -> None:
    plan = plan_takes(RecordedSource(Path()), load_catalog(), PARAMS)
    assert [job.wanted.take_id for job in plan[:4]] == ["car_horn-00", "car_horn-01", "car_horn-02", "car_horn-03"]
    assert [job.wanted.split for job in plan[:4]] == ["train", "train", "validation", "test"]
    assert len({job.wanted.take_id for job in plan}) == len(plan) == 8


def test_a_sound_comes_whole_from_the_first_source_that_has_it() -> None:
    book = load_recipes()
    few = RecipeBook({name: book.sounds[name] for name in ("dog_bark", "owl_hoot")}, {"beach": book.ambiences["beach"]})
    sources = [RecordedSource(Path()), ProceduralSource(few, 7)]
    plan = plan_takes(sources, load_catalog(), PARAMS)
    from_where = {
        name: {job.source for job in plan if job.wanted.name == name}
        for name in ("dog_bark", "owl_hoot", "car_horn", "beach")
    }
    assert from_where == {
        "dog_bark": {"recorded"}, "car_horn": {"recorded"}, "owl_hoot": {"procedural"}, "beach": {"procedural"}
    }  # fmt: skip
    swapped = plan_takes(sources[::-1], load_catalog(), PARAMS)
    assert {job.source for job in swapped if job.wanted.name == "dog_bark"} == {"procedural"}


def test_files_agree_with_the_manifest(tmp_path: Path) -> None:
    takes = build(RecordedSource(tmp_path / "log"), tmp_path)
    out = tmp_path / "out"
    assert read_records(Take, out / "bank.jsonl") == takes
    for take in takes:
        samples = read_samples(out / Path(take.path).relative_to("data/sounds"))
        assert (len(samples), samples_digest(samples)) == (take.n_samples, take.pcm_sha256)
        assert np.abs(samples).max() == 23197
    with (out / "ATTRIBUTION.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["take_id"] for row in rows] == [take.take_id for take in takes]
    assert {(row["licence"], row["author"]) for row in rows} == {("CC0-1.0", "A. Person")}
    assert b"\r" not in (out / "ATTRIBUTION.csv").read_bytes()


@pytest.mark.parametrize(
    ("fault", "reason"), [("silent", "silent"), ("nan", "not_finite"), ("loud", "beyond_full_scale")]
)
def test_an_unusable_take_is_named_and_not_kept(tmp_path: Path, fault: str, reason: str) -> None:
    source = RecordedSource(tmp_path / "log", (("dog_bark-02", fault),))
    with pytest.raises(
        CaresError, match=rf"unusable takes \(1\):\n  recordings\.csv: dog_bark-02: take dog_bark-02: {reason}"
    ):
        build(source, tmp_path)
    with pytest.raises(CaresError, match="dog_bark-02"):
        build(source, tmp_path)
    assert not (tmp_path / "out" / "bank.jsonl").exists()
    assert not (tmp_path / "out" / "takes" / "dog_bark-02.flac").exists()
    made = source.log.read_text(encoding="utf-8").split()
    assert made == [*sorted(set(made), key=made.index), "dog_bark-02"]


def test_what_is_refused_can_be_left_out_and_is_reported(tmp_path: Path) -> None:
    source = RecordedSource(tmp_path / "log", (("dog_bark-02", "nan"), ("dog_bark-00", "silent")))
    lenient = PARAMS.model_copy(update={"unusable": "leave_out"})
    store = ItemStore("sounds", tmp_path)
    takes = build_bank(source, load_catalog(), lenient, tmp_path / "out", store, 1)
    assert [take.take_id for take in takes if take.name == "dog_bark"] == ["dog_bark-01", "dog_bark-03"]
    reports = read_records(TakeReport, tmp_path / "out" / "quality.jsonl")
    assert {(r.take_id, r.reasons) for r in reports if not r.used} == {
        ("dog_bark-00", ("silent",)), ("dog_bark-02", ("not_finite",))
    }  # fmt: skip
    assert [r.take_id for r in reports if r.used] == [take.take_id for take in takes]
    assert all(r.figures is not None and r.figures.peak_dbfs == -6.02 for r in reports if r.used)
    assert describe_bank(takes, load_catalog(), reports)["refused"] == {"not_finite": 1, "silent": 1}
    assert {file.stem for file in (tmp_path / "out" / "takes").iterdir()} == {take.take_id for take in takes}


def test_two_takes_of_the_same_sound_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dog_bark-03\.pcm_sha256.*dog_bark-00"):
        build(RecordedSource(tmp_path / "log", (("dog_bark-03", "same"),)), tmp_path)


@pytest.mark.parametrize(
    ("provenance", "field"),
    [
        (CC0._replace(licence=""), "licence"),
        (CC0._replace(licence="CC-BY-NC-4.0"), "licence"),
        (CC0._replace(licence="all rights reserved"), "licence"),
        (CC0._replace(author=" "), "author"),
        (CC0._replace(licence="CC-BY-4.0", url=""), "url"),
    ],
)
def test_what_may_not_be_passed_on_is_refused(tmp_path: Path, provenance: Provenance, field: str) -> None:
    with pytest.raises(InputError) as caught:
        build(RecordedSource(tmp_path / "log", provenance=provenance), tmp_path)
    assert caught.value.field == f"car_horn-00.{field}"


def test_an_attributed_recording_is_accepted(tmp_path: Path) -> None:
    provenance = CC0._replace(licence="CC-BY-4.0", url="https://example.org/1", edits=("cut to 1 s",))
    takes = build(RecordedSource(tmp_path / "log", provenance=provenance), tmp_path)
    check_provenance(takes, "bank.jsonl")
    assert "cut to 1 s" in (tmp_path / "out" / "ATTRIBUTION.csv").read_text(encoding="utf-8")


def test_a_second_run_takes_everything_from_the_store(tmp_path: Path) -> None:
    source = RecordedSource(tmp_path / "log")
    build(source, tmp_path)
    before = contents(tmp_path / "out")
    build(source, tmp_path)
    assert contents(tmp_path / "out") == before
    assert len(source.log.read_text(encoding="utf-8").split()) == 8


def test_the_bytes_depend_on_no_worker(tmp_path: Path) -> None:
    book = load_recipes()
    few = RecipeBook({name: book.sounds[name] for name in ("mouse_click", "car_horn", "balloon_pop")}, {})
    one, two = tmp_path / "one", tmp_path / "two"
    build(ProceduralSource(few, 7), one, workers=1)
    build(ProceduralSource(few, 7), two, workers=2)
    assert contents(one / "out") == contents(two / "out")
    assert len(contents(one / "out")) == 3 * 4 + 3
    other = tmp_path / "other"
    build(ProceduralSource(few, 8), other)
    differing = {name for name, digest in contents(other / "out").items() if digest != contents(one / "out")[name]}
    assert len(differing) == 3 * 4 + 3


def test_coverage_names_what_is_missing(tmp_path: Path) -> None:
    catalog = load_catalog()
    takes = build(RecordedSource(tmp_path / "log"), tmp_path)
    covers = {(cover.kind, cover.name): cover for cover in coverage(held(takes[1:]), catalog)}
    assert len(covers) == len(catalog.sounds) + len(catalog.locations)
    assert covers["event", "dog_bark"].takes == COUNTS
    assert covers["event", "dog_bark"].missing == ()
    assert covers["event", "car_horn"].takes == {**COUNTS, "train": 1}
    assert covers["event", "owl_hoot"].missing == ("train", "validation", "test")
    assert covers["ambience", "beach"].missing == ("train", "validation", "test")


def test_the_coverage_is_told_in_words(tmp_path: Path) -> None:
    takes = build(RecordedSource(tmp_path / "log"), tmp_path)
    text = coverage_text(held(take for take in takes if take.take_id != "car_horn-03"), load_catalog())
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line}
    assert rows["dog_bark"] == ["shared", "2", "1", "1", "recorded"]
    assert rows["car_horn"] == ["shared", "2", "1", "0", "recorded", "test"]
    assert "owl_hoot" not in rows
    assert "owl_hoot" in next(line for line in text.splitlines() if line.startswith("no take, local:"))
    assert "usable in every split: 1 of" in text


def test_metrics_count_only_what_every_split_has(tmp_path: Path) -> None:
    takes = build(RecordedSource(tmp_path / "log"), tmp_path)
    metrics = describe_bank([take for take in takes if take.take_id != "car_horn-03"], load_catalog())
    assert metrics["sounds"] == 1
    assert metrics["takes"] == {"train": 4, "validation": 2, "test": 1}
    assert metrics["usable_by_location"]["rural"] == {"shared": 1}
    assert metrics["usable_by_location"]["car"] == {}
    assert metrics["seconds"] == round(sum(take.n_samples for take in takes[:3] + takes[4:]) / SAMPLE_RATE, 1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": "choir"}, "sounds.source.0"),
        ({"source": []}, "sounds.source"),
        ({"source": ["folder", "folder"]}, "sounds.source"),
        ({"source": 3}, "sounds.source"),
        ({"folder": "/abs"}, "sounds.folder"),
        ({"folder": "../out"}, "sounds.folder"),
        ({"pins": ""}, "sounds.pins"),
        ({"unusable": "ignore"}, "sounds.unusable"),
        ({"takes": {**COUNTS, "test": 0}}, "sounds.takes.test"),
        ({"takes": {"train": 3, "validation": 1}}, "sounds.takes.test"),
        ({"takes": {**COUNTS, "dev": 1}}, "sounds.takes.dev"),
        ({"ambience_takes": {**COUNTS, "train": 1.5}}, "sounds.ambience_takes.train"),
        ({"seed": 1}, "sounds.seed"),
    ],
)
def test_wrong_params_are_named(change: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        SoundsParams.parse({**PARAMS.to_json(), **change}, "params.yaml", "sounds")
    assert caught.value.field == field
