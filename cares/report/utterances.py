"""Which utterances are listened to: every kind of them, up to twenty of each, drawn by the data set's seed.

An example of a break holds all that the turn says from the cut on; every other example is one utterance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.records.dialogue import Dialogue, Turn, planned_turns
from cares.records.scene import Event, Scene
from cares.records.speech import SceneSpeech, Utterance
from cares.report.inputs import Inputs
from cares.report.words import Part, as_said

R = TypeVar("R")
SHOWN = 20
KINDS = {
    "plain": ("Plain turns", "no sound falls into the turn"),
    "break_restart": ("Break: begins again", "cut at the sound; the sentence comes again from its start"),
    "break_lost_thread": ("Break: loses the thread", "cut at the sound; the way back is asked for, and then a pause"),
    "break_hesitation": ("Break: searches for words", "cut at the sound; a filler, a pause, the last words again"),
    "break_interrupted": ("Break: is interrupted", "cut at the sound and taken up, then the other speaker comes in"),
    "interruption": ("Interruptions", "the other speaker, who comes in before the first has ended"),
    "ambient_run_on": ("Talks on over a sound", "one utterance, with a sound between two of its words"),
    "ambient_in_thought": ("Deep in the topic", "one utterance, with a sound between two of its words"),
    "before_sound": ("Before a sound that is spoken of", "ends by itself; the sound is commented on or answered"),
    "verbal": ("Remarks on a sound", "the utterance after the sound, which the topic takes over again"),
    "pivot": ("Turning to a sound", "the utterance after the sound, with which the topic changes"),
    "pivot_answer": ("Answers to a turning", "how the other speaker takes up the new topic"),
}


class Example(NamedTuple):
    """Utterances of a scene that are heard one after the other; `is_break`: the same place of the mix belongs to it."""

    kind: str
    scene_id: str
    utterances: tuple[Utterance, ...]
    is_break: bool = False

    @property
    def place(self) -> tuple[str, int]:
        """What examples of a kind are ordered by."""
        return self.scene_id, self.utterances[0].index


class KindOf(NamedTuple):
    """A kind with its title and, in words, what it is; `shown` of `total` utterances."""

    kind: str
    title: str
    meaning: str
    total: int
    shown: tuple[Example, ...]


class Said(NamedTuple):
    """An utterance as text: words and sounds in order, and what the sentence would have gone on with."""

    parts: tuple[Part, ...]
    unsaid: str
    early_ms: int


def kinds(inputs: Inputs, seed: int) -> list[KindOf]:
    """All kinds that occur or are known, with the examples that were drawn, in order of scenes; none without speech.

    Raises:
        InputError: a spoken scene has no dialogue or allocation, or they do not fit.
    """
    if not (inputs.speech and inputs.dialogues and inputs.allocated):
        return []
    found: dict[str, list[Example]] = {kind: [] for kind in KINDS}
    dialogues = {one.scene_id: one for one in inputs.dialogues}
    scenes = {one.scene_id: one for one in inputs.allocated}
    for speech in inputs.speech:
        if speech.failure:
            continue
        dialogue = _of(dialogues, speech.scene_id, "data/dialogues/accepted.jsonl")
        for example in examples(speech, dialogue, _of(scenes, speech.scene_id, "data/allocation/scenes.jsonl")):
            found.setdefault(example.kind, []).append(example)
    return [_drawn(kind, found[kind], seed) for kind in found]


def examples(speech: SceneSpeech, dialogue: Dialogue, scene: Scene) -> Iterator[Example]:
    """Every utterance of a scene that is of some kind; those around a sound by the sound's label or register."""
    _check(speech, dialogue)
    by_segment = _by_segment(speech)
    planned = planned_turns(dialogue.turns)
    answers = False
    for number, turn in enumerate(dialogue.turns):
        first = by_segment.get((number, 0))
        silent = all(segment.event is None for segment in turn.segments)
        if turn.interrupts and first:
            yield Example("interruption", speech.scene_id, (first,))
        elif answers and first and planned[number] != planned[number - 1]:
            yield Example("pivot_answer", speech.scene_id, (first,))
        elif silent and first and planned.count(planned[number]) == 1 and len(turn.segments) == 1:
            yield Example("plain", speech.scene_id, (first,))
        answers = False
        for place, segment in enumerate(turn.segments):
            if segment.event is None:
                continue
            event = event_of(scene, segment.event)
            before, after = by_segment.get((number, place - 1)), by_segment.get((number, place + 1))
            answers = answers or event.reaction == "pivot"
            if event.reaction == "behavioral" and before:
                rest = [u for u in speech.utterances if planned[u.turn] == planned[number] and u.index >= before.index]
                yield Example(event.register_id, speech.scene_id, tuple(rest), is_break=True)
            elif event.reaction == "ambient" and before:
                yield Example(event.register_id, speech.scene_id, (before,))
            elif event.reaction in ("verbal", "pivot"):
                if before:
                    yield Example("before_sound", speech.scene_id, (before,))
                if after and after is not before:
                    yield Example(event.reaction, speech.scene_id, (after,))


def said(utterance: Utterance, turns: Sequence[Turn], scene: Scene, first: bool) -> Said:
    """The utterance as text. The sound before it stands with it only where it is the `first` of its example."""
    turn = turns[utterance.turn]
    places = [spoken.segment for spoken in utterance.segments]
    reach = range(max(0, min(places) - first), min(len(turn.segments), max(places) + 2))
    parts, unsaid = [], ""
    for place in reach:
        segment = turn.segments[place]
        if segment.event is not None:
            parts.append(Part("", event_of(scene, segment.event)))
        elif place in places:
            parts.append(Part(as_said(segment), None))
            unsaid = segment.spoken_as.removeprefix(segment.text).strip() or unsaid
    return Said(tuple(parts), unsaid, turn.segments[min(places)].overlap_ms)


def event_of(scene: Scene, number: int) -> Event:
    """The sound that a segment names; InputError when the scene has no such one."""
    if number >= len(scene.events):
        raise InputError(
            "data/dialogues/accepted.jsonl", f"{scene.scene_id}.event", number, f"below {len(scene.events)}"
        )
    return scene.events[number]


def _by_segment(speech: SceneSpeech) -> dict[tuple[int, int], Utterance]:
    return {(part.turn, part.segment): one for one in speech.utterances for part in one.segments}


def _check(speech: SceneSpeech, dialogue: Dialogue) -> None:
    for utterance in speech.utterances:
        for part in utterance.segments:
            if part.turn >= len(dialogue.turns) or part.segment >= len(dialogue.turns[part.turn].segments):
                place = (part.turn, part.segment)
                raise InputError("data/speech/speech.jsonl", speech.scene_id, place, "turn and segment of its dialogue")


def _drawn(kind: str, found: Sequence[Example], seed: int) -> KindOf:
    ordered = sorted(found, key=lambda one: one.place)
    chosen = KeyedRandom(seed, "report_utterances", kind).sample(ordered, min(SHOWN, len(ordered)))
    title, meaning = KINDS.get(kind, (kind, ""))
    return KindOf(kind, title, meaning, len(found), tuple(sorted(chosen, key=lambda one: one.place)))


def _of(table: Mapping[str, R], scene_id: str, file: str) -> R:
    if scene_id not in table:
        raise InputError(file, "scene_id", scene_id, "a line for every scene of data/speech/speech.jsonl")
    return table[scene_id]
