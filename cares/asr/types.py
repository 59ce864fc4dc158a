"""Words as a recogniser gives them; times are samples at 44,100 Hz from the start of what was heard."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record

AlignBackend = Literal["whisper-timestamped", "faster-whisper"]
Sample = Annotated[int, Field(ge=0)]
Probability = Annotated[float, Field(ge=0, le=1)]


class RecognisedWord(Record):
    """A word that was heard, with its punctuation."""

    text: str
    start_sample: Sample
    end_sample: Sample
    confidence: Probability


class AlignedWord(Record):
    """A word of a known text and where it lies. Without a plausible time, `timed` is false and both samples a guess."""

    text: str
    start_sample: Sample
    end_sample: Sample
    probability: Probability
    timed: bool
