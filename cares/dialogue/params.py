"""Sections `topics` and `dialogues` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record

Temperature = Annotated[float, Field(ge=0, le=2)]
Probability = Annotated[float, Field(ge=0, lt=1)]
Penalty = Annotated[float, Field(ge=-2, le=2)]


class TopicsParams(Record):
    """How topics are found: `per_scene` are written for each scene, the first is used, the next ones are in reserve."""

    per_scene: Annotated[int, Field(ge=1, le=8)]
    group_scenes: Annotated[int, Field(ge=1, le=256)]
    attempts: Annotated[int, Field(ge=1, le=20)]
    temperature: Temperature
    min_p: Probability
    longest_chars: Annotated[int, Field(ge=30, le=150)]


class DialoguesParams(Record):
    """How dialogues are written and accepted.

    A group of `group_scenes` consecutive scenes shares its waves of requests; a wave has `group_scenes` places, and the
    places of accepted scenes go to further candidates of the others, at most `candidates` each. After `waves_per_topic`
    waves a scene takes its next topic. A dialogue with at most `repair_turns` turns to blame has these written again,
    `repairs` times at most, with `repair_candidates` candidates each and `repair_places` requests in a wave. Lengths
    are in characters: of a line, and of a line beside a remark or after given words. Where `allocation.length` asks for
    scenes of a certain length, bounds and `max_tokens` follow from it, and a dialogue that would miss its scene's
    length by more than the share `length_tolerance` is refused.
    """

    writer: Literal["skeleton", "free"]
    group_scenes: Annotated[int, Field(ge=1, le=256)]
    waves: Annotated[int, Field(ge=1, le=64)]
    waves_per_topic: Annotated[int, Field(ge=1, le=64)]
    candidates: Annotated[int, Field(ge=1, le=16)]
    repairs: Annotated[int, Field(ge=0, le=4)]
    repair_turns: Annotated[int, Field(ge=1, le=13)]
    repair_candidates: Annotated[int, Field(ge=1, le=16)]
    repair_places: Annotated[int, Field(ge=1, le=256)]
    temperature: Temperature
    min_p: Probability
    presence_penalty: Penalty
    frequency_penalty: Penalty
    says_chars: Annotated[int, Field(ge=60, le=400)]
    short_chars: Annotated[int, Field(ge=40, le=300)]
    max_tokens: Annotated[int, Field(ge=200, le=8192)]
    length_tolerance: Annotated[float, Field(gt=0, le=1)] = 0.2
