"""A scene's talk as the pipeline's stages would hand it on: dialogue, speech, alignment and samples.

A behavioral sound breaks a sentence off: more of it is spoken than is heard, and it is cut as the speech stage cuts. An
ambient one lies between two words of one utterance. Before a pivot or verbal sound a sentence ends. How words of an
utterance differ in level and length follows what was measured on synthesised speech of the embedded voices: the first
word 1.5 dB above the utterance's mean, the last one 4 dB below it and a third longer, the others falling by 1 dB, with
a spread of 5 dB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cares.core.pcm import SAMPLE_RATE, Samples, samples_digest
from cares.core.rng import KeyedRandom, derived_seed
from cares.corpus.lengths import Lengths
from cares.corpus.voice import Signal, Voice
from cares.records.dialogue import Dialogue, Segment, Turn
from cares.records.scene import Gender, Reaction, Scene, Speaker
from cares.records.speech import SceneAlignment, SceneSpeech, SpokenSegment, Utterance, Word
from cares.speech.params import SpeechParams
from cares.speech.signal import cut_after

SPEECH_FOLDER = "data/speech"
_RMS = 2_000.0
_FADE = SAMPLE_RATE // 80
_BREATH = 3.0
_SYLLABLES = (1, 1, 1, 1, 1, 2, 2, 2, 3)
_SYLLABLE_MS = (90, 240)
_CLOSURES_MS = ((0, 0), (0, 0), (0, 0), (0, 0), (20, 60), (20, 60), (20, 60), (60, 150), (60, 150), (150, 400))
_FIRST_DB, _SECOND_DB, _FALL_DB, _LAST_DB, _SPREAD_DB = 1.5, -1.3, -1.0, -4.0, 5.0
_LAST_LONGER = 1.35
_SPEAKERS: tuple[Speaker, ...] = ("A", "B")


@dataclass(frozen=True)
class Talk:
    """All that the timeline stage needs of a scene, and its speech [T]."""

    dialogue: Dialogue
    speech: SceneSpeech
    alignment: SceneAlignment
    samples: Samples


def make_talk(
    scene: Scene, lengths: Lengths, voices: Mapping[Gender, Sequence[Voice]], params: SpeechParams, seed: int
) -> Talk:
    """The talk of a scene: a function of its arguments."""
    random = KeyedRandom(seed, "corpus_talk", scene.scene_id)
    turns = _turns(scene, lengths, random)
    cast = {speaker: random.choice(voices[gender]) for speaker, gender in zip(_SPEAKERS, scene.genders, strict=True)}
    stage = _Stage(scene, cast, params, random, seed)
    for number, turn in enumerate(turns):
        stage.speak(number, turn)
    return stage.talk(turns)


def _turns(scene: Scene, lengths: Lengths, random: KeyedRandom) -> tuple[Turn, ...]:
    events = {event.slot: index for index, event in enumerate(scene.events)}
    turns = []
    for number in range(scene.n_turns):
        if number in events:
            reaction = scene.events[events[number]].reaction
            before, after = lengths.around(reaction, random)
            segments = _around(reaction, events[number], _words(before), _words(after))
        else:
            segments = (Segment(text=_words(lengths.of_turn(random))),)
        turns.append(Turn(speaker=_SPEAKERS[number % 2], segments=segments))
    return tuple(turns)


def _around(reaction: Reaction, event: int, before: str, after: str) -> tuple[Segment, ...]:
    first = Segment(text=before)
    if reaction == "behavioral":
        first = Segment(text=before, delivery="cut", spoken_as=f"{before} {_words(3)}")
    return first, Segment(event=event), Segment(text=after, delivery="joined" if reaction == "ambient" else "plain")


def _words(count: int) -> str:
    return " ".join(["la"] * count)


class _Stage:
    """Speaks utterances one behind the other."""

    def __init__(
        self, scene: Scene, cast: Mapping[Speaker, Voice], params: SpeechParams, random: KeyedRandom, seed: int
    ) -> None:
        self._scene, self._cast, self._params, self._random = scene, cast, params, random
        self._noise = np.random.default_rng(derived_seed(seed, "corpus_breath", scene.scene_id))
        spread = params.rate_spread_percent / 100
        self._pace = {speaker: random.uniform(1 - spread, 1 + spread) for speaker in _SPEAKERS}
        self._parts: list[Samples] = []
        self._utterances: list[Utterance] = []
        self._words: list[Word] = []
        self._at = 0

    def speak(self, number: int, turn: Turn) -> None:
        """All utterances of a turn."""
        groups: list[list[tuple[int, Segment]]] = []
        for index, segment in enumerate(turn.segments):
            if segment.event is not None:
                continue
            if segment.delivery == "joined":
                groups[-1].append((index, segment))
            else:
                groups.append([(index, segment)])
        for group in groups:
            counts = [len(segment.text.split()) for _, segment in group]
            cut = group[0][1].delivery == "cut"
            unheard = self._random.between(2, 6) if cut else 0
            samples, spans = self._utter(turn.speaker, sum(counts) + unheard)
            if cut:
                heard = sum(counts)
                search, fade = self._params.cut_search_ms, self._params.cut_fade_ms
                samples = cut_after(samples, spans[heard - 1][1], spans[heard][0], search, fade)
                spans = [(start, min(end, len(samples))) for start, end in spans[:heard]]
            self._keep(number, turn.speaker, group, counts, cut, samples, spans)

    def talk(self, turns: tuple[Turn, ...]) -> Talk:
        """What was spoken."""
        scene_id, samples = self._scene.scene_id, np.concatenate(self._parts)
        dialogue = Dialogue(
            scene_id=scene_id, topic="none", attempt=0, writer="", evaluator="", topic_similarity=0.0, turns=turns
        )
        speech = SceneSpeech(
            scene_id=scene_id,
            split=self._scene.split,
            path=f"{SPEECH_FOLDER}/{scene_id}.wav",
            pcm_sha256=samples_digest(samples),
            voices=(self._cast["A"].name, self._cast["B"].name),
            utterances=tuple(self._utterances),
        )
        return Talk(dialogue, speech, SceneAlignment(scene_id=scene_id, words=tuple(self._words)), samples)

    def _utter(self, speaker: Speaker, count: int) -> tuple[Samples, list[tuple[int, int]]]:
        """An utterance of `count` words with its silence before and after, and where its words lie."""
        random, level = self._random, self._random.uniform(-1, 1)
        lead, tail = (ms * SAMPLE_RATE // 1000 for ms in (self._params.lead_ms, self._params.tail_ms))
        parts: list[Signal] = [np.zeros(lead, np.float32)]
        spans: list[tuple[int, int]] = []
        at = lead
        for place in range(count):
            last = place == count - 1
            longer = _LAST_LONGER if last else 1.0
            word = self._word(self._cast[speaker], longer / self._pace[speaker])
            spread = sum(random.uniform(-1, 1) for _ in range(3)) * _SPREAD_DB
            word *= np.float32(_RMS * 10 ** ((level + _position_db(place, count) + spread) / 20))
            spans.append((at, at + len(word)))
            silence = 0 if last else random.between(*random.choice(_CLOSURES_MS)) * SAMPLE_RATE // 1000
            parts += [word, np.zeros(silence, np.float32)]
            at += len(word) + silence
        parts.append(np.zeros(tail, np.float32))
        signal = np.concatenate(parts)
        signal += _BREATH * self._noise.standard_normal(len(signal), np.float32)
        return np.clip(np.rint(signal), -32_000, 32_000).astype(np.int16), spans

    def _word(self, voice: Voice, stretch: float) -> Signal:
        parts = []
        for _ in range(self._random.choice(_SYLLABLES)):
            wanted = round(self._random.between(*_SYLLABLE_MS) * stretch * SAMPLE_RATE / 1000)
            syllable = self._random.choice(voice.syllables)[:wanted].copy()
            syllable[-_FADE:] *= np.linspace(1, 0.1, _FADE, dtype=np.float32)
            parts.append(syllable)
        return np.concatenate(parts)

    def _keep(
        self,
        number: int,
        speaker: Speaker,
        group: Sequence[tuple[int, Segment]],
        counts: Sequence[int],
        cut: bool,
        samples: Samples,
        spans: Sequence[tuple[int, int]],
    ) -> None:
        utterance = Utterance(
            index=len(self._utterances),
            turn=number,
            speaker=speaker,
            text=" ".join(segment.text for _, segment in group),
            segments=tuple(
                SpokenSegment(turn=number, segment=index, n_words=count)
                for (index, _), count in zip(group, counts, strict=True)
            ),
            cut=cut,
            voice=self._cast[speaker].name,
            engine="corpus",
            tries=1,
            word_error_rate=0.0,
            start_sample=self._at,
            n_samples=len(samples),
        )
        self._words += [
            Word(
                utterance=utterance.index,
                word="la",
                start_sample=self._at + start,
                end_sample=self._at + end,
                confidence=1.0,
                interpolated=False,
            )
            for start, end in spans
        ]
        self._utterances.append(utterance)
        self._parts.append(samples)
        self._at += len(samples)


def _position_db(place: int, count: int) -> float:
    if place == 0:
        return _FIRST_DB
    if place == count - 1:
        return _LAST_DB
    return _SECOND_DB + _FALL_DB * (place - 1) / max(1, count - 3)
