"""The estimate of docs/full-scale.md is what its stated inputs give."""

from pathlib import Path

import pytest

from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.repro.estimate import PAGE, Inputs, Measured, load, measure, model_hours, page, price, sound_hours, tables
from cares.repro.profiles import profiles

ROOT = Path(__file__).parents[2]


def test_the_page_holds_what_its_inputs_give():
    assert page(ROOT, *load(ROOT)) == (ROOT / PAGE).read_text(encoding="utf-8"), "run `cares estimate`"


def test_the_measured_inputs_are_those_of_the_last_run():
    assert load(ROOT)[1] == measure(ROOT), "run `cares estimate`"


def test_every_profile_of_models_is_estimated_and_described():
    inputs, _ = load(ROOT)
    assert tuple(sorted(inputs.profiles)) == profiles(ROOT)["models"]
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for group, names in profiles(ROOT).items():
        assert all(f"`{name}`" in text for name in names), group


def test_the_arithmetic():
    """By hand: 100 x 2 x (500 + 400) tokens, 10 a second, twice slower; 100 x (30 x 0.5 + 40 x 0.1) s on 4 cores."""
    stage = {
        "name": "s", "asked": {"requests": 2, "prompt_tokens": 500, "answer_tokens": 400}, "tokens_per_s": 10,
        "slowdown": 2.0, "counts": "c", "gpus": 3, "gpu_hour": 2.0, "source": "x",
    }  # fmt: skip
    inputs = Inputs.parse(
        {
            "scenes": 100,
            "events_per_scene": 2.0,
            "speech": {"speak_factor": 0.3, "hear_factor": 0.2, "mix_factor": 0.1, "source": "y"},
            "profiles": {"p": {"cores": 4, "core_hour": 0.5, "stages": [stage]}},
        },
        "test",
    )
    measured = Measured(tokens_per_accepted_scene=1000.0, speech_s_per_scene=30.0, scene_s=40.0)
    profile = inputs.profiles["p"]
    assert model_hours(profile.stages[0], 100, measured) == pytest.approx(10.0)
    assert sound_hours(inputs, profile, measured) == pytest.approx(1900 / 4 / 3600)
    assert price(inputs, profile, measured) == pytest.approx(10 * 3 * 2 + (10 + 1900 / 4 / 3600) * 4 * 0.5)
    assert "| p | s | 1,800 | 10 | 2 | 10.0 | 3 | 2.00 |" in tables(inputs, measured)
    own = profile.stages[0].model_copy(update={"asked": "measured"})
    assert model_hours(own, 100, measured) == pytest.approx(100 * 1000 * 2 / 10 / 3600)


def test_longer_scenes_cost_in_proportion():
    inputs, measured = load(ROOT)
    assert measured.stretched(None) == measured
    assert measured.stretched(2 * measured.scene_s).tokens_per_accepted_scene == 2 * measured.tokens_per_accepted_scene
    asked = read_yaml(ROOT / "conf/size/paper.yaml")["allocation"]["length"]["mean_s"]
    assert inputs.scene_s == asked


def test_the_stated_number_of_events_is_that_of_the_compositions():
    from cares.allocation.compositions import COMPOSITIONS

    mean = sum(map(sum, COMPOSITIONS)) / len(COMPOSITIONS)
    assert load(ROOT)[0].events_per_scene == pytest.approx(mean, abs=1e-3)


def test_a_page_without_a_place_for_the_tables_is_an_error(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / PAGE).write_text("nothing")
    with pytest.raises(InputError, match="estimate"):
        page(tmp_path, *load(ROOT))
