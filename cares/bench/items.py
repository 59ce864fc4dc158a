"""Frozen questions from finished scenes: five tasks, everything decided here, nothing left to the system that is asked.

- `scene`: where the scene plays, four locations.
- `sounds`: for each event, which of four sounds is heard; the other three may occur at the location but do not.
- `reactions`: for each event, how the speakers react; the question reveals its time, time and name, or neither ("the
  second of these sounds"). All levels ask about the same events with the same order of options, so that a difference
  between them is due to what is revealed.
- `grounding`: for each event a pair, the scene and its counterfactual without that event: is the sound heard? Both
  halves have the same text, so only listening tells them apart, and one has its right answer at A, the other at B.
- `summary`: for each scene a text of a given length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cares.bench.items_params import ItemsParams
from cares.bench.options import (
    Distractors,
    Placed,
    answer_positions,
    in_shown_order,
    read_confusable_locations,
)
from cares.bench.questions import DEFINITIONS, ORDINALS, Questions, clock
from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.records.item import LEVELS, YES_NO, Counterfactual, Item, Reference, Task, canonical_order
from cares.records.scene import REACTIONS
from cares.records.timeline import MixedScene, PlacedEvent


class Asked(NamedTuple):
    """An event that questions are about."""

    scene: MixedScene
    event: PlacedEvent
    reference: Reference
    ordinal: str
    added: int = 0

    @property
    def entity(self) -> str:
        """The event's name in keys and ids: "t00003-0/1"."""
        return f"{self.scene.scene_id}/{self.event.event}"

    @property
    def placed(self) -> Placed:
        """What the position of its answer is drawn for."""
        return Placed(self.entity, self.scene.split, self.event.reaction, self.added)


class Shown(NamedTuple):
    """A question's options: ids in the order shown, what is shown for each, and the right one."""

    choices: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    answer: str = ""


class _Builder:
    """Makes the items of each task from the same scenes."""

    def __init__(
        self,
        scenes: Sequence[MixedScene],
        catalog: Catalog,
        params: ItemsParams,
        seed: int,
        questions: Questions,
        counterfactuals: Sequence[Counterfactual],
        added: Mapping[str, int],
    ) -> None:
        self._added = added
        self._scenes = [scene for scene in scenes if scene.split in params.splits]
        self._catalog, self._params, self._seed, self._questions = catalog, params, seed, questions
        self._asked = [asked for scene in self._scenes for asked in _asked(scene, catalog, self._batch(scene))]
        self._muted = {(made.scene_id, made.event): made for made in counterfactuals}

    def scene(self) -> Iterator[Item]:
        alike = read_confusable_locations(self._catalog.locations)
        draws = {split: Distractors("location", self._seed, alike.__getitem__) for split in self._params.splits}
        at = self._positions(
            [Placed(s.scene_id, s.split, s.location, self._batch(s)) for s in self._scenes], 4, "scene"
        )
        for scene in self._scenes:
            entity = scene.scene_id
            others = draws[scene.split].draw(entity, scene.location, self._catalog.locations)
            choices = in_shown_order(scene.location, others, at[entity], f"scene/{entity}", self._seed)
            texts = tuple(self._catalog.locations[choice].display for choice in choices)
            yield self._item(scene, "scene", "", entity, Shown(choices, texts, scene.location), {}, {})

    def sounds(self) -> Iterator[Item]:
        draws = {split: Distractors("sound", self._seed, self._catalog.confusable) for split in self._params.splits}
        at = self._positions([asked.placed for asked in self._asked], 4, "sounds")
        pools = {name: [sound.id for sound in self._catalog.sounds_at(name)] for name in self._catalog.locations}
        for asked in self._asked:
            scene, sound = asked.scene, asked.event.sound
            present = {event.sound for event in scene.events}
            others = draws[scene.split].draw(asked.entity, sound, pools[scene.location], present)
            choices = in_shown_order(sound, others, at[asked.entity], f"sounds/{asked.entity}", self._seed)
            texts = tuple(self._catalog.sounds[choice].display for choice in choices)
            yield self._about(asked, "sounds", "", Shown(choices, texts, sound))

    def reactions(self) -> Iterator[Item]:
        at = self._positions([asked.placed for asked in self._asked], 4, "reactions")
        shown = {}
        for asked in self._asked:
            label, key = asked.event.reaction, f"reactions/{asked.entity}"
            others = [other for other in REACTIONS if other != label]
            choices = in_shown_order(label, others, at[asked.entity], key, self._seed)
            shown[asked.entity] = Shown(choices, tuple(DEFINITIONS[choice] for choice in choices), label)
        for level in self._params.reaction_levels:
            for asked in self._asked:
                yield self._about(asked, "reactions", level, shown[asked.entity])

    def grounding(self) -> Iterator[Item]:
        wanted = [asked for asked in self._asked if asked.scene.split in self._params.muted_splits]
        at = self._positions([asked.placed for asked in wanted], 2, "grounding")
        for level, answer in zip(LEVELS["grounding"], YES_NO, strict=True):
            for asked in wanted:
                choices = YES_NO if at[asked.entity] == 0 else YES_NO[::-1]
                muted = self._muted_of(asked) if level == "muted" else None
                yield self._about(asked, "grounding", level, Shown(choices, choices, answer), muted)

    def summary(self) -> Iterator[Item]:
        told: dict[str, list[Reference]] = {}
        for asked in self._asked:
            told.setdefault(asked.scene.scene_id, []).append(asked.reference)
        for words in self._params.summary_words:
            for scene in self._scenes:
                fields = {"words": words, "references": tuple(told.get(scene.scene_id, ()))}
                yield self._item(scene, "summary", str(words), scene.scene_id, Shown(), {"words": words}, fields)

    def _positions(self, placed: Sequence[Placed], n_choices: int, task: str) -> dict[str, int]:
        return answer_positions(placed, n_choices, f"answer_position_{task}", self._seed)

    def _batch(self, scene: MixedScene) -> int:
        return self._added.get(scene.scene_id, 0)

    def _muted_of(self, asked: Asked) -> Counterfactual:
        made = self._muted.get((asked.scene.scene_id, asked.event.event))
        if made is None or made.of_sha256 != asked.scene.sha256:
            raise InputError(
                "data/bench/counterfactuals/manifest.jsonl",
                f"{asked.entity}.of_sha256",
                made and made.of_sha256,
                f"a mix without this event, made from {asked.scene.sha256}",
                "Run dvc repro counterfactuals.",
            )
        if sum(event.sound == asked.event.sound for event in asked.scene.events) > 1:
            expected = "a sound that occurs once in its scene, since it is to be absent without this event"
            raise InputError("data/scenes/scenes.jsonl", f"{asked.entity}.sound", asked.event.sound, expected)
        return made

    def _about(self, asked: Asked, task: Task, level: str, shown: Shown, muted: Counterfactual | None = None) -> Item:
        """An item about one event."""
        name, time_ms = asked.reference.sound_name, asked.reference.time_ms
        told = {"level": level, "time": clock(time_ms), "sound": name, "ordinal": asked.ordinal}
        fields: dict[str, object] = {
            "event": asked.event.event,
            "time_ms": time_ms,
            "sound": asked.event.sound,
            "sound_name": name,
            "pair": f"grounding/{asked.entity}" if task == "grounding" else "",
            "references": (asked.reference,),
        }
        if muted is not None:
            fields |= {"audio": muted.path, "audio_sha256": muted.sha256}
        return self._item(asked.scene, task, level, asked.entity, shown, told, fields)

    def _item(
        self,
        scene: MixedScene,
        task: Task,
        level: str,
        entity: str,
        shown: Shown,
        told: Mapping[str, object],
        fields: Mapping[str, object],
    ) -> Item:
        """An item: what its prompt is `told`, and the `fields` that its task adds or changes."""
        texts = shown.texts
        if task == "reactions":
            texts = tuple(f"{choice}: {text}" for choice, text in zip(shown.choices, texts, strict=True))
        canonical = canonical_order(task, shown.choices)
        values: dict[str, object] = {
            "item_id": f"{task}-{level}/{entity}" if level else f"{task}/{entity}",
            "task": task,
            "level": level,
            "scene_id": scene.scene_id,
            "template_id": scene.template_id,
            "split": scene.split,
            "audio": scene.path,
            "audio_sha256": scene.sha256,
            "question": self._questions.ask(task, texts, **told),
            "choices": shown.choices,
            "texts": shown.texts,
            "answer": shown.answer,
            "order": tuple(canonical.index(choice) for choice in shown.choices),
            "added": self._batch(scene),
        }
        return Item.model_validate(values | dict(fields))


def build_items(
    scenes: Sequence[MixedScene],
    catalog: Catalog,
    params: ItemsParams,
    seed: int,
    questions: Questions,
    counterfactuals: Sequence[Counterfactual] = (),
    added: Mapping[str, int] = MappingProxyType({}),
) -> list[Item]:
    """All items of the scenes in the wanted splits: task after task, level after level, in the order of the scenes.

    What a question of one split says depends on no scene of another split, and on none of a batch that was added later.

    Args:
        scenes: finished scenes.
        catalog: names, locations, and what may not stand beside what.
        params: tasks, levels and splits.
        seed: the data set's seed.
        questions: the wording.
        counterfactuals: for `grounding`, a mix without it for each event of `params.muted_splits`.
        added: number of the batch with which a scene was added, by its id; those that are not named are of the start.

    Raises:
        InputError: a sound or location that the catalog does not hold, a location with too few sounds, a counterfactual
            that is missing or was made from another file, or a sound that occurs twice in a scene of `grounding`.
    """
    builder = _Builder(scenes, catalog, params, seed, questions, counterfactuals, added)
    tasks: dict[Task, Callable[[], Iterator[Item]]] = {
        "scene": builder.scene,
        "sounds": builder.sounds,
        "reactions": builder.reactions,
        "grounding": builder.grounding,
        "summary": builder.summary,
    }
    return [item for task in params.tasks for item in tasks[task]()]


def _asked(scene: MixedScene, catalog: Catalog, added: int) -> Iterator[Asked]:
    """The events of a scene; InputError when the catalog does not hold its location or a sound."""
    if scene.location not in catalog.locations:
        where = f"{scene.scene_id}.location"
        raise InputError("data/scenes/scenes.jsonl", where, scene.location, "a location of the catalog")
    starts = sorted(event.start_sample for event in scene.events)
    for event in scene.events:
        if event.sound not in catalog.sounds:
            where = f"{scene.scene_id}.events.{event.event}.sound"
            raise InputError("data/scenes/scenes.jsonl", where, event.sound, "a sound of the catalog")
        reference = Reference(
            event=event.event,
            sound=event.sound,
            sound_name=catalog.sounds[event.sound].display,
            label=event.reaction,
            time_ms=(event.start_sample * 1000 + SAMPLE_RATE // 2) // SAMPLE_RATE,
        )
        yield Asked(scene, event, reference, ORDINALS[starts.index(event.start_sample)], added)
