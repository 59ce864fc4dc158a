"""The stand-ins of tests/scale behind the item store, as the real ones are; each says when it would load its model.

They are imported when they are first asked: they import what they stand in for.
"""

import contextlib
import os
import zlib

import numpy as np
from counted_log import note

from cares.core.pcm import read_samples, samples_digest
from cares.core.store import ItemStore, item_key


def model_identity(model_id, params):
    """As `cares.llm.open.model_identity`."""
    from stand_in_writer import model_identity as identity

    return identity(model_id, params)


def open_llm(model_id, params):
    """As `cares.llm.open.open_llm`."""
    from stand_in_writer import InstantWriter

    class Writer(InstantWriter):
        def complete(self, wave):
            # the stand-in of tests/scale writes by the seed alone; here a changed prompt changes what is written
            answers = super().complete([_seeded_by_prompt(request) for request in wave])
            note("asked", len(wave), sum(answer.completion_tokens for answer in answers))
            return answers

    note("loaded", "language model")
    return contextlib.closing(Writer(model_id))


def load_engine(name, model, *given, **named):
    """As `cares.speech.engines.load_engine`."""
    from stand_in_voice import load_engine as load

    class Engine:
        def speak(self, text, voice, speed, seed):
            note("spoke", f"{model}/{voice}")
            return engine.speak(text, voice, speed, seed)

    note("loaded", "voice")
    engine = load(name, model, *given, **named)
    return Engine()


class _Ear:
    def __init__(self, model_id, store, family):
        self.model_id, self._store = model_id, store or ItemStore(family)
        self.made = 0

    def _kept(self, way, samples, text, make, blob=False):
        key = item_key(way=way, pcm=samples_digest(samples), text=text, model=self.model_id)
        entry = self._store.get(key)
        if entry is None:
            if not self.made:
                note("loaded", "recogniser" if way != "voiceprint" else "speaker encoder")
            self.made += 1
            made = make()
            entry = self._store.put(key, None, made.tobytes()) if blob else self._store.put(key, made)
        return entry


class Recogniser(_Ear):
    """As `cares.asr.recogniser.Recogniser`."""

    def __init__(self, model_id="whisper-base", store=None, threads=1):
        super().__init__(model_id, store, "asr")

    def words(self, sound):
        """Words with their places."""
        from stand_in_ears import Recogniser as Instant

        from cares.asr.types import RecognisedWord

        samples = _samples(sound)

        def heard():
            words = [word.to_json() for word in Instant(self.model_id).words(samples)]
            # of a mix the stand-in of tests/scale always hears the same; here other samples are other words
            return words if os.environ.get("ECONOMY_STAGE") != "transcribe" else _turned(words, samples)

        kept = self._kept("words", samples, "", heard)
        return tuple(RecognisedWord.parse(value, "store") for value in kept.value)

    def text(self, sound):
        """The words without their places."""
        from stand_in_ears import Recogniser as Instant

        samples = _samples(sound)
        return self._kept("text", samples, "", lambda: Instant(self.model_id).text(samples)).value

    def align(self, sound, known_text):
        """See `Aligner`."""
        return Aligner(self.model_id, store=self._store).align(sound, known_text)


class Aligner(_Ear):
    """As `cares.asr.aligner.Aligner`."""

    def __init__(self, model_id="whisper-base", backend="whisper-timestamped", store=None, threads=1, load=None):
        super().__init__(model_id, store, "asr")
        self.backend = backend

    def align(self, sound, known_text):
        """The place of each word."""
        from stand_in_ears import Aligner as Instant

        from cares.asr.types import AlignedWord

        samples = _samples(sound)
        instant = Instant(self.model_id, self.backend)
        made = self._kept(
            "align", samples, known_text, lambda: [word.to_json() for word in instant.align(samples, known_text)]
        )
        return tuple(AlignedWord.parse(value, "store") for value in made.value)


class SpeakerEncoder(_Ear):
    """As `cares.speech.voiceprint.SpeakerEncoder`."""

    def __init__(self, model_id, store=None):
        super().__init__(model_id, store, "voiceprint")

    def voiceprint(self, samples):
        """float32 [256] of length 1."""
        from stand_in_ears import SpeakerEncoder as Instant

        kept = self._kept("voiceprint", samples, "", lambda: Instant(self.model_id).voiceprint(samples), blob=True)
        return np.frombuffer(kept.blob, "<f4")


def _samples(sound):
    return sound if isinstance(sound, np.ndarray) else read_samples(sound)


def _seeded_by_prompt(request):
    asked = "\n".join(message.content for message in request.messages)
    return request.model_copy(update={"seed": zlib.crc32(f"{request.seed} {asked}".encode()) >> 1})


def _turned(words, samples):
    by = zlib.crc32(samples.tobytes()) % len(words)
    texts = [word["text"] for word in words]
    return [word | {"text": text} for word, text in zip(words, texts[by:] + texts[:by], strict=True)]
