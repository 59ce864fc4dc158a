"""Lengths of scenes: the law, its parts, the turns that follow, and that nothing changes where none is asked for."""

from pathlib import Path
from statistics import fmean, pstdev

import pytest

from cares.allocation.allocate import allocate
from cares.allocation.lengths import draw_lengths
from cares.allocation.params import AllocationParams, LengthParams
from cares.allocation.standalone import PAPER
from cares.catalog.load import load_catalog
from cares.core.canonical import digest
from cares.core.errors import InputError
from cares.core.params import read_yaml

LAW = {"mean_s": 120.0, "deviation_s": 18.8, "shortest_s": 75.0, "longest_s": 165.0, "turn_s": [4.8, 6.6]}
VALUES = {
    "scenes": 60,
    "scenes_per_template": 1,
    "splits": {"train": 0.8, "validation": 0.1, "test": 0.1},
    "min_turns": 7,
    "max_turns": 10,
    "rare_share": 0.05,
}
CATALOG = load_catalog()


def params(**changes):
    return AllocationParams.parse(VALUES | changes, "params.yaml", "allocation")


def law(**changes):
    return LengthParams.parse(LAW | changes, "params.yaml", "allocation.length")


def test_the_set_has_the_mean_and_deviation_of_the_law():
    found = draw_lengths(law(), 1, [[f"t{n:05d}-0" for n in range(5000)]])
    assert fmean(found.values()) == pytest.approx(120, abs=0.3)
    assert 17 < pstdev(found.values()) < 18.8, "a little less than the whole law's: its ends are cut off"
    assert min(found.values()) >= 75 and max(found.values()) <= 165


@pytest.mark.parametrize("seed", range(8))
def test_ten_scenes_in_a_row_already_have_the_mean(seed):
    found = draw_lengths(law(), seed, [[f"t{n:05d}-0" for n in range(10)]])
    assert fmean(found.values()) == pytest.approx(120, rel=0.02)


def test_scenes_that_are_added_behind_change_no_target():
    few, many = ([f"t{n:05d}-0" for n in range(count)] for count in (13, 40))
    found = draw_lengths(law(), 3, [few])
    assert {name: draw_lengths(law(), 3, [many])[name] for name in few} == found


def test_turns_follow_from_the_target_and_from_the_sounds():
    asked = params(length=LAW, min_turns=10, max_turns=36)
    scenes = allocate(asked, 1, CATALOG).scenes
    for scene in scenes:
        assert round(scene.length_s / 6.6) - 1 <= scene.n_turns <= round(scene.length_s / 4.8) + 1
    crowded = allocate(params(length=LAW | {"turn_s": [12.5, 20.0]}, min_turns=6, max_turns=36), 1, CATALOG).scenes
    assert all(scene.n_turns >= 1 + 3 * len(scene.events) for scene in crowded)


def test_all_but_turns_and_slots_is_as_without_a_length():
    def rest(scene):
        return scene.model_copy(update={"n_turns": 10, "events": (), "length_s": None}), [
            (event.sound, event.reaction, event.register_id) for event in scene.events
        ]

    plain = allocate(params(), 1, CATALOG).scenes
    asked = allocate(params(length=LAW, min_turns=10, max_turns=36), 1, CATALOG).scenes
    assert [sorted(rest(s)[1]) for s in plain] == [sorted(rest(s)[1]) for s in asked]
    assert [rest(s)[0].location for s in plain] == [rest(s)[0].location for s in asked]


def test_a_scene_without_a_target_is_written_as_before():
    without, none = allocate(params(), 1, CATALOG), allocate(params(length=None), 1, CATALOG)
    assert without.scenes == none.scenes
    assert all("length_s" not in scene.to_json() for scene in none.scenes)
    assert "length" not in params().to_json()
    again = [type(scene).parse(scene.to_json(), "scenes.jsonl") for scene in none.scenes]
    assert digest([scene.to_json() for scene in again]) == digest([scene.to_json() for scene in none.scenes])


@pytest.mark.parametrize(
    "change",
    [
        {"deviation_s": 0.0},
        {"shortest_s": 130.0},
        {"longest_s": 100.0},
        {"turn_s": [7.0, 5.0]},
        {"turn_s": [0.0, 5.0]},
        {"mean_s": 5.0},
        {"mean": 120.0},
    ],
)
def test_a_law_that_cannot_be_is_named(change):
    with pytest.raises(InputError, match=r"allocation\.length"):
        params(length=LAW | change)


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ({"min_turns": 7, "max_turns": 10}, r"10 turns of at most 6\.6 s cannot last 165"),
        ({"min_turns": 20, "max_turns": 36}, r"20 turns of at least 4\.8 s outlast 75"),
    ],
)
def test_a_length_that_the_turns_cannot_have_is_refused_before_anything_is_written(turns, said):
    with pytest.raises(InputError, match=said):
        params(**turns, length=LAW)


def test_the_command_allocates_as_the_size_paper_does():
    asked = read_yaml(Path(__file__).parents[2] / "conf/size/paper.yaml")["allocation"]
    assert {name: PAPER[name] for name in ("min_turns", "max_turns", "length")} == {
        name: asked[name] for name in ("min_turns", "max_turns", "length")
    }
