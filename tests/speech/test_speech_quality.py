"""What is measured and heard in one utterance, on sounds and words whose faults are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech_world import PARAMS

from cares.asr.wer import WordErrors
from cares.core.pcm import SAMPLE_RATE, Samples
from cares.speech.checks import fault_of_measures, fault_of_words
from cares.speech.company import Standing, Voiced, fault_of_standing, faults, speakers_likeness, standings
from cares.speech.heard import differences, repeated_phrase
from cares.speech.hearing import heard_errors
from cares.speech.measures import NO_MEASURES, measure
from cares.speech.quality import fault_of_signal, flat_top_samples

WORDS = ["twenty", "letters", "and", "more"]


def tone(seconds: float, level: float = 8000.0) -> Samples:
    n = np.arange(round(seconds * SAMPLE_RATE))
    return np.rint(level * np.sin(2 * np.pi * 300 / SAMPLE_RATE * n)).astype(np.int16)


def rest(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


def joined(*parts: Samples) -> Samples:
    return np.concatenate(parts)


def test_edges_pauses_level_and_pace_are_those_that_were_made() -> None:
    found = measure(joined(rest(0.02), tone(0.6), rest(0.5), tone(0.6), rest(0.04)), WORDS)
    assert found.start_db == -math.inf
    assert found.end_db == -math.inf
    assert found.pause_ms == pytest.approx(500, abs=15)
    assert found.level_db == pytest.approx(20 * math.log10(8000 / math.sqrt(2) / 32768), abs=0.3)
    assert found.letters_per_s == pytest.approx(20 / 1.26, rel=0.03)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.05, 1.0), st.floats(0.0, 1.0), st.integers(-20, 20))
def test_a_gain_changes_the_level_alone(seconds: float, gap: float, gain_db: int) -> None:
    sound = joined(rest(0.02), tone(seconds), rest(gap), tone(0.2), rest(0.04))
    louder = np.rint(sound * 10 ** ((gain_db - 20) / 20)).astype(np.int16)
    one, two = measure(sound, WORDS), measure(louder, WORDS)
    assert two.level_db - one.level_db == pytest.approx(gain_db - 20, abs=0.5)
    assert abs(two.pause_ms - one.pause_ms) <= 10
    assert two.letters_per_s == pytest.approx(one.letters_per_s, rel=0.1)


@pytest.mark.parametrize("sound", [rest(0.0), rest(1.0)])
def test_silence_has_no_measures(sound: Samples) -> None:
    assert measure(sound, WORDS) == NO_MEASURES


@pytest.mark.parametrize(
    ("sound", "fault"),
    [
        (joined(rest(0.02), tone(1.4), rest(0.04)), ""),
        (joined(tone(1.4), rest(0.04)), "truncated_start"),
        (joined(rest(0.02), tone(1.4)), "truncated_end"),
        (joined(rest(0.02), tone(0.7), rest(2.0), tone(0.7), rest(0.04)), "pause_inside"),
        (joined(rest(0.02), tone(0.3), rest(0.04)), "too_short"),
        (joined(rest(0.02), tone(14.0), rest(0.04)), "too_long"),
        (joined(rest(0.02), tone(6.0), rest(0.04)), "too_long"),
    ],
)
def test_what_is_measured_names_the_fault(sound: Samples, fault: str) -> None:
    assert fault_of_measures(measure(sound, WORDS), len(sound), WORDS, PARAMS) == fault


def test_more_than_the_aligner_hears_at_once_is_too_long_whatever_is_said() -> None:
    sound, words = joined(rest(0.02), tone(31.0), rest(0.04)), ["word"] * 120
    assert fault_of_measures(measure(sound, words), len(sound), words, PARAMS) == "too_long"


@pytest.mark.parametrize(("limit", "fewest", "most"), [(1.0, 0, 0), (0.5, 500, 24_000)])
def test_only_a_clipped_wave_has_flat_tops(limit: float, fewest: int, most: int) -> None:
    n = np.arange(24_000)
    speech = np.clip(0.9 * np.sin(2 * np.pi * 220.3 / 24_000 * n), -limit, limit).astype(np.float32)
    assert fewest <= flat_top_samples(speech) <= most
    assert flat_top_samples(np.zeros(100, np.float32)) == 0


@pytest.mark.parametrize(("value", "fault"), [(np.nan, "not_finite"), (np.inf, "not_finite"), (0.0, "silent")])
def test_samples_that_are_no_speech_are_named(value: float, fault: str) -> None:
    speech = np.zeros(1000, np.float32)
    speech[500] = value
    assert fault_of_signal(speech) == fault


SENTENCE = "we could paint the old fence on sunday if the rain stays away from here"


@pytest.mark.parametrize(
    ("heard", "fault"),
    [
        (SENTENCE, ""),
        (SENTENCE.replace("fence", "bench"), ""),
        (f"{SENTENCE} {SENTENCE}", "repeated"),
        (SENTENCE.replace("the old fence", "the old fence the old fence"), "repeated"),
        (SENTENCE.replace("on sunday", "on sunday on sunday"), "repeated"),
        (f"{SENTENCE} and thank you", "runs_on"),
        (SENTENCE.removesuffix(" here"), "end_lost"),
        (SENTENCE.removeprefix("we could "), "start_lost"),
        (" ".join(SENTENCE.split()[:7]), "end_lost"),
        ("they should print a cold bench if the train stays away from here", "misheard"),
        ("", "misheard"),
    ],
)
def test_what_is_heard_names_the_fault(heard: str, fault: str) -> None:
    wanted = SENTENCE.split()
    assert fault_of_words(wanted, heard, heard_errors(wanted, heard), cut=False, params=PARAMS) == fault


def test_at_a_cut_the_end_is_not_held_against_it() -> None:
    wanted = ["take", "your", "coat", "if", "you"]
    for heard in ("take your coat if", "take your coat if you have"):
        errors = heard_errors(wanted, heard)
        assert fault_of_words(wanted, heard, errors, cut=True, params=PARAMS) == ""
    lost = WordErrors(n_reference=5, substitutions=0, deletions=5, insertions=0)
    assert fault_of_words(wanted, "", lost, cut=True, params=PARAMS) == "misheard"


@pytest.mark.parametrize(
    ("written", "heard", "phrase"),
    [
        ("no no no it is mine", "no no no it is mine", ""),
        ("it is mine and it is mine", "it is mine and it is mine", ""),
        ("alright then", "alright then alright then", "alright then"),
        ("yes", "yes yes", "yes"),
        ("yes he can", "yes yes he can", ""),
    ],
)
def test_what_the_text_repeats_itself_is_no_fault(written: str, heard: str, phrase: str) -> None:
    assert repeated_phrase(written.split(), heard.split()) == phrase


@settings(deadline=None)
@given(st.lists(st.sampled_from(["one", "two", "three", "four", "five", "six", "seven"]), min_size=1, max_size=12))
def test_a_text_that_is_heard_as_written_has_no_differences(words: list[str]) -> None:
    assert differences([f"w{word}" for word in words], " ".join(f"w{word}" for word in words)) == ("", 0, 0, 0)


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def test_the_one_who_sounds_like_the_other_speaker_stands_out() -> None:
    a, b = unit(1, 0.1, 0), unit(0.1, 1, 0)
    scene = [Voiced("A", a, -25.0), Voiced("B", b, -25.0), Voiced("A", a, -25.5), Voiced("A", b, -24.5), None]
    placed = standings(scene)
    assert [fault_of_standing(one, PARAMS) for one in placed if one is not None] == ["", "", "", "other_voice"]
    assert placed[-1] is None
    assert placed[1] is not None and placed[1].own is None
    likeness = speakers_likeness(scene)
    assert likeness is not None and 0.2 < likeness < 0.9


def test_a_wrong_voice_among_few_is_named_and_not_the_right_ones_beside_it() -> None:
    right, wrong = unit(1, 0, 0), unit(0, 0, 1)
    scene = [Voiced("A", right, -25.0), Voiced("A", wrong, -25.0), Voiced("A", right, -25.0)]
    placed = standings(scene)
    assert [fault_of_standing(one, PARAMS) for one in placed if one] == ["other_voice"] * 3
    assert faults(scene, placed, PARAMS) == ["", "other_voice", ""]
    two = scene[:2]
    assert faults(two, standings(two), PARAMS) == ["other_voice", "other_voice"]


def test_a_level_far_from_the_speakers_median_and_a_short_utterance() -> None:
    scene = [Voiced("A", None, -25.0), Voiced("A", None, -26.0), Voiced("A", None, -40.0)]
    assert [fault_of_standing(one, PARAMS) for one in standings(scene) if one] == ["", "", "other_level"]
    assert speakers_likeness(scene) is None
    assert fault_of_standing(Standing(None, None, 0.0), PARAMS) == ""
