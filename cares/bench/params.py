"""The section `bench` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cares.core.record import Record

System = Literal["majority", "oracle", "cascade"]


def _different(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) != len(values):
        raise ValueError("the same entry occurs twice")
    return values


class BenchParams(Record):
    """Who answers them and how.

    `wave_templates`, `wave_size`: the questions of this many templates of consecutive number form a group, which is
    handed to the language model in waves of at most `wave_size`. `max_tokens`: length of an answer.
    `context_s`: seconds of transcript shown before and after the sound. `bootstrap`: resamples of the interval.
    """

    systems: Annotated[tuple[System, ...], Field(min_length=1), AfterValidator(_different)]
    wave_templates: Annotated[int, Field(ge=1, le=1000)]
    wave_size: Annotated[int, Field(ge=1, le=1024)]
    context_s: Annotated[float, Field(gt=0, le=120)]
    max_tokens: Annotated[int, Field(ge=1, le=512)]
    bootstrap: Annotated[int, Field(ge=100, le=100_000)]
