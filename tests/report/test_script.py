"""Turns, times, the picture's geometry, tables, and the text for a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.core.canonical import write_jsonl
from cares.core.errors import InputError
from cares.core.record import read_records, write_records
from cares.records.dialogue import Attempt
from cares.records.speech import SceneSpeech
from cares.report.attempts import best_attempt, read_turns
from cares.report.inputs import read_inputs
from cares.report.picture import LEFT, WIDTH, timeline_picture
from cares.report.script import clock, decibels, duration, script
from cares.report.show import show_scene
from cares.report.tables import flat, unfinished


def unspoken(scene_id: str) -> SceneSpeech:
    """What the speech stage says of a scene that it gave up."""
    return SceneSpeech(
        scene_id=scene_id,
        split="train",
        path="",
        pcm_sha256=None,
        voices=("a", "b"),
        utterances=(),
        failure="turn 2 stays above the word error rate",
    )


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
    assert f"at: public_park   {duration(build.scenes[0].n_samples)}   -23.00" in text
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
    with pytest.raises(InputError, match="There are 4: t00000-0"):
        show_scene("t99999-0", build.root)


def test_nothing_made_yet_is_an_error_that_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dvc repro"):
        show_scene("t00000-0", tmp_path)


def test_an_accepted_scene_that_is_not_mixed_is_shown_with_the_reason(build: Any) -> None:
    (build.root / "data/scenes/scenes.jsonl").unlink()
    text = show_scene("t00000-0", build.root)
    assert "no finished scene: no stage says why" in text
    assert "Oh, she will love that. [SOUND: dog_bark | verbal] Wow, that dog" in text
    assert "I can drive her if you— [SOUND: church_bell | behavioral]" in text
    write_records(build.root / "data/speech/speech.jsonl", [unspoken("t00000-0")])
    assert "no finished scene: turn 2 stays above the word error rate" in show_scene("t00000-0", build.root)


def test_a_refused_scene_says_why_and_shows_its_last_attempts(build: Any) -> None:
    path = build.root / "data/dialogues/attempts.jsonl"
    last = read_records(Attempt, path)[-1]
    skeleton = {
        "1 Rita, is sure": "Yes\x1b[2J.",
        "1 a dog barks": "A dog.",
        "1 goes on about it": "So, the rent.",
        "2 Carl, asks back": "No.",
    }
    texts = ["old", "not json", "", json.dumps(skeleton)]
    write_records(path, [last.model_copy(update={"attempt": n, "text": text}) for n, text in enumerate(texts)])
    text = show_scene("t00003-0", build.root)
    assert "t00003-0 (train)  refused: none of 4 attempts was accepted" in text
    assert "reasons: names_the_sound 4" in text
    assert "wave 4, candidate 1" in text and "names_the_sound: turn 3: dog" in text
    assert "    A: Yes\N{REPLACEMENT CHARACTER}[2J. A dog. So, the rent.\n    B: No." in text
    assert "not json" in text and "(no text)" in text and "old" not in text, "the last three"


def test_a_scene_without_attempts_is_not_called_refused(build: Any) -> None:
    (build.root / "data/dialogues/attempts.jsonl").unlink()
    assert "no dialogue was written yet" in show_scene("t00003-0", build.root)


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("[]", None),
        ("[1]", None),
        ('"a"', None),
        ("{", None),
        ("", None),
        ("A: x [SOUND 0] y\nB: z", [("A", "", "x [SOUND 0] y"), ("B", "", "z")]),
        ("A: x\nand so on", None),
        ("{}", None),
        ('{"turns":[{"speaker":"A","text":"x"}]}', None),
        ('{"1 Rita, asks": "x", "2 Carl, answers": 3}', None),
        ('{"1 Rita, asks": "x", "note": "y"}', None),
        (
            '{"1 Rita, asks, or jokes": " x ", "2 Carl, sighs": "y", "2 a dog barks": "z", "2 goes on about it": "w"}',
            [("A", "asks, or jokes", "x"), ("B", "sighs", "y z w")],
        ),
        (
            '{"10 Carl, ends it": "v", "9 Rita, says a number": "w"}',
            [("A", "says a number", "w"), ("B", "ends it", "v")],
        ),
        ('{"2 the dog barks": "y"}', [("B", "", "y")]),
    ],
)
def test_any_text_of_an_attempt_is_read_or_left_as_it_is(text: str, turns: object) -> None:
    assert read_turns(text) == turns


def test_the_attempt_that_came_furthest(build: Any) -> None:
    scene = read_inputs(build.root).allocated[-1]
    last = read_inputs(build.root).attempts[-1]

    def judged(similarity: float, *labels: str) -> Attempt:
        verdicts = [{"event": n, "sound": "x", "label": label, "scores": {}} for n, label in enumerate(labels)]
        record = last.to_json() | {"verdicts": verdicts, "topic_similarity": similarity}
        return Attempt.parse(record, "test")

    one = scene.events[0].reaction
    wrong = next(label for label in ("pivot", "ambient") if label != one)
    some = [judged(0.3, one), judged(0.9, wrong), judged(0.2, one), last, last.model_copy(update={"text": " "})]
    assert best_attempt(some, scene) is some[0]
    assert best_attempt(some[3:], scene) is some[3]


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


@pytest.mark.parametrize(
    ("samples", "text"),
    [(0, "0.0 s"), (1_861_020, "42.2 s"), (59.97 * 44_100, "1 min 0.0 s"), (5_613_930, "2 min 7.3 s")],
)
def test_a_length_has_its_unit(samples: float, text: str) -> None:
    assert duration(int(samples)) == text


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
    failed = unspoken("t00003-0")
    write_records(build.root / "data/speech/speech.jsonl", [failed])
    (row,) = unfinished(read_inputs(build.root))
    assert (row.scene_id, row.stage, row.detail) == ("t00003-0", "speech", failed.failure)


def test_a_scene_without_an_attempt_says_so(build: Any) -> None:
    write_jsonl(build.root / "data/dialogues/attempts.jsonl", [])
    (row,) = unfinished(read_inputs(build.root))
    assert (row.reason, row.attempts) == ("no attempt", 0)
