"""How many words turns have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cares.core.errors import InputError
from cares.core.record import read_records
from cares.core.rng import KeyedRandom
from cares.records.dialogue import Dialogue
from cares.records.scene import Reaction, Scene

# words of turns without a sound, and before and after one, at the 5th, 15th, ... 95th percentile of a data set that was
# built with the embedded models (77 and 26 turns)
PLAIN = (6, 7, 8, 9, 10, 11, 12, 13, 16, 21)
BEFORE = (4, 5, 6, 6, 6, 7, 9, 11, 14, 18)
AFTER = (3, 4, 6, 8, 9, 11, 13, 16, 18, 22)


@dataclass(frozen=True)
class Lengths:
    """Where lengths are drawn from: (words before, words after) of turns with a sound, by label or the same for all.

    Without `by_label` both are drawn from `BEFORE` and `AFTER`, whatever the label: the corpus then asks what timeline
    and mix give away. With it the writer's habits are in the corpus too.
    """

    plain: Sequence[int] = PLAIN
    by_label: Mapping[Reaction, Sequence[tuple[int, int]]] = field(default_factory=dict)

    def of_turn(self, random: KeyedRandom) -> int:
        """Words of a turn without a sound."""
        return random.choice(self.plain)

    def around(self, reaction: Reaction, random: KeyedRandom) -> tuple[int, int]:
        """Words before and after a sound in its turn."""
        if self.by_label:
            return random.choice(self.by_label[reaction])
        return random.choice(BEFORE), random.choice(AFTER)


def lengths_of(dialogues: Path, scenes: Path) -> Lengths:
    """The lengths in dialogues that were written: accepted.jsonl and the scenes.jsonl of its allocation.

    Raises:
        InputError: a file is missing, does not fit the other, or no turn has a sound of some label.
    """
    scene_of = {scene.scene_id: scene for scene in read_records(Scene, scenes)}
    plain: list[int] = []
    by_label: dict[Reaction, list[tuple[int, int]]] = {}
    for dialogue in read_records(Dialogue, dialogues):
        if dialogue.scene_id not in scene_of:
            raise InputError(dialogues, "scene_id", dialogue.scene_id, f"a scene of {scenes}")
        for turn in dialogue.turns:
            words = [len(segment.text.split()) for segment in turn.segments]
            at = next((i for i, segment in enumerate(turn.segments) if segment.event is not None), None)
            event = None if at is None else turn.segments[at].event
            if at is None or event is None:
                plain.append(sum(words))
            else:
                reaction = scene_of[dialogue.scene_id].events[event].reaction
                by_label.setdefault(reaction, []).append((sum(words[:at]), sum(words[at:])))
    for reaction in ("pivot", "verbal", "behavioral", "ambient"):
        if not any(before > 0 and after > 0 for before, after in by_label.get(reaction, [])):
            raise InputError(dialogues, "turns", f"no {reaction} sound", "words before and after one of every label")
    return Lengths(plain, {label: [pair for pair in pairs if min(pair) > 0] for label, pairs in by_label.items()})
