"""Time and cost of a large data set, computed from stated inputs; writes the tables of docs/full-scale.md.

Inputs: docs/full-scale.yaml (assumptions with their sources) and docs/full-scale.measured.json (figures of this
repository's own run, taken from metrics/). Nothing here is a promise: it is arithmetic on what is stated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cares.core.atomic import write_bytes
from cares.core.canonical import Json, read_json, write_json
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import Record

INPUTS = Path("docs/full-scale.yaml")
MEASURED = Path("docs/full-scale.measured.json")
PAGE = Path("docs/full-scale.md")
BEGIN, END = "<!-- estimate: written by `cares estimate` -->", "<!-- end of estimate -->"
Positive = Annotated[float, Field(gt=0)]


class Measured(Record):
    """Figures of this repository's own run."""

    tokens_per_accepted_scene: Positive
    speech_s_per_scene: Positive
    scene_s: Positive

    def stretched(self, scene_s: float | None) -> Measured:
        """The figures of scenes that last `scene_s`, everything in proportion; as they are where nothing is given."""
        share = 1.0 if scene_s is None else scene_s / self.scene_s
        return Measured(**{name: value * share for name, value in self.to_json().items()})


class SpeechCost(Record):
    """Processor seconds a second of speech or scene."""

    speak_factor: Positive
    hear_factor: Positive
    mix_factor: Positive
    source: str


class Requests(Record):
    """What is asked for each accepted scene: this many requests, with tokens of prompt and answer each."""

    requests: Positive
    prompt_tokens: Annotated[float, Field(ge=0)]
    answer_tokens: Positive


class StageCost(Record):
    """What a stage asks of language models; `slowdown` is that of batch-invariant kernels.

    `asked` is "measured" for the generated tokens of this repository's own run; where it is given, prompts count too,
    as in the speeds that are published for whole servers.
    """

    name: str
    asked: Requests | Literal["measured"]
    tokens_per_s: Positive
    slowdown: Annotated[float, Field(ge=1)] = 1.0
    counts: str
    gpus: Annotated[int, Field(ge=0)]
    gpu_hour: Annotated[float, Field(ge=0)]
    source: str


class ProfileCost(Record):
    """One profile: processor cores, the price of one for an hour, and the stages with language models."""

    cores: Annotated[int, Field(ge=1)]
    core_hour: Annotated[float, Field(ge=0)]
    stages: tuple[StageCost, ...]


class Inputs(Record):
    """docs/full-scale.yaml; scenes that last `scene_s` cost in proportion to those that were measured."""

    scenes: Annotated[int, Field(ge=1)]
    scene_s: Positive | None = None
    events_per_scene: Positive
    speech: SpeechCost
    profiles: dict[str, ProfileCost]


def tokens_of(stage: StageCost, measured: Measured) -> float:
    """Tokens of a stage for each accepted scene."""
    asked = stage.asked
    if asked == "measured":
        return measured.tokens_per_accepted_scene
    return asked.requests * (asked.prompt_tokens + asked.answer_tokens)


def model_hours(stage: StageCost, scenes: int, measured: Measured) -> float:
    """Hours of one stage: tokens of all scenes by tokens a second, made slower by `slowdown`."""
    return scenes * tokens_of(stage, measured) * stage.slowdown / stage.tokens_per_s / 3600


def sound_hours(inputs: Inputs, profile: ProfileCost, measured: Measured) -> float:
    """Hours of speaking, hearing and mixing on all cores of the profile."""
    cost = inputs.speech
    spoken = measured.speech_s_per_scene * (cost.speak_factor + cost.hear_factor)
    return inputs.scenes * (spoken + measured.scene_s * cost.mix_factor) / profile.cores / 3600


def price(inputs: Inputs, profile: ProfileCost, measured: Measured) -> float:
    """Rent of GPUs for their stages and of the cores for the whole time, in dollars."""
    stages = [(model_hours(stage, inputs.scenes, measured), stage) for stage in profile.stages]
    hours = sum(hours for hours, _ in stages) + sound_hours(inputs, profile, measured)
    gpus = sum(hours * stage.gpus * stage.gpu_hour for hours, stage in stages)
    return gpus + hours * profile.cores * profile.core_hour


def tables(inputs: Inputs, measured: Measured) -> str:
    """The tables in Markdown."""
    due = measured.stretched(inputs.scene_s)
    length = "" if inputs.scene_s is None else f" of {inputs.scene_s:g} s each, in proportion"
    run = f"{measured.tokens_per_accepted_scene:,.1f} generated tokens for each accepted scene"
    sound = f"{measured.speech_s_per_scene:.1f} s of speech and {measured.scene_s:.1f} s of mix"
    stages = [(name, stage) for name, profile in inputs.profiles.items() for stage in profile.stages]
    cost = inputs.speech
    factors = (
        f"{cost.speak_factor:g} processor seconds a second of speech to speak, {cost.hear_factor:g} to hear and align"
    )
    lines = [
        f"Measured in this repository's run: {run}, {sound} a scene. For {inputs.scenes:,} scenes{length}:",
        "",
        "| profile | stage | tokens a scene | tokens/s | slower by | hours | GPUs | dollars a GPU hour |",
        "|---|---|---|---|---|---|---|---|",
        *(_stage_row(name, stage, inputs.scenes, due) for name, stage in stages),
        "",
        "| profile | hours of words | cores | hours of sound | hours in all | dollars |",
        "|---|---|---|---|---|---|",
        *(_profile_row(name, inputs, due) for name in inputs.profiles),
        "",
        "What is counted, and where each speed comes from:",
        "",
        *(f"- {name}, {stage.name}: {stage.counts}. Speed: {stage.source}." for name, stage in stages),
        f"- sound: {factors}, {cost.mix_factor:g} a second of scene to mix; {cost.source}.",
    ]
    return "\n".join(lines)


def _stage_row(name: str, stage: StageCost, scenes: int, measured: Measured) -> str:
    speed = f"{tokens_of(stage, measured):,.0f} | {stage.tokens_per_s:,.0f} | {stage.slowdown:g}"
    hours = f"{model_hours(stage, scenes, measured):,.1f}"
    return f"| {name} | {stage.name} | {speed} | {hours} | {stage.gpus} | {stage.gpu_hour:.2f} |"


def _profile_row(name: str, inputs: Inputs, measured: Measured) -> str:
    profile = inputs.profiles[name]
    words = sum(model_hours(stage, inputs.scenes, measured) for stage in profile.stages)
    sound = sound_hours(inputs, profile, measured)
    dollars = f"{price(inputs, profile, measured):,.0f}"
    return f"| {name} | {words:,.1f} | {profile.cores} | {sound:,.1f} | {words + sound:,.1f} | {dollars} |"


def load(root: Path) -> tuple[Inputs, Measured]:
    """The stated inputs."""
    return (
        Inputs.parse(read_yaml(root / INPUTS), root / INPUTS),
        Measured.parse(read_json(root / MEASURED), root / MEASURED),
    )


def measure(root: Path) -> Measured:
    """The figures of the last run, from metrics/."""
    dialogues, speech, mix = (read_json(root / f"metrics/{name}.json") for name in ("dialogues", "speech", "mix"))
    return Measured(
        tokens_per_accepted_scene=dialogues["tokens_per_accepted_scene"],
        speech_s_per_scene=round(speech["samples"] / speech["scenes"] / SAMPLE_RATE, 1),
        scene_s=round(mix["seconds"]["total"] / mix["scenes"], 1),
    )


def page(root: Path, inputs: Inputs, measured: Measured) -> str:
    """docs/full-scale.md with the tables in place; InputError when their marks are not in it."""
    text = (root / PAGE).read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise InputError(root / PAGE, "", "no place for the tables", f"{BEGIN} and {END}, once each")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables(inputs, measured)}\n\n{END}{rest.partition(END)[2]}"


def write(root: Path) -> None:
    """Take the figures of the last run and write the tables anew."""
    measured = measure(root)
    values: Json = measured.to_json()
    write_json(root / MEASURED, values)
    write_bytes(root / PAGE, page(root, load(root)[0], measured).encode())
