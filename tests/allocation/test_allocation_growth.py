"""Scenes that are added to a set: those before them stay as they are, and the counts of all together stay even."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from allocation_recount import LABELS, PLAIN_LABELS, SPLITS, check_quotas, check_scenes, compositions, gap, read_scenes
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.allocation.allocate import Allocation, allocate, write_allocation
from cares.allocation.params import AllocationParams
from cares.allocation.quotas import top_up
from cares.allocation.templates import further_sizes
from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.records.scene import batches

SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}


def grown(scenes: int, added: list[int], seed: int = 1, per_template: int = 1, **changes: Any) -> Allocation:
    values = {"min_turns": 8, "max_turns": 13, "rare_share": 0.05, "splits": SHARES, **changes}
    values |= {"scenes": scenes, "scenes_per_template": per_template, "added": added}
    return allocate(AllocationParams.parse(values, "params.yaml"), seed, load_catalog())


CASES = [
    (12, [10], 1, 3),
    (12, [1] * 12, 1, 1),
    (4, [3, 5, 7, 11], 1, 2),
    (100, [10, 50, 3], 1, 1),
    (30, list(range(1, 7)), 1, 1),
    (95, [40, 25], 10, 1),
]


@pytest.mark.parametrize(("scenes", "added", "per_template", "seeds"), CASES)
def test_every_batch_keeps_the_quotas_and_leaves_the_others_alone(
    tmp_path: Path, scenes: int, added: list[int], per_template: int, seeds: int
) -> None:
    for seed in range(seeds):
        whole = grown(scenes, added, seed, per_template)
        write_allocation(tmp_path / "whole", whole)
        written = read_scenes(tmp_path / "whole")
        for count in {0, len(added) - 1}:
            write_allocation(tmp_path, grown(scenes, added[:count], seed, per_template))
            for name in ("scenes.jsonl", "templates.jsonl"):
                before = (tmp_path / name).read_bytes()
                assert (tmp_path / "whole" / name).read_bytes().startswith(before), (count, name)
        assert [len(batch) for batch in batches(whole.scenes)] == [scenes, *added]
        check_scenes(written, 8, 13)
        check_bounds(written)
        check_sounds_of_grown(written)


def check_bounds(scenes: list[dict[str, Any]]) -> None:
    """Within a split counts differ by at most one, as without growth; over all scenes by at most two."""
    for split in SPLITS:
        check_quotas([scene for scene in scenes if scene["split"] == split])
    catalog = load_catalog()
    assert gap((tuple(s["composition"][label] for label in LABELS) for s in scenes), compositions()) <= 2
    assert gap((s["location"] for s in scenes), list(catalog.locations)) <= 2
    assert gap((s["relation"] for s in scenes), list(catalog.relations)) <= 2
    assert gap((tuple(s["genders"]) for s in scenes), list(product("FM", repeat=2))) <= 2
    for label in LABELS:
        registers = [r.id for r in catalog.registers.values() if r.reaction == label]
        assert gap((e["register"] for s in scenes for e in s["events"] if e["reaction"] == label), registers) <= 2
    for split, share in SHARES.items():
        templates = {s["template_id"]: s["split"] for s in scenes}
        assert abs(Counter(templates.values())[split] - share * len(templates)) <= 1
    rare = sum(catalog.sounds[e["sound"]].group == "rare" for s in scenes for e in s["events"])
    assert abs(rare - 0.05 * len(scenes)) <= 1


def check_sounds_of_grown(scenes: list[dict[str, Any]]) -> None:
    """A sound's labels differ by at most two, its pivots are within one of their share; uses at a location are even."""
    catalog = load_catalog()
    common = [e for s in scenes for e in s["events"] if catalog.sounds[e["sound"]].group != "rare"]
    share = sum(e["reaction"] == "pivot" for e in common) / max(1, len(common))
    counts: dict[str, Counter[str]] = {}
    for event in common:
        counts.setdefault(event["sound"], Counter())[event["reaction"]] += 1
    for name, labels in counts.items():
        plain = [labels[label] for label in PLAIN_LABELS]
        assert max(plain) - min(plain) <= 2, (name, labels)
        assert abs(labels["pivot"] - share * labels.total()) <= 2, (name, labels)
    for location, splits in product(catalog.locations, [[split] for split in SPLITS] + [list(SPLITS)]):
        levels = [sound.id for sound in catalog.sounds_at(location) if sound.group != "rare"]
        here = [s for s in scenes if s["location"] == location and s["split"] in splits]
        used = [e["sound"] for s in here for e in s["events"] if catalog.sounds[e["sound"]].group != "rare"]
        assert gap(used, levels) <= len(splits[:2]), (location, splits)


def test_targets_of_length_go_on_within_their_split() -> None:
    law = {"mean_s": 60.0, "deviation_s": 9.0, "shortest_s": 45.0, "longest_s": 80.0, "turn_s": [4.8, 6.6]}
    turns = {"min_turns": 7, "max_turns": 20, "length": law}
    whole, start = grown(40, [40], **turns), grown(40, [], **turns)
    assert whole.scenes[:40] == start.scenes
    lengths = [scene.length_s for scene in whole.scenes if scene.length_s is not None and scene.split == "train"]
    assert abs(sum(lengths) / len(lengths) - 60.0) < 1.0


def test_another_batch_is_another_deal_and_one_number_is_not_two() -> None:
    one, two = grown(12, [10, 10]), grown(12, [20])
    assert one.scenes[:12] == two.scenes[:12]
    assert one.scenes != two.scenes
    assert [scene.events for scene in one.scenes[12:22]] != [scene.events for scene in one.scenes[22:]]
    assert {scene.added for scene in one.scenes} == {0, 1, 2}
    assert "added" not in one.scenes[0].to_json() and one.scenes[12].to_json()["added"] == 1


@pytest.mark.parametrize("added", [[0], [-1], [1.5], 3, ["3"], [100_000], [60_000, 60_000]])
def test_a_wrong_number_of_added_scenes_is_named(added: Any) -> None:
    with pytest.raises(InputError) as caught:
        grown(12, added)
    assert caught.value.field.startswith("added")


levels = st.integers(2, 9).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 4), st.sets(st.integers(0, n - 1))), min_size=1, max_size=3).map(
        lambda parts: [[low + (level in more) for level in range(n)] for low, more in parts]
    )
)


@settings(max_examples=200, deadline=None)
@given(levels, st.lists(st.integers(0, 30), min_size=3, max_size=3))
def test_topping_up_takes_nothing_back_and_evens_out_what_it_can(have: list[list[int]], sizes: list[int]) -> None:
    sizes = sizes[: len(have)]
    more = top_up(have, sizes)
    assert [sum(counts) for counts in more] == sizes
    assert min(min(counts) for counts in more) >= 0
    after = [[old + new for old, new in zip(one, two, strict=True)] for one, two in zip(have, more, strict=True)]
    assert all(max(counts) - min(counts) <= 1 for counts in after)
    rounds = all(size >= len(counts) for size, counts in zip(sizes, have, strict=True))
    total = [sum(counts) for counts in zip(*after, strict=True)]
    assert max(total) - min(total) <= (1 if rounds else len(have))


def test_topping_up_moves_an_extra_over_another_part_where_that_evens_out() -> None:
    # level 0 is held twice already: the third part has to leave it out, and the second to take what is free
    assert top_up([[1, 0, 0], [1, 1, 0], [0, 0, 0]], [1, 0, 2]) in (
        [[0, 0, 1], [0, 0, 0], [0, 1, 1]],
        [[0, 1, 0], [0, 0, 0], [0, 0, 2]],
    )


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_splits_stay_within_one_template_of_their_share(numbers: list[int]) -> None:
    have = [0, 0, 0]
    for number in numbers:
        more = further_sizes(number, list(SHARES.values()), have)
        assert sum(more) == number and min(more) >= 0
        have = [old + new for old, new in zip(have, more, strict=True)]
        assert all(abs(n - share * sum(have)) <= 1 for n, share in zip(have, SHARES.values(), strict=True))
