"""Turns, times, the picture's geometry, tables, and the text for a terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.core.canonical import write_jsonl
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.speech import SceneSpeech
from cares.report.inputs import read_inputs
from cares.report.picture import LEFT, WIDTH, timeline_picture
from cares.report.script import clock, decibels, script
from cares.report.show import show_scene
from cares.report.tables import flat, unfinished


def test_sounds_stand_where_they_fall_and_words_are_all_there(build: Any) -> None:
    for scene in build.scenes:
        turns = script(scene)
        assert [piece.event for turn in turns for piece in turn.pieces if piece.event] == list(scene.events)
        spoken = " ".join(piece.text for turn in turns for piece in turn.pieces if not piece.event)
        assert spoken == " ".join(word.word for word in scene.words)
        assert [turn.start_sample for turn in turns] == sorted(turn.start_sample for turn in turns)


def test_a_scene_for_the_terminal(build: Any) -> None:
    text = show_scene("t00000-0", build.root)
    event = build.scenes[0].events[0]
    assert f"Oh, she will love that. [SOUND: dog_bark | verbal | {clock(event.start_sample)}] Wow, that dog" in text
    assert "A: sibling (F, jf_alpha)   B: sibling (M, jm_kumo)" in text
    assert "at: public_park" in text
    assert "-23.00 LUFS, true peak -2.87 dBTP" in text
    assert "data/scenes/t00000-0.wav" in text
    assert text.startswith("t00000-0 (train)  planning a birthday picnic")


def test_control_characters_do_not_reach_the_terminal(build: Any) -> None:
    scene = build.scenes[0].model_copy(update={"topic": "a\x1b[2Jb\r\n"})
    write_records(build.root / "data/scenes/scenes.jsonl", [scene])
    text = show_scene("t00000-0", build.root)
    assert "\x1b" not in text
    assert "\r" not in text


def test_an_unknown_scene_is_an_error_that_names_some(build: Any) -> None:
    with pytest.raises(InputError, match="There are 3: t00000-0"):
        show_scene("t99999-0", build.root)


def test_no_scenes_yet_is_an_error_that_says_what_to_run(build: Any) -> None:
    (build.root / "data/scenes/scenes.jsonl").unlink()
    with pytest.raises(InputError, match="dvc repro"):
        show_scene("t00000-0", build.root)


def test_the_picture_is_to_scale(build: Any, sounds: dict[str, str]) -> None:
    for scene in build.scenes:
        gaps = read_inputs(build.root).gaps[scene.scene_id]
        picture = timeline_picture(scene, gaps, sounds)
        for box, event in zip(picture.events, scene.events, strict=True):
            assert abs(float(box.x) - LEFT - event.start_sample / scene.n_samples * WIDTH) <= 0.01
            assert abs(float(box.width) - (event.end_sample - event.start_sample) / scene.n_samples * WIDTH) <= 0.01
        boxes = [*picture.turns["A"], *picture.turns["B"], *picture.events, *picture.gaps]
        assert all(float(box.x) >= LEFT and float(box.x) + float(box.width) <= LEFT + WIDTH + 0.01 for box in boxes)
        assert sum(map(len, picture.words.values())) == len(scene.words)
        assert len(picture.ticks) <= 16


@given(st.integers(0, 10**9))
def test_clock_is_within_half_a_tenth(sample: int) -> None:
    minutes, seconds = clock(sample).split(":")
    assert abs(int(minutes) * 60 + float(seconds) - sample / 44_100) <= 0.0500001
    assert 0 <= float(seconds) < 60


@pytest.mark.parametrize(
    ("hundredths", "text"), [(-2300, "-23.00"), (-5, "-0.05"), (0, "0.00"), (1150, "11.50"), (-101, "-1.01")]
)
def test_decibels(hundredths: int, text: str) -> None:
    assert decibels(hundredths) == text


def test_metrics_become_rows_whatever_their_shape() -> None:
    value = {"a": {"b": 0.5, "c": None}, "d": [1, 2.25], "e": [{"f": True}], "g": "text"}
    assert list(flat(value)) == [("a.b", "0.5"), ("a.c", "none"), ("d", "1, 2.25"), ("e.0.f", "yes"), ("g", "text")]


def test_a_scene_that_could_not_be_spoken_says_so(build: Any) -> None:
    failed = SceneSpeech(
        scene_id="t00003-0",
        split="train",
        path="",
        pcm_sha256=None,
        voices=("a", "b"),
        utterances=(),
        failure="turn 2 stays above the word error rate",
    )
    write_records(build.root / "data/speech/speech.jsonl", [failed])
    (row,) = unfinished(read_inputs(build.root))
    assert (row.scene_id, row.stage, row.detail) == ("t00003-0", "speech", failed.failure)


def test_a_scene_without_an_attempt_says_so(build: Any) -> None:
    write_jsonl(build.root / "data/dialogues/attempts.jsonl", [])
    (row,) = unfinished(read_inputs(build.root))
    assert (row.reason, row.attempts) == ("no attempt", 0)
