"""One scene as text for the terminal."""

from __future__ import annotations

from pathlib import Path

from cares.core.errors import InputError
from cares.core.record import read_records
from cares.records.timeline import MixedScene
from cares.report.script import ScriptTurn, clock, decibels, script

SCENES = Path("data/scenes/scenes.jsonl")


def show_scene(scene_id: str, root: Path) -> str:
    """Roles, place, topic and turns of a finished scene, each sound as [SOUND: id | label | time], and its files.

    Args:
        scene_id: such as "t00012-3".
        root: the repository.

    Raises:
        InputError: there is no finished scene of that id.
    """
    scenes = {scene.scene_id: scene for scene in read_records(MixedScene, root / SCENES)}
    if scene_id not in scenes:
        some = ", ".join(list(scenes)[:8])
        raise InputError(SCENES, "scene_id", scene_id, "a finished scene", f"There are {len(scenes)}: {some} ...")
    scene = scenes[scene_id]
    roles, genders, voices = scene.roles, scene.genders, scene.voices
    level = f"{decibels(scene.integrated_lufs_cdb)} LUFS, true peak {decibels(scene.true_peak_cdb)} dBTP"
    lines = [
        f"{scene.scene_id} ({scene.split})  {scene.topic}",
        f"  A: {roles[0]} ({genders[0]}, {voices[0]})   B: {roles[1]} ({genders[1]}, {voices[1]})",
        f"  at: {scene.location}   {clock(scene.n_samples)} min   {level}",
        "",
        *(_line(turn) for turn in script(scene)),
        "",
        f"  audio       {scene.path}",
        f"  annotation  {SCENES.as_posix()}",
        "  timeline    data/timelines.jsonl",
    ]
    return "\n".join(_printable(line) for line in lines) + "\n"


def _line(turn: ScriptTurn) -> str:
    parts = [
        piece.text
        if piece.event is None
        else f"[SOUND: {piece.event.sound} | {piece.event.reaction} | {clock(piece.event.start_sample)}]"
        for piece in turn.pieces
    ]
    return f"{clock(turn.start_sample):>8}  {turn.speaker}: {' '.join(parts)}"


def _printable(line: str) -> str:
    """Control characters, which a model may have written, must not reach a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
