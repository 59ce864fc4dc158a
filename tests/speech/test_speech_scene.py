"""A scene spoken by an engine of tones: what passes, what is tried again, what fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from speech_world import DATA, PARAMS, World, dialogue, scene

from cares.core.pcm import samples_digest
from cares.core.record import read_records
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.speech.scene import SpokenScene, speak_scene

SHORT = dialogue(
    [{"text": "Twenty of us should leave before the rain comes."}],
    [{"text": "Give me 5 minutes."}, {"event": 0}, {"text": "Alright then."}],
    [{"text": "Take your coat if", "delivery": "cut", "spoken_as": "Take your coat if you have one."}, {"event": 1}],
)
CAST = ("jf_alpha", "joe")


def speak(world: World, one: Dialogue = SHORT, genders: str = "FM", cast: tuple[str, str] = CAST) -> SpokenScene:
    return speak_scene(scene(genders=genders), one, cast, world.studio, "data/speech/t00000-0.flac")


def test_utterances_follow_each_other_without_gaps_and_are_heard_right(tmp_path: Path) -> None:
    spoken = speak(World(tmp_path))
    record = spoken.record
    assert record.failure == ""
    assert [u.text for u in record.utterances] == [
        "Twenty of us should leave before the rain comes.",
        "Give me 5 minutes.",
        "Alright then.",
        "Take your coat if",
    ]
    reached = 0
    for utterance in record.utterances:
        assert utterance.start_sample == reached
        reached += utterance.n_samples
    assert reached == len(spoken.samples)
    assert record.pcm_sha256 == samples_digest(spoken.samples)
    assert [u.voice for u in record.utterances] == ["jf_alpha", "joe", "joe", "jf_alpha"]
    assert [u.engine for u in record.utterances] == ["kokoro", "piper", "piper", "kokoro"]
    assert spoken.errors.n_reference == 9 + 4 + 2 + 4
    assert spoken.errors.rate == 0


def test_a_cut_sentence_is_spoken_whole_and_heard_up_to_its_word(tmp_path: Path) -> None:
    world = World(tmp_path)
    spoken = speak(world)
    assert "Take your coat if you have one." in [text for text, *_ in world.engine.calls]
    last = spoken.record.utterances[-1]
    assert last.cut
    samples = spoken.samples[last.start_sample :]
    assert world.listener.text(samples) == "take your coat if"
    assert abs(int(samples[-1])) <= 1


def test_the_same_inputs_give_the_same_samples_in_another_store(tmp_path: Path) -> None:
    one, two = speak(World(tmp_path / "one")), speak(World(tmp_path / "two"))
    np.testing.assert_array_equal(one.samples, two.samples)
    assert one.record == two.record


def test_a_second_run_speaks_nothing_and_gives_the_same(tmp_path: Path) -> None:
    first_world = World(tmp_path)
    first = speak(first_world)
    again = World(tmp_path)
    again.tones.words = first_world.tones.words
    assert speak(again).record == first.record
    assert again.engine.calls == []


def test_a_killed_run_goes_on_at_the_next_utterance(tmp_path: Path) -> None:
    def killed(text: str, voice: str, speed: float) -> str:
        if text.startswith("Alright"):
            raise KeyboardInterrupt
        return ""

    stopped = World(tmp_path, killed)
    with pytest.raises(KeyboardInterrupt):
        speak(stopped)
    resumed = World(tmp_path)
    resumed.tones.words = stopped.tones.words
    spoken = speak(resumed)
    assert [text for text, *_ in resumed.engine.calls] == ["Alright then.", "Take your coat if you have one."]
    assert spoken.record == speak(World(tmp_path / "fresh")).record


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("silence", "silent"),
        ("empty", "silent"),
        ("nan", "not_finite"),
        ("loud", "beyond_scale"),
        ("half", "end_lost"),
        ("first", "number_lost"),
        ("tenfold", "too_long"),
        ("twice", "repeated"),
        ("phrase_twice", "repeated"),
        ("runs_on", "runs_on"),
        ("no_end", "end_lost"),
        ("cut_start", "truncated_start"),
        ("cut_end", "truncated_end"),
        ("long_pause", "pause_inside"),
        ("clipped", "clipped"),
        ("raises", "engine_error"),
    ],
)
def test_a_faulty_engine_is_tried_again_then_replaced_then_the_scene_fails_by_name(
    tmp_path: Path, fault: str, reason: str
) -> None:
    world = World(tmp_path, lambda text, voice, speed: fault if text.startswith("Twenty of") else "")
    spoken = speak(world)
    assert spoken.record.failure.startswith(f"{reason}: utterance 0 (turn 0, A): 'Twenty of us")
    assert spoken.record.utterances == ()
    assert spoken.record.pcm_sha256 is None
    assert spoken.casts == PARAMS.casts
    tried = [(voice, speed) for text, voice, speed, _ in world.engine.calls if text.startswith("Twenty of")]
    assert len(tried) == len(set(tried)) == PARAMS.tries * PARAMS.casts
    assert len({voice for voice, _ in tried}) == PARAMS.casts


@pytest.mark.parametrize(("fault", "reason"), [("other_voice", "other_voice"), ("quiet", "other_level")])
def test_an_utterance_unlike_its_speakers_others_is_found_among_them(tmp_path: Path, fault: str, reason: str) -> None:
    talk = dialogue(
        [{"text": "We could paint the fence today."}],
        [{"text": "Give me 5 more minutes."}],
        [{"text": "Take all the time that you need."}],
        [{"text": "Is the old brush still in the shed?"}],
        [{"text": "Nobody has moved it since last year."}],
        [{"text": "Then we should buy another."}],
    )
    world = World(tmp_path, lambda text, voice, speed: fault if text.startswith("Is the old") else "")
    spoken = speak(world, talk)
    assert spoken.record.failure.startswith(f"{reason}: utterance 3 (turn 3, B): 'Is the old")
    assert spoken.faults[reason] >= PARAMS.tries

    once: list[float] = []

    def mended(text: str, voice: str, speed: float) -> str:
        if text.startswith("Is the old"):
            once.append(speed)
        return fault if text.startswith("Is the old") and len(once) == 1 else ""

    record = speak(World(tmp_path / "once", mended), talk).record
    assert record.failure == ""
    assert [u.tries for u in record.utterances] == [1, 1, 1, 2, 1, 1]
    assert all(u.voice_likeness is not None and u.voice_likeness > 0.9 for u in record.utterances)


def test_two_voices_that_cannot_be_told_apart_are_changed(tmp_path: Path) -> None:
    world = World(tmp_path, lambda text, voice, speed: "alike" if voice in ("jf_alpha", "jf_nezumi") else "")
    spoken = speak(world, genders="FF", cast=("jf_alpha", "jf_nezumi"))
    assert spoken.record.failure == ""
    assert set(spoken.record.voices) != {"jf_alpha", "jf_nezumi"}
    assert spoken.faults["voices_alike"] >= 1
    assert spoken.speakers_likeness is not None and spoken.speakers_likeness < 0.5


def test_another_pace_mends_an_utterance_and_is_counted(tmp_path: Path) -> None:
    seen: list[float] = []

    def once(text: str, voice: str, speed: float) -> str:
        if not text.startswith("Alright"):
            return ""
        seen.append(speed)
        return "silence" if len(seen) == 1 else ""

    spoken = speak(World(tmp_path, once))
    assert spoken.record.failure == ""
    assert [u.tries for u in spoken.record.utterances] == [1, 1, 2, 1]
    assert spoken.tries == 5
    assert spoken.casts == 1
    assert seen[1] == pytest.approx(seen[0] - 0.06)


def test_another_voice_speaks_the_whole_part_of_its_speaker(tmp_path: Path) -> None:
    world = World(tmp_path, lambda text, voice, speed: "nan" if voice == "jf_alpha" and text.startswith("Take") else "")
    record = speak(world).record
    assert record.failure == ""
    assert record.voices[0] != "jf_alpha"
    assert record.voices[1] == "joe"
    assert {u.voice for u in record.utterances if u.speaker == "A"} == {record.voices[0]}


def test_two_men_swap_voices_when_there_is_no_third(tmp_path: Path) -> None:
    world = World(
        tmp_path, lambda text, voice, speed: "silence" if voice == "jm_kumo" and text.startswith("Twenty") else ""
    )
    record = speak(world, genders="MM", cast=("jm_kumo", "joe")).record
    assert record.voices == ("joe", "jm_kumo")


def test_words_that_the_aligner_cannot_place_are_no_place_to_cut(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.listener.untimed = {"if"}
    assert speak(world).record.failure.startswith("no_place_to_cut: utterance 3 (turn 2, A)")


def test_a_dialogue_that_cannot_be_spoken_fails_alone(tmp_path: Path) -> None:
    spoken = speak(World(tmp_path), dialogue([{"text": "Nice \N{GRINNING FACE}"}]))
    assert spoken.record.failure.startswith("unspeakable: turn 0, segment 0")
    assert spoken.tries == 0


@pytest.mark.parametrize("text", ["12", "Oh!", "Hm.", '"Quoted (and bracketed) words."', "word " * 80])
def test_odd_texts_are_spoken(tmp_path: Path, text: str) -> None:
    spoken = speak(World(tmp_path), dialogue([{"text": text.strip()}]))
    assert spoken.record.failure == ""
    assert len(spoken.samples) > 0


def test_more_than_the_aligner_hears_at_once_is_too_long(tmp_path: Path) -> None:
    spoken = speak(World(tmp_path), dialogue([{"text": ("word " * 120).strip()}]))
    assert spoken.record.failure.startswith("too_long: utterance 0")


def test_the_small_dialogues_are_spoken(tmp_path: Path) -> None:
    world = World(tmp_path)
    scenes = read_records(Scene, DATA / "scenes_small.jsonl")
    for one, talk in zip(scenes, read_records(Dialogue, DATA / "dialogues_small.jsonl"), strict=True):
        casts = {("F", "M"): CAST, ("M", "M"): ("joe", "jm_kumo"), ("F", "F"): ("jf_alpha", "jf_nezumi")}
        assert speak_scene(one, talk, casts[one.genders], world.studio, "x").record.failure == ""
