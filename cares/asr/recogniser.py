"""`Recogniser`: words with times from whisper-timestamped, and known words put in time by Whisper's cross-attention.

Greedy, temperature 0 without fallback, English. Every result is kept in the item store under the sound's hash, so that
stages that hear the same sound pay once; the model is loaded only for what is not there.
"""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cares.asr.aligner import WINDOW_SAMPLES, Aligner, torch_threads
from cares.asr.types import AlignedWord, RecognisedWord
from cares.asr.whisper_model import as_heard, load_whisper, log_mel, to_sample
from cares.core.pcm import Samples, read_samples, samples_digest
from cares.core.store import ItemStore, item_key, source_digest
from cares.models.ensure import ensure, model_digest

if TYPE_CHECKING:
    from whisper.model import Whisper

OPTIONS: dict[str, Any] = {
    "language": "en",
    "task": "transcribe",
    "temperature": 0.0,
    "condition_on_previous_text": False,
    "remove_empty_words": True,
}
TEXT_OPTIONS: dict[str, Any] = {"language": "en", "task": "transcribe", "temperature": 0.0, "without_timestamps": True}
NO_SPEECH, LEAST_LOG_PROBABILITY = 0.6, -1.0
HEARING_CODE = ("cares.asr.recogniser", "cares.asr.types", "cares.asr.whisper_model")
LIBRARIES = ("openai-whisper", "whisper-timestamped", "torch", "soxr")
SHORTEST_SAMPLES = 4410
LEAST_PEAK = 33


class Recogniser:
    """Whisper with word times.

    Args:
        model_id: a model of kind `asr` in the registry.
        store: where results are kept; by default the item store's family "asr".
        threads: torch threads while it works. One a process is best where several processes share the processors.
            Words and times are the same with any number; the last digits of a probability are not on some processors.
    """

    def __init__(self, model_id: str = "whisper-base", store: ItemStore | None = None, threads: int = 1) -> None:
        self.model_id = model_id
        self._threads = threads
        self._store = store or ItemStore("asr")
        self._depends = {
            "model": model_digest(model_id),
            "libraries": {name: metadata.version(name) for name in LIBRARIES},
        }

    def words(self, sound: Samples | Path) -> tuple[RecognisedWord, ...]:
        """The words that are heard, in order, inside the file, none overlapping the next.

        Their times are whisper-timestamped's own, about 0.1 s early; `align` places the words of a known text better.

        Args:
            sound: int16 samples [T] at 44.1 kHz, or one of our sound files. Less than 0.1 s, or a peak below -60 dBFS,
                is heard as nothing; Whisper would make up a word.
        """
        samples = read_samples(sound) if isinstance(sound, Path) else sound
        code = source_digest(*HEARING_CODE)
        key = item_key(way="words", pcm=samples_digest(samples), options=OPTIONS, code=code, **self._depends)
        kept = self._store.get(key)
        if kept is None:
            with torch_threads(self._threads):
                heard = self._transcribe(samples) if _is_audible(samples) else ()
            kept = self._store.put(key, [word.to_json() for word in heard])
        return tuple(RecognisedWord.parse(value, self._store.path(key)) for value in kept.value)

    def text(self, sound: Samples | Path) -> str:
        """What is heard, without times, which is cheaper; above 30 s the words of `words` joined by spaces."""
        samples = read_samples(sound) if isinstance(sound, Path) else sound
        if len(samples) > WINDOW_SAMPLES:
            return " ".join(word.text for word in self.words(samples))
        code = source_digest(*HEARING_CODE)
        key = item_key(way="text", pcm=samples_digest(samples), options=TEXT_OPTIONS, code=code, **self._depends)
        kept = self._store.get(key)
        if kept is None:
            with torch_threads(self._threads):
                heard = self._decode(samples) if _is_audible(samples) else ""
            kept = self._store.put(key, heard)
        return str(kept.value)

    def align(self, sound: Samples | Path, known_text: str) -> tuple[AlignedWord, ...]:
        """Put each word of `known_text` (split at white space) in time; see `cares.asr.align`.

        Args:
            sound: int16 samples [T] at 44.1 kHz, at most 30 s, or one of our sound files.
            known_text: what is said in it, and nothing else.

        Raises:
            ValueError: the sound is longer than 30 s or the text too long for one window.
        """
        return self._aligner.align(sound, known_text)

    @cached_property
    def _aligner(self) -> Aligner:
        return Aligner(self.model_id, store=self._store, threads=self._threads, load=lambda: self._model)

    @cached_property
    def _model(self) -> Whisper:
        return load_whisper(ensure(self.model_id))

    def _decode(self, samples: Samples) -> str:
        """One window, greedy; nothing where Whisper's own two thresholds say that nobody speaks."""
        from whisper import DecodingOptions, decode

        mel, _ = log_mel(samples, self._model.dims.n_mels)
        found: Any = decode(self._model, mel, DecodingOptions(fp16=False, **TEXT_OPTIONS))
        nobody = found.no_speech_prob > NO_SPEECH and found.avg_logprob < LEAST_LOG_PROBABILITY
        return "" if nobody else str(found.text).strip()

    def _transcribe(self, samples: Samples) -> tuple[RecognisedWord, ...]:
        import whisper_timestamped

        heard = whisper_timestamped.transcribe(self._model, as_heard(samples), verbose=None, fp16=False, **OPTIONS)
        words: list[RecognisedWord] = []
        last = 0
        for word in (word for segment in heard["segments"] for word in segment.get("words", ())):
            start = max(to_sample(float(word["start"]), len(samples)), last)
            last = max(to_sample(float(word["end"]), len(samples)), start)
            confidence = min(max(float(word["confidence"]), 0.0), 1.0)
            text = str(word["text"]).strip()
            if text:
                words.append(RecognisedWord(text=text, start_sample=start, end_sample=last, confidence=confidence))
        return tuple(words)


def _is_audible(samples: Samples) -> bool:
    return len(samples) >= SHORTEST_SAMPLES and int(np.abs(samples.astype(np.int32)).max()) >= LEAST_PEAK
