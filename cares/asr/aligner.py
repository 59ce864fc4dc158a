"""`Aligner`: the places of known words, by one of two backends, kept in the item store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from cares.asr.align import Attention, align_words
from cares.asr.attention_ct2 import Ct2Attention
from cares.asr.attention_torch import TorchAttention
from cares.asr.types import AlignBackend, AlignedWord
from cares.asr.whisper_model import WINDOW_SECONDS, load_whisper
from cares.core.errors import CaresError
from cares.core.pcm import SAMPLE_RATE, Samples, read_samples, samples_digest
from cares.core.store import ItemStore, item_key, source_digest
from cares.models.ensure import ensure, model_digest

if TYPE_CHECKING:
    from whisper.model import Whisper

WINDOW_SAMPLES = WINDOW_SECONDS * SAMPLE_RATE
SHARED_CODE = tuple(
    f"cares.asr.{name}" for name in ("align", "aligner", "boundaries", "pieces", "types", "whisper_model")
)
CODE = {"whisper-timestamped": "cares.asr.attention_torch", "faster-whisper": "cares.asr.attention_ct2"}
LIBRARIES = {
    "whisper-timestamped": ("openai-whisper", "whisper-timestamped", "torch", "soxr"),
    "faster-whisper": ("openai-whisper", "ctranslate2", "torch", "soxr"),
}


class Aligner:
    """Puts the words of a known text in time.

    Args:
        model_id: a model of kind `asr` in the registry, in the form that the backend reads.
        backend: `whisper-timestamped` (torch) or `faster-whisper` (CTranslate2).
        store: where results are kept; by default the item store's family "asr".
        threads: torch threads while it works; CTranslate2 has one. Times are the same with any
            number; the last digits of a probability are not on some processors, so the pipeline has one.
        load: gives the torch model, if it is loaded already for something else.

    Raises:
        CaresError: the backend's library is not installed.
    """

    def __init__(
        self,
        model_id: str = "whisper-base",
        backend: AlignBackend = "whisper-timestamped",
        store: ItemStore | None = None,
        threads: int = 1,
        load: Callable[[], Whisper] | None = None,
    ) -> None:
        self.model_id, self.backend = model_id, backend
        self._threads = threads
        self._load = load
        self._store = store or ItemStore("asr")
        self._depends = {
            "model": model_digest(model_id),
            "libraries": {name: _version(name) for name in LIBRARIES[backend]},
        }

    def align(self, sound: Samples | Path, known_text: str) -> tuple[AlignedWord, ...]:
        """Put each word of `known_text` (split at white space) in time; see `cares.asr.align`.

        Args:
            sound: int16 samples [T] at 44.1 kHz, at most 30 s, or one of our sound files.
            known_text: what is said in it, and nothing else.

        Raises:
            ValueError: the sound is longer than 30 s or the text too long for one window.
            CaresError: the model is not in the backend's form.
        """
        samples = read_samples(sound) if isinstance(sound, Path) else sound
        if len(samples) > WINDOW_SAMPLES:
            raise ValueError(f"{len(samples)} samples to align, at most {WINDOW_SAMPLES} (30 s)")
        code = source_digest(*SHARED_CODE, CODE[self.backend])
        key = item_key(way="align", pcm=samples_digest(samples), text=known_text, code=code, **self._depends)
        kept = self._store.get(key)
        if kept is None:
            with torch_threads(self._threads):
                aligned = align_words(self._attention, samples, known_text.split())
            kept = self._store.put(key, [word.to_json() for word in aligned])
        return tuple(AlignedWord.parse(value, self._store.path(key)) for value in kept.value)

    @cached_property
    def _attention(self) -> Attention:
        if self.backend == "faster-whisper":
            return Ct2Attention(ensure(self.model_id))
        return TorchAttention(self._load or self._loaded)

    def _loaded(self) -> Whisper:
        return self._model

    @cached_property
    def _model(self) -> Whisper:
        folder = ensure(self.model_id)
        if not (folder / "model.safetensors").is_file():
            hint = "set align.recogniser to whisper-base, or align.backend to faster-whisper"
            raise CaresError(f"{self.model_id}: align.backend whisper-timestamped reads model.safetensors; {hint}")
        return load_whisper(folder)


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Run with so many torch threads, then with as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        extra = "faster-whisper" if library == "ctranslate2" else "build"
        raise CaresError(f"{library} is not installed; install it with: pip install -e '.[{extra}]'") from None
