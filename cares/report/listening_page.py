"""The page to listen to: twenty utterances of every kind as they were spoken, and what is measured of the speech."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneSpeech, Utterance, Word
from cares.records.timeline import MixedScene
from cares.report.clips import HEIGHT, WIDTH, Heard, dry_clip, mix_clip
from cares.report.inputs import ALIGNMENT, Inputs, read_words
from cares.report.pages import Page, Tools
from cares.report.speech_figures import SPREAD, figures
from cares.report.tables import percent
from cares.report.utterances import Example, KindOf, Said, kinds, said

FOLDER = "listening"
NOT_RECORDED = "not recorded"


class Spoken(NamedTuple):
    """One utterance on the page: text, clip, and its own figures by name."""

    utterance: Utterance
    said: Said
    clip: Heard
    figures: tuple[tuple[str, str], ...]


class Shown(NamedTuple):
    """One example; `mix` is there for a break whose scene was finished, `page` says whether the scene has one."""

    example: Example
    spoken: tuple[Spoken, ...]
    mix: Heard | None
    page: bool


class _Scenes(NamedTuple):
    speech: Mapping[str, SceneSpeech]
    words: Mapping[str, Sequence[Word]]
    dialogues: Mapping[str, Dialogue]
    allocated: Mapping[str, Scene]
    mixed: Mapping[str, MixedScene]


def listening_page(inputs: Inputs, tools: Tools) -> Page:
    """The page and its clips, which are FLAC files of their own, so that the report is whole without the data.

    Raises:
        InputError: records do not fit each other, or a sound file is missing or damaged.
    """
    chosen = kinds(inputs, tools.seed)
    scenes = _Scenes(
        {one.scene_id: one for one in inputs.speech},
        read_words(inputs.root, {example.scene_id for kind in chosen for example in kind.shown}),
        {one.scene_id: one for one in inputs.dialogues},
        {one.scene_id: one for one in inputs.allocated},
        inputs.mixed,
    )
    found: list[tuple[KindOf, list[Shown]]] = []
    assets: dict[str, bytes] = {}
    for kind in chosen:
        shown = [_shown(inputs, tools, scenes, example) for example in kind.shown]
        found.append((kind, shown))
        for one in shown:
            clips = [spoken.clip for spoken in one.spoken] + ([one.mix] if one.mix else [])
            assets |= {clip.file: clip.content for clip in clips}
    body = tools.fragment(
        "listening.html.jinja",
        kinds=found,
        failures=[(one.scene_id, one.failure) for one in inputs.speech if one.failure],
        spoken=bool(inputs.speech),
        aligned=ALIGNMENT not in inputs.missing,
        tables=figures(inputs),
        SPREAD=SPREAD,
        STRIP_WIDTH=WIDTH,
        STRIP_HEIGHT=HEIGHT,
    )
    return Page("listening.html", "Speech", body, assets)


def _shown(inputs: Inputs, tools: Tools, scenes: _Scenes, example: Example) -> Shown:
    name = example.scene_id
    speech, turns = scenes.speech[name], scenes.dialogues[name].turns
    spoken = []
    for number, utterance in enumerate(example.utterances):
        text = said(utterance, turns, scenes.allocated[name], first=number == 0)
        file = f"{FOLDER}/{name}-{utterance.index:03d}.flac"
        clip = dry_clip(inputs, speech, utterance, scenes.words.get(name, ()), file)
        spoken.append(Spoken(utterance, text, clip, _figures(utterance)))
    mix = None
    if example.is_break and name in scenes.mixed:
        file = f"{FOLDER}/{name}-{example.utterances[0].index:03d}-mix.flac"
        mix = mix_clip(inputs, scenes.mixed[name], speech, example.utterances, file)
    return Shown(example, tuple(spoken), mix, name in tools.scene_pages)


def _figures(utterance: Utterance) -> tuple[tuple[str, str], ...]:
    pace, likeness = utterance.letters_per_s, utterance.voice_likeness
    return (
        ("word error rate", percent(utterance.word_error_rate)),
        ("pace", f"{pace:.1f} letters a second" if pace else NOT_RECORDED),
        ("likeness to the speaker's others", NOT_RECORDED if likeness is None else f"{likeness:.2f}"),
        ("longest pause", f"{utterance.pause_ms} ms" if pace else NOT_RECORDED),
        ("tries", str(utterance.tries)),
    )
