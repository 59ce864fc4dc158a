"""The numbers of a recipe: ranges that a take draws from, and curves over the length of a layer.

In YAML a number is `3` (always the same) or `[2, 4]` (each take draws its own, evenly). A curve is a number, or points
`[[0, 300], [1, [500, 700]]]` with times from 0 to 1, or a swing `{low: 600, high: 1300, rate_hz: 0.3, shape: sine}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from cares.core.rng import KeyedRandom
from cares.sounds.signal import Signal

Shape = Literal["sine", "triangle", "square", "rise", "fall"]
_SHAPES: tuple[Shape, ...] = get_args(Shape)


@dataclass(frozen=True)
class Span:
    """A range [low, high]; drawn once a take, after which both ends are the drawn value."""

    low: float
    high: float

    @property
    def value(self) -> float:
        """The drawn value."""
        if self.low != self.high:
            raise RuntimeError(f"{self} was not drawn")
        return self.low

    def draw(self, random: KeyedRandom) -> Span:
        """A span of one value, uniform in this one."""
        if self.low == self.high:
            return self
        value = random.uniform(self.low, self.high)
        return Span(value, value)

    def at(self, n: int, geometric: bool = False) -> Signal:
        """The constant curve, float64 [n]."""
        return np.full(n, self.value)

    def json(self) -> object:
        """The form in which a recipe writes it."""
        return self.low if self.low == self.high else [self.low, self.high]


@dataclass(frozen=True)
class Points:
    """A curve through points; between them it runs straight, or straight in the logarithm for frequencies."""

    times: tuple[float, ...]
    values: tuple[Span, ...]

    def draw(self, random: KeyedRandom) -> Points:
        """The curve with every value drawn."""
        return Points(self.times, tuple(value.draw(random) for value in self.values))

    def at(self, n: int, geometric: bool = False) -> Signal:
        """The curve over n samples, float64 [n]."""
        values = np.array([value.value for value in self.values])
        time = np.linspace(0.0, 1.0, n)
        if geometric:
            return np.asarray(np.exp(np.interp(time, self.times, np.log(values))), np.float64)
        return np.asarray(np.interp(time, self.times, values), np.float64)

    def json(self) -> object:
        """The form in which a recipe writes it."""
        return [[time, value.json()] for time, value in zip(self.times, self.values, strict=True)]


@dataclass(frozen=True)
class Cycle:
    """A curve that swings between two values; `rate_hz` counts swings in a second at 44.1 kHz."""

    low: Span
    high: Span
    rate_hz: Span
    shape: Shape

    def draw(self, random: KeyedRandom) -> Cycle:
        """The curve with every number drawn."""
        return Cycle(self.low.draw(random), self.high.draw(random), self.rate_hz.draw(random), self.shape)

    def at(self, n: int, geometric: bool = False) -> Signal:
        """The curve over n samples, float64 [n]; it starts at its low end (`fall`: at its high end)."""
        swing = waveform(self.shape, np.arange(n, dtype=np.float64) * (self.rate_hz.value / 44_100))
        low, high = self.low.value, self.high.value
        return np.asarray(low * (high / low) ** swing if geometric else low + (high - low) * swing, np.float64)

    def json(self) -> object:
        """The form in which a recipe writes it."""
        return {"low": self.low.json(), "high": self.high.json(), "rate_hz": self.rate_hz.json(), "shape": self.shape}


Curve = Span | Points | Cycle


def waveform(shape: Shape, cycles: Signal) -> Signal:
    """A wave of values 0 to 1 at phases counted in cycles; shape [n] as given."""
    phase = np.asarray(cycles - np.floor(cycles), np.float64)
    if shape == "sine":
        wave = 0.5 - 0.5 * np.cos(2 * np.pi * phase)
    elif shape == "triangle":
        wave = 1.0 - np.abs(2.0 * phase - 1.0)
    elif shape == "square":
        wave = np.where(phase >= 0.5, 1.0, 0.0)
    else:
        wave = phase if shape == "rise" else 1.0 - phase
    return np.asarray(wave, np.float64)


def _span(value: object, low: float, high: float) -> Span:
    ends = value if isinstance(value, (list, tuple)) else [value, value]
    numbers = [float(end) for end in ends if isinstance(end, (int, float)) and not isinstance(end, bool)]
    if len(ends) != 2 or len(numbers) != 2 or not low <= numbers[0] <= numbers[1] <= high:
        raise ValueError(f"a number or [low, high] within {low:g} to {high:g}")
    return Span(*numbers)


def _curve(value: object, low: float, high: float) -> Curve:
    if isinstance(value, dict):
        return _cycle(value, low, high)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        return _points(value, low, high)
    return _span(value, low, high)


def _points(value: Sequence[object], low: float, high: float) -> Points:
    pairs = [pair for pair in value if isinstance(pair, (list, tuple)) and len(pair) == 2]
    if len(pairs) < 2 or len(pairs) < len(value):
        raise ValueError("at least two points [time, value]")
    times = tuple(_span(time, 0, 1).low for time, _ in pairs)
    if times[0] != 0 or times[-1] != 1 or any(a >= b for a, b in pairwise(times)):
        raise ValueError("points whose times rise from 0 to 1")
    return Points(times, tuple(_span(end, low, high) for _, end in pairs))


def _cycle(value: dict[object, object], low: float, high: float) -> Cycle:
    if unknown := set(map(str, value)) - {"low", "high", "rate_hz", "shape"}:
        raise ValueError(f"only low, high, rate_hz and shape in a swing; unknown: {', '.join(sorted(unknown))}")
    if missing := {"low", "high", "rate_hz"} - set(map(str, value)):
        raise ValueError(f"low, high and rate_hz in a swing; missing: {', '.join(sorted(missing))}")
    shape = value.get("shape", "sine")
    if shape not in _SHAPES:
        raise ValueError(f"a shape out of {', '.join(_SHAPES)}")
    ends = _span(value["low"], low, high), _span(value["high"], low, high)
    return Cycle(*ends, _span(value["rate_hz"], 0.01, 200), shape)


@dataclass(frozen=True)
class Within:
    """Bounds of a field: `Annotated[Span, Within(0, 20)]` or `Annotated[Curve, Within(20, 20_000)]`."""

    low: float
    high: float

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How pydantic checks and writes the field."""
        parse, kinds = (_span, (Span,)) if source is Span else (_curve, (Span, Points, Cycle))

        def check(value: object) -> object:
            if isinstance(value, kinds):
                return value
            try:
                return parse(value, self.low, self.high)
            except ValueError as error:
                raise PydanticCustomError("recipe_number", "{reason}", {"reason": str(error)}) from None

        written = core_schema.plain_serializer_function_ser_schema(lambda value: value.json())
        return core_schema.no_info_plain_validator_function(check, serialization=written)
