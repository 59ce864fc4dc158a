"""Allocation: everything about a scene that is fixed before a word of it is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cares.allocation.compositions import COMPOSITIONS, cross_further, cross_locations
from cares.allocation.earlier import Earlier
from cares.allocation.events import Setting, draw_registers, draw_sounds, labels_of
from cares.allocation.layout import draw_layout, draw_order
from cares.allocation.lengths import draw_lengths, turns_for
from cares.allocation.params import AllocationParams
from cares.allocation.quotas import deal, deal_further
from cares.allocation.rare import rare_count
from cares.allocation.space import SoundSpace, sound_space
from cares.allocation.summary import summarise
from cares.allocation.templates import batch_seed, draw_templates
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json, write_json
from cares.core.record import write_records
from cares.core.rng import KeyedRandom
from cares.records.scene import REACTIONS, SPLITS, Composition, Event, Gender, Scene, Split, Template

T = TypeVar("T", bound=Hashable)
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
    """Lay out `params.scenes` scenes with exact quotas, then each batch of `params.added` behind them.

    Over all scenes and within every split each composition, location, relation and pair of genders differs by at most
    one in count, and so does each register over the events of its reaction. Every sound that is not rare meets verbal,
    behavioral and ambient equally often, up to one, and pivot within one of its share. The result depends on the
    arguments alone; an order within `available` does not matter.

    A batch goes on counting where those before it stopped and changes none of their scenes. Within every split the
    quotas then still hold; over all scenes together counts may differ by two (see `quotas.top_up`).

    Args:
        params: the section `allocation`.
        seed: the data set's seed.
        catalog: the label space.
        available: sounds with at least one take, per split; None draws from the whole catalog.

    Raises:
        InputError: `available` holds an unknown sound, or too few sounds for a location in a split that has scenes.
    """
    batches = draw_templates(params, seed, list(catalog.themes))
    templates = [template for batch in batches for template in batch]
    filled = {template.split for template in templates}
    space = sound_space(catalog, [i for i, split in enumerate(SPLITS) if split in filled], available)
    scenes: list[Scene] = []
    for number, batch in enumerate(batches):
        scenes += _lay_out(params, seed, number, batch, Earlier(scenes, space, catalog), space, catalog)
    levels: dict[str, Collection[object]] = {
        "composition": COMPOSITIONS,
        "location": space.locations,
        "relation": list(catalog.relations),
        "genders": GENDER_PAIRS,
        **{f"register {reaction}": [r.id for r in catalog.registers_of(reaction)] for reaction in REACTIONS},
    }
    wanted = rare_count(len(scenes), params.rare_share)
    rare = {sound.id for sound in catalog.sounds.values() if sound.group == "rare"}
    return Allocation(tuple(templates), tuple(scenes), summarise(scenes, levels, rare, wanted, space.drawn_from))


def _lay_out(
    params: AllocationParams,
    seed: int,
    number: int,
    templates: Sequence[Template],
    earlier: Earlier,
    space: SoundSpace,
    catalog: Catalog,
) -> list[Scene]:
    """The scenes of one batch, in the order of its templates; what is dealt goes on from the counts of `earlier`."""
    by_split = [[scene for t in templates if t.split == split for scene in t.scene_ids] for split in SPLITS]
    sizes = [len(ids) for ids in by_split]
    ids = [scene for part in by_split for scene in part]
    keyed = batch_seed(seed, number)
    n_locations = len(space.locations)
    if earlier:
        crossed = cross_further(keyed, n_locations, sizes, earlier.crossed())
    else:
        crossed = cross_locations(keyed, n_locations, sizes)
    settings = [
        Setting(split, composition, location)
        for split, part in enumerate(crossed)
        for composition, location in KeyedRandom(keyed, "settings", SPLITS[split]).shuffled(part)
    ]

    def dealt(purpose: str, levels: Sequence[T], value: Callable[[Scene], T]) -> dict[str, T]:
        """A level for each scene, split after split: dealt by quota, then shuffled within the split."""
        order = KeyedRandom(keyed, purpose, "levels").shuffled(levels)
        parts = deal_further(order, earlier.of_scenes(value, order), sizes) if earlier else deal(order, sizes)
        shuffled = [
            KeyedRandom(keyed, purpose, split).shuffled(part) for split, part in zip(SPLITS, parts, strict=True)
        ]
        return dict(zip(ids, (level for part in shuffled for level in part), strict=True))

    relation_of = dealt("relations", list(catalog.relations), lambda scene: scene.relation)
    genders_of = dealt("genders", GENDER_PAIRS, lambda scene: scene.genders)
    sounds = draw_sounds(keyed, settings, space, params.rare_share, earlier)
    registers = draw_registers(keyed, settings, catalog, earlier)
    # the parts of the law of lengths go round within a split, so the places of the earlier scenes count
    lengths = draw_lengths(params.length, seed, [old + new for old, new in zip(earlier.ids(), by_split, strict=True)])
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
            location=space.locations[setting.location],
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
            added=number,
        )
    return [scenes[scene_id] for template in templates for scene_id in template.scene_ids]


def write_allocation(folder: Path, allocation: Allocation) -> None:
    """Write templates.jsonl, scenes.jsonl and splits.json into `folder`, each atomically."""
    write_records(folder / "templates.jsonl", allocation.templates)
    write_records(folder / "scenes.jsonl", allocation.scenes)
    write_json(folder / "splits.json", allocation.splits())
