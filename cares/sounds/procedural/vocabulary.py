"""The words in which recipes are written: sources, how they repeat, and what shapes them.

A recipe is a list of layers. A layer makes grains from its source, places them by `repeat`, shapes them (see
`shapes.py`), and is set to a peak level `gain_db`; the layers are added and shaped once more.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.sounds.procedural.numbers import Curve, Cycle, Points, Span, Within
from cares.sounds.procedural.shapes import (
    ZERO,
    Decibels,
    Envelope,
    Filter,
    FixedHz,
    Hz,
    Milliseconds,
    Rate,
    Ratio,
    Seconds,
    Tail,
    Tremolo,
    Unit,
    Wander,
)

R = TypeVar("R", bound=Record)
Count = Annotated[Span, Within(1, 400)]


class Noise(Record):
    """Noise whose spectrum falls by `slope_db` an octave: 0 white, -3 pink, -6 brown."""

    kind: Literal["noise"]
    slope_db: Annotated[Span, Within(-18, 6)] = ZERO


class Tone(Record):
    """A harmonic tone: partials up to `harmonics`, each octave `tilt_db` weaker; `odd` leaves out the even ones.

    `partials`, pairs [ratio, gain in dB], replace the harmonics. `jitter` and `vibrato` are fractions of the frequency.
    """

    kind: Literal["tone"]
    hz: Hz
    harmonics: Annotated[int, Field(ge=1, le=80)] = 1
    tilt_db: Annotated[Span, Within(-36, 6)] = Span(-6.0, -6.0)
    odd: bool = False
    partials: tuple[tuple[Ratio, Decibels], ...] = ()
    jitter: Annotated[Span, Within(0, 0.5)] = ZERO
    jitter_hz: Annotated[Span, Within(0.1, 500)] = Span(20.0, 20.0)
    vibrato: Annotated[Span, Within(0, 0.5)] = ZERO
    vibrato_hz: Annotated[Span, Within(0.1, 100)] = Span(5.0, 5.0)


class Modal(Record):
    """A struck body: decaying sines [ratio to hz, seconds to fall by 60 dB, gain in dB]; the blow lasts `strike_ms`."""

    kind: Literal["modal"]
    hz: FixedHz
    modes: Annotated[tuple[tuple[Ratio, Seconds, Decibels], ...], Field(min_length=1)]
    strike_ms: Milliseconds = ZERO


class Dense(Record):
    """A struck body with `count` modes drawn between two frequencies.

    Each octave decays `damping` times as long as the one below.
    """

    kind: Literal["dense"]
    count: Count
    low_hz: FixedHz
    high_hz: FixedHz
    decay_s: Seconds
    damping: Annotated[Span, Within(0.1, 2)] = Span(0.7, 0.7)
    tilt_db: Annotated[Span, Within(-24, 12)] = ZERO
    strike_ms: Milliseconds = ZERO


class Impulses(Record):
    """A train of clicks: `jitter` 0 is regular, 1 is as irregular as a Poisson process.

    `burst_ms` makes each click a burst of noise that falls by 60 dB in that time; `spread_db` varies their gain.
    """

    kind: Literal["impulses"]
    rate_hz: Rate
    jitter: Unit = ZERO
    spread_db: Annotated[Span, Within(0, 60)] = ZERO
    burst_ms: Milliseconds = ZERO


class Bubbles(Record):
    """Drops and bubbles in water: short sines that rise a little while they decay (van den Doel 2005)."""

    kind: Literal["bubbles"]
    rate_hz: Rate
    low_hz: Hz
    high_hz: Hz
    decay_ms: Milliseconds
    rise: Annotated[Span, Within(0, 4)] = Span(0.3, 0.3)


class Group(Record):
    """Layers that make one grain together, such as the tone and the breath of one bark."""

    kind: Literal["group"]
    layers: Annotated[tuple[Layer, ...], Field(min_length=1)]


Source = Annotated[Noise | Tone | Modal | Dense | Impulses | Bubbles | Group, Field(discriminator="kind")]


class Vary(Record):
    """How grains differ from each other: fractions of pitch, length and place, and decibels."""

    pitch: Annotated[Span, Within(0, 1)] = ZERO
    length: Annotated[Span, Within(0, 1)] = ZERO
    timing: Annotated[Span, Within(0, 1)] = ZERO
    gain_db: Annotated[Span, Within(0, 40)] = ZERO


class Repeat(Record):
    """Where a layer's grains lie.

    Without `count` they fill the recipe's length. `pattern` gives the places in periods; `melodies` gives semitones:
    each take draws one list and walks through it again and again. Each period is `period_ratio` times the one before,
    each grain `gain_step_db` louder. With `redraw` every grain draws all its numbers anew; else they are the take's.
    """

    period_s: Annotated[Span, Within(0.002, 20)]
    count: Count | None = None
    pattern: tuple[Annotated[Span, Within(0, 100)], ...] = ()
    melodies: tuple[tuple[Annotated[float, Field(ge=-48, le=48)], ...], ...] = ()
    period_ratio: Annotated[Span, Within(0.3, 3)] = Span(1.0, 1.0)
    gain_step_db: Annotated[Span, Within(-20, 20)] = ZERO
    redraw: bool = False
    vary: Vary = Vary()


class Layer(Record):
    """One layer; it begins `start_s` after the fraction `start_part` of the recipe's length (or of the group's grain).

    `length_s` is the length of a grain, by default to the end of the recipe's length.
    """

    source: Source
    start_part: Unit = ZERO
    start_s: Seconds = ZERO
    length_s: Annotated[Span, Within(0.0005, 40)] | None = None
    gain_db: Annotated[Span, Within(-60, 0)] = ZERO
    repeat: Repeat | None = None
    envelope: Envelope = Envelope()
    tremolo: tuple[Tremolo, ...] = ()
    filters: tuple[Filter, ...] = ()
    wander: Wander | None = None
    swell: Annotated[Curve, Within(0, 1)] | None = None


class Recipe(Record):
    """How one sound or ambience is made; without `length_s` it lasts as long as its layers.

    `wrap`: what the tail adds beyond the end goes to the beginning, so that an ambience is as loud there as elsewhere.
    """

    layers: Annotated[tuple[Layer, ...], Field(min_length=1)]
    length_s: Annotated[Span, Within(0.02, 40)] | None = None
    drive: Annotated[Span, Within(0, 20)] = ZERO
    tail: Tail | None = None
    wrap: bool = False
    filters: tuple[Filter, ...] = ()
    fade_out_s: Annotated[Span, Within(0, 5)] = Span(0.01, 0.01)

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.length_s is None:
            for index, layer in enumerate(self.layers):
                if layer.length_s is None or (layer.repeat and not (layer.repeat.count or layer.repeat.pattern)):
                    missing = f"an end: length_s of the recipe, or length_s (and count) of layer {index}"
                    raise PydanticCustomError("recipe_end", "{missing}", {"missing": missing})
        return self


Group.model_rebuild()


def drawn(record: R, random: KeyedRandom) -> R:
    """The record with every range replaced by a value drawn from it, in the order of its fields.

    The layers of a group stay as they are: they draw their own when they are rendered.
    """
    return record.model_copy(update={name: _drawn(getattr(record, name), random) for name in type(record).model_fields})


def _drawn(value: object, random: KeyedRandom) -> object:
    if isinstance(value, (Span, Points, Cycle)):
        return value.draw(random)
    if isinstance(value, Record) and not isinstance(value, Group):
        return drawn(value, random)
    if isinstance(value, tuple):
        return tuple(_drawn(item, random) for item in value)
    return value
