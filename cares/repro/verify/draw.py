"""Some scenes in place of all: which, what a stage may read for them, and what of its outs is theirs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from cares.core.canonical import read_jsonl
from cares.core.errors import CaresError, InputError
from cares.core.rng import KeyedRandom
from cares.repro.verify.lockfile import Lock
from cares.repro.verify.places import Place

# what such a stage makes of a scene depends on that scene alone, and on what is the same for all
BY_SCENE = ("speech", "align", "timeline", "mix", "counterfactuals", "transcribe")
# the scenes of a group share the waves that the language model answers: a group is made again whole
BY_GROUP = ("topics", "dialogues")
ALLOCATED = "data/allocation/scenes.jsonl"


@dataclass(frozen=True)
class Draw:
    """The scenes that were drawn, and all scenes of the groups of waves that they belong to."""

    scenes: frozenset[str]
    of_groups: frozenset[str]

    def ids(self, stage: str) -> frozenset[str]:
        """The scenes that `stage` makes again."""
        return self.of_groups if stage in BY_GROUP else self.scenes


def draw_scenes(place: Place, stages: Sequence[str], count: int, seed: int) -> Draw:
    """Draw among the scenes that have a dialogue, by a key of `seed`.

    Raises:
        InputError: there are fewer scenes.
        CaresError: the files that name the scenes are not here.
    """
    names = [record["scene_id"] for record in read_jsonl(_file(place, "dialogues", "accepted.jsonl"))]
    if not 1 <= count <= len(names):
        raise InputError("command line", "--scenes", count, f"1 to {len(names)}, the scenes that have a dialogue")
    drawn = frozenset(KeyedRandom(seed, "verify_scenes").sample(sorted(names), count))
    groups: set[str] = set()
    for stage in set(BY_GROUP) & set(stages):
        size = place.lock[stage].params[stage]["group_scenes"]
        ordered = sorted(record["scene_id"] for record in read_jsonl(_file(place, "allocate", "scenes.jsonl")))
        for start in range(0, len(ordered), size):
            group = ordered[start : start + size]
            groups |= set(group) if drawn & set(group) else set()
    return Draw(drawn, frozenset(groups))


def _file(place: Place, stage: str, inside: str) -> Path:
    if stage in place.lock:
        for entry in place.lock[stage].outs:
            files = place.listing(entry) or {}
            if inside in files and (path := place.file(entry, inside, files[inside])):
                return path
    raise CaresError(f"the scenes are not known: {inside} of stage {stage} is not here; get it with: dvc pull {stage}")


def stages_by_scene(lock: Lock, chosen: Sequence[str], named: bool) -> tuple[list[str], list[str]]:
    """The stages that can be rebuilt for some scenes, and those that are left out.

    Args:
        chosen: the stages that are wanted, in order.
        named: they were named one by one; the stages of the language model are rebuilt only then, as they are made
            again for whole groups of scenes.

    Raises:
        InputError: none of them works scene by scene.
    """
    possible = (*BY_SCENE, *BY_GROUP) if named else BY_SCENE
    kept = [name for name in chosen if name in possible]
    if not kept:
        expected = f"with --scenes one of {', '.join((*BY_GROUP, *BY_SCENE))}"
        raise InputError("command line", "--stage", ", ".join(chosen), expected)
    return kept, [name for name in lock if name in chosen and name not in kept]


def belongs(name: str, ids: Collection[str]) -> bool:
    """Whether a file is of one of these scenes: <scene_id>.wav, or <scene_id>-<event>.wav."""
    stem = Path(name).stem
    return stem in ids or any(stem.startswith(f"{scene}-") for scene in ids)


def restricted(name: str, path: Path, ids: Collection[str]) -> bytes | None:
    """What of a file is about these scenes: their records, their lines of SHA256SUMS, or all of it if it is one's own.

    Args:
        name: the file's name in its out; its bytes are at `path`, which may be called otherwise.

    Returns:
        None when the file tells of all scenes at once, or of others.
    """
    if Path(name).suffix == ".jsonl":
        lines = path.read_bytes().splitlines(keepends=True)
        return b"".join(line for line in lines if json.loads(line).get("scene_id") in ids)
    if Path(name).name == "SHA256SUMS":
        lines = path.read_bytes().splitlines(keepends=True)
        return b"".join(line for line in lines if belongs(line.decode("utf-8").split(maxsplit=1)[1].strip(), ids))
    return path.read_bytes() if belongs(name, ids) else None
