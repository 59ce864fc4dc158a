"""Changes of a built set, each an edit of one file, and what each may make anew and no more."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from tests.economy.changed_set import MAKING, SCENES, Ran

SOUND = "bag_zipping"
VOICE, OTHER_VOICE = "kokoro-82m/jf_alpha", "kokoro-82m/jf_other"
ADDED = 10
GROUP = 4  # scenes that share waves of requests, see `changed_set.QUICK`
BANK, SCENE_FILE = "data/sounds/bank.jsonl", "data/allocation/scenes.jsonl"
SPEECH, TIMELINES = "data/speech/speech.jsonl", "data/timelines.jsonl"
DIALOGUES = "data/dialogues/accepted.jsonl"
RECORDS = (BANK, SCENE_FILE, DIALOGUES, SPEECH, TIMELINES)
OF_SPEECH = frozenset({"utterances spoken", "windows of speech heard", "scenes aligned"})
OF_SOUND = frozenset({"takes", "rooms"})
OF_SCENES = frozenset({"timelines", "mixes"})
WRITING = frozenset({"requests to the writer"})
Lines = Mapping[str, Set[str]]


@dataclass(frozen=True)
class Outcome:
    """What a change did to a set: `whole` is the run that built it, `before` and `after` the lines of `RECORDS`."""

    whole: Ran
    ran: Ran
    before: Lines
    after: Lines

    def differing(self, file: str, field: str) -> set[str]:
        """What stands in a field of the lines that the set did not have before."""
        return {json.loads(line)[field] for line in self.after[file] - self.before[file]}

    def scenes_with_sound(self) -> set[str]:
        """Scenes that have an event of `SOUND`."""
        scenes = map(json.loads, self.before[SCENE_FILE])
        return {scene["scene_id"] for scene in scenes if any(event["sound"] == SOUND for event in scene["events"])}

    def scenes_with_voice(self) -> set[str]:
        """Scenes in which `VOICE` speaks."""
        name = VOICE.partition("/")[2]
        return {scene["scene_id"] for scene in map(json.loads, self.before[SPEECH]) if name in scene["voices"]}

    def nothing_of(self, *kinds: frozenset[str]) -> None:
        """No item of some kinds was made anew."""
        made = self.ran.counts()
        assert {kind: made[kind] for kind in frozenset().union(*kinds)} == dict.fromkeys(frozenset().union(*kinds), 0)

    def of_scenes(self, scenes: set[str]) -> None:
        """Timelines and mixes were made for some scenes, for each once, and for no other; these came out different."""
        assert 0 < len(scenes) < len(self.before[SCENE_FILE])
        assert {kind: self.ran.counts()[kind] for kind in OF_SCENES} == dict.fromkeys(OF_SCENES, len(scenes))
        assert self.differing(TIMELINES, "scene_id") == scenes


@dataclass(frozen=True)
class Change:
    """One edit.

    Attributes:
        told: what docs/changes.md calls it.
        file, old, new: the edit; `old` stands in the file once.
        holds: asserts what the change may make anew.
    """

    told: str
    file: str
    old: str
    new: str
    holds: Callable[[Outcome], None]

    def apply(self, folder: Path) -> None:
        """Edit the file of a set."""
        path = folder / self.file
        text = path.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file}: {self.old!r} stands there {text.count(self.old)} times"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def _mix(outcome: Outcome) -> None:
    assert outcome.ran.stages[:2] == ("timeline", "mix")
    assert not outcome.ran.loaded_in(MAKING | {"timeline", "mix", "counterfactuals", "items"})
    outcome.nothing_of(OF_SOUND, WRITING, OF_SPEECH)
    assert outcome.ran.counts()["timelines"] == outcome.ran.counts()["mixes"] == len(outcome.before[TIMELINES])


def _writer(outcome: Outcome) -> None:
    assert outcome.ran.stages[0] == "dialogues"
    outcome.nothing_of(OF_SOUND)
    assert not outcome.ran.loaded_in(frozenset({"topics", "calibrate"}))
    assert outcome.ran.counts()["requests to the writer"] > 0
    assert outcome.differing(DIALOGUES, "scene_id") >= outcome.differing(SPEECH, "scene_id")


def _comment(outcome: Outcome) -> None:
    assert outcome.ran.stages == ("dialogues",)
    assert not outcome.ran.loaded and not any(outcome.ran.counts().values())


def _recipe(outcome: Outcome) -> None:
    takes = [take for take in map(json.loads, outcome.before[BANK]) if (take["kind"], take["name"]) == ("event", SOUND)]
    assert outcome.ran.counts()["takes"] == len(takes) > 0
    assert outcome.differing(BANK, "name") == {SOUND}
    outcome.nothing_of(frozenset({"rooms"}), WRITING, OF_SPEECH)
    assert not outcome.ran.loaded_in(MAKING)
    outcome.of_scenes(outcome.scenes_with_sound())


def _name(outcome: Outcome) -> None:
    outcome.nothing_of(OF_SOUND)
    groups = {int(scene[1:6]) // GROUP for scene in outcome.scenes_with_sound()}
    for file in (DIALOGUES, SPEECH, TIMELINES):
        assert {int(scene[1:6]) // GROUP for scene in outcome.differing(file, "scene_id")} <= groups, file


def _voice(outcome: Outcome) -> None:
    assert outcome.ran.spoken() == {OTHER_VOICE: outcome.whole.spoken()[VOICE]}
    outcome.nothing_of(OF_SOUND, WRITING)
    scenes = outcome.scenes_with_voice()
    assert outcome.differing(SPEECH, "scene_id") == scenes
    assert outcome.ran.counts()["scenes aligned"] == len(scenes)
    outcome.of_scenes(scenes)


def _grown(outcome: Outcome) -> None:
    assert outcome.ran.stages[0] == "allocate"
    outcome.nothing_of(OF_SOUND)
    assert outcome.ran.counts()["timelines"] == outcome.ran.counts()["mixes"] == ADDED
    assert all(outcome.before[file] <= outcome.after[file] for file in RECORDS)
    for kind in (*WRITING, *OF_SPEECH):
        assert 0 < outcome.ran.counts()[kind] <= 1.3 * ADDED / SCENES * outcome.whole.counts()[kind], kind


def _asking(first: str) -> Callable[[Outcome], None]:
    def holds(outcome: Outcome) -> None:
        assert outcome.ran.stages[0] == first
        kinds = frozenset(outcome.ran.counts())
        outcome.nothing_of(kinds - {"questions to the systems"})

    return holds


CHANGES: Mapping[str, Change] = {
    "mix": Change("`mix.master_lufs`, -23 to -20", "params.yaml", "master_lufs: -23.0", "master_lufs: -20.0", _mix),
    "writer": Change(
        "the prompt `dialogue_request.jinja`, one word more",
        "prompts/dialogue_request.jinja",
        "Topic: {{",
        "Their topic: {{",
        _writer,
    ),
    "comment": Change(
        "the same prompt, a comment that the model does not see",
        "prompts/dialogue_request.jinja",
        "{{ pair",
        "{# What a turn is about. -#}\n{{ pair",
        _comment,
    ),
    "recipe": Change(
        f"a sound, the recipe of `{SOUND}`",
        "cares/catalog/recipes/anywhere.yaml",
        "tilt_db: -2, jitter: 0.03}\n    gain_db: [-12, -8]",
        "tilt_db: -2, jitter: 0.03}\n    gain_db: [-9, -5]",
        _recipe,
    ),
    "name": Change(
        f"a sound, the phrase of `{SOUND}` in prompts",
        "cares/catalog/sounds/anywhere.yaml",
        "phrase: a bag being zipped up",
        "phrase: a bag being zipped shut",
        _name,
    ),
    "voice": Change(
        "a voice, what `jf_alpha` is in its model",
        "cares/speech/voices.yaml",
        "voice: jf_alpha,",
        "voice: jf_other,",
        _voice,
    ),
    "item": Change(
        "the prompt of a task, `item_scene.jinja`",
        "prompts/item_scene.jinja",
        "Where are they?",
        "Where are these two?",
        _asking("items"),
    ),
    "question": Change(
        "the prompt of the systems, `bench_text.jinja`",
        "prompts/bench_text.jinja",
        "You cannot hear the recording, but here",
        "The recording is not here, but here",
        _asking("bench"),
    ),
    "answer": Change(
        "`bench.max_tokens`, 24 to 32", "params.yaml", "max_tokens: 24\n", "max_tokens: 32\n", _asking("bench")
    ),
    "grown": Change(
        f"`allocation.added`, {ADDED} more scenes", "params.yaml", "added: []", f"added: [{ADDED}]", _grown
    ),
}
