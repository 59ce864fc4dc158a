"""Topics, dialogues and every attempt at one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record
from cares.records.names import Name
from cares.records.scene import Reaction, Speaker


class Topic(Record):
    """What a scene's talk is about; `attempt` counts the topics that the scene has had."""

    scene_id: Name
    attempt: Annotated[int, Field(ge=0)]
    topic: Annotated[str, Field(min_length=8, max_length=160)]


class Segment(Record):
    """A piece of a turn: words, or the place of a sound.

    A speech segment has `text`; a sound has `event`, its index in the scene's events. How the words are spoken:

    - `plain`: an utterance of its own;
    - `cut`: broken off at its end; `spoken_as` is the longer sentence whose beginning is heard;
    - `joined`: continues the utterance of the segment before the sound: it lies between two words of one utterance.

    `pause_ms`: silence between this utterance and the one before it in its turn, where no sound lies between them.
    `overlap_ms`: how long before the end of the turn before, the other speaker's, this one begins: an interruption.
    """

    text: str = ""
    event: Annotated[int, Field(ge=0)] | None = None
    delivery: Literal["plain", "cut", "joined"] = "plain"
    spoken_as: str = ""
    pause_ms: Annotated[int, Field(ge=0, le=2_000)] = 0
    overlap_ms: Annotated[int, Field(ge=0, le=1_000)] = 0

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.event is None) == (not self.text):
            raise ValueError("a segment has either text or an event")
        if (self.delivery == "cut") != bool(self.spoken_as):
            raise ValueError("spoken_as belongs to a cut segment, and only to one")
        if (self.pause_ms or self.overlap_ms) and (self.event is not None or self.delivery == "joined"):
            raise ValueError("only an utterance of its own has a pause or an overlap before it")
        return self


class Turn(Record):
    """What one speaker says without the other, with the sounds that fall inside it.

    Only a turn's first segment may overlap the turn before; a pause lies between two utterances of the turn.
    """

    speaker: Speaker
    segments: Annotated[tuple[Segment, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _pauses_and_overlaps_have_their_place(self) -> Self:
        if any(segment.overlap_ms for segment in self.segments[1:]):
            raise ValueError("only the first segment of a turn can overlap the turn before")
        before: Segment | None = None
        for segment in self.segments:
            if segment.pause_ms and (before is None or before.event is not None):
                raise ValueError("a pause lies between two utterances, with no sound between them")
            before = segment
        return self

    @property
    def interrupts(self) -> bool:
        """Whether the turn begins before the other speaker's has ended."""
        return self.segments[0].overlap_ms > 0


def planned_turns(turns: Sequence[Turn]) -> list[int]:
    """For each turn the number of the planned one that it belongs to, which is the turn of `Event.slot`.

    An interruption adds two turns to the one it breaks: that of the speaker who interrupts, and that in which the first
    speaker says it all.
    """
    numbers: list[int] = []
    for place, turn in enumerate(turns):
        added = turn.interrupts or (place > 0 and turns[place - 1].interrupts)
        numbers.append(numbers[-1] if added and numbers else numbers[-1] + 1 if numbers else 0)
    return numbers


class Dialogue(Record):
    """An accepted dialogue: one line of accepted.jsonl.

    `attempt`, `candidate` and `repaired_turns` say which line of attempts.jsonl it is. The writer's name ends in
    "(served)" when a server wrote it, whose answers are not promised to be the same again.
    """

    scene_id: Name
    topic: str
    attempt: Annotated[int, Field(ge=0)]
    candidate: Annotated[int, Field(ge=0)] = 0
    repaired_turns: tuple[int, ...] = ()
    writer: str
    evaluator: str
    topic_similarity: float
    turns: tuple[Turn, ...]


class Verdict(Record):
    """What the evaluator recovered for one event.

    `label` is None when nothing was recovered: two evaluators disagree, or an answer cannot be read. `detail` says what
    the label rests on, or why there is none. `votes` holds what each evaluator said where two were asked.
    """

    event: Annotated[int, Field(ge=0)]
    sound: str
    label: Reaction | None
    scores: dict[str, float]
    detail: str = ""
    votes: dict[str, Reaction | None] = Field(default_factory=dict)


class Attempt(Record):
    """One attempt, kept whatever became of it: one line of attempts.jsonl.

    `reason` is "accepted"; "not_chosen" for one as good, beside one of which the evaluator was surer; or the name of
    the first check that refused it, and `detail` says where. A repair is a second version of an attempt:
    `repaired_turns` were written again, `finish_reason` is "repaired", and `completion_tokens` count all candidates for
    these turns.
    """

    scene_id: Name
    attempt: Annotated[int, Field(ge=0)]
    candidate: Annotated[int, Field(ge=0)]
    topic: str
    seed: int
    reason: str
    detail: str
    finish_reason: str
    completion_tokens: Annotated[int, Field(ge=0)]
    verdicts: tuple[Verdict, ...] = ()
    topic_similarity: float | None = None
    text: str
    repaired_turns: tuple[int, ...] = ()
