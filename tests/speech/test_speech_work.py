"""Params, jobs, metrics and the files of the stages."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from speech_world import DATA, PARAMS, World, scene

from cares.core.errors import CaresError, InputError
from cares.core.pcm import write_samples
from cares.core.record import read_records
from cares.core.record_file import by_id
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.speech import work
from cares.speech.align import align_scene
from cares.speech.engines import load_engine
from cares.speech.params import SpeechParams
from cares.speech.scene import speak_scene
from cares.speech.summary import SpeechTally, Spoken
from cares.speech.voices import load_voices
from cares.speech.work import AlignmentTally, jobs

SCENES = read_records(Scene, DATA / "scenes_small.jsonl")
DIALOGUES = by_id(read_records(Dialogue, DATA / "dialogues_small.jsonl"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tries", 0),
        ("casts", 11),
        ("max_word_error_rate", 1.5),
        ("rate_spread_percent", 50),
        ("cut_fade_ms", 0),
        ("trim_db", 200.0),
        ("letters_per_second", [30.0, 5.0]),
        ("letters_per_second", [0.0, 5.0]),
        ("voices", ["joe", "joe"]),
        ("max_pause_ms", 0),
        ("max_end_db", 3.0),
        ("min_voice_likeness", 1.2),
        ("max_level_off_db", 0.0),
        ("treis", 3),
    ],
)
def test_a_wrong_parameter_is_named(field: str, value: object) -> None:
    section = copy.deepcopy(PARAMS.to_json())
    section[field] = value
    with pytest.raises(InputError, match=rf"params\.yaml: speech(\.{field})?"):
        SpeechParams.parse(section, "params.yaml", "speech")


def test_each_dialogue_is_one_job_in_the_order_of_the_scenes() -> None:
    made = jobs(SCENES, dict(reversed(DIALOGUES.items())), load_voices(), 1)
    assert [job.scene.scene_id for job in made] == [one.scene_id for one in SCENES]
    assert all(job.dialogue.scene_id == job.scene.scene_id for job in made)


def test_a_rejected_dialogue_changes_no_other_scenes_voices() -> None:
    all_three = {job.scene.scene_id: job.cast for job in jobs(SCENES, DIALOGUES, load_voices(), 1)}
    without = {name: dialogue for name, dialogue in DIALOGUES.items() if name != "t00000-0"}
    for job in jobs(SCENES, without, load_voices(), 1):
        assert job.cast == all_three[job.scene.scene_id]


def test_a_dialogue_that_fits_no_scene_is_an_error() -> None:
    with pytest.raises(InputError, match="scene_id: got 't00000-0'"):
        jobs(SCENES[1:], DIALOGUES, load_voices(), 1)


def test_metrics_count_words_tries_and_failures(tmp_path: Path) -> None:
    world = World(tmp_path, lambda text, voice, speed: "nan" if text.startswith("The shelter") else "")
    made = [
        speak_scene(job.scene, job.dialogue, job.cast, world.studio, "x")
        for job in jobs(SCENES, DIALOGUES, load_voices(), 1)
    ]
    tally = SpeechTally()
    told = tally.counted(
        Spoken(one.record, one.errors, one.tries, one.casts, one.faults, one.speakers_likeness) for one in made
    )
    assert list(told) == [one.record for one in made]
    metrics = tally.figures()
    tally.check()
    assert metrics["scenes"] == 3
    assert metrics["failures"] == {"not_finite": 1}
    assert metrics["faults"]["not_finite"] >= PARAMS.tries * PARAMS.casts
    assert metrics["likeness_of_two_speakers"]["highest"] < PARAMS.max_speakers_likeness
    assert 5 < metrics["letters_per_s"]["lowest"] <= metrics["letters_per_s"]["median"] < 30
    assert metrics["utterances"] == 9 + 9
    assert metrics["word_error_rate"] == round(metrics["word_errors"] / metrics["words"], 4) < 0.1
    assert metrics["words"] == sum(one.errors.n_reference for one in made) > 200
    assert metrics["tries"] >= 18 + 9
    assert sum(metrics["scenes_by_voice"].values()) == 4
    assert SpeechTally().figures()["word_error_rate"] == 0


def test_when_every_scene_failed_it_is_an_error_that_counts_the_kinds(tmp_path: Path) -> None:
    world = World(tmp_path, lambda text, voice, speed: "silence")
    made = [
        speak_scene(job.scene, job.dialogue, job.cast, world.studio, "x")
        for job in jobs(SCENES, DIALOGUES, load_voices(), 1)
    ]
    tally = SpeechTally()
    list(tally.counted(Spoken(one.record, one.errors, one.tries, one.casts, one.faults) for one in made))
    with pytest.raises(CaresError, match=r"none of 3 scenes could be spoken \(silent 3\); the first: silent"):
        tally.check()
    SpeechTally().check()
    assert tally.figures()["likeness_of_two_speakers"] == {}


def test_alignment_reads_the_files_and_refuses_one_of_the_wrong_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path / "store")
    job = jobs(SCENES, DIALOGUES, load_voices(), 1)[0]
    spoken = speak_scene(job.scene, job.dialogue, job.cast, world.studio, "data/speech/t00000-0.flac")
    path = tmp_path / spoken.record.path
    write_samples(path, spoken.samples)
    monkeypatch.setattr(work, "_worker", work._Worker(aligner=world.listener, folder=tmp_path))
    aligned = work._align(spoken.record)
    assert aligned == align_scene(spoken.record, spoken.samples, world.listener)
    assert SceneAlignment.parse(aligned.to_json(), "test") == aligned
    tally = AlignmentTally()
    assert list(tally.counted([aligned])) == [aligned]
    assert tally.figures()["words"] == sum(len(u.text.split()) for u in spoken.record.utterances)
    write_samples(path, spoken.samples[:-1])
    with pytest.raises(InputError, match=r"t00000-0\.flac: length"):
        work._align(spoken.record)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        work._align(spoken.record)


def test_a_failed_scene_has_a_record_that_reads_back(tmp_path: Path) -> None:
    world = World(tmp_path, lambda text, voice, speed: "silence")
    record = speak_scene(SCENES[0], DIALOGUES["t00000-0"], ("jf_alpha", "joe"), world.studio, "x").record
    assert SceneSpeech.parse(record.to_json(), "test") == record
    assert record.failure
    assert record.path == ""


def test_an_unknown_engine_and_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(CaresError, match="'festival' is not an engine"):
        load_engine("festival", "any", tmp_path)
    with pytest.raises(CaresError, match=r"holds 0 files \*\.npz"):
        load_engine("kokoro", "kokoro-82m", tmp_path)
    with pytest.raises(CaresError, match=r"holds 0 files \*\.onnx"):
        load_engine("piper", "piper-joe", tmp_path)


@pytest.mark.parametrize("engine", ["kokoro", "piper"])
def test_a_damaged_model_is_named(tmp_path: Path, engine: str) -> None:
    (tmp_path / "voice.onnx").write_bytes(b"not a model")
    (tmp_path / "voices.npz").write_bytes(b"not voices")
    (tmp_path / "voice.onnx.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CaresError, match=r"voice\.onnx"):
        load_engine(engine, "model", tmp_path)


def test_only_scenes_with_a_dialogue_are_spoken() -> None:
    assert jobs([*SCENES, scene("t00009-0")], DIALOGUES, load_voices(), 1)[-1].scene.scene_id == "t00002-0"
