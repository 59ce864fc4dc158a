"""Templates: groups of scenes that share a theme and a split, batch after batch."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from cares.allocation.params import AllocationParams
from cares.allocation.quotas import deal, deal_further, largest_remainder
from cares.core.rng import KeyedRandom, derived_seed
from cares.records.scene import SPLITS, Split, Template


def batch_seed(seed: int, number: int) -> int:
    """The seed of what is dealt over a whole batch: the data set's own at the start, then one derived from it."""
    return seed if number == 0 else derived_seed(seed, "allocation_added", number)


def draw_templates(params: AllocationParams, seed: int, themes: Sequence[str]) -> list[list[Template]]:
    """The templates of the start, then those of each added batch.

    Their ids go on: t00000, t00001, …, with the scene ids t00000-0, t00000-1, …; the last template of a batch may be
    smaller and is never filled by the next. Themes are dealt evenly, within each split and over all.
    """
    batches: list[list[Template]] = []
    before: list[Template] = []
    for number in range(len(params.batches)):
        batches.append(_batch(params, seed, themes, number, before))
        before = [*before, *batches[-1]]
    return batches


def _batch(
    params: AllocationParams, seed: int, themes: Sequence[str], number: int, before: Sequence[Template]
) -> list[Template]:
    each, n_scenes, first = params.scenes_per_template, params.batches[number], len(before)
    n_templates = -(-n_scenes // each)
    shares = [params.splits.train, params.splits.validation, params.splits.test]
    have = [sum(template.split == split for template in before) for split in SPLITS]
    sizes = further_sizes(n_templates, shares, have) if before else largest_remainder(n_templates, shares)
    keyed = batch_seed(seed, number)
    order = KeyedRandom(keyed, "template_splits").shuffled(range(n_templates))
    splits = [split for split, size in zip(SPLITS, sizes, strict=True) for _ in range(size)]
    split_of: dict[int, Split] = dict(zip(order, splits, strict=True))
    levels = KeyedRandom(keyed, "themes", "levels").shuffled(themes)
    counts = [[sum((t.split, t.theme) == (split, theme) for t in before) for theme in levels] for split in SPLITS]
    parts = deal_further(levels, counts, sizes) if before else deal(levels, sizes)
    dealt = [
        theme
        for split, part in zip(SPLITS, parts, strict=True)
        for theme in KeyedRandom(keyed, "themes", split).shuffled(part)
    ]
    theme_of = dict(zip(order, dealt, strict=True))
    return [
        Template(
            template_id=f"t{first + index:05d}",
            split=split_of[index],
            theme=theme_of[index],
            scene_ids=tuple(f"t{first + index:05d}-{i}" for i in range(min(each, n_scenes - index * each))),
        )
        for index in range(n_templates)
    ]


def further_sizes(total: int, shares: Sequence[float], have: Sequence[int]) -> list[int]:
    """How many of `total` further templates each split gets, so that all together follow `shares` as near as can be.

    A split that has more than its share already gets none; the others share `total` by what they lack (Hamilton's
    method). All splits are then within one template of their share of the whole, or a fraction more.
    """
    exact = [Fraction(repr(share)) for share in shares]
    whole = total + sum(have)
    lacking = [max(Fraction(0), whole * share / sum(exact) - count) for share, count in zip(exact, have, strict=True)]
    due = [total * lack / sum(lacking) for lack in lacking]
    counts = [int(value) for value in due]
    for split in sorted(range(len(due)), key=lambda split: (counts[split] - due[split], split))[: total - sum(counts)]:
        counts[split] += 1
    return counts
