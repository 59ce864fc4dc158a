"""What a system that hears is asked: a recording as 16 kHz mono, 16 bit, and a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import soxr

from cares.bench.params import answer_tokens
from cares.core.canonical import file_digest
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE, Samples, encode, read_samples
from cares.core.rng import derived_seed
from cares.llm.types import ChatAnswer
from cares.records.item import Item

AUDIO_RATE = 16_000
FILTERED = "content_filter"
KEPT_RECORDINGS = 16
PULL = "Run: cares pull, or cares pull --split NAME for those of one split"


class AudioQuestion(NamedTuple):
    """One question about one recording.

    Attributes:
        item_id: whose question it is.
        prompt: the whole question.
        audio: the recording, 44.1 kHz mono 16-bit WAV.
        audio_sha256: of its bytes.
        max_tokens: most tokens of the answer.
        seed: for the server; the temperature is 0.
        choices: if not empty, nothing but one of these can be answered.
        repeat: 0, or the number of the repetition.
    """

    item_id: str
    prompt: str
    audio: Path
    audio_sha256: str
    max_tokens: int
    seed: int
    choices: tuple[str, ...] = ()
    repeat: int = 0


class AudioSystem(Protocol):
    """A model that hears.

    Attributes:
        name: under which its answers are kept.
        digest: what a key says of the model.
    """

    name: str
    digest: str

    def body(self, question: AudioQuestion) -> dict[str, Any]:
        """What of a question decides the answer, beside the model and the recording; a part of the key."""
        ...

    def answer(self, questions: Sequence[AudioQuestion], keep: Callable[[int, ChatAnswer, int], None]) -> None:
        """Answer all; `keep` gets place, answer and milliseconds of each as soon as it is there.

        Raises:
            CaresError: the system failed as a whole; what was kept stays.
        """
        ...

    def close(self) -> None:
        """Give back memory or connections."""
        ...


def audio_question(item: Item, root: Path, max_tokens: int, seed: int, constrained: bool, repeat: int) -> AudioQuestion:
    """An item as a system that hears is asked.

    Args:
        item: the frozen question.
        root: folder that the item's `audio` is relative to.
        max_tokens: length of an answer; a summary gets what its length asks for.
        seed: the data set's seed.
        constrained: whether only letters can be answered; a summary is never constrained.
        repeat: number of the repetition.
    """
    return AudioQuestion(
        item_id=item.item_id,
        prompt=item.question,
        audio=root / item.audio,
        audio_sha256=item.audio_sha256,
        max_tokens=answer_tokens(item, max_tokens),
        seed=derived_seed(seed, "bench", item.item_id, repeat),
        choices=tuple(item.letters) if constrained else (),
        repeat=repeat,
    )


def load_16k(path: Path, sha256: str) -> Samples:
    """A recording at 16 kHz: int16 [T], resampled by soxr's "VHQ".

    Raises:
        InputError: the file is missing, is not the one that was asked about, or is no 44.1 kHz mono 16-bit file.
    """
    if not path.is_file():
        raise InputError(path, "", "no such file", "a recording of the benchmark", PULL)
    if (found := file_digest(path)) != sha256:
        raise InputError(path, "sha256", found, sha256, "It is not the file that the items were made for; pull again")
    return resampled_16k(read_samples(path))


def resampled_16k(samples: Samples) -> Samples:
    """44.1 kHz int16 [T] as 16 kHz int16 [T']: in float64, then rounded, since soxr would dither integers."""
    resampled = soxr.resample(samples.astype(np.float64), SAMPLE_RATE, AUDIO_RATE, quality="VHQ")
    return np.asarray(np.clip(np.rint(resampled), -32768, 32767), np.int16)


@lru_cache(maxsize=KEPT_RECORDINGS)
def wav_16k(path: Path, sha256: str) -> bytes:
    """A recording as the bytes of a 16 kHz mono 16-bit WAV file; see `load_16k`. The last few are kept in memory."""
    return encode(load_16k(path, sha256), AUDIO_RATE, "WAV")
