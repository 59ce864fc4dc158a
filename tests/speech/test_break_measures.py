"""What is measured of breaks, on signals whose pitch, pauses and words are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.core.pcm import SAMPLE_RATE, samples_digest, write_samples
from cares.core.record import write_records
from cares.records.timeline import Clip, MixedScene, PlacedEvent, PlacedWord, Rules, Timeline
from cares.speech.break_measures import MEASURES, Measured, measure_scene
from cares.speech.break_params import BreakParams
from cares.speech.break_report import break_metrics, describe
from cares.speech.break_signal import cepstra, pauses, said_again, speech_threshold
from cares.speech.pitch import pitch, semitones

PARAMS = BreakParams(folds=3, repeats=2, bootstrap=200, regularisation=1.0)


def voiced(hertz: float, seconds: float, seed: int = 0, end_hertz: float | None = None) -> np.ndarray:
    """Harmonics that fall by 6 dB an octave, with a little hiss; the pitch glides to `end_hertz`."""
    n = round(seconds * SAMPLE_RATE)
    f0 = np.linspace(hertz, end_hertz or hertz, n)
    phase = 2 * np.pi * np.cumsum(f0) / SAMPLE_RATE
    tone = sum(np.sin(k * phase) / k for k in range(1, 12))
    return 3000 * np.asarray(tone) + np.random.default_rng(seed).normal(0, 20, n)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE))


def word(key: int, seconds: float = 0.3) -> np.ndarray:
    """A word: three vowels, each with two formants that its key chooses."""
    parts = []
    for vowel in range(3):
        rng = np.random.default_rng((key, vowel))
        low, high = rng.uniform(250, 900), rng.uniform(1000, 3500)
        n = round(seconds * SAMPLE_RATE / 3)
        t = np.arange(n) / SAMPLE_RATE
        frequencies = np.arange(120, 5000, 120)
        gains = np.exp(-((frequencies - low) ** 2) / 3e4) + 0.5 * np.exp(-((frequencies - high) ** 2) / 6e4) + 0.003
        parts.append(4000 * (gains[:, None] * np.sin(2 * np.pi * frequencies[:, None] * t)).sum(0))
    return np.concatenate(parts)


@settings(max_examples=25, deadline=None)
@given(st.floats(80, 400), st.integers(0, 1000))
def test_the_pitch_of_harmonics_is_found_within_a_tenth_of_a_semitone(hertz: float, seed: int) -> None:
    _, found = pitch(voiced(hertz, 0.3, seed))
    known = found[np.isfinite(found)]
    assert len(known) > 0.8 * len(found)
    assert np.abs(semitones(known) - 12 * math.log2(hertz / 100)).max() < 0.1


def test_a_glide_is_followed() -> None:
    times, found = pitch(voiced(200, 0.5, end_hertz=100))
    expected = 200 - 200 * times
    assert np.nanmax(np.abs(found / expected - 1)) < 0.02


def test_noise_silence_and_too_little_have_no_pitch() -> None:
    noise = np.random.default_rng(2).normal(0, 1000, SAMPLE_RATE)
    assert np.isfinite(pitch(noise)[1]).mean() < 0.05
    assert not np.isfinite(pitch(silence(0.3))[1]).any()
    assert len(pitch(silence(0.01))[1]) == 0


@settings(max_examples=25, deadline=None)
@given(st.floats(0.2, 0.8), st.floats(0.2, 0.8))
def test_pauses_are_found_to_a_frame(first: float, second: float) -> None:
    signal = np.concatenate([voiced(150, 0.5), silence(first), voiced(150, 0.5), silence(second), voiced(150, 0.4)])
    found = pauses(signal, speech_threshold(signal, -100.0))
    assert found == pytest.approx([first, second], abs=0.04)
    assert pauses(voiced(150, 1.0), speech_threshold(voiced(150, 1.0), -100.0)) == []


def test_a_pause_is_found_over_a_quieter_sound() -> None:
    signal = np.concatenate([voiced(150, 0.5), silence(0.5), voiced(150, 0.5)])
    signal += np.random.default_rng(1).normal(0, 500, len(signal))
    assert pauses(signal, speech_threshold(signal, 20 * math.log10(500))) == pytest.approx([0.5], abs=0.05)


def test_words_said_again_are_nearer_than_other_words() -> None:
    query = np.concatenate([word(1), word(2)])
    again = cepstra(np.concatenate([word(5), word(1, 0.36), word(2, 0.27), word(6)]))
    others = cepstra(np.concatenate([word(key) for key in (5, 6, 7, 8)]))
    same, different = said_again(cepstra(query), again), said_again(cepstra(query), others)
    assert same < 0.5 * different
    assert said_again(cepstra(query), cepstra(query)) == 0.0
    assert math.isinf(said_again(cepstra(query), cepstra(query[:2000])))


def at(seconds: float) -> int:
    return round(seconds * SAMPLE_RATE)


def scene(number: int, behavioral: bool, voice: str) -> tuple[MixedScene, np.ndarray]:
    """One turn of six words around a gap of 0.6 s: said again with a pause, or run on, and another speaker's answer."""
    first = [word(10 * number + k) for k in range(3)]
    after = (
        [silence(0), *first[1:], silence(0.5), *first[1:]]
        if behavioral
        else [word(900 + 10 * number + k) for k in range(4)]
    )
    words: list[PlacedWord] = []
    parts: list[np.ndarray] = [silence(0.3)]

    def say(sounds: list[np.ndarray], turn: int, speaker: str) -> None:
        for sound in sounds:
            begin = sum(map(len, parts))
            parts.append(sound)
            if np.any(sound):
                words.append(
                    PlacedWord(
                        turn=turn,
                        speaker="A" if speaker == "A" else "B",
                        word="word",
                        start_sample=begin,
                        end_sample=begin + len(sound),
                        interpolated=False,
                    )
                )

    say(first, 0, "A")
    start = sum(map(len, parts))
    parts.append(silence(0.6))
    say(after, 0, "A")
    parts.append(silence(0.6))
    say([word(5), word(6)], 1, "B")
    parts.append(silence(0.3))
    signal = np.concatenate(parts)
    event = PlacedEvent(
        event=0,
        sound="dog_bark",
        reaction="behavioral" if behavioral else "ambient",
        register_id="break_restart" if behavioral else "ambient_run_on",
        take_id="x",
        turn=0,
        start_sample=start - 100,
        end_sample=start + 20_000,
        gap_start=start,
        gap_end=start + at(0.6),
        level_cdb=-2000,
        margin_cdb=1000,
        peak_limited=False,
        take_faded=False,
        scene_extended=False,
        drawn_level_cdb=-2000,
    )
    mixed = MixedScene(
        scene_id=f"t{number:05d}-0",
        template_id=f"t{number:05d}",
        split="train",
        path=f"data/scenes/t{number:05d}-0.wav",
        sha256="0" * 64,
        n_samples=len(signal),
        integrated_lufs_cdb=-2300,
        true_peak_cdb=-300,
        location="car",
        relation="r",
        roles=("a", "b"),
        genders=("F", "M"),
        voices=(voice, "other"),
        topic="t",
        transcript="",
        words=tuple(words),
        events=(event,),
    )
    return mixed, signal


def test_a_break_is_told_from_a_sentence_that_runs_on() -> None:
    found: list[Measured] = []
    for number in range(12):
        mixed, signal = scene(number, number % 2 == 1, "xy"[number // 2 % 2])
        found += measure_scene(mixed, np.round(signal).astype(np.int16))
    values = {m.scene_id: dict(zip(MEASURES, m.values, strict=True)) for m in found}
    assert values["t00001-0"]["longest_pause_s"] == pytest.approx(0.5, abs=0.05)
    assert values["t00000-0"]["pauses"] == 0
    figures = describe(found, PARAMS, 1)
    assert figures["turns"] == {"behavioral": 6, "ambient": 6} and figures["voices"] == 2
    assert figures["told_apart"]["all"]["auc"] == 1.0
    assert figures["told_apart"]["all"]["other_voices"] == 1.0
    assert figures["told_apart"]["all"]["by_register"] == {"break_restart": {"turns": 6, "auc": 1.0}}
    assert figures == describe(found, PARAMS, 1)


def test_labels_that_say_nothing_give_chance() -> None:
    rng = np.random.default_rng(3)
    turns = [
        Measured(
            f"t{n}",
            f"t{n}-0",
            "xyz"[n % 3],
            ("ambient", "behavioral")[n % 2],
            "break_restart",
            tuple(map(float, rng.normal(size=len(MEASURES)))),
        )
        for n in range(80)
    ]
    told = describe(turns, PARAMS, 1)["told_apart"]["pauses_and_pitch"]
    assert told["ci95"][0] < 0.5 < told["ci95"][1] and told["note"]


def test_too_few_turns_give_no_figure_but_a_note() -> None:
    mixed, signal = scene(1, True, "x")
    figures = describe(measure_scene(mixed, np.round(signal).astype(np.int16)), PARAMS, 1)
    assert figures["told_apart"]["all"]["auc"] is None and "too few" in figures["told_apart"]["all"]["note"]
    assert describe([], PARAMS, 1)["turns"] == {"behavioral": 0, "ambient": 0}


def test_dry_voices_and_mix_are_measured_at_the_same_places(tmp_path) -> None:
    scenes, timelines = [], []
    for number in range(4):
        mixed, signal = scene(number, number % 2 == 1, "x")
        samples = np.round(signal).astype(np.int16)
        path = f"data/speech/{mixed.scene_id}.flac"
        write_samples(tmp_path / path, samples)
        write_samples(tmp_path / mixed.path, samples)
        rules = Rules(
            placement="matched",
            decoys_wanted=0,
            decoys=0,
            duck_labels="all",
            voice_cdb=0,
            ambience_drawn_cdb=0,
            ambience_lowered_cdb=0,
            margin_cdb=0,
            master_cdb=0,
            true_peak_cdb=0,
        )
        half = len(samples) // 2
        clips = tuple(
            Clip(
                track="A",
                path=path,
                pcm_sha256=samples_digest(samples),
                source_start=first,
                n_samples=length,
                at_sample=first,
                gain_cdb=0,
            )
            for first, length in ((0, half), (half, len(samples) - half))
        )
        timelines.append(
            Timeline(
                scene_id=mixed.scene_id,
                template_id=mixed.template_id,
                split="train",
                location="car",
                genders=("F", "M"),
                n_samples=len(samples),
                room_id="r",
                ambience_take="a",
                clips=clips,
                ducks={},
                master_gain_cdb=0,
                master_lufs_cdb=0,
                words=mixed.words,
                events=mixed.events,
                gaps=(),
                rules=rules,
            )
        )
        scenes.append(mixed)
    write_records(tmp_path / "data/scenes/scenes.jsonl", scenes)
    write_records(tmp_path / "data/timelines.jsonl", timelines)
    found = break_metrics(tmp_path, PARAMS, 1)
    assert found["dry"] == found["mix"]
    assert found["dry"]["turns"] == {"behavioral": 2, "ambient": 2}
