"""Sections `timeline`, `mix` of params.yaml. Times are whole milliseconds, levels have two decimals."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from cares.core.pcm import SAMPLE_RATE
from cares.core.record import Record


def to_samples(milliseconds: int) -> int:
    """Milliseconds as samples at 44.1 kHz, rounded down; no floating point."""
    return milliseconds * SAMPLE_RATE // 1000


def to_cdb(level: float) -> int:
    """A level of at most two decimals as hundredths of a decibel."""
    return round(level * 100)


def _two_decimals(level: float) -> float:
    if abs(level * 100 - round(level * 100)) > 1e-6:
        raise ValueError("at most two decimals are kept")
    return level


def _rising(pair: tuple[int, int]) -> tuple[int, int]:
    if pair[0] > pair[1]:
        raise ValueError("the first value must not exceed the second")
    return pair


Milliseconds = Annotated[int, Field(ge=0, le=60_000)]
Range = Annotated[tuple[Milliseconds, Milliseconds], AfterValidator(_rising)]
Loudness = Annotated[float, Field(ge=-60, le=-5), AfterValidator(_two_decimals)]
Decibel = Annotated[float, Field(ge=0, le=40), AfterValidator(_two_decimals)]


class TimelineParams(Record):
    """Where things lie.

    placement: "matched": one law of gap, position and overlap for events of all labels; "paper": for behavioral ones.
    gap_ms: range of every gap at a turn boundary, around an event, and at a decoy.
    event_gap_max_ms: an event's gap grows up to this length if the sound needs it; equal to the end of gap_ms: never.
    onset_before_ms: range of the part of a sound that lies over the speech before its gap.
    release_ms: range of the pause between the end of a sound and the speech that resumes, where the sound fits the gap.
    decoys: whether as many word boundaries without a sound get a gap.
    decoy_clear_ms: least distance of a decoy from any event.
    lead_in_ms, lead_out_ms: ambience alone before the first and after the last word.
    event_max_ms: longer takes are faded out to this length.
    extension_max_ms: how long a sound may go on after the last word; beyond, it is faded.
    event_spacing_ms: a sound is faded so as to end this long before the next one begins.
    event_fade_ms: length of that fade.
    edge_fade_ms: fade at every cut in speech and ambience.
    crossfade_ms: cross-fade between repetitions of an ambience shorter than the scene.
    """

    placement: Literal["matched", "paper"]
    gap_ms: Range
    event_gap_max_ms: Milliseconds
    onset_before_ms: Range
    release_ms: Range
    decoys: bool
    decoy_clear_ms: Milliseconds
    lead_in_ms: Range
    lead_out_ms: Range
    event_max_ms: Annotated[int, Field(ge=100, le=60_000)]
    extension_max_ms: Milliseconds
    event_spacing_ms: Milliseconds
    event_fade_ms: Annotated[int, Field(ge=1, le=5_000)]
    edge_fade_ms: Annotated[int, Field(ge=1, le=50)]
    crossfade_ms: Annotated[int, Field(ge=10, le=10_000)]

    @model_validator(mode="after")
    def _event_gap_not_below(self) -> Self:
        if self.event_gap_max_ms < self.gap_ms[1]:
            raise ValueError("event_gap_max_ms must not be below the end of gap_ms")
        return self


class MixParams(Record):
    """How loud things are, before the master gain unless said.

    master_lufs: integrated loudness of the finished file; true_peak_dbtp: its greatest true peak.
    voice_lufs: integrated loudness of each speaker.
    event_lufs: levels drawn for events, each as likely; rare_lufs: level of sounds of the rare group.
    ambience_lufs, ambience_offset_db: level of the ambience and greatest drawn distance from it, up or down.
    margin_db: least level of an event above the ambience under it.
    even_out_db: by how much, at most, what is said next to a sound is brought to its speaker's own level.
    duck_db: greatest lowering of the reacting voice under a sound; drawn between half of it and all.
    duck_labels: which events duck.
    """

    master_lufs: Loudness
    true_peak_dbtp: Annotated[float, Field(ge=-20, le=0), AfterValidator(_two_decimals)]
    voice_lufs: Loudness
    event_lufs: Annotated[tuple[Loudness, ...], Field(min_length=1)]
    rare_lufs: Loudness
    ambience_lufs: Loudness
    ambience_offset_db: Annotated[float, Field(ge=0, le=12), AfterValidator(_two_decimals)]
    margin_db: Decibel
    even_out_db: Annotated[float, Field(ge=0, le=12), AfterValidator(_two_decimals)]
    duck_db: Annotated[float, Field(ge=0, le=12), AfterValidator(_two_decimals)]
    duck_labels: Literal["behavioral", "all"]
