"""The words of a recipe that shape a sound: envelopes, swings of the gain, filters, and what surroundings add."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.sounds.procedural.numbers import Curve, Shape, Span, Within

Hz = Annotated[Curve, Within(10, 20_000)]
FixedHz = Annotated[Span, Within(10, 20_000)]
Rate = Annotated[Curve, Within(0.05, 4_000)]
Ratio = Annotated[Span, Within(0.02, 60)]
Seconds = Annotated[Span, Within(0, 40)]
Milliseconds = Annotated[Span, Within(0, 2_000)]
Decibels = Annotated[Span, Within(-80, 40)]
Unit = Annotated[Span, Within(0, 1)]
ZERO = Span(0.0, 0.0)


class Lowpass(Record):
    """Butterworth low-pass."""

    kind: Literal["lowpass"]
    hz: FixedHz
    order: Annotated[int, Field(ge=1, le=8)] = 2


class Highpass(Record):
    """Butterworth high-pass."""

    kind: Literal["highpass"]
    hz: FixedHz
    order: Annotated[int, Field(ge=1, le=8)] = 2


class Bandpass(Record):
    """Butterworth band-pass."""

    kind: Literal["bandpass"]
    low_hz: FixedHz
    high_hz: FixedHz
    order: Annotated[int, Field(ge=1, le=8)] = 2


class Peak(Record):
    """A resonance: peaking equaliser (R. Bristow-Johnson's cookbook)."""

    kind: Literal["peak"]
    hz: FixedHz
    q: Annotated[Span, Within(0.1, 400)]
    gain_db: Decibels


class FormantPeak(Record):
    """One formant: centre (a curve), bandwidth and level."""

    hz: Hz
    width_hz: Annotated[Span, Within(20, 8_000)]
    gain_db: Decibels = ZERO


class Formants(Record):
    """Moving resonances in parallel; between them `floor_db` of the source is left."""

    kind: Literal["formants"]
    peaks: Annotated[tuple[FormantPeak, ...], Field(min_length=1)]
    floor_db: Decibels = Span(-40.0, -40.0)


class Sweep(Record):
    """A band-pass whose edges move; 12 dB an octave outside."""

    kind: Literal["sweep"]
    low_hz: Hz
    high_hz: Hz


Filter = Annotated[Lowpass | Highpass | Bandpass | Peak | Formants | Sweep, Field(discriminator="kind")]


class Envelope(Record):
    """How a grain swells and fades: times in seconds (`decay_s`: to fall by 60 dB), or a `curve` of the gain."""

    attack_s: Seconds = Span(0.001, 0.001)
    hold_s: Seconds = ZERO
    decay_s: Seconds | None = None
    release_s: Seconds = Span(0.005, 0.005)
    curve: Annotated[Curve, Within(0, 1)] | None = None


class Tremolo(Record):
    """A periodic swing of the gain between 1 and 1 - depth."""

    hz: Rate
    depth: Unit
    shape: Shape = "sine"


class Wander(Record):
    """A random slow swing of the gain by up to `depth_db` downwards."""

    rate_hz: Annotated[Span, Within(0.05, 200)]
    depth_db: Annotated[Span, Within(0, 60)]


class Tail(Record):
    """What surroundings add: noise below `high_hz` that falls by 60 dB in `decay_s`, at `gain_db` to the peak."""

    decay_s: Seconds
    high_hz: FixedHz
    gain_db: Annotated[Span, Within(-60, 6)]
