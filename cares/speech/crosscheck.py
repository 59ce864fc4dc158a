"""The aligner against the engines' own timing, on utterances of a built set that are spoken again.

An engine's durations are what it plans, in frames of 12 ms (Piper) or 25 ms (Kokoro), and its decoder may sound a
little earlier or later throughout: `bias_ms` shows that, and the spread around it is what the two disagree in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from cares.asr.aligner import Aligner
from cares.asr.truth import NO_TIMING_ERRORS, KnownClip, TimingErrors, spread, timing_errors
from cares.core.canonical import Json, digest
from cares.core.errors import CaresError
from cares.core.executor import map_items
from cares.core.pcm import SAMPLE_RATE
from cares.core.store import ItemStore, item_key, source_digest
from cares.models.ensure import ensure, model_digest
from cares.records.speech import SceneSpeech, Utterance
from cares.speech.engines import Engine, Speech, engine_version, load_engine
from cares.speech.params import AlignParams
from cares.speech.signal import to_samples
from cares.speech.spoken import spoken_words
from cares.speech.voices import Voice, read_table

FEWEST_WORDS = 3


class Checked(NamedTuple):
    """An utterance's engine and the aligner's errors; None where the engine tells no times."""

    engine: str
    errors: TimingErrors | None


@dataclass
class _Worker:
    aligner: Aligner | None = None
    store: ItemStore | None = None
    voices: Mapping[str, Voice] = field(default_factory=dict)
    engines: dict[str, Engine] = field(default_factory=dict)


_worker = _Worker()


def cross_check(speech: Iterable[SceneSpeech], params: AlignParams) -> Json:
    """Errors by engine over `params.cross_checks` utterances, chosen by a hash of scene and place, so by nothing else.

    Utterances that were cut, are shorter than three words, or whose voice a server speaks, are left out. Words whose
    time an engine does not know by itself (it says two as one) count in nothing.
    """
    voices = read_table()
    candidates = (
        (digest([scene.scene_id, utterance.index]), utterance)
        for scene in speech
        for utterance in scene.utterances
        if not utterance.cut and len(utterance.text.split()) >= FEWEST_WORDS and not voices[utterance.voice].served
    )
    chosen = [one for _, one in nsmallest(params.cross_checks, candidates, key=lambda pair: pair[0])]
    checked = map_items(_check, chosen, desc="cross-check", setup=_set_up, setup_args=(params, voices))
    return {
        name: _figures([one.errors for one in checked if one.engine == name and one.errors is not None])
        for name in sorted({one.engine for one in checked})
    }


def known_clip(speech: Speech, text: str) -> KnownClip | None:
    """An engine's speech as a clip with known times; None where it tells none."""
    if speech.words is None:
        return None
    scale = SAMPLE_RATE / speech.rate
    starts = [None if word.start_sample is None else round(word.start_sample * scale) for word in speech.words]
    ends = [None if word.end_sample is None else round(word.end_sample * scale) for word in speech.words]
    samples = to_samples(speech.samples, speech.rate)
    return KnownClip(samples, tuple(text.split()), tuple(starts), tuple(ends))


def _figures(errors: Sequence[TimingErrors]) -> Json:
    total = sum(errors, NO_TIMING_ERRORS)
    return {"utterances": len(errors), "starts": spread(total.starts), "ends": spread(total.ends)}


def _set_up(params: AlignParams, voices: Mapping[str, Voice]) -> None:
    _worker.aligner = Aligner(params.recogniser, params.backend)
    _worker.store = ItemStore("speech")
    _worker.voices = voices
    _worker.engines = {}


def _check(utterance: Utterance) -> Checked:
    if _worker.aligner is None or _worker.store is None:
        raise CaresError("cross-check: the worker was not set up")
    voice = _worker.voices[utterance.voice]
    text = " ".join(word for words in spoken_words(utterance.text) for word in words)
    clip = _spoken(voice, text, _worker.store)
    if clip is None:
        return Checked(voice.engine, None)
    return Checked(voice.engine, timing_errors(clip, _worker.aligner.align(clip.samples, text)))


def _spoken(voice: Voice, text: str, store: ItemStore) -> KnownClip | None:
    """What `known_clip` makes of a text spoken at the voice's own pace, from the store if it is there."""
    key = item_key(
        way="cross-check",
        text=text,
        voice=voice.key(),
        model=model_digest(voice.model),
        engine=engine_version(voice.engine),
        code=source_digest("cares.speech.crosscheck", "cares.speech.signal"),
        soxr=version("soxr"),
    )
    entry = store.get(key)
    if entry is None:
        if voice.model not in _worker.engines:
            _worker.engines[voice.model] = load_engine(voice.engine, voice.model, ensure(voice.model))
        clip = known_clip(_worker.engines[voice.model].speak(text, voice.voice, 1.0, 0), text)
        value = None if clip is None else {"starts": list(clip.starts), "ends": list(clip.ends)}
        entry = store.put(key, value, b"" if clip is None else clip.samples.astype("<i2").tobytes())
    if entry.value is None:
        return None
    samples = np.frombuffer(entry.blob, "<i2").astype(np.int16)
    return KnownClip(samples, tuple(text.split()), tuple(entry.value["starts"]), tuple(entry.value["ends"]))
