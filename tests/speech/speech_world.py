"""An engine that says each word as a tone of its own, and a recogniser that knows the tones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from cares.asr.types import AlignedWord, RecognisedWord
from cares.core.pcm import SAMPLE_RATE, Samples
from cares.core.store import ItemStore
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.speech.engines import EngineError, Speech
from cares.speech.params import SpeechParams
from cares.speech.signal import FRAME, HOP, frame_levels
from cares.speech.studio import Studio
from cares.speech.voiceprint import Print
from cares.speech.voices import load_voices

DATA = Path(__file__).parents[1] / "data"
RATE = 24_000
PARAMS = SpeechParams(
    voices=(),
    recogniser="tones",
    speaker_encoder="marks",
    rate_spread_percent=6,
    trim_db=45.0,
    lead_ms=20,
    tail_ms=40,
    cut_search_ms=40,
    cut_fade_ms=20,
    max_word_error_rate=0.25,
    max_words_after=1,
    max_start_words_lost=1,
    max_end_words_lost=0,
    max_start_db=-20.0,
    max_end_db=-40.0,
    max_pause_ms=1500,
    max_flat_top_samples=8,
    max_level_off_db=6.0,
    min_voice_likeness=0.75,
    max_speakers_likeness=0.88,
    letters_per_second=(5.0, 30.0),
    tries=3,
    casts=3,
)


def bare(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())


class Tones:
    """Frequencies of words, given out as the words are met."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def frequency(self, word: str) -> float:
        if word not in self.words:
            self.words.append(word)
        return 400.0 + 40.0 * self.words.index(word)

    def nearest(self, frequency: float) -> str:
        place = round((frequency - 400.0) / 40.0)
        return self.words[place] if 0 <= place < len(self.words) else "?"


Fault = Callable[[str, str, float], str]


class ToneEngine:
    """Words as bursts; `fault(text, voice, speed)` names what goes wrong with a call, or gives ""."""

    def __init__(self, tones: Tones, fault: Fault = lambda text, voice, speed: "") -> None:
        self.tones, self.fault = tones, fault
        self.calls: list[tuple[str, str, float, int]] = []

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        self.calls.append((text, voice, speed, seed))
        fault = self.fault(text, voice, speed)
        words = [bare(word) for word in text.split() if bare(word)]
        if fault == "raises":
            raise EngineError("no sound")
        if fault == "half":
            words = words[: len(words) // 2]
        if fault == "first":
            words = words[1:]
        if fault == "tenfold":
            words = words * 10
        if fault == "twice":
            words = words * 2
        if fault == "phrase_twice":
            words = words[:3] + words
        if fault == "runs_on":
            words = [*words, "and", "so", "on"]
        if fault == "no_end":
            words = words[:-1]
        pieces = [np.zeros(RATE * 3 // 10)]
        for word in words:
            n = np.arange(round(RATE * (0.05 + 0.07 * len(word)) / speed))
            ramp = np.minimum(1.0, np.minimum(n, n[::-1]) / 120)
            mark = voice_mark("of nobody" if fault == "other_voice" else "one and all" if fault == "alike" else voice)
            tone = 0.3 * np.sin(2 * np.pi * self.tones.frequency(word) / RATE * n)
            pieces += [ramp * (tone + 0.002 * np.sin(2 * np.pi * mark / RATE * n)), np.zeros(RATE // 20)]
        if fault == "long_pause":
            pieces.insert(-2, np.zeros(2 * RATE))
        speech = np.concatenate([*pieces, np.zeros(RATE // 4)]).astype(np.float32)
        if fault == "cut_end":
            speech = speech[: -RATE // 4 - RATE // 20 - RATE // 50]
        if fault == "cut_start":
            speech = speech[RATE * 3 // 10 + RATE // 50 :]
        if fault == "quiet":
            speech *= 0.1
        if fault == "clipped":
            speech = np.clip(3 * speech, -0.5, 0.5)
        if fault == "silence":
            speech[:] = 0.0
        if fault == "nan":
            speech[len(speech) // 2] = np.nan
        if fault == "loud":
            speech *= 10
        if fault == "empty":
            speech = np.zeros(0, np.float32)
        return Speech(speech, RATE)


class ToneListener:
    """Hears the words of `ToneEngine`; those in `untimed` get no time."""

    def __init__(self, tones: Tones) -> None:
        self.tones = tones
        self.heard = 0
        self.untimed: set[str] = set()

    def words(self, sound: Samples) -> tuple[RecognisedWord, ...]:
        self.heard += 1
        return tuple(
            RecognisedWord(text=self._word(sound[start:end]), start_sample=start, end_sample=end, confidence=1.0)
            for start, end in self._bursts(sound)
        )

    def text(self, sound: Samples) -> str:
        return " ".join(word.text for word in self.words(sound))

    def align(self, sound: Samples, known_text: str) -> tuple[AlignedWord, ...]:
        known = known_text.split()
        bursts = self._bursts(sound)
        assert len(bursts) == len(known), (len(bursts), known)
        return tuple(
            AlignedWord(
                text=word, start_sample=start, end_sample=end, probability=0.9, timed=bare(word) not in self.untimed
            )
            for word, (start, end) in zip(known, bursts, strict=True)
        )

    def _word(self, burst: Samples) -> str:
        spectrum = np.abs(np.fft.rfft(burst.astype(float) * np.hanning(len(burst)), 1 << 17))
        return self.tones.nearest(float(np.argmax(spectrum)) * SAMPLE_RATE / (1 << 17))

    @staticmethod
    def _bursts(sound: Samples) -> list[tuple[int, int]]:
        if len(sound) == 0:
            return []
        loud = frame_levels(sound) > 100
        edges = np.flatnonzero(np.diff(np.concatenate([[0], loud.astype(int), [0]])))
        spans = [(int(a) * HOP, min(len(sound), (int(b) - 1) * HOP + FRAME)) for a, b in edges.reshape(-1, 2)]
        return [(start, end) for start, end in spans if end - start > 3 * FRAME]


def voice_mark(voice: str) -> float:
    """The frequency in Hz of the faint tone by which `MarkReader` knows a voice."""
    return 9000.0 + 25.0 * (sum(place * ord(letter) for place, letter in enumerate(voice, 1)) % 79)


class MarkReader:
    """The spectrum around the voices' faint tones, as a voiceprint."""

    def voiceprint(self, samples: Samples) -> Print:
        power = np.abs(np.fft.rfft(samples.astype(float), SAMPLE_RATE * 4)) ** 2
        bands = power[35_950:43_950].reshape(80, 100).sum(axis=1)
        return (bands / np.linalg.norm(bands)).astype(np.float32)


class World:
    """A studio of tones with its own store."""

    def __init__(
        self, folder: Path, fault: Fault = lambda text, voice, speed: "", params: SpeechParams = PARAMS
    ) -> None:
        self.tones = Tones()
        self.engine = ToneEngine(self.tones, fault)
        self.listener = ToneListener(self.tones)
        self.studio = Studio(
            voices=load_voices(params.voices),
            params=params,
            seed=7,
            store=ItemStore("speech", folder),
            model_digest=lambda model: f"digest of {model}",
            open_engine=lambda voice: self.engine,
            listener=self.listener,
            voiceprinter=MarkReader(),
        )


def dialogue(*turns: list[dict[str, object]], scene_id: str = "t00000-0") -> Dialogue:
    """A dialogue whose turns alternate between A and B."""
    value = {
        "scene_id": scene_id,
        "topic": "a topic of the tests",
        "attempt": 0,
        "writer": "hand",
        "evaluator": "hand",
        "topic_similarity": 1.0,
        "turns": [{"speaker": "AB"[i % 2], "segments": turn} for i, turn in enumerate(turns)],
    }
    return Dialogue.parse(value, "test")


def scene(scene_id: str = "t00000-0", genders: str = "FM", split: str = "train") -> Scene:
    """A scene without events."""
    value = {
        "scene_id": scene_id,
        "template_id": scene_id.split("-")[0],
        "split": split,
        "location": "office",
        "relation": "colleague",
        "roles": ["colleague", "colleague"],
        "genders": list(genders),
        "theme": "work",
        "n_turns": 6,
        "composition": {"pivot": 0, "verbal": 0, "behavioral": 0, "ambient": 0},
        "events": [],
    }
    return Scene.parse(value, "test")
