"""Speech-like talk: words where it says they are, breaks as the pipeline makes them, the same for the same seed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cares.core.errors import InputError
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.corpus.lengths import AFTER, BEFORE, Lengths, lengths_of
from cares.corpus.overrides import ChangedParams
from cares.corpus.talk import Talk, make_talk
from cares.corpus.voice import Voice, make_voices
from cares.records.dialogue import Dialogue
from cares.records.scene import REACTIONS, Gender, Scene
from cares.speech.params import SpeechParams

REPO = Path(__file__).parents[2]
DATA = REPO / "tests/data"
SCENE = read_records(Scene, DATA / "scenes_small.jsonl")[0]
Voices = dict[Gender, tuple[Voice, ...]]


@pytest.fixture(scope="module")
def voices() -> Voices:
    return make_voices(1)


@pytest.fixture(scope="module")
def speech() -> SpeechParams:
    return Params(REPO / "params.yaml").section("speech", SpeechParams)


@pytest.fixture(scope="module")
def talk(voices: Voices, speech: SpeechParams) -> Talk:
    return make_talk(SCENE, Lengths(), voices, speech, 1)


def test_every_word_can_be_heard_where_it_lies(talk: Talk) -> None:
    loud = float(np.sqrt(np.square(talk.samples.astype(float)).mean()))
    for word in talk.alignment.words:
        part = talk.samples[word.start_sample : word.end_sample].astype(float)
        assert 0.05 < len(part) / 44_100 < 1.5
        assert np.sqrt(np.square(part).mean()) > loud / 10


def test_records_fit_each_other(talk: Talk) -> None:
    ends = [(u.start_sample, u.start_sample + u.n_samples) for u in talk.speech.utterances]
    assert ends[0][0] == 0 and ends[-1][1] == len(talk.samples)
    assert all(before[1] == after[0] for before, after in pairwise(ends))
    for utterance in talk.speech.utterances:
        words = [word for word in talk.alignment.words if word.utterance == utterance.index]
        assert len(words) == sum(segment.n_words for segment in utterance.segments)
        assert words[0].start_sample >= utterance.start_sample
        assert words[-1].end_sample <= utterance.start_sample + utterance.n_samples
    assert len(talk.dialogue.turns) == SCENE.n_turns


def test_each_label_is_spoken_in_its_own_way(talk: Talk) -> None:
    for index, event in enumerate(SCENE.events):
        segments = talk.dialogue.turns[event.slot].segments
        assert [segment.event for segment in segments] == [None, index, None]
        assert segments[0].delivery == ("cut" if event.reaction == "behavioral" else "plain")
        assert segments[2].delivery == ("joined" if event.reaction == "ambient" else "plain")
        spoken = [u for u in talk.speech.utterances if u.turn == event.slot]
        assert len(spoken) == (1 if event.reaction == "ambient" else 2)
        assert spoken[0].cut == (event.reaction == "behavioral")


def test_a_cut_utterance_fades_to_nothing(talk: Talk) -> None:
    (cut,) = [u for u in talk.speech.utterances if u.cut]
    part = np.abs(talk.samples[cut.start_sample : cut.start_sample + cut.n_samples].astype(float))
    assert part[-20:].max() < 0.05 * part.max()


def test_the_seed_and_nothing_else_decides(voices: Voices, speech: SpeechParams, talk: Talk) -> None:
    again = make_talk(SCENE, Lengths(), make_voices(1), speech, 1)
    assert again.speech == talk.speech and again.alignment == talk.alignment
    assert np.array_equal(again.samples, talk.samples)
    assert not np.array_equal(make_talk(SCENE, Lengths(), voices, speech, 2).samples[:44_100], talk.samples[:44_100])


def test_voices_differ_and_have_one_level(voices: Voices) -> None:
    assert len({voice.name for part in voices.values() for voice in part}) == 8
    for voice in voices["F"]:
        levels = [np.sqrt(np.square(syllable[9_000:20_000]).mean()) for syllable in voice.syllables]
        assert min(levels) > 0.8 and max(levels) < 1.25
    assert not np.array_equal(voices["F"][0].syllables[0], voices["F"][1].syllables[0])


def test_lengths_follow_one_law_or_the_label() -> None:
    from cares.core.rng import KeyedRandom

    random = KeyedRandom(1, "test")
    for reaction in REACTIONS:
        before, after = Lengths().around(reaction, random)
        assert before in BEFORE and after in AFTER
    told = Lengths((5,), {reaction: [(place + 3, 4)] for place, reaction in enumerate(REACTIONS)})
    assert [told.around(reaction, random)[0] for reaction in REACTIONS] == [3, 4, 5, 6]
    assert told.of_turn(random) == 5


def test_lengths_are_read_from_dialogues(tmp_path: Path) -> None:
    written = lengths_of(DATA / "dialogues_small.jsonl", DATA / "scenes_small.jsonl")
    assert set(written.by_label) == set(REACTIONS)
    assert all(min(pair) > 0 for pairs in written.by_label.values() for pair in pairs)
    dialogues = read_records(Dialogue, DATA / "dialogues_small.jsonl")
    write_records(tmp_path / "few.jsonl", dialogues[:1])
    with pytest.raises(InputError, match="no pivot sound"):
        lengths_of(tmp_path / "few.jsonl", DATA / "scenes_small.jsonl")
    write_records(tmp_path / "other.jsonl", [dialogues[0].model_copy(update={"scene_id": "t99999-0"})])
    with pytest.raises(InputError, match="t99999-0"):
        lengths_of(tmp_path / "other.jsonl", DATA / "scenes_small.jsonl")


def test_a_value_of_params_is_replaced_and_still_checked() -> None:
    path = REPO / "params.yaml"
    changed = ChangedParams(path, ["speech.cut_fade_ms=33", "seed=5", "allocation.splits.train=0.6"])
    assert changed.seed == 5
    assert changed.section("speech", SpeechParams).cut_fade_ms == 33
    with pytest.raises(InputError, match=r"speech\.cut_fade_ms"):
        ChangedParams(path, ["speech.cut_fade_ms=many"]).section("speech", SpeechParams)


@pytest.mark.parametrize("change", ["mix", "mix.duck=1", "mix.duck_db.deep=1", "=1", "nothing=1", "mix.duck_db=[1"])
def test_a_change_of_nothing_is_refused(change: str) -> None:
    with pytest.raises(InputError, match="command line"):
        ChangedParams(REPO / "params.yaml", [change])
