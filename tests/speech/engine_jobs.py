"""Work for the processes that a test starts: clips spoken by the real engines."""

from __future__ import annotations

import hashlib
import sys
from typing import NamedTuple

from cares.models.ensure import ensure
from cares.speech.engines import Engine, load_engine

ENGINES: dict[str, Engine] = {}


class Clip(NamedTuple):
    """What to say and with which engine."""

    engine: str
    model: str
    voice: str
    text: str
    speed: float
    seed: int


def open_engines(search_path: str) -> None:
    """Load both engines once a process; new processes find this module by `search_path`."""
    if search_path not in sys.path:
        sys.path.append(search_path)
    for engine, model in (("kokoro", "kokoro-82m"), ("piper", "piper-joe")):
        ENGINES[engine] = load_engine(engine, model, ensure(model))


def spoken(clip: Clip) -> str:
    """Digest of a clip's samples and word times."""
    speech = ENGINES[clip.engine].speak(clip.text, clip.voice, clip.speed, clip.seed)
    return hashlib.sha256(speech.samples.tobytes() + repr(speech.words).encode()).hexdigest()
