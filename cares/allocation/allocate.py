"""Allocation: everything about a scene that is fixed before a word of it is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cares.allocation.compositions import COMPOSITIONS, cross_locations
from cares.allocation.events import Setting, draw_registers, draw_sounds, labels_of
from cares.allocation.layout import draw_layout, draw_order
from cares.allocation.lengths import draw_lengths, turns_for
from cares.allocation.params import AllocationParams
from cares.allocation.quotas import deal, largest_remainder
from cares.allocation.rare import rare_count
from cares.allocation.space import sound_space
from cares.allocation.summary import summarise
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json, write_json
from cares.core.record import write_records
from cares.core.rng import KeyedRandom
from cares.records.scene import REACTIONS, SPLITS, Composition, Event, Gender, Scene, Split, Template

T = TypeVar("T")
GENDER_PAIRS: tuple[tuple[Gender, Gender], ...] = (("F", "F"), ("F", "M"), ("M", "F"), ("M", "M"))


@dataclass(frozen=True)
class Allocation:
    """Templates and scenes by id, and the figures that describe them."""

    templates: tuple[Template, ...]
    scenes: tuple[Scene, ...]
    metrics: Mapping[str, Json]

    def splits(self) -> dict[Split, list[str]]:
        """The scene ids of each split."""
        return {split: [scene.scene_id for scene in self.scenes if scene.split == split] for split in SPLITS}


def allocate(
    params: AllocationParams,
    seed: int,
    catalog: Catalog,
    available: Mapping[Split, Collection[str]] | None = None,
) -> Allocation:
    """Lay out `params.scenes` scenes with exact quotas.

    Over all scenes and within every split each composition, location, relation and pair of genders differs by at most
    one in count, and so does each register over the events of its reaction. Every sound that is not rare meets verbal,
    behavioral and ambient equally often, up to one, and pivot within one of its share. The result depends on the
    arguments alone; an order within `available` does not matter.

    Args:
        params: the section `allocation`.
        seed: the data set's seed.
        catalog: the label space.
        available: sounds with at least one take, per split; None draws from the whole catalog.

    Raises:
        InputError: `available` holds an unknown sound, or too few sounds for a location in a split that has scenes.
    """
    templates = _templates(params, seed, list(catalog.themes))
    by_split = [[scene for t in templates if t.split == split for scene in t.scene_ids] for split in SPLITS]
    sizes = [len(ids) for ids in by_split]
    ids = [scene for part in by_split for scene in part]
    space = sound_space(catalog, [i for i, size in enumerate(sizes) if size], available)

    locations, relations = list(catalog.locations), list(catalog.relations)
    crossed = cross_locations(seed, len(locations), sizes)
    settings = [
        Setting(split, composition, location)
        for split, part in enumerate(crossed)
        for composition, location in KeyedRandom(seed, "settings", SPLITS[split]).shuffled(part)
    ]
    relation_of = dict(zip(ids, _dealt(seed, "relations", relations, sizes), strict=True))
    genders_of = dict(zip(ids, _dealt(seed, "genders", GENDER_PAIRS, sizes), strict=True))
    sounds = draw_sounds(seed, settings, space, params.rare_share)
    registers = draw_registers(seed, settings, catalog)
    lengths = draw_lengths(params.length, seed, by_split)
    template_of = {scene: template for template in templates for scene in template.scene_ids}

    scenes: dict[str, Scene] = {}
    for scene_id, setting, named, manners in zip(ids, settings, sounds, registers, strict=True):
        template, relation = template_of[scene_id], relation_of[scene_id]
        rng = KeyedRandom(seed, "layout", scene_id)
        length = lengths.get(scene_id)
        turns = turns_for(scene_id, len(named), length, params, seed)
        layout = draw_layout(rng, len(named), *turns)
        heard = draw_order(rng, list(zip(named, labels_of(setting), manners, strict=True)))
        scenes[scene_id] = Scene(
            scene_id=scene_id,
            template_id=template.template_id,
            split=template.split,
            location=locations[setting.location],
            relation=relation,
            roles=(relation, relation),
            genders=genders_of[scene_id],
            theme=template.theme,
            n_turns=layout.n_turns,
            composition=Composition(**dict(zip(REACTIONS, COMPOSITIONS[setting.composition], strict=True))),
            events=tuple(
                Event(sound=space.names[sound], reaction=REACTIONS[label], register=register, slot=slot)
                for (sound, label, register), slot in zip(heard, layout.slots, strict=True)
            ),
            length_s=length,
        )
    ordered = tuple(scenes[scene_id] for template in templates for scene_id in template.scene_ids)
    levels: dict[str, Collection[object]] = {
        "composition": COMPOSITIONS,
        "location": locations,
        "relation": relations,
        "genders": GENDER_PAIRS,
        **{f"register {reaction}": [r.id for r in catalog.registers_of(reaction)] for reaction in REACTIONS},
    }
    wanted = rare_count(params.scenes, params.rare_share)
    rare = {sound.id for sound in catalog.sounds.values() if sound.group == "rare"}
    return Allocation(tuple(templates), ordered, summarise(ordered, levels, rare, wanted, space.drawn_from))


def write_allocation(folder: Path, allocation: Allocation) -> None:
    """Write templates.jsonl, scenes.jsonl and splits.json into `folder`, each atomically."""
    write_records(folder / "templates.jsonl", allocation.templates)
    write_records(folder / "scenes.jsonl", allocation.scenes)
    write_json(folder / "splits.json", allocation.splits())


def _templates(params: AllocationParams, seed: int, themes: Sequence[str]) -> list[Template]:
    """Templates t00000, t00001, … with their splits, themes and scene ids t00000-0, …; themes are dealt evenly."""
    each = params.scenes_per_template
    n_templates = -(-params.scenes // each)
    shares = [params.splits.train, params.splits.validation, params.splits.test]
    sizes = largest_remainder(n_templates, shares)
    order = KeyedRandom(seed, "template_splits").shuffled(range(n_templates))
    splits = [split for split, size in zip(SPLITS, sizes, strict=True) for _ in range(size)]
    split_of = dict(zip(order, splits, strict=True))
    theme_of = dict(zip(order, _dealt(seed, "themes", themes, sizes), strict=True))
    return [
        Template(
            template_id=f"t{index:05d}",
            split=split_of[index],
            theme=theme_of[index],
            scene_ids=tuple(f"t{index:05d}-{i}" for i in range(min(each, params.scenes - index * each))),
        )
        for index in range(n_templates)
    ]


def _dealt(seed: int, purpose: str, levels: Sequence[T], sizes: Sequence[int]) -> list[T]:
    """A level for each scene (or template), split after split: dealt by quota, then shuffled within the split."""
    parts = deal(KeyedRandom(seed, purpose, "levels").shuffled(levels), sizes)
    return [
        level
        for split, part in zip(SPLITS, parts, strict=True)
        for level in KeyedRandom(seed, purpose, split).shuffled(part)
    ]
