"""One scene as text for the terminal: finished, or how far it came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from cares.core.errors import InputError
from cares.core.record import Record, read_records
from cares.records.dialogue import Attempt, Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneSpeech
from cares.records.timeline import MixedScene
from cares.report.attempts import read_turns
from cares.report.script import ScriptTurn, clock, decibels, duration, script
from cares.report.words import refusal, spoken

SCENES = Path("data/scenes/scenes.jsonl")
ALLOCATION = Path("data/allocation/scenes.jsonl")
ACCEPTED = Path("data/dialogues/accepted.jsonl")
ATTEMPTS = Path("data/dialogues/attempts.jsonl")
SPEECH = Path("data/speech/speech.jsonl")
LAST = 3

R = TypeVar("R", bound=Record)


def show_scene(scene_id: str, root: Path) -> str:
    """What is known of a scene, control characters taken out.

    A finished one: roles, place, topic and turns, each sound as [SOUND: id | label | time], and its files. One that was
    accepted and is not mixed: its dialogue, and why it is not if that is known. A refused one: how its attempts ended,
    and the last of them.

    Args:
        scene_id: such as "t00012-3".
        root: the repository.

    Raises:
        InputError: no stage knows a scene of that id, or a file is not as it should be.
    """
    finished = {scene.scene_id: scene for scene in _read(MixedScene, root, SCENES)}
    if scene_id in finished:
        return _text(_finished(finished[scene_id]))
    allocated = {scene.scene_id: scene for scene in _read(Scene, root, ALLOCATION)}
    if scene_id not in allocated:
        known = sorted({*finished, *allocated})
        hint = f"There are {len(known)}: {', '.join(known[:8])} ..." if known else "Make them: dvc repro, or dvc pull."
        raise InputError(ALLOCATION, "scene_id", scene_id, "a scene of this data set", hint)
    scene = allocated[scene_id]
    dialogue = next((one for one in _read(Dialogue, root, ACCEPTED) if one.scene_id == scene_id), None)
    if dialogue is not None:
        speech = next((one for one in _read(SceneSpeech, root, SPEECH) if one.scene_id == scene_id), None)
        return _text(_accepted(scene, dialogue, speech.failure if speech else None))
    return _text(_refused(scene, [one for one in _read(Attempt, root, ATTEMPTS) if one.scene_id == scene_id]))


def _read(kind: type[R], root: Path, name: Path) -> list[R]:
    return read_records(kind, root / name) if (root / name).is_file() else []


def _finished(scene: MixedScene) -> Iterator[str]:
    roles, genders, voices = scene.roles, scene.genders, scene.voices
    level = f"{decibels(scene.integrated_lufs_cdb)} LUFS, true peak {decibels(scene.true_peak_cdb)} dBTP"
    yield f"{scene.scene_id} ({scene.split})  {scene.topic}"
    yield f"  A: {roles[0]} ({genders[0]}, {voices[0]})   B: {roles[1]} ({genders[1]}, {voices[1]})"
    yield f"  at: {scene.location}   {duration(scene.n_samples)}   {level}"
    yield ""
    yield from (_line(turn) for turn in script(scene))
    yield ""
    yield f"  audio       {scene.path}"
    yield f"  annotation  {SCENES.as_posix()}"
    yield "  timeline    data/timelines.jsonl"


def _accepted(scene: Scene, dialogue: Dialogue, failure: str | None) -> Iterator[str]:
    yield f"{scene.scene_id} ({scene.split})  {dialogue.topic}"
    yield f"  accepted, but there is no finished scene: {failure or 'no stage says why; go on with: dvc repro'}"
    yield from _allocated(scene)
    yield ""
    for turn in spoken(dialogue, scene):
        parts = [
            part.words if part.event is None else f"[SOUND: {part.event.sound} | {part.event.reaction}]"
            for part in turn.parts
        ]
        yield f"  {turn.speaker}: {' '.join(parts)}"
    yield ""
    yield f"  dialogue    {ACCEPTED.as_posix()}"


def _refused(scene: Scene, attempts: Sequence[Attempt]) -> Iterator[str]:
    found = refusal(scene, attempts)
    if not attempts:
        yield f"{scene.scene_id} ({scene.split})  no dialogue was written yet; go on with: dvc repro"
        yield from _allocated(scene)
        return
    ends = ", ".join(f"{reason} {count}" for reason, count in found.reasons)
    yield f"{scene.scene_id} ({scene.split})  refused: none of {found.attempts} attempts was accepted"
    yield f"  reasons: {ends}"
    yield from _allocated(scene)
    for attempt in attempts[-LAST:]:
        detail = f": {attempt.detail}" if attempt.detail else ""
        yield ""
        yield f"  wave {attempt.attempt + 1}, candidate {attempt.candidate + 1}, on {attempt.topic!r}"
        yield f"  {attempt.reason}{detail}"
        turns = read_turns(attempt.text)
        if turns is None:
            yield f"    {attempt.text or '(no text)'}"
        else:
            yield from (f"    {turn.speaker}: {turn.words}" for turn in turns)
    yield ""
    yield f"  all attempts  {ATTEMPTS.as_posix()}"


def _allocated(scene: Scene) -> Iterator[str]:
    sounds = ", ".join(f"{event.sound} ({event.reaction})" for event in scene.events) or "none"
    (role_a, role_b), (gender_a, gender_b) = scene.roles, scene.genders
    yield f"  A: {role_a} ({gender_a})   B: {role_b} ({gender_b})   at: {scene.location}"
    yield f"  sounds: {sounds}"


def _line(turn: ScriptTurn) -> str:
    parts = [
        piece.text
        if piece.event is None
        else f"[SOUND: {piece.event.sound} | {piece.event.reaction} | {clock(piece.event.start_sample)}]"
        for piece in turn.pieces
    ]
    return f"{clock(turn.start_sample):>8}  {turn.speaker}: {' '.join(parts)}"


def _text(lines: Iterator[str]) -> str:
    return "\n".join(_printable(line) for line in lines) + "\n"


def _printable(line: str) -> str:
    """Control characters, which a model may have written, must not reach a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
