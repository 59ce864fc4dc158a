"""The process that speaks with coqui-tts in its own environment.

Usage: python -m cares.speech.engines.coqui_worker FOLDER

It reads one request a line from its standard input and answers each with one line of JSON, behind which the samples
follow as little-endian float32. Whatever the library prints goes to standard error. It ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import BinaryIO

from cares.core.errors import CaresError, InputError
from cares.speech.engines import EngineError


def main() -> None:
    """Load the engine, say that it is ready, and serve until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        from cares.speech.engines.coqui import CoquiEngine

        engine = CoquiEngine(Path(sys.argv[1]))
    except CaresError as error:
        _answer(answers, {"kind": "load", "message": str(error)})
        return
    _answer(answers, {"kind": "ready"})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            speech = engine.speak(request["text"], request["voice"], request["speed"], request["seed"])
        except EngineError as error:
            _answer(answers, {"kind": "text", "message": str(error)})
        except InputError as error:
            _answer(answers, {"kind": "input", "message": str(error)})
        else:
            head = {"kind": "speech", "rate": speech.rate, "n_samples": len(speech.samples), "words": speech.words}
            _answer(answers, head, speech.samples.astype("<f4").tobytes())


def _answer(answers: BinaryIO, head: dict[str, object], samples: bytes = b"") -> None:
    answers.write(json.dumps(head).encode() + b"\n" + samples)
    answers.flush()


if __name__ == "__main__":
    main()
