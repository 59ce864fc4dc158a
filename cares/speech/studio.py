"""One worker's engines and recogniser: an utterance is spoken, cut if it must be, and heard.

What an engine gives is kept in the item store under everything that it depends on, so a killed run resumes at the next
utterance, and other thresholds or margins speak nothing again.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import soundfile

from cares.asr.wer import WordErrors
from cares.core.pcm import Samples, encode
from cares.core.rng import derived_seed
from cares.core.store import ItemStore, item_key, source_digest
from cares.speech.checks import fault_of_measures, fault_of_pace, fault_of_words
from cares.speech.company import SHORTEST_SAMPLES, Voiced, faults, standings
from cares.speech.engines import Engine, EngineError, engine_version
from cares.speech.hearing import Listener, heard_errors
from cares.speech.measures import NO_MEASURES, Measures, measure
from cares.speech.packing import texts_together
from cares.speech.params import SpeechParams
from cares.speech.quality import fault_of_signal, flat_top_samples
from cares.speech.script import Line
from cares.speech.signal import cut_after, speech_span, to_samples
from cares.speech.voiceprint import Voiceprinter
from cares.speech.voices import Voice

_NOTHING: Samples = np.zeros(0, np.int16)
NO_ERRORS = WordErrors(n_reference=0, substitutions=0, deletions=0, insertions=0)
# each further try is slower or faster by this much more, in turn
PACE_STEP = 0.06


class Take(NamedTuple):
    """An utterance as spoken and, once it was heard, as heard; `fault` names why it may not be used, or is "".

    `likeness` is the cosine of its voiceprint with those of the speaker's others, once they were compared.
    """

    samples: Samples
    engine: str
    fault: str = ""
    heard: str = ""
    errors: WordErrors = NO_ERRORS
    measures: Measures = NO_MEASURES
    likeness: float | None = None


class Studio:
    """Speaks and checks lines.

    Args:
        voices: the table of voices.
        params: the section `speech`.
        seed: the data set's seed.
        store: where the engines' samples are kept.
        model_digest: digest of a model's weights by its id.
        open_engine: loads the engine of a voice; called when the first utterance is not in the store.
        listener: the recogniser.
        voiceprinter: tells voices apart.
    """

    def __init__(
        self,
        voices: dict[str, Voice],
        params: SpeechParams,
        seed: int,
        store: ItemStore,
        model_digest: Callable[[str], str],
        open_engine: Callable[[Voice], Engine],
        listener: Listener,
        voiceprinter: Voiceprinter,
    ) -> None:
        self.voices = voices
        self.params = params
        self.seed = seed
        self._store = store
        self._model_digest = cache(model_digest)
        self._engine_version = cache(engine_version)
        self._open_engine = open_engine
        self._engines: dict[str, Engine] = {}
        self._listener = listener
        self._voiceprinter = voiceprinter

    def speak(self, line: Line, scene_id: str, index: int, voice_id: str, pace: float, attempt: int) -> Take:
        """Speak a line once; it is not heard yet.

        Args:
            line: what to say.
            scene_id, index: the utterance; its seed follows from them and from `attempt`.
            voice_id: who says it.
            pace: the speaker's pace in this scene.
            attempt: 0 first; later ones are a little slower or faster than `pace`.
        """
        step = (attempt + 1) // 2 * (-1 if attempt % 2 else 1)
        speed = round(pace + PACE_STEP * step, 2)
        seed = derived_seed(self.seed, "utterance", scene_id, index, attempt)
        spoken, fault = self._spoken(" ".join(line.aloud), voice_id, speed, seed)
        if not fault:
            spoken, fault = self._shaped(spoken, line)
        measures = measure(spoken, line.heard)
        fault = fault or fault_of_pace(measures, len(spoken), line.heard, self.params)
        return Take(spoken, self.voices[voice_id].recorded_engine, fault, measures=measures)

    def hear(self, take: Take, line: Line) -> Take:
        """A take with what the recogniser hears in it alone; one that has a fault already stays as it is."""
        return take if take.fault else self._judged(take, line, self._listener.text(take.samples))

    def hear_together(self, takes: Sequence[Take], lines: Sequence[Line]) -> list[Take]:
        """The takes heard together, which is faster; one that seems misheard so is heard again alone."""
        sound = [index for index, take in enumerate(takes) if not take.fault]
        heard = texts_together([takes[index].samples for index in sound], self._listener)
        judged = list(takes)
        for index, text in zip(sound, heard, strict=True):
            judged[index] = self._judged(takes[index], lines[index], text)
            if judged[index].fault:
                judged[index] = self.hear(takes[index], lines[index])
        return judged

    def _judged(self, take: Take, line: Line, heard: str) -> Take:
        errors = heard_errors(line.heard, heard)
        return take._replace(
            heard=heard, errors=errors, fault=fault_of_words(line.heard, heard, errors, line.cut, self.params)
        )

    def compare(self, takes: Sequence[Take], lines: Sequence[Line]) -> list[Take]:
        """The takes of a scene, those without a fault judged beside each other."""
        scene = self.voiced(takes, lines)
        placed = standings(scene)
        found = faults(scene, placed, self.params)
        return [
            take if one is None else take._replace(likeness=one.own, fault=fault)
            for take, one, fault in zip(takes, placed, found, strict=True)
        ]

    def voiced(self, takes: Sequence[Take], lines: Sequence[Line]) -> list[Voiced | None]:
        """What `cares.speech.company` compares; None for a take with a fault."""

        def voiced(take: Take, line: Line) -> Voiced | None:
            if take.fault:
                return None
            long = len(take.samples) >= SHORTEST_SAMPLES
            voiceprint = self._voiceprinter.voiceprint(take.samples) if long else None
            return Voiced(line.speaker, voiceprint, take.measures.level_db)

        return [voiced(take, line) for take, line in zip(takes, lines, strict=True)]

    def _spoken(self, text: str, voice_id: str, speed: float, seed: int) -> tuple[Samples, str]:
        """The engine's samples and the name of what is wrong with them, from the store if they are there."""
        voice = self.voices[voice_id]
        key = item_key(
            text=text,
            voice=voice.key(),
            model="served" if voice.served else self._model_digest(voice.model),
            speed=speed,
            seed=seed,
            code=source_digest("cares.speech.signal", "cares.speech.quality"),
            engine=self._engine_version(voice.engine),
            soxr=version("soxr"),
        )
        entry = self._store.get(key)
        if entry is None:
            samples, fault, flat = self._synthesised(text, voice, speed, seed)
            if fault and voice.served:  # a server may be mended, and is asked again
                return _NOTHING, fault
            entry = self._store.put(key, {"fault": fault, "flat_tops": flat}, b"" if fault else encode(samples))
        if fault := str(entry.value["fault"]):
            return _NOTHING, fault
        if entry.value["flat_tops"] > self.params.max_flat_top_samples:
            return _NOTHING, "clipped"
        samples, _ = soundfile.read(io.BytesIO(entry.blob), dtype="int16")
        return samples, ""

    def _synthesised(self, text: str, voice: Voice, speed: float, seed: int) -> tuple[Samples, str, int]:
        if voice.model not in self._engines:
            self._engines[voice.model] = self._open_engine(voice)
        engine = self._engines[voice.model]
        try:
            speech = engine.speak(text, voice.voice, speed, seed)
        except EngineError:
            return _NOTHING, "engine_error", 0
        fault = fault_of_signal(speech.samples)
        if fault:
            return _NOTHING, fault, 0
        return to_samples(speech.samples, speech.rate), "", flat_top_samples(speech.samples)

    def _shaped(self, spoken: Samples, line: Line) -> tuple[Samples, str]:
        """Without the silence around it, and cut if the line is."""
        params = self.params
        start, end = speech_span(spoken, params.trim_db, params.lead_ms, params.tail_ms)
        trimmed = spoken[start:end]
        fault = fault_of_measures(measure(trimmed, line.aloud), len(trimmed), line.aloud, params)
        if fault or not line.cut:
            return trimmed, fault
        places = self._listener.align(trimmed, " ".join(line.aloud))
        last, following = places[line.n_heard - 1], places[line.n_heard]
        if not (last.timed and following.timed):
            return trimmed, "no_place_to_cut"
        return cut_after(trimmed, last.end_sample, following.start_sample, params.cut_search_ms, params.cut_fade_ms), ""
