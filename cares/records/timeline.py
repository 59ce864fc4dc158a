"""The edit decision list of a scene: all that the mix needs, in integers. Levels are hundredths of a decibel."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.bank import Sha256
from cares.records.names import DataPath, Name
from cares.records.scene import Gender, Reaction, Speaker, Split

Sample = Annotated[int, Field(ge=0)]


class ResponseRef(Record):
    """The impulse response that a clip is heard through: room and the place of its integers in responses.npy.

    taps_sha256: SHA-256 of the integers as little-endian 32-bit numbers.
    """

    room_id: str
    offset: Sample
    n_samples: Annotated[int, Field(ge=1)]
    taps_sha256: Sha256


class Duck(Record):
    """A lowering of a voice by `depth_cdb` from `start_sample` to `end_sample`, with ramps of `ramp_samples`.

    `reason` is "event" when a sound overlaps the voice (`event` tells which), "peak" when the voice alone would exceed
    the true peak.
    """

    start_sample: Sample
    end_sample: Sample
    depth_cdb: Annotated[int, Field(ge=0)]
    ramp_samples: Annotated[int, Field(ge=0)]
    reason: Literal["event", "peak"]
    event: Annotated[int, Field(ge=0)] | None = None


class Clip(Record):
    """A piece of a source file placed in the scene.

    `n_samples` from `source_start` of `path` are faded, scaled by `gain_cdb`, convolved with `response` and added from
    `at_sample`; its reverberant tail ends with the scene at the latest. `pcm_sha256` is that of the whole source file.
    """

    track: Literal["A", "B", "event", "ambience"]
    event: Annotated[int, Field(ge=0)] | None = None
    path: DataPath
    pcm_sha256: Sha256
    source_start: Sample
    n_samples: Annotated[int, Field(ge=1)]
    at_sample: Sample
    gain_cdb: int
    fade_in: Annotated[int, Field(ge=0)] = 0
    fade_out: Annotated[int, Field(ge=0)] = 0
    response: ResponseRef | None = None


class PlacedWord(Record):
    """A word in the mix."""

    turn: Annotated[int, Field(ge=0)]
    speaker: Speaker
    word: str
    start_sample: Sample
    end_sample: Sample
    interpolated: bool


class PlacedEvent(Record):
    """An event in the mix, dry span in samples, and what was decided about it.

    `level_cdb` is its level before the master gain, `margin_cdb` that level above the ambience. `peak_limited`:
    lowered below `drawn_level_cdb` to hold the true peak; `take_faded`: the take is longer and was faded at
    `end_sample`; `scene_extended`: it sounds on after the last word and the scene was made longer for it.
    """

    event: Annotated[int, Field(ge=0)]
    sound: str
    reaction: Reaction
    register_id: str
    take_id: str
    turn: Annotated[int, Field(ge=0)]
    start_sample: Sample
    end_sample: Sample
    gap_start: Sample
    gap_end: Sample
    level_cdb: int
    margin_cdb: int
    peak_limited: bool
    take_faded: bool
    scene_extended: bool
    drawn_level_cdb: int


class PlacedGap(Record):
    """A gap of the timeline: at a turn boundary or between two words of a turn, with or without a sound in it.

    A "pause" is one that the speaker makes in searching for a word or for the thread, after a sound and apart from it.
    """

    kind: Literal["turn", "word", "pause"]
    start_sample: Sample
    end_sample: Sample
    event: Annotated[int, Field(ge=0)] | None = None


class Rules(Record):
    """What the rules asked for in a scene, and what came of it, where clips, ducks, events and gaps do not say it.

    `decoys` of `decoys_wanted` gaps between words have no sound. `voice_cdb`: level of each speaker before ducks;
    `ambience_drawn_cdb`: level drawn for the ambience, which was then lowered by `ambience_lowered_cdb` so that every
    event stands `margin_cdb` above it. All levels are before the master gain but `master_cdb`, `true_peak_cdb`.
    """

    placement: Literal["matched", "paper"]
    decoys_wanted: Annotated[int, Field(ge=0)]
    decoys: Annotated[int, Field(ge=0)]
    duck_labels: Literal["behavioral", "all"]
    voice_cdb: int
    ambience_drawn_cdb: int
    ambience_lowered_cdb: Annotated[int, Field(ge=0)]
    margin_cdb: int
    master_cdb: int
    true_peak_cdb: int


class Timeline(Record):
    """One line of timelines.jsonl."""

    scene_id: Name
    template_id: Name
    split: Split
    location: str
    genders: tuple[Gender, Gender]
    sample_rate: Literal[44100] = 44100
    n_samples: Annotated[int, Field(ge=1)]
    room_id: str
    ambience_take: str
    clips: tuple[Clip, ...]
    ducks: dict[Speaker, tuple[Duck, ...]]
    master_gain_cdb: int
    master_lufs_cdb: int
    words: tuple[PlacedWord, ...]
    events: tuple[PlacedEvent, ...]
    gaps: tuple[PlacedGap, ...]
    rules: Rules


class MixedScene(Record):
    """One line of data/scenes/scenes.jsonl: the finished file and its annotation."""

    scene_id: Name
    template_id: Name
    split: Split
    path: DataPath
    sha256: Sha256
    n_samples: Annotated[int, Field(ge=1)]
    integrated_lufs_cdb: int
    true_peak_cdb: int
    location: str
    relation: str
    roles: tuple[str, str]
    genders: tuple[Gender, Gender]
    voices: tuple[str, str]
    topic: str
    transcript: str
    words: tuple[PlacedWord, ...]
    events: tuple[PlacedEvent, ...]
